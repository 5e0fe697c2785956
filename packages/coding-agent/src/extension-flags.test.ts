import { describe, expect, test } from "vitest";
import { parseArgs, type RunArgs } from "./args.ts";
import { takeFlags } from "./extension-flags.ts";
import type { FlagDefinition } from "./extensions/extension.ts";

const FLAGS = new Map<string, FlagDefinition>([
  ["night", { type: "boolean", default: false }],
  ["course", { type: "string", default: "north" }],
]);

function run(argv: string[], program = "tiller"): RunArgs {
  const parsed = parseArgs(argv, program);
  if (parsed.kind !== "run") throw new Error(`no run: ${JSON.stringify(parsed)}`);
  return parsed.run;
}

describe("options that only extensions know", () => {
  test.each<[argv: string[], values: Record<string, boolean | string>, prompts: string[]]>([
    [["-p", "hello"], {}, ["hello"]],
    [["-p", "--night", "hello"], { night: true }, ["hello"]],
    [["-p", "--night=false", "hello"], { night: false }, ["hello"]],
    [["-p", "--night=anything"], { night: true }, []],
    [["-p", "--course=south", "hello"], { course: "south" }, ["hello"]],
    [["-p", "--course=", "hello"], { course: "" }, ["hello"]],
    // The word behind it is its value, and no prompt.
    [["-p", "--course", "south", "hello"], { course: "south" }, ["hello"]],
    [["-p", "--course", "south", "--course", "west"], { course: "west" }, []],
    [["-p", "hello", "--course", "south"], { course: "south" }, ["hello"]],
  ])("%j", (argv, values, prompts) => {
    const args = run(argv);
    const taken = takeFlags(args, FLAGS);
    expect([Object.fromEntries(taken.values), taken.refused, args.prompts]).toEqual([values, [], prompts]);
  });

  test("one that nobody knows is refused, as the dialect says it", () => {
    expect(takeFlags(run(["--mode", "rpc", "--day", "--night"]), FLAGS)).toEqual({
      values: new Map([["night", true]]),
      refused: ["Error: Unknown option: --day (--help lists all)"],
    });
    expect(takeFlags(run(["--mode", "rpc", "--day"], "xcsh"), FLAGS).refused).toEqual([
      "Warning: Unknown option ignored: --day",
    ]);
  });

  test("one that needs a value and has none is refused", () => {
    const { values, refused } = takeFlags(run(["--mode", "rpc", "--course"]), FLAGS);
    expect([values.size, refused]).toEqual([0, ["Error: --course needs a value: --course=VALUE"]]);
  });
});
