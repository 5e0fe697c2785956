import { describe, expect, test } from "vitest";
import type { ExtensionActions } from "./actions.ts";
import { type ApiOptions, createApi } from "./create-api.ts";
import { createEventBus } from "./event-bus.ts";
import { newExtension } from "./extension.ts";
import { NEVER } from "./hooks.ts";

type Api = Record<string, (...given: unknown[]) => unknown>;

/** An API with what it has led to: what was registered, what was wrong, and what was asked of the session. */
function desk({ isBound = true, flags = {} as Record<string, boolean | string>, fails = false, isTaken = false } = {}) {
  const extension = newExtension({ path: "/a.ts", source: "cli", scope: "temporary", origin: "top-level" });
  const calls: unknown[][] = [];
  const problems: string[] = [];
  const heard: string[] = [];
  const providers: ApiOptions["providers"] = [];
  const mcpServers: ApiOptions["mcpServers"] = [];
  const actions = new Proxy({} as ExtensionActions, {
    get:
      (_target, name) =>
      (...given: unknown[]): unknown => {
        calls.push([name, ...given]);
        if (name !== "sendMessage" && name !== "sendUserMessage") return `${String(name)} done`;
        return fails ? Promise.reject(new Error("busy")) : Promise.resolve();
      },
  });
  const notices: string[] = [];
  const api = createApi({
    extension,
    actions() {
      if (!isBound) throw new Error("too early");
      return actions;
    },
    bound: () => (isBound ? actions : undefined),
    bus: createEventBus({ onError: () => undefined }).forExtension("/a.ts"),
    onHandler: (hook) => void heard.push(hook),
    addTool: (given) => !isTaken && Boolean(extension.tools.set(given.name, given)),
    onLastHandler: (hook) => void heard.push(`no ${hook}`),
    providers,
    mcpServers,
    flagValue: (name) => flags[name],
    problem: (event, error) => void problems.push(`${event}: ${error}`),
    notice: (_key, text) => void notices.push(text),
    extras: { zod: "of omp" },
  }) as Api;
  return { api, extension, calls, problems, heard, providers, mcpServers, notices };
}

const tool = { name: "forecast", description: "Wind", execute: () => undefined };
const handler = (): undefined => undefined;

describe("what is registered", () => {
  test("handlers, in their order; an event that nobody knows is told", () => {
    const { api, extension, heard, problems } = desk({ isBound: false });
    const other = (): undefined => undefined;
    api.on?.("tool_call", handler);
    api.on?.("tool_call", other);
    api.on?.("tide_turns", handler);
    expect(extension.handlers.get("tool_call")).toEqual([handler, other]);
    expect(heard).toEqual(["tool_call", "tool_call"]);
    expect(problems).toEqual(['on: there is no event "tide_turns": its handler is never called']);
    expect(() => api.on?.("tool_call", "not a function")).toThrow('on("tool_call"): the handler must be a function');
  });

  test("handlers that are taken back, once each", () => {
    const { api, extension, heard } = desk();
    const [first, second] = [api.on?.("input", handler), api.on?.("input", handler)] as (() => void)[];
    const before = extension.handlers.get("input");
    first?.();
    first?.();
    expect(extension.handlers.get("input")).toEqual([handler]);
    second?.();
    expect([extension.handlers.get("input"), before?.length]).toEqual([[], 2]);
    expect(heard).toEqual(["input", "input", "no input"]);
    expect(api.on?.("no_such_event", handler)).toBeTypeOf("function");
  });

  test.each(Object.entries(NEVER))("%s never happens here, and who listens is told so", (name, why) => {
    const { api, extension, notices } = desk();
    expect(api.on?.(name, handler)).toBeTypeOf("function");
    expect(notices).toEqual([
      `/a.ts listens to "${name}", which never happens here, because ${why}: that handler is never called`,
    ]);
    expect(extension.handlers.size).toBe(0);
  });

  test("servers of MCP: they wait for a session; one that is none is told", () => {
    const early = desk({ isBound: false });
    early.api.registerMcpServer?.("files", { command: "a" });
    early.api.registerMcpServer?.("charts", { url: "http://b" });
    early.api.unregisterMcpServer?.("files");
    expect(early.api.getMcpServers?.()).toEqual([]);
    expect(early.mcpServers).toEqual([{ extensionPath: "/a.ts", name: "charts", config: { url: "http://b" } }]);
    const late = desk();
    late.api.registerMcpServer?.("files", { command: "a" });
    late.api.unregisterMcpServer?.("files");
    expect(late.api.getMcpServers?.()).toBe("mcpServers done");
    expect(late.calls).toEqual([
      ["registerMcpServer", { extensionPath: "/a.ts", name: "files", config: { command: "a" } }],
      ["unregisterMcpServer", "files"],
      ["mcpServers"],
    ]);
    late.api.registerMcpServer?.(" ", {});
    late.api.registerMcpServer?.("x", "y");
    expect(late.problems).toEqual([
      'registerMcpServer: a server needs a name and an object, not " "',
      'registerMcpServer: a server needs a name and an object, not "x"',
    ]);
  });

  test("virtual models: they wait for a session like providers", () => {
    const early = desk({ isBound: false });
    early.api.registerVirtualModel?.({ id: "fast", model: "p/m" });
    expect(early.providers).toMatchObject([{ name: "virtual", virtual: { id: "fast", name: "fast" } }]);
    const late = desk();
    late.api.registerVirtualModel?.({ id: "fast", model: "p/m" });
    late.api.registerVirtualModel?.({ id: "fast" });
    expect(late.calls).toMatchObject([["registerVirtualModel", { provider: "virtual" }]]);
    expect(late.problems).toEqual([
      'registerVirtualModel: the virtual model "fast" does not say which model it stands for: model must be "provider/id"',
    ]);
  });

  test("tools: before there is a session they wait, later the session is told", () => {
    const early = desk({ isBound: false });
    early.api.registerTool?.(tool);
    expect([...early.extension.tools.keys(), early.calls]).toEqual(["forecast", []]);
    const late = desk();
    late.api.registerTool?.(tool);
    expect(late.calls).toEqual([["toolsChanged", "forecast"]]);
    const taken = desk({ isTaken: true });
    taken.api.registerTool?.(tool);
    expect(taken.calls).toEqual([]);
  });

  test.each<[method: string, given: unknown[], problem: string]>([
    ["registerTool", [{ ...tool, name: "a b" }], 'a tool needs a name of letters, digits, "_" and "-", not "a b"'],
    ["registerTool", [{ name: "idle" }], 'the tool "idle" has no function execute'],
    ["registerCommand", ["two words", { handler }], 'a command needs a name without spaces, not "two words"'],
    ["registerCommand", ["", { handler }], 'a command needs a name without spaces, not ""'],
    ["registerCommand", ["berth", {}], 'the command "berth" has no function handler'],
    ["registerCommand", ["berth", undefined], 'the command "berth" has no function handler'],
    ["registerFlag", ["night", { type: "number" }], 'the flag "night" must have the type "boolean" or "string"'],
    ["registerFlag", [7, { type: "boolean" }], 'the flag "7" must have the type "boolean" or "string"'],
  ])("%s(%j) is told and left out", (method, given, problem) => {
    const { api, extension, problems } = desk();
    expect(api[method]?.(...given)).toBeUndefined();
    expect(problems).toEqual([`${method}: ${problem}`]);
    expect(extension.tools.size + extension.commands.size + extension.flags.size).toBe(0);
  });

  test("flags have the value of the command line, else their default; those of others cannot be seen", () => {
    const { api } = desk({ flags: { course: "south", theirs: "secret" } });
    api.registerFlag?.("course", { type: "string", default: "north" });
    api.registerFlag?.("night", { type: "boolean", default: true });
    api.registerFlag?.("crew", { type: "string" });
    expect(["course", "night", "crew", "theirs"].map((name) => api.getFlag?.(name))).toEqual([
      "south",
      true,
      undefined,
      undefined,
    ]);
  });

  test("a flag that is registered as two types is told; the last one counts", () => {
    const { api, extension, notices } = desk();
    api.registerFlag?.("course", { type: "string" });
    api.registerFlag?.("course", { type: "string", default: "north" });
    expect(notices).toEqual([]);
    api.registerFlag?.("course", { type: "boolean" });
    expect(notices).toEqual([
      expect.stringContaining("--course is registered twice by /a.ts, as string and as boolean"),
    ]);
    expect(extension.flags.get("course")?.type).toBe("boolean");
  });

  test("providers: kept while the extensions are loaded, applied at once later", () => {
    const early = desk({ isBound: false });
    early.api.registerProvider?.("lighthouse", { baseUrl: "x" });
    early.api.unregisterProvider?.("lighthouse");
    expect(early.providers).toEqual([
      { extensionPath: "/a.ts", name: "lighthouse", config: { baseUrl: "x" } },
      { extensionPath: "/a.ts", name: "lighthouse" },
    ]);
    const late = desk();
    late.api.registerProvider?.("lighthouse", {});
    late.api.unregisterProvider?.("lighthouse");
    expect(late.calls.map(([name]) => name)).toEqual(["registerProvider", "unregisterProvider"]);
  });

  test("a provider that comes as an object has its name in it", () => {
    const { api, calls, problems } = desk();
    const whole = { id: "lighthouse", getModels: () => [] };
    api.registerProvider?.(whole);
    expect(calls).toEqual([["registerProvider", "lighthouse", whole]]);
    api.registerProvider?.({ id: "dark" });
    api.registerProvider?.({ getModels: () => [] });
    expect(problems).toEqual([
      'registerProvider: the provider "dark" has no function getModels',
      'registerProvider: a provider needs a name and an object, not "undefined"',
    ]);
  });

  test.each([
    "registerShortcut",
    "registerMessageRenderer",
    "registerEntryRenderer",
    "registerToolRenderer",
    "registerMarkdownTransformer",
  ])("%s is for terminals, and does nothing", (method) => {
    const { api, calls, problems } = desk();
    expect(api[method]?.("ctrl+h", handler)).toBeUndefined();
    expect([calls, problems]).toEqual([[], []]);
  });
});

describe("what is done to the session", () => {
  const content = [{ type: "text", text: "hi" }];
  const cases: [method: string, given: unknown[], call: unknown[]][] = [
    ["sendUserMessage", ["hi"], ["sendUserMessage", "hi", {}]],
    ["sendUserMessage", [content, { deliverAs: "steer" }], ["sendUserMessage", content, { deliverAs: "steer" }]],
    ["appendEntry", ["log", { a: 1 }], ["appendEntry", "log", { a: 1 }]],
    ["setSessionName", ["Aurora"], ["setSessionName", "Aurora"]],
    ["getSessionName", [], ["sessionName"]],
    ["setLabel", ["e1", "home"], ["setLabel", "e1", "home"]],
    ["exec", ["ls", ["-l"], { timeout: 5 }], ["exec", "ls", ["-l"], { timeout: 5 }]],
    ["getActiveTools", [], ["activeTools"]],
    ["getAllTools", [], ["allTools"]],
    ["setActiveTools", [["read"]], ["setActiveTools", ["read"]]],
    ["getCommands", [], ["commands"]],
    ["setModel", [{ provider: "p", id: "m" }], ["setModel", { provider: "p", id: "m" }]],
    ["getThinkingLevel", [], ["thinkingLevel"]],
    ["setThinkingLevel", ["low"], ["setThinkingLevel", "low"]],
    ["setThinkingLevel", ["max"], ["setThinkingLevel", "xhigh"]],
    ["getSettings", ["shell.path"], ["setting", "shell.path"]],
  ];
  test.each(cases)("%s(%j)", async (method, given, call) => {
    const { api, calls } = desk();
    await api[method]?.(...given);
    expect(calls).toEqual([call]);
  });

  test.each(cases)("%s cannot be called while the extensions are loaded", (method, given) => {
    expect(() => desk({ isBound: false }).api[method]?.(...given)).toThrow("too early");
  });

  test("a message of its own is put into shape", async () => {
    const { api, calls } = desk();
    await api.sendMessage?.({ customType: "flag", content: "red", display: true, details: 7, role: "user" });
    const message = { role: "custom", customType: "flag", content: "red", display: true, details: 7 };
    expect(calls).toEqual([["sendMessage", message, {}]]);
  });

  test.each<[method: string, given: unknown, error: string]>([
    ["sendMessage", "hi", "sendMessage: message must be an object"],
    ["sendMessage", { content: "hi" }, "sendMessage: message.customType must be a text"],
    ["sendUserMessage", { text: "hi" }, "sendUserMessage: content must be a text, or text and image blocks"],
    ["appendEntry", "", "appendEntry: customType must be a text"],
    ["setActiveTools", "read", "setActiveTools: names must be a list of tool names"],
    ["setThinkingLevel", "deeply", 'setThinkingLevel: "deeply" is no level: off, minimal, low, medium, high, xhigh'],
  ])("%s(%j) is refused where it is said", (method, given, error) => {
    const { api, calls } = desk();
    expect(() => api[method]?.(given)).toThrow(error);
    expect(calls).toEqual([]);
  });

  test("a message that cannot be sent is told: nobody waits for it", async () => {
    const { api, problems } = desk({ fails: true });
    await api.sendMessage?.({ customType: "flag", content: "red", display: true });
    await api.sendUserMessage?.("hi");
    expect(problems).toEqual(["send_message: busy", "send_user_message: busy"]);
  });
});

test("what the extensions of omp look for is there too", () => {
  expect(desk().api).toMatchObject({ zod: "of omp", events: { on: expect.any(Function), emit: expect.any(Function) } });
});
