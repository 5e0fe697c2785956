import type { ToolInvocation } from "@tiller/agent/types";
import { describe, expect, test } from "vitest";
import { newExtension, type ToolDefinition } from "./extension.ts";
import { agentTool, toolProblem } from "./tools.ts";

const execute = () => "done";
const text = (words: string) => ({ type: "text", text: words });
const noSchema = (why: string) => `the parameters of the tool "dive" are no JSON Schema of an object: ${why}`;

describe("what is no tool, and why", () => {
  const dive = (parameters: unknown) => ({ name: "dive", execute, parameters });
  const names = 'a tool needs a name of letters, digits, "_" and "-", not ';
  const cases: [given: unknown, problem: string | undefined][] = [
    ["dive", "a tool must be an object"],
    [undefined, "a tool must be an object"],
    [{ execute }, `${names}undefined`],
    [{ name: "", execute }, `${names}""`],
    [{ name: "dive deep", execute }, `${names}"dive deep"`],
    [{ name: "x".repeat(65), execute }, `${names}"${"x".repeat(65)}"`],
    [{ name: "x".repeat(64), execute }, undefined],
    [{ name: "dive" }, 'the tool "dive" has no function execute'],
    [{ name: "dive", execute: "done" }, 'the tool "dive" has no function execute'],
    [{ name: "dive", execute, description: 7 }, 'the description of "dive" must be a text'],
    [dive(undefined), undefined],
    [dive({}), undefined],
    [dive({ type: "object", properties: { depth: { type: "number" } }, required: ["depth"] }), undefined],
    [dive({ type: "object", properties: { any: true, none: false } }), undefined],
    [dive({ type: "object", properties: { either: { type: ["string", "null"] } } }), undefined],
    [dive({ type: "object", properties: { list: { type: "array", items: { type: "string" } } } }), undefined],
    [dive("depth"), noSchema("they are string")],
    [dive([]), noSchema("they are a list")],
    [dive(null), noSchema("they are object")],
    [dive({ type: "string" }), noSchema('"type" is "string"')],
    [dive({ type: "object", properties: { depth: { type: "metres" } } }), noSchema('depth has the type "metres"')],
    [dive({ type: "object", properties: { depth: { type: ["number", 7] } } }), noSchema("depth has the type 7")],
    [dive({ type: "object", properties: { depth: "number" } }), noSchema("depth is no object")],
    [dive({ type: "object", properties: [] }), noSchema(".properties is no object")],
    [dive({ type: "object", required: "depth" }), noSchema(".required is no list")],
    [
      dive({ type: "object", properties: { way: { type: "object", properties: { up: { type: "yes" } } } } }),
      noSchema('way.up has the type "yes"'),
    ],
    [
      dive({ type: "object", properties: { list: { type: "array", items: { type: "thing" } } } }),
      noSchema('list[] has the type "thing"'),
    ],
  ];
  test.each(cases)("%o", (given, problem) => {
    expect(toolProblem(given)).toBe(problem);
  });

  test("a schema without end", () => {
    const endless: Record<string, unknown> = { type: "object" };
    endless.properties = { again: endless };
    expect(toolProblem(dive(endless))).toContain(noSchema(""));
  });
});

const picture = { type: "image", data: "aGk=", mimeType: "image/png" };

/** The tool as the loop has it, and what the watchdog saw. */
function made(given: Partial<ToolDefinition>) {
  const extension = newExtension({ path: "/x.ts", source: "cli", scope: "temporary", origin: "top-level" });
  const notes: string[] = [];
  const tool = agentTool(
    extension,
    { name: "dive", execute, ...given },
    {
      context: ({ source }, { signal }) => ({ owner: source.path, signal }),
      enter(label) {
        notes.push(`in ${label}`);
        return () => void notes.push("out");
      },
      use() {
        notes.push("used");
        return () => void notes.push("free");
      },
      concurrencyOf: (name) => (name === "read" ? "shared" : undefined),
    },
  );
  const updates: unknown[] = [];
  const controller = new AbortController();
  const { signal } = controller;
  const run = (args: Record<string, unknown> = {}) => {
    const onUpdate: ToolInvocation["onUpdate"] = (update) => void updates.push(update);
    return tool.execute({ toolCallId: "call_1", args, signal, onUpdate } as ToolInvocation);
  };
  return { tool, run, notes, updates, signal, abort: () => controller.abort() };
}

test("its extension is in use until it is over, or aborted: nobody waits for one that hangs", async () => {
  let end = (_text: string): void => undefined;
  const { run, notes, abort } = made({
    execute: () =>
      new Promise<string>((resolve) => {
        end = resolve;
      }),
  });
  const first = run();
  expect(notes.slice(-1)).toEqual(["out"]);
  end("up");
  await first;
  expect(notes.slice(-1)).toEqual(["free"]);
  void run();
  abort();
  expect(notes.slice(-2)).toEqual(["out", "free"]);
});

describe("what the model and the loop see", () => {
  test("the least there can be", () => {
    expect(made({}).tool).toMatchObject({
      name: "dive",
      label: "dive",
      description: "",
      parameters: { type: "object", properties: {} },
      concurrency: "exclusive",
      promptSnippet: "",
      promptGuidelines: [],
    });
    expect(made({}).tool).not.toHaveProperty("prepareArguments");
  });

  test("all there can be", () => {
    const kind = Symbol("kind");
    const parameters = {
      type: "object",
      properties: { depth: { type: "number", [kind]: "Number" } },
      [kind]: "Object",
    };
    const prepareArguments = (args: unknown) => ({ depth: args });
    const given = { label: "Dive", description: "Goes down", promptSnippet: "dives", promptGuidelines: ["Slowly."] };
    const { tool } = made({ ...given, parameters, prepareArguments });
    expect(tool).toMatchObject(given);
    expect(tool.parameters).toEqual({ type: "object", properties: { depth: { type: "number" } } });
    expect(Object.getOwnPropertySymbols(tool.parameters)).toEqual([]);
    expect(tool.prepareArguments?.(3)).toEqual({ depth: 3 });
  });

  test.each([
    [{}, { type: "object", properties: {} }],
    [{ description: "no words" }, { type: "object", properties: {}, description: "no words" }],
    [{ type: "object" }, { type: "object" }],
  ])("the schema %j becomes %j", (parameters, expected) => {
    expect(made({ parameters }).tool.parameters).toEqual(expected);
  });

  test.each([
    [{}, "exclusive"],
    [{ executionMode: "parallel" as const }, "shared"],
    [{ executionMode: "sequential" as const }, "exclusive"],
    [{ name: "read" }, "shared"],
    [{ name: "read", executionMode: "sequential" as const }, "exclusive"],
  ])("%j runs beside others: %s", (given, expected) => {
    expect(made(given).tool.concurrency).toBe(expected);
  });
});

describe("a call", () => {
  test("gets its id, arguments, signal and the context of its extension", async () => {
    const seen: unknown[] = [];
    const { run, signal, notes } = made({
      execute(id, params, given, _onUpdate, ctx) {
        seen.push(id, params, given, ctx);
        return "done";
      },
    });
    await run({ depth: 3 });
    expect(seen).toEqual(["call_1", { depth: 3 }, signal, { owner: "/x.ts", signal }]);
    expect(notes).toEqual(["used", "in /x.ts (tool dive)", "out", "free"]);
  });

  test("that throws fails, and the watchdog knows that it is over", async () => {
    const { run, notes } = made({
      execute() {
        throw new Error("no air");
      },
    });
    await expect(run()).rejects.toThrow("no air");
    expect(notes).toEqual(["used", "in /x.ts (tool dive)", "out", "free"]);
  });

  const results: [given: unknown, expected: unknown][] = [
    ["deep", { content: [text("deep")] }],
    ["half \ud800", { content: [text("half \ufffd")] }],
    [{ content: [text("deep")] }, { content: [text("deep")] }],
    [
      { content: "deep", details: { depth: 3 } },
      { content: [text("deep")], details: { depth: 3 } },
    ],
    [{ details: 3 }, { content: [], details: 3 }],
    [
      { content: [], terminate: true },
      { content: [], terminate: true },
    ],
    [{ content: [], terminate: "yes", isError: false }, { content: [] }],
    [
      { content: [text("no air"), picture], details: { depth: 3 }, isError: true, terminate: true },
      { content: [text("no air"), picture], details: { depth: 3 }, isError: true, terminate: true },
    ],
  ];
  test.each(results)("that gives back %j", async (given, expected) => {
    expect(await made({ execute: async () => given }).run()).toEqual(expected);
  });

  const wrong: [given: unknown, error: RegExp][] = [
    [undefined, /^The tool "dive" gave back no result: it must be an object with content/],
    [7, /gave back no result/],
    [[text("deep")], /gave back no result/],
    [{ content: [{ type: "video" }] }, /gave back no result/],
    [{ content: 7 }, /gave back no result/],
  ];
  test.each(wrong)("that gives back %j fails", async (given, error) => {
    await expect(made({ execute: () => given }).run()).rejects.toThrow(error);
  });

  test("tells its progress; what is none is passed over", async () => {
    const { run, updates } = made({
      execute(_id, _params, _signal, onUpdate) {
        for (const partial of [{ content: "one" }, "two", { content: 3 }, { details: 4 }, undefined])
          onUpdate?.(partial);
        return "done";
      },
    });
    await run();
    expect(updates).toEqual([{ content: [text("one")] }, { content: [], details: 4 }]);
  });
});
