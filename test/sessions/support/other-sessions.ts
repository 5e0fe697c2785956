import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { at, type Frame, isRecord, list } from "../../support/frame.ts";
import { repoRoot } from "../../support/source-tree.ts";

/** Session files that other programs wrote, and what those programs say of them. */

const FIXTURES = join(repoRoot, "test/fixtures/sessions");

/** The working folder in the header of all of them, as JSON. */
export const CWD = '"/home/me/app"';

export interface Node {
  id: string;
  children: Node[];
  label?: string;
  labelTimestamp?: string;
}

/** Of files whose ids are made up on opening only the first three are known. */
export interface Expected {
  model: { provider: string; modelId: string };
  thinkingLevel: string;
  messages: Frame[];
  leafId?: string;
  name?: string | null;
  labels?: Record<string, string>;
  entryIds?: string[];
  tree?: Node[];
}

export interface Sample {
  name: string;
  bytes: Buffer;
  expected: Expected;
  /** Older than version 3: written anew when it is opened. */
  isOld: boolean;
  isDamaged: boolean;
  /** How many files with unreadable bytes there are after the repair; zeros are not worth one. */
  filesAside: number;
}

export const textOf = (name: string): string => readFileSync(join(FIXTURES, `${name}.jsonl`), "utf8");

function expectedOf(name: string): Expected {
  const expected: Expected = JSON.parse(readFileSync(join(FIXTURES, `${name}.expected.json`), "utf8"));
  // pi 0.87 keeps its system prompt as a message of the conversation; the system prompt is our own affair.
  return { ...expected, messages: expected.messages.filter(({ role }) => role !== "system") };
}

/** The lines that can be read; all of them, for a file that is whole. */
export const soundLines = (bytes: Buffer): string[] => bytes.toString().split("\n").filter(isJson);
const parsedLines = (bytes: Buffer): Frame[] => soundLines(bytes).map((line) => JSON.parse(line));

function isJson(line: string): boolean {
  try {
    return isRecord(JSON.parse(line));
  } catch {
    return false;
  }
}

/** All fixtures, so that a new one cannot be forgotten. */
const asFound = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".jsonl"))
  .toSorted()
  .map((path): Sample => {
    const name = path.replace(/\.jsonl$/, "");
    const isOld = name.startsWith("old");
    const bytes = Buffer.from(textOf(name));
    return { name, bytes, expected: expectedOf(name), isOld, isDamaged: false, filesAside: 0 };
  });

interface Change {
  change(text: string): string | Buffer;
  /** See `Sample`; undefined when it does no damage. */
  filesAside?: number;
}

/** What happens to files, or what other hands make of them. The conversation in it stays the same. */
const CHANGES: Record<string, Change> = {
  "no line end at its end": { change: (text) => text.trimEnd() },
  "the line ends of Windows": { change: (text) => text.replaceAll("\n", "\r\n") },
  "empty lines": { change: (text) => text.replaceAll("\n", "\n\n") },
  "fields in another order, and blanks": {
    change: (text) => soundLines(Buffer.from(text)).map(turnedAround).join(""),
  },
  "a last line that is cut off": { change: (text) => `${text}{"type":"message","id":"0000dead","pare`, filesAside: 1 },
  "zeros at its end": { change: (text) => Buffer.concat([Buffer.from(text), Buffer.alloc(4096)]), filesAside: 0 },
  "zeros in its middle": { change: (text) => inTheMiddle(text, "\0".repeat(512)), filesAside: 0 },
  "something else in its middle": { change: (text) => inTheMiddle(text, "} oops <html>"), filesAside: 1 },
};

function turnedAround(line: string): string {
  const fields = Object.entries(JSON.parse(line)).reverse();
  return ` { ${fields.map(([key, value]) => `${JSON.stringify(key)} : ${JSON.stringify(value)}`).join(" , ")} }\n`;
}

function inTheMiddle(text: string, what: string): string {
  const lines = text.split("\n");
  return [...lines.slice(0, 5), what, ...lines.slice(5)].join("\n");
}

const CHANGED = "pi-0.73.1/tree";

const changed = Object.entries(CHANGES).map(([what, { change, filesAside }]): Sample => {
  const bytes = Buffer.from(change(textOf(CHANGED)));
  const isDamaged = filesAside !== undefined;
  const expected = expectedOf(CHANGED);
  return { name: `${CHANGED} with ${what}`, bytes, expected, isOld: false, isDamaged, filesAside: filesAside ?? 0 };
});

export const SAMPLES: readonly Sample[] = [...asFound, ...changed];

export const entriesIn = (bytes: Buffer): Frame[] =>
  parsedLines(bytes).filter(({ type }) => type !== "session" && type !== "title");

/** What `get_session_stats` says, counted from the lines: every message on every branch, and every usage. */
export function countsOf(bytes: Buffer) {
  const entries = entriesIn(bytes);
  const messages = entries.flatMap(({ message }) => (isRecord(message) ? [message as Frame] : []));
  const ofRole = (role: string): number => messages.filter((message) => message.role === role).length;
  const calls = messages.flatMap(({ content }) => list(content)).filter((block) => at(block, "type") === "toolCall");
  const usages = [...entries, ...messages].map(({ usage }) => usage).filter(isRecord);
  const sum = (...path: string[]): number =>
    usages.reduce((total, usage) => total + Number(at(usage, ...path) ?? 0), 0);
  const [input, output, cacheRead, cacheWrite] = [sum("input"), sum("output"), sum("cacheRead"), sum("cacheWrite")];
  return {
    userMessages: ofRole("user"),
    assistantMessages: ofRole("assistant"),
    toolResults: ofRole("toolResult"),
    toolCalls: calls.length,
    totalMessages: messages.length - ofRole("system") + entries.filter(({ type }) => type === "custom_message").length,
    tokens: { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite },
    cost: sum("cost", "total"),
  };
}
