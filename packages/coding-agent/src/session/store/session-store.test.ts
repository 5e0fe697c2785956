import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSessionFile, type SessionFile } from "./session-file.ts";
import { createSessionStore } from "./session-store.ts";

const clock: Clock = { now: () => Date.UTC(2026, 0, 1), after: () => () => undefined };
const user = { role: "user" as const, content: "hi", timestamp: 1 };
const model = { provider: "p", id: "m" } as Model;

function countingIds(): IdSource {
  let n = 0;
  return { uuid: () => "session", short: () => `entry-${++n}`, lot: () => 0, count: (prefix) => prefix };
}

function open(file?: SessionFile, onWriteError: (error: Error) => void = () => undefined) {
  return createSessionStore({ cwd: "/w", clock, ids: countingIds(), sessionId: "s1", file, onWriteError });
}

describe("a session store", () => {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tiller-store-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it("makes the file with the first message: header, what was chosen before, the message, each linked to the one before", () => {
    const path = join(dir, "deep", "s.jsonl");
    const store = open(createSessionFile(path));
    store.appendModelChange(model);
    store.appendThinkingLevel("low");
    expect(existsSync(path)).toBe(false);
    store.appendMessage(user);
    store.close();
    const timestamp = "2026-01-01T00:00:00.000Z";
    expect(
      readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { type: "session", version: 3, id: "s1", timestamp, cwd: "/w" },
      { type: "model_change", id: "entry-1", parentId: null, timestamp, provider: "p", modelId: "m", model: "p/m" },
      { type: "thinking_level_change", id: "entry-2", parentId: "entry-1", timestamp, thinkingLevel: "low" },
      { type: "message", id: "entry-3", parentId: "entry-2", timestamp, message: user },
    ]);
  });

  it("has the line on disk when append returns", () => {
    const path = join(dir, "s.jsonl");
    const store = open(createSessionFile(path));
    store.appendMessage(user);
    expect(readFileSync(path, "utf8")).toContain('"role":"user"');
    store.close();
  });

  it("keeps everything in memory without a file", () => {
    const store = open();
    store.appendMessage(user);
    expect(store.messages).toEqual([user]);
    expect(store.sessionFile).toBeUndefined();
  });

  it("tells once that the file cannot be written and goes on in memory", () => {
    const told: string[] = [];
    const full: SessionFile = {
      path: "/full/s.jsonl",
      append() {
        throw new Error("ENOSPC: no space left on device");
      },
      close: () => undefined,
    };
    const store = open(full, (error) => told.push(error.message));
    store.appendMessage(user);
    store.appendMessage(user);
    expect(told).toEqual(["ENOSPC: no space left on device"]);
    expect(store.messages).toHaveLength(2);
  });
});
