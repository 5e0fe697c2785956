import { isAbsolute } from "node:path";
import { secretsInUrl } from "@tiller/ai/model-secrets";
import type { RunCommand } from "@tiller/ai/secret-commands";
import { withoutCutSecrets, withoutSecrets } from "@tiller/ai/spelled-secrets";
import type { Clock } from "@tiller/protocol/clock";
import type { McpServerState } from "../session/ports.ts";
import { expandValues, type ServerConfig } from "./config.ts";
import { type Connection, connect } from "./connection.ts";
import { openHttp, SessionLost } from "./http.ts";
import type { Message } from "./json-rpc.ts";
import { openStdio } from "./stdio.ts";
import { readTools, type ServerTool } from "./tools.ts";

/** One server: started when it is first needed, and once more when it has died. */
export interface McpServer {
  readonly config: ServerConfig;
  readonly status: ServerStatus;
  /** Why it is not connected. */
  readonly error: string | undefined;
  /** Also of one that has died, as long as it may come back. */
  readonly tools: readonly ServerTool[];
  /** Starts it if it does not run; resolves when it does, or cannot. Never rejects. */
  ready(): Promise<void>;
  /** Rejects with what the model shall read. */
  call(tool: string, args: Message, how: CallHow): Promise<Message>;
  close(): void;
}

export type ServerStatus = McpServerState["status"];

export interface CallHow {
  signal: AbortSignal;
  onProgress(text: string): void;
}

export interface ServerSurroundings {
  clock: Clock;
  /** What a server that starts now gets of our environment. */
  env(): Readonly<Record<string, string | undefined>>;
  /** What `$NAME` in the configuration stands for. */
  fullEnv: Readonly<Record<string, string | undefined>>;
  runCommand: RunCommand;
  clientVersion: string;
  /** Status, tools or error are other ones. */
  onChange(): void;
  /** What somebody should know, in words that go on behind the name of the server. */
  onProblem(problem: string): void;
}

/** A package may have to be downloaded first. */
const START_MS = 60_000;
/** How soon its tools are asked for again when it says that they are others. */
const REFRESH_MS = 100;
/** A shorter value is a word rather than a secret. */
const SHORTEST_SECRET = 8;

export function createServer(config: ServerConfig, around: ServerSurroundings): McpServer {
  const { clock, onChange, onProblem } = around;
  let status: ServerStatus = config.isDisabled ? "disabled" : "waiting";
  let error: string | undefined;
  let tools: readonly ServerTool[] = [];
  let connection: Connection | undefined;
  let connecting: Promise<void> | undefined;
  /** How often it may still be started without having been of use in between. */
  let triesLeft = 2;
  let isRefreshing = false;
  const life = new AbortController();

  const become = (next: ServerStatus, why?: string): void => {
    if (life.signal.aborted) return;
    status = next;
    error = why;
    onChange();
  };
  const tell = (problem: string): void => {
    if (!life.signal.aborted) onProblem(problem);
  };
  const open = async (): Promise<void> => {
    triesLeft -= 1;
    become("connecting");
    try {
      connection = await connect(await connectionOptions());
      await refresh(connection);
      become("connected");
    } catch (failure) {
      connection?.close();
      connection = undefined;
      const why = failure instanceof Error ? failure.message : String(failure);
      if (triesLeft <= 0) tools = [];
      become("failed", why);
      tell(
        `could not be started, so its tools are missing (${config.from} names it, and may say "disabled": true): ${why}`,
      );
    }
  };
  const refresh = async (from: Connection): Promise<void> => {
    const read = readTools(await from.listTools());
    tools = read.tools;
    for (const problem of read.problems) tell(problem);
  };
  /** Not at once: a server that says so again and again must not keep us busy. */
  const refreshSoon = (): void => {
    if (isRefreshing) return;
    isRefreshing = true;
    clock.after(REFRESH_MS, () => {
      isRefreshing = false;
      const failed = (failure: Error): void => tell(`did not tell its tools again: ${failure.message}`);
      if (connection) refresh(connection).then(onChange, failed);
    });
  };
  const connectionOptions = async () => {
    const { reach, timeoutMs } = config;
    const given = "url" in reach ? reach.headers : reach.env;
    const { values, secrets } = await expandValues(given, around.fullEnv, around.runCommand);
    const found = [...config.secrets, ...secrets, ...("url" in reach ? secretsInUrl(reach.url) : [])];
    // Longest first, so that no part of a secret is left beside a shorter one.
    const hidden = found.filter(({ length }) => length >= SHORTEST_SECRET).sort((a, b) => b.length - a.length);
    // What begins like a path is another path, and worth more than hidden.
    const notPaths = hidden.filter((value) => !isAbsolute(value));
    return {
      clock,
      hide: (text: string) => withoutCutSecrets(withoutSecrets(text, hidden), notPaths),
      clientVersion: around.clientVersion,
      startMs: START_MS,
      callMs: timeoutMs,
      signal: life.signal,
      open: (events: Parameters<typeof openHttp>[1]) =>
        "url" in reach
          ? openHttp({ ...reach, headers: values }, events)
          : openStdio({ ...reach, env: { ...around.env(), ...values } }, events),
      onToolsChanged: refreshSoon,
      onEnd(why: Error) {
        // Whoever starts it hears of it too, and tells it.
        if (!connection || status === "connecting") return;
        connection = undefined;
        if (triesLeft <= 0) tools = [];
        become("failed", why.message);
        tell(`has ended${triesLeft > 0 ? ", and is started again when it is needed" : ""}: ${why.message}`);
      },
    };
  };
  const ready = async (): Promise<void> => {
    const isDone = connection !== undefined || life.signal.aborted || config.isDisabled || triesLeft <= 0;
    if (!connecting && isDone) return;
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    await connecting;
  };
  const connected = async (): Promise<Connection> => {
    await ready();
    if (!connection) throw new Error(`it is not running: ${error ?? status}`);
    return connection;
  };

  return {
    config,
    get status() {
      return status;
    },
    get error() {
      return error;
    },
    get tools() {
      return tools;
    },
    ready,
    async call(tool, args, how) {
      for (let isAgain = false; ; isAgain = true) {
        const now = await connected();
        try {
          const answer = await now.callTool(tool, args, how);
          triesLeft = 1;
          return answer;
        } catch (failure) {
          if (!(failure instanceof SessionLost) || isAgain) throw failure;
          now.close();
          if (connection === now) connection = undefined;
          triesLeft = Math.max(1, triesLeft);
        }
      }
    },
    close() {
      life.abort();
      connection = undefined;
    },
  };
}
