import type { BashExecutionMessage } from "@tiller/protocol/message";
import { expect, it } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { type BashOutcome, createBashRunner, type RunShell } from "./bash-runner.ts";
import type { SessionEvent } from "./session-event.ts";

const RESULT = { output: "hi\n", exitCode: 0, cancelled: false, truncated: false };

/** A shell that ends when the test says so. */
function create() {
  const kept: BashExecutionMessage[] = [];
  const events: SessionEvent[] = [];
  const shells: { command: string; signal: AbortSignal; end(outcome: BashOutcome): void }[] = [];
  const isBusy = { now: false };
  const runShell: RunShell = (command, onText, signal) => {
    void onText("hi\n");
    return new Promise((end) => shells.push({ command, signal, end }));
  };
  const runner = createBashRunner({
    runShell,
    clock: new FakeClock(5),
    isBusy: () => isBusy.now,
    keep: (message) => kept.push(message),
    emit: (event) => {
      events.push(event);
      return undefined;
    },
  });
  return { runner, kept, events, shells, isBusy };
}

it("tells the output under the command's id and keeps a message when it has ended", async () => {
  const { runner, kept, events, shells } = create();
  const outcome = runner.run({ command: "echo hi", commandId: "7" });
  expect(events).toEqual([{ type: "bash_execution_update", id: "7", delta: "hi\n" }]);
  expect(kept).toEqual([]);
  shells[0]?.end(RESULT);
  expect(await outcome).toEqual(RESULT);
  expect(kept).toEqual([{ role: "bashExecution", command: "echo hi", ...RESULT, timestamp: 5 }]);
});

it("keeps nothing of a command that could not be run", async () => {
  const { runner, kept, shells } = create();
  const outcome = runner.run({ command: "x" });
  shells[0]?.end({ refused: "no" });
  expect(await outcome).toEqual({ refused: "no" });
  runner.deliver();
  expect(kept).toEqual([]);
});

it("holds messages back while a run is active, in the order in which the commands ended", async () => {
  const { runner, kept, shells, isBusy } = create();
  isBusy.now = true;
  const outcomes = [runner.run({ command: "a" }), runner.run({ command: "b", excludeFromContext: true })];
  shells[1]?.end(RESULT);
  await outcomes[1];
  shells[0]?.end(RESULT);
  await outcomes[0];
  expect(kept).toEqual([]);
  runner.deliver();
  runner.deliver();
  expect(kept.map(({ command, excludeFromContext }) => [command, excludeFromContext])).toEqual([
    ["b", true],
    ["a", undefined],
  ]);
});

it("aborts all that run, from the call on, and none that comes later", async () => {
  const { runner, shells } = create();
  const early = [runner.run({ command: "a" }), runner.run({ command: "b" })];
  runner.abortAll();
  void runner.run({ command: "c" });
  expect(shells.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  let isSettled = false;
  const settled = runner.settled().then(() => {
    isSettled = true;
  });
  for (const { end } of shells) end(RESULT);
  await Promise.all([...early, settled]);
  expect(isSettled).toBe(true);
});

it("says so when there was no room for the whole output", async () => {
  const { runner, events, shells } = create();
  const outcome = runner.run({ command: "yes" });
  shells[0]?.end({ ...RESULT, truncated: true });
  await outcome;
  expect(events.at(-1)).toMatchObject({ type: "notice", level: "warning", source: "bash" });
});
