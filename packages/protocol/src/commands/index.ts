import type { Static, TSchema } from "typebox";
import type { FieldsOf } from "../define.ts";
import { BASH } from "./bash.ts";
import { SLASH_COMMANDS } from "./commands.ts";
import { COMPACTION } from "./compaction.ts";
import { HOST_TOOLS } from "./host-tools.ts";
import { HOST_URIS } from "./host-uris.ts";
import { LOGINS } from "./logins.ts";
import { MESSAGES } from "./messages.ts";
import { MODEL } from "./model.ts";
import { PROMPTING } from "./prompting.ts";
import { QUEUE } from "./queue.ts";
import { RETRY } from "./retry.ts";
import { SESSION } from "./session.ts";
import { STATE } from "./state.ts";
import { SUB_AGENTS } from "./sub-agents.ts";
import { THINKING } from "./thinking.ts";
import { TODOS } from "./todos.ts";
import { TRANSPORT } from "./transport.ts";

/** The groups in the order of the documentation. */
export const COMMAND_GROUPS = {
  Prompting: PROMPTING,
  State: STATE,
  Messages: MESSAGES,
  Model: MODEL,
  Thinking: THINKING,
  Queues: QUEUE,
  Compaction: COMPACTION,
  Retry: RETRY,
  "Shell commands": BASH,
  Session: SESSION,
  "Slash commands": SLASH_COMMANDS,
  Todos: TODOS,
  "Host tools": HOST_TOOLS,
  "Sub-agents": SUB_AGENTS,
  "Host URIs": HOST_URIS,
  Logins: LOGINS,
  Transport: TRANSPORT,
} as const;

/** The one table of commands. Importing it loads TypeBox: from code on the start path import its types only. */
export const COMMANDS = {
  ...PROMPTING,
  ...STATE,
  ...MESSAGES,
  ...MODEL,
  ...THINKING,
  ...QUEUE,
  ...COMPACTION,
  ...RETRY,
  ...BASH,
  ...SESSION,
  ...SLASH_COMMANDS,
  ...TODOS,
  ...HOST_TOOLS,
  ...SUB_AGENTS,
  ...HOST_URIS,
  ...LOGINS,
  ...TRANSPORT,
} as const;

type Commands = typeof COMMANDS;

export type CommandType = keyof Commands;

/** The fields of a command, without `id` and `type`. */
export type Params<K extends CommandType> = FieldsOf<Commands[K]["params"]>;

/** What stands in `data`; undefined when the answer has none. */
export type Result<K extends CommandType> = Commands[K]["result"] extends TSchema
  ? Static<Commands[K]["result"]>
  : undefined;

/** Echoed as it came. */
export type RpcId = string | number;

/** A command as it stands on the wire; `RpcCommand<"prompt">` for one, `RpcCommand` for all. */
export type RpcCommand<K extends CommandType = CommandType> = {
  [T in K]: { id?: RpcId; type: T } & Params<T>;
}[K];

export interface RpcFailure {
  id?: RpcId;
  type: "response";
  /** `parse` when the line could not be understood as a command. */
  command: string;
  success: false;
  error: string;
}

export type RpcSuccess<K extends CommandType = CommandType> = {
  [T in K]: { id?: RpcId; type: "response"; command: T; success: true } & (Result<T> extends undefined
    ? { data?: undefined }
    : { data: Result<T> });
}[K];

export type RpcResponse<K extends CommandType = CommandType> = RpcSuccess<K> | RpcFailure;
