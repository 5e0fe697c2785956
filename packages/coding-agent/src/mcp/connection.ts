import { cutWords } from "@tiller/ai/cut-words";
import { isPlainObject } from "../config/setting-value.ts";
import { STATELESS_VERSION } from "./http.ts";
import { createPeer, McpError, type Message, type RequestHow } from "./json-rpc.ts";
import { MOST_TOOLS } from "./tools.ts";
import type { Transport, TransportEvents } from "./transport.ts";

/** A server that has shaken hands. */
export interface Connection {
  /** All that it has now. */
  listTools(): Promise<unknown[]>;
  callTool(name: string, args: Message, how: Omit<RequestHow, "timeoutMs">): Promise<Message>;
  close(): void;
}

export interface ConnectionOptions extends Pick<TransportEvents, "clock" | "hide"> {
  open(events: TransportEvents): Transport;
  clientVersion: string;
  /** For the handshake, and for lists. */
  startMs: number;
  /** For a call. */
  callMs: number;
  /** Nobody wants it any more. */
  signal: AbortSignal;
  onToolsChanged(): void;
  onEnd(error: Error): void;
}

/** Newest first: the first is offered, and whichever of them the server answers with is spoken. */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** A server whose list never ends must not keep us. */
const MOST_PAGES = 100;
const LONGEST_VERSION = 40;
/** What a server says in errors and of its progress is a few words: more of it would only fill conversations. */
const LONGEST_WORDS = 8000;

/** Rejects with what is wrong, in words that go on behind the name of the server. */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const { clock, startMs, callMs } = options;
  const transport = options.open({
    clock,
    hide: options.hide,
    onMessage: (message) => peer.receive(message),
    onEnd(error) {
      peer.close(error);
      options.onEnd(error);
    },
  });
  const peer = createPeer({
    send: transport.send,
    clock,
    words: (said) => options.hide(cutWords(said, LONGEST_WORDS).toWellFormed()),
    onNotification(method) {
      if (method === "notifications/tools/list_changed") options.onToolsChanged();
    },
  });
  const close = (): void => {
    transport.close();
    peer.close(new Error("it was stopped"));
  };
  options.signal.addEventListener("abort", close, { once: true });
  if (options.signal.aborted) close();
  const clientInfo = { name: "tiller", version: options.clientVersion };
  /** What every request has to say of us, where nothing is agreed on once for all. */
  const bare = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": clientInfo,
  };
  let meta: Message = {};
  const ask = (method: string, params: Message, how: RequestHow): Promise<Message> =>
    peer.request(method, { ...params, ...meta }, how);

  const shakeHands = async (): Promise<Message> => {
    const offer = { protocolVersion: VERSIONS[0], capabilities: {}, clientInfo };
    const { protocolVersion, capabilities } = await ask("initialize", offer, { timeoutMs: startMs });
    const version = VERSIONS.find((known) => known === protocolVersion);
    if (version === undefined) {
      const its = typeof protocolVersion === "string" ? protocolVersion.slice(0, LONGEST_VERSION) : "(none)";
      throw new Error(`it speaks version ${its} of the protocol; here ${VERSIONS.join(", ")} are spoken`);
    }
    transport.agreed(version);
    peer.notify("notifications/initialized");
    return capabilities as Message;
  };
  /** Servers of the newest version know no handshake. */
  const discover = async (refusal: McpError): Promise<Message> => {
    transport.agreed(STATELESS_VERSION);
    meta = { _meta: bare };
    const asked = ask("server/discover", {}, { timeoutMs: startMs });
    const { supportedVersions, capabilities } = await asked.catch((): Message => ({}));
    const isModern = Array.isArray(supportedVersions) && supportedVersions.includes(STATELESS_VERSION);
    if (isModern) return capabilities as Message;
    throw new Error(`it refused the handshake: ${refusal.message}`);
  };

  const capabilities = await shakeHands()
    .catch((error: unknown) => {
      if (error instanceof McpError) return discover(error);
      throw error;
    })
    .catch((error: Error) => {
      close();
      throw new Error(`${options.hide(error.message)}${transport.said()}`);
    });
  const saysTools = isPlainObject(capabilities) && capabilities.tools !== undefined;

  return {
    async listTools() {
      const tools: unknown[] = [];
      let cursor: unknown;
      // Not every server that has tools says so; one that has none may not know the question.
      const none = (error: unknown): Message => {
        if (error instanceof McpError && !saysTools) return { tools: [] };
        throw error;
      };
      for (let page = 0; page < MOST_PAGES && tools.length <= MOST_TOOLS; page++) {
        const asked = ask("tools/list", cursor === undefined ? {} : { cursor }, { timeoutMs: startMs });
        const answer = await asked.catch(none);
        if (!Array.isArray(answer.tools)) throw new Error("its list of tools is no list");
        for (const tool of answer.tools) tools.push(tool);
        cursor = answer.nextCursor;
        if (typeof cursor !== "string" || cursor === "") break;
      }
      return tools;
    },
    callTool: (name, args, how) => ask("tools/call", { name, arguments: args }, { ...how, timeoutMs: callMs }),
    close,
  };
}
