import type { Params, Result } from "@tiller/protocol/commands/index";
import type { AgentSession } from "../../session/agent-session.ts";
import type { HostToolBridge, HostToolBridgeOptions } from "./host-tool-bridge.ts";
import type { HostUriBridge, HostUriBridgeOptions } from "./host-uri-bridge.ts";

/** What the host lends the agent, and its answers. What that needs is loaded when it first lends something. */
export interface HostSide {
  setTools(given: Params<"set_host_tools">): Promise<Result<"set_host_tools"> | { refused: string }>;
  setUriSchemes(given: Params<"set_host_uri_schemes">): Promise<Result<"set_host_uri_schemes"> | { refused: string }>;
  /** Answers of the host by the type of their frame. One that is malformed gets a response, so that nobody waits for ever. */
  readonly answers: Readonly<Record<string, (frame: Frame) => void>>;
  /** The host is gone. */
  close(): void;
}

type Frame = Record<string, unknown>;
/** Takes an answer, and gives back what is wrong with it. */
type Take = (frame: Frame) => string | undefined;

export type HostSideOptions = HostToolBridgeOptions &
  HostUriBridgeOptions & {
    session: AgentSession;
    refuse(command: string, id: unknown, error: string): void;
  };

export function createHostSide({ session, refuse, ...options }: HostSideOptions): HostSide {
  let tools: HostToolBridge | undefined;
  let uris: HostUriBridge | undefined;
  let isClosed = false;
  const closeAll = (): void => {
    tools?.close();
    uris?.close();
  };
  const answered = (type: string, take: () => Take | undefined) => {
    return (frame: Frame): void => {
      // Nobody waits for an answer before anything was lent.
      const problem = take()?.(frame);
      if (problem !== undefined) refuse(type, frame.id, problem);
    };
  };
  return {
    async setTools({ tools: given }) {
      const [{ createHostToolBridge }, hostTools] = await Promise.all([
        import("./host-tool-bridge.ts"),
        session.hostTools(),
      ]);
      tools ??= createHostToolBridge(options);
      // The host may have gone while this waited for its turn.
      if (isClosed) closeAll();
      return hostTools.set(given, tools.run);
    },
    async setUriSchemes({ schemes }) {
      const [{ createHostUriBridge }, hostUris] = await Promise.all([
        import("./host-uri-bridge.ts"),
        session.hostUris(),
      ]);
      uris ??= createHostUriBridge(options);
      if (isClosed) closeAll();
      return hostUris.set(schemes, uris.ask);
    },
    answers: {
      host_tool_update: answered("host_tool_update", () => tools?.update),
      host_tool_result: answered("host_tool_result", () => tools?.result),
      host_uri_result: answered("host_uri_result", () => uris?.result),
    },
    close() {
      isClosed = true;
      closeAll();
    },
  };
}
