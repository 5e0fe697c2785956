/**
 * Entries that are JSON but not whole: written by hand, by another program or by an old version of one. A reader finds
 * in them what he may rely on; the line in the file stays as it is. Pure.
 */

type Line = Readonly<Record<string, unknown>>;
/** Gives back the same value when nothing is wrong with it. */
type Mend = (value: unknown) => unknown;
type Mends = Readonly<Record<string, Mend>>;

/** The entry with all fields that the conversation cannot do without; the same object when it has them. */
export function mended(entry: Line): Line {
  const { type, message } = entry;
  if (type !== "message") return withFields(entry, mendsFor(ENTRIES, type));
  if (!isLine(message)) return entry;
  const whole = withFields(message, mendsFor(MESSAGES, message.role));
  return whole === message ? entry : { ...entry, message: whole };
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
  return value.every(isWhole) ? value : value.filter(isWhole);
};
const textOrBlocks: Mend = (value) => (typeof value === "string" ? value : blocks(value));
const record: Mend = (value) => (isLine(value) ? value : {});
const usage: Mend = (value) => withFields(record(value) as Line, USAGE);
const cost: Mend = (value) => withFields(record(value) as Line, COST);

const NOTHING: Mends = {};
const TOKENS: Mends = { input: number, output: number, cacheRead: number, cacheWrite: number };
const USAGE: Mends = { ...TOKENS, totalTokens: number, cost };
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
};

/** The texts that a block of this kind must have. */
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  thinking: ["thinking"],
  image: ["data", "mimeType"],
  toolCall: ["id", "name"],
};

function isWhole(block: unknown): boolean {
  if (!isLine(block) || typeof block.type !== "string") return false;
  const needed = Object.hasOwn(BLOCKS, block.type) ? BLOCKS[block.type]! : [];
  return needed.every((field) => typeof block[field] === "string");
}

function isLine(value: unknown): value is Line {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
