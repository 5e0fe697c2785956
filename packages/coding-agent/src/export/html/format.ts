/**
 * What stands in an exported page, for the two that must agree on it: the exporter, which writes the file as a stream,
 * and the program in the page, which reads it. Pure; runs in Node and in the browser.
 *
 * The file, from top to bottom (`shell.ts` makes the text of every part, the exporter only puts them together):
 *
 *   openPage(start)               doctype, policy, style, the empty frame of the page, `start` as data, the program
 *   blockText(columns, entries)   as often as there are entries to write: first an index, then the entries themselves
 *   closePage(end)                what is known only at the end
 *
 * The program stands before the entries, so the first screen is painted while the rest of the file is still read. All
 * data is in `<script type="application/json">`: never executed, no markup, and parsed only when something in it is
 * looked at. The exporter writes
 *
 *   - every entry of the file, in the order of the file, on all branches, each as the JSON text of one object, redacted;
 *   - blocks of at most BLOCK_ENTRIES entries or about BLOCK_CHARS characters; a longer entry is a block of its own;
 *   - `columns`: indexColumns(those entries, the id of the entry before them);
 *   - images as they are in the messages (`data` base64): references to blobs resolved, the page checks what they are.
 *
 * The page trusts nothing of it: every field may be missing, of another type, or hostile.
 */

export const PAGE_FORMAT = 1;
export const BLOCK_ENTRIES = 200;
export const BLOCK_CHARS = 256 * 1024;

/** What is known before the first entry is read. Times are ISO 8601. */
export interface PageStart {
  format: typeof PAGE_FORMAT;
  sessionId: string;
  cwd: string;
  /** The name of the session, if it is known this early. */
  name?: string;
  started?: string;
  /** Version of Tiller, and when the page was made. */
  version: string;
  exported: string;
  redacted: boolean;
}

export interface PageTokens {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  total: number;
}

export interface PageTool {
  name: string;
  description?: string;
  /** JSON Schema. */
  parameters?: unknown;
}

/** What is known when the last entry is written. */
export interface PageEnd {
  entries: number;
  /** Where the session stands. Null or unknown: the last entry. */
  leafId: string | null;
  name?: string;
  /** `provider/model`, each once, in the order of their first answer. */
  models: string[];
  started?: string;
  ended?: string;
  durationMs?: number;
  /** Of the whole file, all branches. */
  tokens: PageTokens;
  cost: number;
  /** Entry id and its label, only those that count. */
  labels: [id: string, label: string][];
  systemPrompt?: string;
  tools?: PageTool[];
  /** Lines of the session file that could not be read and are missing here. */
  damagedLines?: number;
}

/**
 * One list each for what the page wants to know of every entry without parsing it. `parent` is 0 when it is the entry
 * just before (also in the block before), `null` for a root. `time` is milliseconds, the first one absolute, each
 * further one the difference to the one before. `usage` has a row only for entries that have some.
 */
export interface IndexColumns {
  id: string[];
  parent: (string | 0 | null)[];
  /** Place in KINDS. */
  kind: number[];
  time: number[];
  /** How many lines of text it takes to show it, roughly: the scroll bar should be about right before anything is shown. */
  lines: number[];
  usage: [row: number, input: number, output: number, cacheRead: number, cacheWrite: number, cost: number][];
}

/** Roles of messages, then types of entries. `other` is what this version does not know. */
export const KINDS = [
  "other",
  "user",
  "assistant",
  "toolResult",
  "bashExecution",
  "customMessage",
  "branchSummary",
  "compaction",
  "custom",
  "model_change",
  "thinking_level_change",
  "label",
  "session_info",
  "usage",
  "session_init",
] as const;
export type Kind = (typeof KINDS)[number];

/** Entry types, and roles of messages, that are shown alike. */
const ALIKE: Record<string, Kind> = {
  custom_message: "customMessage",
  hookMessage: "customMessage",
  branch_summary: "branchSummary",
  compactionSummary: "compaction",
  title_change: "session_info",
};

type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function kindOf(entry: unknown): Kind {
  if (!isFields(entry)) return "other";
  const isMessage = entry.type === "message" && isFields(entry.message);
  const name = isMessage ? (entry.message as Fields).role : entry.type;
  // `custom` as a role is a message of an extension, as a type it is data.
  if (isMessage && name === "custom") return "customMessage";
  const known = KINDS.find((kind) => kind === name);
  return known ?? (typeof name === "string" && Object.hasOwn(ALIKE, name) ? (ALIKE[name] as Kind) : "other");
}

/** The index of some entries that follow each other; `before` is the id of the one before the first. */
export function indexColumns(entries: readonly unknown[], before: string | undefined): IndexColumns {
  const columns: IndexColumns = { id: [], parent: [], kind: [], time: [], lines: [], usage: [] };
  let previousId = before;
  let previousTime = 0;
  for (const [row, entry] of entries.entries()) {
    const fields = isFields(entry) ? entry : {};
    const id = typeof fields.id === "string" ? fields.id : "";
    const parent = typeof fields.parentId === "string" ? fields.parentId : null;
    const time = timeOf(fields) ?? previousTime;
    columns.id.push(id);
    columns.parent.push(parent !== null && parent === previousId ? 0 : parent);
    columns.kind.push(KINDS.indexOf(kindOf(fields)));
    columns.time.push(time - previousTime);
    columns.lines.push(linesOf(fields));
    const usage = usageOf(fields);
    if (usage) columns.usage.push([row, ...usage]);
    previousId = id;
    previousTime = time;
  }
  return columns;
}

function timeOf(entry: Fields): number | undefined {
  const own = typeof entry.timestamp === "string" ? Date.parse(entry.timestamp) : Number.NaN;
  const inside = isFields(entry.message) ? entry.message.timestamp : entry.timestamp;
  const time = Number.isNaN(own) ? inside : own;
  return typeof time === "number" && Number.isFinite(time) ? Math.round(time) : undefined;
}

const amount = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0);

type Spent = [input: number, output: number, cacheRead: number, cacheWrite: number, cost: number];

function usageOf(entry: Fields): Spent | undefined {
  const usage = isFields(entry.message) ? entry.message.usage : entry.usage;
  if (!isFields(usage)) return undefined;
  const cost = isFields(usage.cost) ? amount(usage.cost.total) : 0;
  const spent: Spent = [
    amount(usage.input),
    amount(usage.output),
    amount(usage.cacheRead),
    amount(usage.cacheWrite),
    Number(cost.toPrecision(8)),
  ];
  return spent.some((value) => value !== 0) ? spent : undefined;
}

const LINE = 90;
/** Longer texts are cut off when they are shown, until somebody asks for the rest. */
const MOST_LINES = 400;

/** Text that is shown unfolded, in lines; every tool call is one folded line. */
function linesOf(entry: Fields): number {
  const message = isFields(entry.message) ? entry.message : entry;
  const content = message.content ?? message.summary ?? message.output;
  if (typeof content === "string") return linesOfText(content);
  if (!Array.isArray(content)) return 1;
  let lines = 0;
  for (const block of content) {
    if (!isFields(block)) continue;
    if (typeof block.text === "string") lines += linesOfText(block.text);
    else lines += block.type === "image" ? 12 : 2;
  }
  return Math.min(lines, MOST_LINES);
}

function linesOfText(text: string): number {
  let lines = 1 + Math.floor(text.length / LINE);
  for (let at = text.indexOf("\n"); at >= 0 && lines < MOST_LINES; at = text.indexOf("\n", at + 1)) lines += 1;
  return Math.min(lines, MOST_LINES);
}

/**
 * How an extension wants an entry of its own to be shown: text in a declared structure, never markup. The page looks
 * for it in `view` of the entry itself, of `data` (`custom`) or of `details` (`custom_message`, results of tools).
 */
export interface EntryView {
  title?: string;
  badge?: ViewBadge;
  blocks: ViewBlock[];
}

export interface ViewBadge {
  text: string;
  tone?: ViewTone;
}

export type ViewTone = "neutral" | "good" | "warning" | "bad";

export type ViewBlock =
  | { type: "text"; text: string }
  | { type: "markdown"; text: string }
  | { type: "code"; text: string; language?: string }
  | { type: "diff"; text: string }
  | { type: "terminal"; text: string }
  | { type: "fields"; fields: [name: string, value: string][] }
  | { type: "table"; columns: string[]; rows: string[][] }
  | { type: "badge"; text: string; tone?: ViewTone };
