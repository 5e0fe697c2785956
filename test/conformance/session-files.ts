import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { at, type Frame } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";
import { stateOf } from "./looking.ts";

/** Session files: as tests find them on disk, and as tests write them down. */

export const fileOf = async (rpc: RpcProcess): Promise<string> => String((await stateOf(rpc)).sessionFile);

export const linesOf = (path: string): Frame[] =>
  readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Frame);

/** The header first; messages by their role, our own custom entries by their type. */
export const kindsOf = (path: string): unknown[] =>
  linesOf(path).map((line) => {
    if (line.type === "message") return at(line, "message", "role");
    return line.type === "custom" ? line.customType : line.type;
  });

export const sessionFiles = (rpc: RpcProcess): string[] => {
  const folder = join(rpc.sandbox.agentDir, "sessions");
  const found = statSync(folder, { throwIfNoEntry: false })
    ? readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"))
    : [];
  return found.map((path) => join(folder, path)).sort();
};

const TIME = "2026-01-01T00:00:00.000Z";
const USAGE = { input: 100, output: 20, cacheRead: 5, cacheWrite: 3, totalTokens: 128 };
const COST = { input: 0.1, output: 0.2, cacheRead: 0.05, cacheWrite: 0.15, total: 0.5 };

/** An entry under its id; without a parent it follows the one before it. */
export type Entry = { id: string; parentId?: string | null } & Record<string, unknown>;

export const user = (id: string, text: string, more: object = {}): Entry => ({
  id,
  type: "message",
  message: { role: "user", content: [{ type: "text", text }], timestamp: 1 },
  ...more,
});

/** An answer that cost half a dollar. */
export const assistant = (id: string, text: string, more: object = {}): Entry => ({
  id,
  type: "message",
  message: {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "script",
    provider: "script",
    model: "script",
    usage: { ...USAGE, cost: COST },
    stopReason: "stop",
    timestamp: 2,
  },
  ...more,
});

/** A session file that somebody wrote at another time. */
export function sessionText(cwd: string, entries: readonly Entry[], header: object = {}): string {
  let last: string | null = null;
  const lines = entries.map((entry) => {
    const { id, parentId = last, type, ...rest } = entry;
    last = id;
    return { type, id, parentId, timestamp: TIME, ...rest };
  });
  const head = { type: "session", version: 3, id: "an-old-session", timestamp: TIME, cwd, ...header };
  return [head, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Two questions, two answers. */
export const STORY: readonly Entry[] = [
  user("u1", "What is a tiller?"),
  assistant("a1", "A lever that turns a rudder."),
  user("u2", "And a rudder?"),
  assistant("a2", "A plate that turns the boat."),
];
