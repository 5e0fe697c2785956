import { COMMAND_TABLE } from "./command-table.generated.ts";
import type { CommandType } from "./commands/index.ts";

/** Sorts one parsed line from the host. Plain code, because it runs for every line and from the first one on. */

/** Frames that answer a request of ours. They get no response themselves. */
export const ANSWER_TYPES = ["extension_ui_response", "host_tool_update", "host_tool_result"] as const;
export type AnswerType = (typeof ANSWER_TYPES)[number];

export type InboundFrame = Record<string, unknown>;

export type Classified =
  /** `id` as it came; undefined when absent or null. */
  | { kind: "command"; type: CommandType; id: unknown; frame: InboundFrame }
  | { kind: "unknown_command"; type: string; id: unknown; frame: InboundFrame }
  | { kind: "answer"; type: AnswerType; frame: InboundFrame }
  /** `reason` says what was wrong, to follow "Failed to parse command: ". */
  | { kind: "not_object" | "no_type"; reason: string };

export function classify(value: unknown): Classified {
  if (!isObject(value)) return { kind: "not_object", reason: `a frame must be a JSON object, got ${nameKind(value)}` };
  const type = value.type;
  if (typeof type !== "string") return { kind: "no_type", reason: reasonForType(type) };
  const id = value.id ?? undefined;
  if (isCommandType(type)) return { kind: "command", type, id, frame: value };
  if (isAnswerType(type)) return { kind: "answer", type, frame: value };
  return { kind: "unknown_command", type, id, frame: value };
}

export function isCommandType(type: string): type is CommandType {
  return Object.hasOwn(COMMAND_TABLE, type);
}

function isAnswerType(type: string): type is AnswerType {
  return (ANSWER_TYPES as readonly string[]).includes(type);
}

function isObject(value: unknown): value is InboundFrame {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reasonForType(type: unknown): string {
  if (type === undefined) return 'the frame has no "type"';
  return `"type" must be a string, got ${nameKind(type)}`;
}

function nameKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
