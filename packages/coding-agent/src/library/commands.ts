import { COMMAND_TABLE } from "@tiller/protocol/command-table.generated";
import type { CommandType, Params, Result } from "@tiller/protocol/commands/index";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import { MAX_FRAME_BYTES, MAX_REASSEMBLED_FRAME_BYTES } from "@tiller/protocol/frame-limits";
import type { Answer, Call } from "../modes/rpc/answer.ts";
import type { EventFrames } from "../modes/rpc/event-frames.ts";
import { createHandlers } from "../modes/rpc/handlers/index.ts";
import type { HostSide } from "../modes/rpc/host-side.ts";
import type { Transport } from "../modes/rpc/transport.ts";
import { withoutNulls } from "../modes/rpc/without-nulls.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { ExtensionUi } from "../session/ports.ts";

export type CallCommand = <K extends CommandType>(command: K, params?: Params<K>) => Promise<Result<K>>;

type AnyHandler = (params: object, call: Call) => Answer<unknown> | Promise<Answer<unknown>>;

const ELSEWHERE: Partial<Record<CommandType, string>> = {
  set_host_tools: "give the tools as customTools, or to setCustomTools",
  set_host_uri_schemes: "URLs of the host need a host on the other side of a pipe",
  set_event_filter: "look at the type of the event",
  negotiate_protocol: "nothing is sent in frames",
  subscribe: "nobody can miss an event here",
  set_update_mode: "events carry the whole message, made when it is looked at",
};

/** The commands of the protocol as functions: the same handlers, checks and words as over the wire. */
export function createCommands(
  session: AgentSession,
  facts: { version: string; dialect: Dialect; maxLineBytes: number; ui: ExtensionUi },
): CallCommand {
  const { version, dialect, maxLineBytes, ui } = facts;
  const handlers = createHandlers({
    session,
    frames: NO_FRAMES,
    facts: {
      version,
      dialect,
      limits: { maxLineBytes, maxFrameBytes: MAX_FRAME_BYTES, maxReassembledFrameBytes: MAX_REASSEMBLED_FRAME_BYTES },
    },
    dialect,
    host: NO_HOST,
    transport: NO_TRANSPORT,
    ui,
  });
  return async (command, params) => {
    const frame: Record<string, unknown> = { ...params };
    const problem = await problemOf(command, frame);
    if (problem !== undefined) throw new Error(problem);
    const handler = (handlers as Partial<Record<string, AnyHandler>>)[command]!;
    const answer = await handler(frame, {
      id: undefined,
      again: false,
      inTurn: (work) => work(),
      hold: () => undefined,
    });
    return dataOf(answer) as Promise<Result<typeof command>>;
  };
}

/** Why the command cannot be called like that. */
async function problemOf(command: CommandType, frame: Record<string, unknown>): Promise<string | undefined> {
  if (!Object.hasOwn(COMMAND_TABLE, command)) return `Unknown command: ${command}`;
  if (ELSEWHERE[command]) return `${command} is not for sessions in the same process: ${ELSEWHERE[command]}`;
  const row = COMMAND_TABLE[command];
  if (row.opens !== undefined) return `${command} is not available in this version (not built yet: ${row.opens})`;
  if (row.check(withoutNulls(frame, row.optional))) return undefined;
  const { explainCommand } = await import("@tiller/protocol/check");
  return explainCommand(command, frame);
}

async function dataOf(answer: Answer<unknown>): Promise<unknown> {
  if ("refused" in answer) throw new Error(answer.refused);
  if ("dataJson" in answer) return JSON.parse(answer.dataJson);
  if ("now" in answer) return dataOf(answer.now());
  if ("dataPieces" in answer) return JSON.parse([...answer.dataPieces].join(""));
  // What it starts goes on by itself, and its events tell how it ends.
  if ("job" in answer) void answer.job().catch(() => undefined);
  return answer.data;
}

const NO_FRAMES: EventFrames = {
  take: () => undefined,
  mode: "snapshot",
  only: undefined,
  beforeWrite: () => undefined,
  told: () => ({ oldest: 1, latest: 0, missed: false, frames: [] }),
};

const NO_TRANSPORT: Transport = {
  protocolVersion: 1,
  negotiate: async () => ({ begin: () => undefined }),
  send: () => undefined,
  answered: () => undefined,
};

const NO_HOST: HostSide = {
  setTools: async () => ({ refused: ELSEWHERE.set_host_tools ?? "" }),
  setUriSchemes: async () => ({ refused: ELSEWHERE.set_host_uri_schemes ?? "" }),
  answers: {},
  close: () => undefined,
};
