import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { HookName } from "../session/ports.ts";
import type { EventBus } from "./event-bus.ts";
import type { Extension, ExtensionError, ToolDefinition } from "./extension.ts";
import { createGeneration } from "./generation.ts";

/** What factories get here: the extension that is being made, and the parts of its API. */
interface Api {
  extension: Extension;
  bus: EventBus;
  onHandler(hook: HookName): void;
  addTool(tool: ToolDefinition): boolean;
  providers: { extensionPath: string; name: string; config?: unknown }[];
}
type Factory = (api: Api) => unknown;

const clock = new FakeClock();
async function generate(...factories: (Factory | string)[]) {
  const errors: ExtensionError[] = [];
  const notices: string[] = [];
  const loaded = factories.map((factory, index) => {
    const source = { path: `/${index + 1}.ts`, source: "cli", scope: "temporary", origin: "top-level" } as const;
    return typeof factory === "string" ? { source, error: factory } : { source, factory: factory as never };
  });
  const making = createGeneration({
    loaded,
    limitMs: 5000,
    clock,
    enter: () => () => undefined,
    report: (error) => errors.push(error),
    notice: (_key, text) => notices.push(text),
    api: (extension, parts) => ({ extension, ...parts }),
  });
  await clock.advance(5000);
  const generation = await making;
  return { generation, errors, notices, paths: generation.extensions.map(({ source }) => source.path) };
}

const tool =
  (name: string, description = ""): Factory =>
  ({ addTool }) =>
    void addTool({ name, description, execute: () => "" });
const command =
  (name: string): Factory =>
  ({ extension }) =>
    void extension.commands.set(name, { handler: () => undefined });
const flag =
  (name: string, type: "boolean" | "string"): Factory =>
  ({ extension }) =>
    void extension.flags.set(name, { type });
const nothing: Factory = () => undefined;

test("a flag of two extensions is told when they do not agree on its type; the last one counts", async () => {
  const same = await generate(flag("a", "string"), flag("a", "string"));
  expect(same.notices).toEqual([]);
  const other = await generate(flag("a", "string"), flag("b", "boolean"), flag("a", "boolean"));
  expect(other.notices).toEqual([
    "The option --a is registered by /1.ts (string) and /3.ts (boolean); it is read as the latter wants it",
  ]);
  expect(other.generation.flags().get("a")).toEqual({ type: "boolean" });
});

describe("factories", () => {
  test("that are slow keep their place", async () => {
    const slow: Factory = async (api) => {
      await new Promise((resolve) => setImmediate(resolve));
      command("a")(api);
    };
    const { generation, paths, errors } = await generate(slow, command("b"));
    expect(paths).toEqual(["/1.ts", "/2.ts"]);
    expect(generation.commands().map(({ name }) => name)).toEqual(["a", "b"]);
    expect(errors).toEqual([]);
  });

  const failing: [name: string, factory: Factory | string, error: string][] = [
    [
      "a module that could not be evaluated",
      "Failed to load extension: no such file",
      "Failed to load extension: no such file",
    ],
    [
      "one that throws",
      () => {
        throw new Error("broken");
      },
      "Failed to load extension: broken",
    ],
    ["one that is rejected", () => Promise.reject(new Error("broken later")), "Failed to load extension: broken later"],
    [
      "one that never ends",
      () => new Promise(() => undefined),
      "Failed to load extension: the factory did not finish within 5 s",
    ],
  ];
  test.each(failing)("%s is told, and the others are there", async (_name, factory, error) => {
    const { paths, errors } = await generate(nothing, factory, nothing);
    expect(paths).toEqual(["/1.ts", "/3.ts"]);
    expect(errors).toEqual([{ extensionPath: "/2.ts", event: "load", error }]);
  });

  test("that fail leave nothing behind: what they have registered does not count", async () => {
    let made: Extension | undefined;
    const heard: string[] = [];
    let bus: EventBus | undefined;
    const failing: Factory = (api) => {
      made = api.extension;
      command("a")(api);
      tool("b")(api);
      api.bus.on("tide", () => void heard.push("the one that failed"));
      throw new Error("broken");
    };
    const { generation } = await generate(failing, (api) => {
      bus = api.bus;
      bus.on("tide", () => void heard.push("the other"));
    });
    bus?.emit("tide");
    expect(heard).toEqual(["the other"]);
    expect(generation.commands()).toEqual([]);
    expect(generation.tools().size).toBe(0);
    expect(made?.isAlive).toBe(false);
  });
});

describe("of the same name", () => {
  test("the first tool counts, and the owner of the other is told", async () => {
    const { generation, errors } = await generate(tool("dive", "first"), tool("dive", "second"), tool("rise"));
    expect(
      [...generation.tools()].map(([name, { extension, definition }]) => [
        name,
        extension.source.path,
        definition.description,
      ]),
    ).toEqual([
      ["dive", "/1.ts", "first"],
      ["rise", "/3.ts", ""],
    ]);
    const error = 'there is already a tool "dive", of /1.ts: this one is left out';
    expect(errors).toEqual([{ extensionPath: "/2.ts", event: "registerTool", error }]);
  });

  test("commands get numbers", async () => {
    const { generation, errors } = await generate(command("review"), command("review"));
    expect(generation.commands().map(({ name }) => name)).toEqual(["review:1", "review:2"]);
    expect(errors).toEqual([]);
  });
});

test("what is registered later counts, too", async () => {
  const apis: Api[] = [];
  const { generation } = await generate((api) => void apis.push(api));
  tool("late")(apis[0]!);
  command("later")(apis[0]!);
  expect([...generation.tools().keys()]).toEqual(["late"]);
  expect(generation.commands().map(({ name }) => name)).toEqual(["later"]);
});

test("a tool that comes later does not take the name of another extension's, and its owner is told", async () => {
  const apis: Api[] = [];
  const keep: Factory = (api) => void apis.push(api);
  const { generation, errors } = await generate(keep, tool("dive", "the first to have it"), keep);
  const descriptions = (): string[] =>
    [...generation.tools().values()].map(({ definition }) => definition.description ?? "");
  for (const api of apis) expect(api.addTool({ name: "dive", description: "late", execute: () => "" })).toBe(false);
  expect(descriptions()).toEqual(["the first to have it"]);
  const error = 'there is already a tool "dive", of /2.ts: this one is left out';
  expect(errors).toEqual(["/1.ts", "/3.ts"].map((extensionPath) => ({ extensionPath, event: "registerTool", error })));
  // Its own name it may give to another tool.
  tool("rise", "old")(apis[0]!);
  tool("rise", "new")(apis[0]!);
  expect(descriptions().sort()).toEqual(["new", "the first to have it"]);
});

test("hooks, flags and providers are collected", async () => {
  const { generation } = await generate(
    ({ onHandler, extension }) => {
      onHandler("input");
      extension.flags.set("loud", { type: "boolean", default: false });
    },
    ({ onHandler, extension, providers }) => {
      onHandler("input");
      onHandler("context");
      extension.flags.set("name", { type: "string" });
      providers.push({ extensionPath: "/2.ts", name: "harbour", config: {} });
    },
  );
  expect([...generation.heard]).toEqual(["input", "context"]);
  expect([...generation.flags().keys()]).toEqual(["loud", "name"]);
  expect(generation.providers).toEqual([{ extensionPath: "/2.ts", name: "harbour", config: {} }]);
});

describe("the bus between extensions", () => {
  test("a listener that throws is told with the channel", async () => {
    const { errors } = await generate(
      ({ bus }) => {
        bus.on("tide", () => {
          throw new Error("too low");
        });
      },
      ({ bus }) => bus.emit("tide", 3),
    );
    expect(errors).toEqual([{ extensionPath: "/1.ts", event: "events: tide", error: "too low" }]);
  });

  test("is silent when the generation is over, and its extensions are no longer alive", async () => {
    const heard: unknown[] = [];
    let bus: EventBus | undefined;
    const { generation } = await generate((api) => {
      bus = api.bus;
      bus.on("tide", (level) => void heard.push(level));
    });
    bus?.emit("tide", 1);
    expect(generation.extensions.map(({ isAlive }) => isAlive)).toEqual([true]);
    generation.end();
    bus?.emit("tide", 2);
    expect(heard).toEqual([1]);
    expect(generation.extensions.map(({ isAlive }) => isAlive)).toEqual([false]);
  });
});

test("who retires is alive until nothing of it is in use, however often somebody says that he is through", async () => {
  const { generation } = await generate(() => undefined);
  const isAlive = (): boolean | undefined => generation.extensions[0]?.isAlive;
  const [handler, tool] = [generation.use(), generation.use()];
  generation.retire();
  handler();
  handler();
  expect(isAlive()).toBe(true);
  tool();
  expect(isAlive()).toBe(false);
});
