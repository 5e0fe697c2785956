import { at, type Frame, isRecord } from "./frame.ts";
import type { BlockKind, Item } from "./parse.ts";

/** Does a frame fit what a transcript says about it, and how is a frame written down in one. Pure. */

/** Folders of the sandbox, and texts that a story has given a name to, by the name they have in transcripts. */
export type Places = Record<string, string>;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What differs from run to run is replaced by a word: folders, ids, times. */
export function normalise(value: unknown, places: Places): unknown {
  if (typeof value === "string") {
    let text = value;
    for (const [name, path] of Object.entries(places)) text = text.replaceAll(path, `<${name}>`);
    return text.replace(UUID, "<uuid>");
  }
  if (Array.isArray(value)) return value.map((item) => normalise(item, places));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === "timestamp" ? "<time>" : normalise(item, places)]),
  );
}

export function expandPlaces(text: string, places: Places): string {
  return text.replace(/<(\w+)>/g, (whole, name: string) => places[name] ?? whole);
}

/** `"<=name>"` is any text, and that text is `<name>` from there on. */
const NAMING = /^<=(\w+)>$/;

/** The texts that a frame has where the expectation gives them a name. */
export function namedTexts(expected: unknown, actual: unknown): Places {
  if (typeof expected === "string") {
    const name = NAMING.exec(expected)?.[1];
    return name === undefined || typeof actual !== "string" ? {} : { [name]: actual };
  }
  if (typeof expected !== "object" || expected === null) return {};
  const parts = Object(actual) as Record<string, unknown>;
  return Object.assign({}, ...Object.entries(expected).map(([key, value]) => namedTexts(value, parts[key])));
}

/**
 * The first difference as a sentence, or undefined. An object fits when the named fields fit; an array must have as many
 * items, unless its last one is "…"; a text that ends with "…" may go on. `"<any>"` is any value, `"<absent>"` none,
 * `"<=name>"` any text.
 */
export function difference(expected: unknown, actual: unknown, path = ""): string | undefined {
  if (expected === "<absent>") return actual === undefined ? undefined : `${path} is there`;
  if (actual === undefined) return `${path} is missing`;
  if (expected === "<any>") return undefined;
  if (typeof expected === "string" && NAMING.test(expected)) {
    return typeof actual === "string" ? undefined : `${path} is ${JSON.stringify(actual)}, which is no text`;
  }
  if (Array.isArray(expected)) return arrayDifference(expected, actual, path);
  if (isRecord(expected)) {
    if (!isRecord(actual)) return `${path} is ${JSON.stringify(actual)}`;
    return firstOf(Object.entries(expected), ([key, value]) =>
      difference(value, actual[key], path ? `${path}.${key}` : key),
    );
  }
  return sameText(expected, actual) || Object.is(expected, actual) ? undefined : `${path} is ${JSON.stringify(actual)}`;
}

/** "Failed to parse: …" is the beginning of a text whose rest depends on the runtime. */
function sameText(expected: unknown, actual: unknown): boolean {
  if (typeof expected !== "string" || typeof actual !== "string" || !expected.endsWith("…")) return false;
  return actual.startsWith(expected.slice(0, -1));
}

function arrayDifference(expected: unknown[], actual: unknown, path: string): string | undefined {
  if (!Array.isArray(actual)) return `${path} is ${JSON.stringify(actual)}`;
  const isOpen = expected.at(-1) === "…";
  const items = isOpen ? expected.slice(0, -1) : expected;
  const fits = isOpen ? actual.length >= items.length : actual.length === items.length;
  if (!fits) return `${path} has ${actual.length} items`;
  return firstOf([...items.entries()], ([index, item]) => difference(item, actual[index], `${path}[${index}]`));
}

function firstOf<T>(items: readonly T[], look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Frames that a transcript need not mention: how an answer is cut into pieces is not part of a story, and their order is
 * checked by the event grammar anyway. Naming one pins it down.
 */
export function isProgress(frame: Frame): boolean {
  return frame.type === "message_update" || frame.type === "tool_execution_update";
}

/** One block of an assistant message, put together from its updates. */
export interface StreamedBlock {
  kind: BlockKind;
  text: string;
  call: unknown;
  /** How many frames from the first one on it takes, other blocks' updates included. */
  length: number;
}

/** The block that begins with `frames[from]`; undefined when none begins there or its end has not come yet. */
export function streamedBlock(frames: readonly Frame[], from: number): StreamedBlock | undefined {
  const first = frames[from]?.assistantMessageEvent;
  const kind = /^(text|thinking|toolcall)_start$/.exec(String(at(first, "type")))?.[1] as BlockKind | undefined;
  if (!kind) return undefined;
  let text = "";
  for (let i = from + 1; i < frames.length && frames[i]?.type !== "message_end"; i++) {
    const event = frames[i]?.assistantMessageEvent;
    if (at(event, "contentIndex") !== at(first, "contentIndex")) continue;
    if (at(event, "type") === `${kind}_delta`) text += at(event, "delta");
    if (at(event, "type") === `${kind}_end`) return { kind, text, call: at(event, "toolCall"), length: i - from + 1 };
  }
  return undefined;
}

export function blockDifference(
  item: Extract<Item, { kind: "block" }>,
  block: StreamedBlock,
  places: Places,
): string | undefined {
  if (item.block !== block.kind) return `the next block is ${block.kind}`;
  if (item.call) return difference(item.call, normalise(block.call, places), "the tool call");
  return difference(item.text, normalise(block.text, places), "the text");
}

const pick = (value: unknown, ...keys: string[]): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, at(value, key)]).filter(([, found]) => found !== undefined));

/** What is written down of a frame when a transcript is recorded: what a reader of the story wants to know. */
const RECORDED: Record<string, (frame: Frame) => Record<string, unknown>> = {
  message_start: ({ message }) => ({ message: pick(message, "role") }),
  message_end: ({ message }) => ({
    message: pick(message, "role", "stopReason", "errorMessage", "toolName", "isError"),
  }),
  tool_execution_start: (frame) => pick(frame, "toolName", "args"),
  tool_execution_end: (frame) => pick(frame, "toolName", "isError"),
  agent_end: (frame) => pick(frame, "willRetry"),
  agent_settled: (frame) => pick(frame, "aborted"),
  prompt_result: (frame) => pick(frame, "id", "status", "error"),
  notice: (frame) => pick(frame, "level", "message"),
  extension_error: (frame) => pick(frame, "extensionPath", "event", "error"),
  extension_ui_request: ({ type: _, id: __, ...shown }) => shown,
};

/** The lines that a recording has for these frames; bare types share a line. */
export function record(frames: readonly Frame[], places: Places): string[] {
  const lines: string[] = [];
  for (const [index, frame] of frames.entries()) {
    const block = streamedBlock(frames, index);
    if (block) lines.push(`<  message_update ${recordBlock(block, places)}`);
    if (isProgress(frame) || frame.type === "ready") continue;
    const normal = normalise(frame, places) as Frame;
    const fields = RECORDED[String(frame.type)]?.(normal);
    if (frame.type === "response") lines.push(`<  ${JSON.stringify(normal)}`);
    else if (fields) lines.push(`<  ${frame.type} ${JSON.stringify(fields)}`);
    else if (/^<( +\w+)+$/.test(lines.at(-1) ?? "")) lines.push(`${lines.pop()} ${frame.type}`);
    else lines.push(`<  ${frame.type}`);
  }
  return lines;
}

function recordBlock(block: StreamedBlock, places: Places): string {
  if (block.kind !== "toolcall") return `${block.kind} ${JSON.stringify(normalise(block.text, places))}`;
  return `toolcall ${at(block.call, "name")} ${JSON.stringify(normalise(at(block.call, "arguments"), places))}`;
}
