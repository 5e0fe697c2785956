import { writeFileSync } from "node:fs";
import { at, type Frame, isRecord } from "./frame.ts";

/**
 * Damages frames on purpose, between the process and the tests, so that a mutation run can show that the tests notice:
 * `npm run test:mutation` sets TILLER_MUTATE, and the process harness puts every frame it reads through `mutateFromEnv()`.
 */

export interface Mutation {
  /** A kind of frame, see `frameKind`; `message_update` also stands for `message_update:text_delta` and the like. */
  frame: string;
  /** Dotted path of the field, for example `data.model`. */
  field: string;
  op: "drop" | "change";
}

/** `response:NAME` and `failure:NAME` for responses, the type of the increment or the role for messages, else the type. */
export function frameKind(frame: Frame): string {
  if (frame.type === "response") return `${frame.success === true ? "response" : "failure"}:${frame.command}`;
  const detail = at(frame, "assistantMessageEvent", "type") ?? at(frame, "message", "role");
  return frame.type?.startsWith("message_") && typeof detail === "string" ? `${frame.type}:${detail}` : `${frame.type}`;
}

/** The damaged frame, or the very same object when the mutation does not concern it. */
export function applyMutation(frame: Frame, mutation: Mutation): Frame {
  const kind = frameKind(frame);
  if (kind !== mutation.frame && !kind.startsWith(`${mutation.frame}:`)) return frame;
  return mutateField(frame, mutation.field.split("."), mutation.op);
}

function mutateField<T extends Record<string, unknown>>(value: T, path: string[], op: Mutation["op"]): T {
  const [key, ...rest] = path;
  if (key === undefined || !(key in value)) return value;
  if (rest.length === 0) return op === "drop" ? without(value, key) : { ...value, [key]: changed(value[key]) };
  const inner = value[key];
  if (!isRecord(inner)) return value;
  const mutated = mutateField(inner, rest, op);
  return mutated === inner ? value : { ...value, [key]: mutated };
}

function without<T extends Record<string, unknown>>(value: T, key: string): T {
  const copy = { ...value };
  delete copy[key];
  return copy;
}

/** Another value of the same type, so that a check of types alone does not see it. */
function changed(value: unknown): unknown {
  if (typeof value === "string") return `${value}~`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return value.length > 0 ? value.slice(1) : ["mutated"];
  if (isRecord(value)) return Object.keys(value).length > 0 ? {} : { mutated: true };
  return "mutated";
}

/**
 * The damage asked for by the environment; without it every frame passes as it is. TILLER_MUTATE_HIT names a file that is
 * written when a frame was damaged, so that a mutation nobody noticed can be told from one that never happened.
 */
export function mutateFromEnv(env: NodeJS.ProcessEnv = process.env): (frame: Frame) => Frame {
  if (env.TILLER_MUTATE === undefined) return (frame) => frame;
  const mutation = parseMutation(env.TILLER_MUTATE);
  let hit = false;
  return (frame) => {
    const mutated = applyMutation(frame, mutation);
    if (mutated !== frame && !hit) {
      hit = true;
      if (env.TILLER_MUTATE_HIT !== undefined) writeFileSync(env.TILLER_MUTATE_HIT, frameKind(frame));
    }
    return mutated;
  };
}

export function parseMutation(text: string): Mutation {
  const value: unknown = JSON.parse(text);
  const [frame, field, op] = [at(value, "frame"), at(value, "field"), at(value, "op")];
  if (typeof frame === "string" && typeof field === "string" && (op === "drop" || op === "change")) {
    return { frame, field, op };
  }
  throw new Error(
    `TILLER_MUTATE is ${text}; expected {"frame":"agent_end","field":"messages","op":"drop" or "change"}`,
  );
}
