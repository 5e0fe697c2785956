import { describe, expect, test } from "vitest";
import { EVENTS, type EventType } from "../events.ts";
import { hasEvent } from "./dialect.ts";
import { DIALECTS, dialectForProgram, dialectNamed } from "./index.ts";

/** Frozen as literals: a change of a dialect is a change of what hosts see. */
const PI_BUSY = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
const OMP_BUSY = "Agent is already processing. Use steer() or followUp() to queue messages, or wait for completion.";

test.each([
  // name, ready, echoes id, exception as parse, interrupt, thinking, title, cancel, unknown flag, busy text
  ["union", true, false, false, "wait", "medium", false, true, "error", PI_BUSY],
  ["pi", false, true, false, "immediate", "medium", true, false, "error", PI_BUSY],
  ["omp", true, false, true, "immediate", "high", true, true, "warning", OMP_BUSY],
  ["xcsh", true, false, true, "wait", "high", false, true, "warning", OMP_BUSY],
] as const)(
  "%s",
  (name, ready, echoes, asParse, interruptMode, thinkingLevel, title, cancel, unknownFlag, busyText) => {
    expect(DIALECTS[name]).toMatchObject({
      name,
      sendsReady: ready,
      echoesIdOnUnknownCommand: echoes,
      unexpectedExceptionAsParse: asParse,
      defaults: { interruptMode, thinkingLevel },
      sendsTitle: title,
      sendsDialogCancel: cancel,
      answersFailedSends: name === "omp" || name === "xcsh",
      unknownFlag,
      busyText,
    });
  },
);

test.each([
  ["union", false],
  ["pi", false],
  ["omp", true],
  ["xcsh", true],
] as const)("%s: folder and environment of a shell command survive: %s", (name, keepsShellState) => {
  expect(DIALECTS[name].keepsShellState).toBe(keepsShellState);
});

test.each([
  ["union", false],
  ["pi", true],
  ["omp", false],
  ["xcsh", false],
] as const)("%s: a command of an extension is answered when it is done: %s", (name, answersCommandLate) => {
  expect(DIALECTS[name].answersCommandLate).toBe(answersCommandLate);
});

test.each([
  ["union", []],
  ["pi", ["prompt_result", "session_settled"]],
  ["omp", ["compaction_end", "compaction_start"]],
  ["xcsh", ["compaction_end", "compaction_start"]],
] as const)("%s leaves out the events %j", (name, missing) => {
  const types = Object.keys(EVENTS) as EventType[];
  expect(types.filter((type) => !hasEvent(DIALECTS[name], type)).toSorted()).toEqual(missing);
});

describe("which dialect", () => {
  test.each([
    ["/usr/local/bin/pi", "pi"],
    ["pi", "pi"],
    ["C:\\tools\\xcsh.cmd", "xcsh"],
    ["/home/me/bin/omp.js", "omp"],
    ["/repo/packages/coding-agent/dist/cli.js", "union"],
    ["/usr/local/bin/tiller", "union"],
    ["/opt/pi/cli.js", "union"],
    ["", "union"],
    ["/bin/constructor", "union"],
  ])("started as %j it is %s", (path, name) => {
    expect(dialectForProgram(path).name).toBe(name);
  });

  test("a name that is none gives none", () => {
    expect(dialectNamed("xcsh")?.name).toBe("xcsh");
    expect(dialectNamed("klingon")).toBeUndefined();
    expect(dialectNamed("toString")).toBeUndefined();
  });
});
