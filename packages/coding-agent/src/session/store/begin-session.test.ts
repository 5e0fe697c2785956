import { expect, it } from "vitest";
import { beginSession, newHeader } from "./begin-session.ts";
import { countingIds, STARTED, stillClock } from "./test-sessions.ts";

const origin = () => ({ clock: stillClock, ids: countingIds(), cwd: "/w" });

it("a session that begins has a header and nothing else, and no file yet", () => {
  const { log, path, disk } = beginSession(origin(), { path: "/x/s.jsonl" });
  expect(log.header).toEqual({ type: "session", version: 3, id: "session-1", timestamp: STARTED, cwd: "/w" });
  expect([log.length, path, disk]).toEqual([0, "/x/s.jsonl", undefined]);
});

it("a session may be given an id, and say what it came from", () => {
  expect(newHeader(origin(), { id: "mine", parentSession: "/old.jsonl" })).toEqual({
    type: "session",
    version: 3,
    id: "mine",
    timestamp: STARTED,
    cwd: "/w",
    parentSession: "/old.jsonl",
  });
  expect(beginSession(origin(), {}).path).toBeUndefined();
});
