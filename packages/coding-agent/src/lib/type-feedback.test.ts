import { spawnSync } from "node:child_process";
import { afterEach, describe, expect, test, vi } from "vitest";
import { learnTypes } from "./type-feedback.ts";

/** What the engine says of a function that was called once, and again after the lesson. */
function twoLooks(): string[] {
  const program = `
    const learn = ${learnTypes};
    function once(point) { return point.x; }
    once({ x: 1 });
    %DebugPrint(once);
    learn(require);
    %DebugPrint(once);`;
  const node = spawnSync(process.execPath, ["--allow-natives-syntax", "-e", program], { encoding: "utf8" });
  expect(node.stderr).toBe("");
  return node.stdout.split("\n").filter((line) => line.includes("- feedback vector:"));
}

test("a function that was called once notes its types from now on", () => {
  const [before, after] = twoLooks();
  expect(before).toContain("No feedback vector");
  expect(after).toMatch(/feedback vector: 0x/);
});

describe("nothing is touched", () => {
  const asked: string[] = [];
  class Refused {
    constructor() {
      asked.push("session");
      throw new Error("no session for you");
    }
  }
  const answerWith = (url?: string) => (id: string) => {
    asked.push(id);
    return { url: () => url, Session: Refused };
  };
  afterEach(() => {
    vi.unstubAllEnvs();
    asked.length = 0;
  });

  test("where somebody counts what runs", () => {
    vi.stubEnv("NODE_V8_COVERAGE", "/anywhere");
    learnTypes(answerWith());
    expect(asked).toEqual([]);
  });

  test.each(["--inspect", "--inspect-brk=0", "--cpu-prof"])("where somebody looks on, with %s", (option) => {
    process.execArgv.push(option);
    learnTypes(answerWith());
    process.execArgv.pop();
    expect(asked).toEqual([]);
  });

  test("where a debugger was let in later", () => {
    learnTypes(answerWith("ws://127.0.0.1:9229/x"));
    expect(asked).toEqual(["node:inspector"]);
  });

  test("where it is refused", () => {
    expect(() => learnTypes(answerWith())).not.toThrow();
    expect(asked).toEqual(["node:inspector", "session"]);
  });
});
