import { isTooDeep, MOST_LEVELS } from "@tiller/protocol/depth";

/**
 * Entries that are JSON but not whole: written by hand, by another program or by an old version of one. A reader finds
 * in them what he may rely on; the line in the file stays as it is. Pure.
 */

type Line = Readonly<Record<string, unknown>>;
/** Gives back the same value when nothing is wrong with it. */
type Mend = (value: unknown) => unknown;
type Mends = Readonly<Record<string, Mend>>;

/** Each level takes a bracket and its end: what is shorter need not be looked at, and that is nearly everything. */
const SHORTEST_DEEP = 2 * MOST_LEVELS;

/**
 * The entry with all fields that the conversation cannot do without, and none that nobody could pass on; the same object when
 * nothing is wrong with it. `size` is that of its line.
 */
export function mended(given: Line, size: number): Line {
  const entry = size < SHORTEST_DEEP ? given : withoutDepth(given, { message: shallowMessage });
  const { type, message } = entry;
  if (type !== "message") return withFields(entry, mendsFor(ENTRIES, type));
  if (!isLine(message)) return entry;
  const whole = withFields(message, mendsFor(MESSAGES, message.role));
  return whole === message ? entry : { ...entry, message: whole };
}

const LEFT_OUT = { leftOut: `This was nested more than ${MOST_LEVELS} levels deep and is not shown` };

/** A field that is nested too deeply becomes a note that says so; those that are named are looked into. */
function withoutDepth(line: Line, inside: Mends): Line {
  let copy: Record<string, unknown> | undefined;
  for (const field of Object.keys(line)) {
    const value = line[field];
    if (typeof value !== "object" || value === null) continue;
    const mend = Object.hasOwn(inside, field) ? inside[field] : undefined;
    const shallow = mend ? mend(value) : isTooDeep(value) ? LEFT_OUT : value;
    if (shallow === value) continue;
    copy ??= { ...line };
    copy[field] = shallow;
  }
  return copy ?? line;
}

function shallowMessage(message: unknown): unknown {
  if (!isLine(message)) return isTooDeep(message) ? LEFT_OUT : message;
  return withoutDepth(message, { content: shallowBlocks });
}

function shallowBlocks(content: unknown): unknown {
  if (!isTooDeep(content)) return content;
  if (!Array.isArray(content)) return [];
  const shallow = content.map((block) => (isLine(block) ? withoutDepth(block, NOTHING) : []));
  return shallow.every((block, index) => block === content[index]) ? content : shallow;
}

function mendsFor(table: Readonly<Record<string, Mends>>, name: unknown): Mends {
  return typeof name === "string" && Object.hasOwn(table, name) ? table[name]! : NOTHING;
}

function withFields(line: Line, mends: Mends): Line {
  let copy: Record<string, unknown> | undefined;
  for (const field in mends) {
    const value = line[field];
    const mend = mends[field]!(value);
    if (mend === value) continue;
    copy ??= { ...line };
    copy[field] = mend;
  }
  return copy ?? line;
}

const text: Mend = (value) => (typeof value === "string" ? value : "");
const number: Mend = (value) => (typeof value === "number" ? value : 0);
const blocks: Mend = (value) => {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!Array.isArray(value)) return [];
  return value.every(isSound)
    ? value
    : value.filter(isWhole).map((block) => (isCall(block) ? withFields(block, CALL) : block));
};
const textOrBlocks: Mend = (value) => (typeof value === "string" ? value : blocks(value));
const record: Mend = (value) => (isLine(value) ? value : {});
const usage: Mend = (value) => withFields(record(value) as Line, USAGE);
const cost: Mend = (value) => withFields(record(value) as Line, COST);

const NOTHING: Mends = {};
const TOKENS: Mends = { input: number, output: number, cacheRead: number, cacheWrite: number };
const USAGE: Mends = { ...TOKENS, totalTokens: number, cost };
const CALL: Mends = { arguments: record };
const COST: Mends = { ...TOKENS, total: number };

const MESSAGES: Readonly<Record<string, Mends>> = {
  user: { content: textOrBlocks },
  assistant: { content: blocks, usage, provider: text, model: text },
  toolResult: { content: blocks, toolCallId: text, toolName: text },
  bashExecution: { command: text, output: text },
  custom: { content: textOrBlocks, customType: text },
  branchSummary: { summary: text },
  compactionSummary: { summary: text },
};

const ENTRIES: Readonly<Record<string, Mends>> = {
  compaction: { summary: text, tokensBefore: number },
  branch_summary: { summary: text },
  custom_message: { content: textOrBlocks, customType: text },
  // What is neither a text nor a list puts nothing in the place of a message.
  context_edit: { replacement: (value) => (Array.isArray(value) ? blocks(value) : value) },
};

/** The texts that a block of this kind must have. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  thinking: ["thinking"],
  image: ["data", "mimeType"],
  toolCall: ["id", "name"],
};

function isWhole(block: unknown): block is Line {
  if (!isLine(block) || typeof block.type !== "string") return false;
  const needed = Object.hasOwn(BLOCKS, block.type) ? BLOCKS[block.type]! : [];
  return needed.every((field) => typeof block[field] === "string");
}

function isSound(block: unknown): boolean {
  return isWhole(block) && (!isCall(block) || isLine(block.arguments));
}

const isCall = ({ type }: Line): boolean => type === "toolCall";

function isLine(value: unknown): value is Line {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
