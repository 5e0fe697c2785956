import { COMMANDS } from "@tiller/protocol/commands/index";
import type { CommandRow, EventRow } from "@tiller/protocol/define";
import { EVENT_ENVELOPE, EVENT_GROUPS, EVENTS } from "@tiller/protocol/events";
import { AssistantMessage, ToolResultMessage, UserMessage } from "@tiller/protocol/message";
import { AssistantMessageEvent } from "@tiller/protocol/stream-event";
import { isRecord } from "../../test/support/frame.ts";
import type { Mutation } from "../../test/support/mutate.ts";

/** Which fields of which frames can be damaged: all that the tables promise and that works today. */

interface Target {
  frame: string;
  fields: string[];
}

/** Two mutations for each field of each target, in the order of the tables. */
export function planMutations(): Mutation[] {
  const targets = [
    ...responseTargets(),
    ...failureTargets(),
    ...eventTargets(),
    ...incrementTargets(),
    ...messageTargets(),
  ];
  return targets.flatMap(({ frame, fields }) =>
    fields.flatMap((field): Mutation[] => [
      { frame, field, op: "drop" },
      { frame, field, op: "change" },
    ]),
  );
}

function responseTargets(): Target[] {
  return rows<CommandRow>(COMMANDS).map(({ type, result }) => {
    const data = result === undefined ? [] : ["data", ...below("data", result)];
    return { frame: `response:${type}`, fields: ["type", "id", "command", "success", ...data] };
  });
}

function failureTargets(): Target[] {
  const fields = ["type", "command", "success", "error"];
  return [
    { frame: "failure:parse", fields },
    { frame: "failure:set_model", fields: [...fields, "id"] },
    { frame: "failure:prompt", fields: [...fields, "id"] },
  ];
}

function eventTargets(): Target[] {
  return rows<EventRow>(EVENTS).map((row) => {
    const envelope = Object.keys(EVENT_ENVELOPE).filter((name) => PLACES[name]?.(row) ?? true);
    return { frame: row.type, fields: [...new Set(["type", ...envelope, ...Object.keys(row.fields)])] };
  });
}

/** They belong to a prompt, but come before its first turn or after its last. */
const OUTSIDE_TURNS = new Set([
  "agent_start",
  "agent_settled",
  "auto_compaction_start",
  "auto_compaction_end",
  "prompt_result",
  "session_settled",
]);

/** Which events always carry the optional fields of the envelope. */
const PLACES: Record<string, (row: EventRow) => boolean> = {
  promptId: ({ promptScoped }) => promptScoped,
  turnIndex: ({ type, promptScoped }) => promptScoped && !OUTSIDE_TURNS.has(type),
  messageId: ({ type }) => type in EVENT_GROUPS.Messages,
};

/** The increments inside `message_update`, one target each. */
function incrementTargets(): Target[] {
  return alternatives(AssistantMessageEvent).map((schema) => ({
    frame: `message_update:${literal(schema, "type")}`,
    fields: below("assistantMessageEvent", schema),
  }));
}

/** What stands inside a finished message, for each role. */
function messageTargets(): Target[] {
  return [UserMessage, AssistantMessage, ToolResultMessage].map((schema) => ({
    frame: `message_end:${literal(schema, "role")}`,
    fields: below("message", schema),
  }));
}

function rows<Row extends { opens?: string }>(table: Record<string, Row>): Row[] {
  return Object.values(table).filter((row) => row.opens === undefined);
}

function below(prefix: string, schema: unknown): string[] {
  const names = new Set(alternatives(schema).flatMap((each) => Object.keys(properties(each))));
  return [...names].map((name) => `${prefix}.${name}`);
}

function alternatives(schema: unknown): unknown[] {
  return isRecord(schema) && Array.isArray(schema.anyOf) ? schema.anyOf : [schema];
}

function properties(schema: unknown): Record<string, unknown> {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
}

function literal(schema: unknown, name: string): string {
  const field = properties(schema)[name];
  if (isRecord(field) && typeof field.const === "string") return field.const;
  throw new Error(`the field ${name} of a message or increment is not a literal: ${JSON.stringify(field)}`);
}

/** The same choice for the same seed, so that a red run can be repeated. */
export function sampleMutations(mutations: readonly Mutation[], size: number, seed: number): Mutation[] {
  const random = randomNumbers(seed);
  const rest = [...mutations];
  const sample: Mutation[] = [];
  while (sample.length < size && rest.length > 0) {
    sample.push(...rest.splice(Math.floor(random() * rest.length), 1));
  }
  return sample;
}

/** A small linear congruential generator; chance need not be good here, only repeatable. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
