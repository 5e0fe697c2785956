import { statSync } from "node:fs";
import { type Line, migrate, normalise } from "../session/store/migrations.ts";
import { nameOf, parseHead, parseLine, type SessionHead, textOf } from "../session/store/session-head.ts";
import { messageText } from "../session/store/session-summary.ts";
import { outline } from "./outline.ts";
import { counted, minute, oneLine } from "./plain-text.ts";

/** What `tiller sessions show` tells of one file. */
export interface SessionDescription {
  path: string;
  bytes: number;
  head: SessionHead;
  modified: string;
  name?: string;
  /** `provider/id` of the last one that was used or chosen. */
  model?: string;
  thinkingLevel?: string;
  entries: number;
  /** Messages by their role. */
  messages: Record<string, number>;
  toolCalls: number;
  compactions: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  /** Dollars. */
  cost: number;
  unreadableLines: number;
  outline: string[];
}

/** Undefined for a file without a session header. */
export function describeSession(path: string, bytes: Buffer): SessionDescription | undefined {
  const head = parseHead(bytes);
  if (!head) return undefined;
  const { lines, unreadable } = readLines(bytes);
  const header = lines.find(({ type }) => type === "session") ?? {};
  const own = lines.filter(({ type }) => type !== "session" && type !== "title");
  let next = 0;
  const entries = migrate(header, own, () => `line-${++next}`).entries.map((entry) => normalise(entry));
  const description: SessionDescription = {
    path,
    bytes: bytes.length,
    head,
    modified: modifiedAt(path),
    entries: entries.length,
    messages: {},
    toolCalls: 0,
    compactions: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
    unreadableLines: unreadable,
    outline: outline(entries.map(outlineItem)),
  };
  if (head.title !== undefined) description.name = head.title;
  for (const entry of entries) takeEntry(entry, description);
  return description;
}

function readLines(bytes: Buffer): { lines: Line[]; unreadable: number } {
  const lines: Line[] = [];
  let unreadable = 0;
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(0x0a, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const line = end > start ? parseLine(bytes.subarray(start, end)) : undefined;
    if (typeof line?.type === "string") lines.push(line);
    else if (end > start) unreadable += 1;
    start = end + 1;
  }
  return { lines, unreadable };
}

function outlineItem(entry: Line) {
  const { id, parentId } = entry;
  const message = entry.type === "message" ? (entry.message as Line | undefined) : undefined;
  const item = { id: String(id), parentId: typeof parentId === "string" ? parentId : null };
  return message?.role === "user" ? { ...item, text: messageText(message.content) } : item;
}

/** One row per kind of entry that says something about the whole. */
const TAKERS: Readonly<Record<string, (entry: Line, description: SessionDescription) => void>> = {
  message: ({ message }, description) => takeMessage((message ?? {}) as Line, description),
  model_change({ provider, modelId }, description) {
    description.model = [provider, modelId].filter(Boolean).join("/");
  },
  thinking_level_change({ thinkingLevel }, description) {
    if (typeof thinkingLevel === "string") description.thinkingLevel = thinkingLevel;
  },
  session_info: ({ name }, description) => takeName(name, description),
  title_change: ({ title }, description) => takeName(title, description),
  compaction(_, description) {
    description.compactions += 1;
  },
};

function takeEntry(entry: Line, description: SessionDescription): void {
  const type = String(entry.type);
  if (Object.hasOwn(TAKERS, type)) TAKERS[type]?.(entry, description);
  takeUsage(entry.usage, description);
}

function takeName(name: unknown, description: SessionDescription): void {
  delete description.name;
  const text = nameOf(name);
  if (text !== undefined) description.name = text;
}

function takeMessage(message: Line, description: SessionDescription): void {
  const role = String(message.role);
  const before = Object.hasOwn(description.messages, role) ? description.messages[role]! : 0;
  description.messages[role] = before + 1;
  if (role !== "assistant") return;
  if (textOf(message.provider) && textOf(message.model)) description.model = `${message.provider}/${message.model}`;
  if (Array.isArray(message.content)) {
    description.toolCalls += message.content.filter((block: Line | null) => block?.type === "toolCall").length;
  }
  takeUsage(message.usage, description);
}

function takeUsage(usage: unknown, description: SessionDescription): void {
  if (typeof usage !== "object" || usage === null) return;
  const { input, output, cacheRead, cacheWrite, cost } = usage as Line;
  const { tokens } = description;
  tokens.input += amount(input);
  tokens.output += amount(output);
  tokens.cacheRead += amount(cacheRead);
  tokens.cacheWrite += amount(cacheWrite);
  tokens.total = tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite;
  description.cost += amount((cost as Line | undefined)?.total);
}

function amount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function modifiedAt(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.mtime.toISOString() ?? "";
}

export function descriptionText(description: SessionDescription): string {
  const { path, bytes, head, modified, name, model, thinkingLevel, tokens, cost, unreadableLines } = description;
  const rows: [string, string | undefined][] = [
    ["session", `${head.id} (version ${head.version})`],
    ["name", name],
    ["file", `${path} (${size(bytes)})`],
    ["folder", head.cwd],
    ["created", minute(head.created)],
    ["modified", minute(modified)],
    ["parent", head.parentSession],
    ["model", model && `${model}${thinkingLevel ? `, thinking ${thinkingLevel}` : ""}`],
    ["messages", messagesText(description)],
    [
      "tokens",
      `${tokens.total}: ${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} cache read, ${tokens.cacheWrite} cache write`,
    ],
    ["cost", `$${Number(cost.toFixed(6))}`],
    ["damage", unreadableLines === 0 ? undefined : `${counted(unreadableLines, "line")} cannot be read; see verify`],
  ];
  const facts = rows.flatMap(([label, text]) => (text ? [`${label.padEnd(8)}  ${oneLine(text, 400)}`] : []));
  return [...facts, "", ...(description.outline.length > 0 ? description.outline : ["No user message yet."])].join(
    "\n",
  );
}

/** What the roles are called here; others are called by their name. */
const ROLE_TEXT: Readonly<Record<string, string>> = {
  toolResult: "tool results",
  bashExecution: "shell commands",
};

function messagesText({ messages, toolCalls, compactions, entries }: SessionDescription): string {
  const total = Object.values(messages).reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(messages).map(
    ([role, count]) => `${count} ${Object.hasOwn(ROLE_TEXT, role) ? ROLE_TEXT[role] : role}`,
  );
  const more = [counted(toolCalls, "tool call"), counted(compactions, "compaction")];
  return `${total} (of ${entries} entries): ${[...parts, ...more].join(", ")}`;
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 999_500 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 100_000) / 10} MB`;
}
