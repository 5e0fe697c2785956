import { describe, expect, test } from "vitest";
import type { BashOutcome } from "./session/bash-runner.ts";
import { testHooks } from "./session/test-hooks.ts";
import { runUserBash } from "./user-bash.ts";

type Answer = { result?: object; operations?: { exec: (...given: never[]) => unknown }; refused?: string };

/** Runs `tide` with what the extensions answer; the shell says "shell". */
async function bash(answer: Answer, { signal = new AbortController().signal, isExcluded = false } = {}) {
  const notes: string[] = [];
  const shown: string[] = [];
  const outcome: BashOutcome = await runUserBash(
    {
      hooks: testHooks({ user_bash: () => answer }, notes),
      cwd: "/harbour",
      runShell: async () => ({ refused: "shell" }),
    },
    "tide",
    (text) => void shown.push(text),
    signal,
    isExcluded,
  );
  return { outcome, shown: shown.join(""), notes };
}

describe("a shell command of the host", () => {
  test("is shown to extensions before it runs, and runs when none wants it", async () => {
    const { outcome, notes } = await bash({}, { isExcluded: true });
    expect(outcome).toEqual({ refused: "shell" });
    expect(notes).toEqual(['user_bash {"command":"tide","excludeFromContext":true,"cwd":"/harbour"}']);
  });

  test("is not run when one refuses it", async () => {
    expect((await bash({ refused: "not today" })).outcome).toEqual({ refused: "not today" });
  });

  test("is answered by an extension: the host sees the output, the shell nothing", async () => {
    const result = { output: "high", exitCode: 0, cancelled: false, truncated: false };
    expect(await bash({ result })).toMatchObject({ outcome: result, shown: "high" });
    expect(await bash({ result: { ...result, output: "" } })).toMatchObject({ shown: "" });
  });

  test("is run somewhere else", async () => {
    const seen: unknown[] = [];
    const exec = async (command: string, cwd: string, { onData }: { onData(data: Buffer): void }) => {
      seen.push(command, cwd);
      onData(Buffer.from("low\n"));
      onData(Buffer.from("high\n"));
      return { exitCode: 4 };
    };
    const { outcome, shown } = await bash({ operations: { exec } });
    expect(outcome).toMatchObject({ output: "low\nhigh\n", exitCode: 4, cancelled: false, truncated: false });
    expect([shown, seen]).toEqual(["low\nhigh\n", ["tide", "/harbour"]]);
  });

  test("that ends by a signal there has no code", async () => {
    const { outcome } = await bash({ operations: { exec: async () => ({ exitCode: null }) } });
    expect(outcome).toMatchObject({ output: "", exitCode: undefined, cancelled: false });
  });

  test("that cannot be run there is refused with the reason", async () => {
    const exec = async () => Promise.reject(new Error("no route to host"));
    expect((await bash({ operations: { exec } })).outcome).toEqual({ refused: "no route to host" });
  });

  test.each([
    ["and says so by an exception", async () => Promise.reject(new Error("killed"))],
    ["and ends as if nothing were", async () => ({ exitCode: 0 })],
  ])("that is aborted there is cancelled, %s", async (_how, exec) => {
    const { outcome } = await bash({ operations: { exec } }, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ cancelled: true, exitCode: undefined });
  });
});
