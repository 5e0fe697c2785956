import type { Params, Result } from "@tiller/protocol/commands/index";
import type { AgentSession } from "../../session/agent-session.ts";
import type { HostToolBridge, HostToolBridgeOptions } from "./host-tool-bridge.ts";

/** What the host lends the agent, and its answers. What that needs is loaded when it first lends something. */
export interface HostSide {
  setTools(given: Params<"set_host_tools">): Promise<Result<"set_host_tools"> | { refused: string }>;
  /** Answers of the host by the type of their frame. One that is malformed gets a response, so that nobody waits for ever. */
  readonly answers: Readonly<Record<string, (frame: Record<string, unknown>) => void>>;
  /** The host is gone. */
  close(): void;
}

export interface HostSideOptions extends HostToolBridgeOptions {
  session: AgentSession;
  refuse(command: string, id: unknown, error: string): void;
}

export function createHostSide({ session, refuse, ...options }: HostSideOptions): HostSide {
  let tools: HostToolBridge | undefined;
  const answered = (type: string, take: (bridge: HostToolBridge) => HostToolBridge["result"]) => {
    return (frame: Record<string, unknown>): void => {
      // Nobody waits for an answer before anything was lent.
      const problem = tools && take(tools)(frame);
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
      return hostTools.set(given, tools.run);
    },
    answers: {
      host_tool_update: answered("host_tool_update", ({ update }) => update),
      host_tool_result: answered("host_tool_result", ({ result }) => result),
    },
    close: () => tools?.close(),
  };
}
