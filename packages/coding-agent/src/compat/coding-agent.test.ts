import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer } from "@tiller/ai/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { codingAgentModule } from "./coding-agent.ts";
import type { ModelRegistry } from "./model-registry.ts";
import type { FoundSkills } from "./skills.ts";
import { createTestHost, type TestHost } from "./test-host.ts";

type Call = (...given: unknown[]) => unknown;

let host: TestHost;
let module: Record<string, unknown>;
beforeEach(async () => {
  host = createTestHost();
  module = await codingAgentModule(host)();
});
afterEach(() => host.remove());

const call = (name: string, ...given: unknown[]): unknown => (module[name] as Call)(...given);

test("facts about the process", () => {
  expect([module.VERSION, call("getAgentDir"), module.CONFIG_DIR_NAME]).toEqual(["1.2.3", host.agentDir, ".pi"]);
  expect(call("getPackageDir")).toBe(host.packageDir());
  expect([module.DEFAULT_MAX_BYTES, module.DEFAULT_MAX_LINES]).toEqual([51200, 2000]);
});

test.each([
  ["isBashToolResult", "bash"],
  ["isReadToolResult", "read"],
  ["isEditToolResult", "edit"],
  ["isWriteToolResult", "write"],
  ["isGrepToolResult", "grep"],
  ["isFindToolResult", "find"],
  ["isLsToolResult", "ls"],
])("%s knows results of %s", (name, toolName) => {
  expect([call(name, { toolName }), call(name, { toolName: "other" })]).toEqual([true, false]);
  expect(call("isToolCallEventType", toolName, { toolName })).toBe(true);
});

test.each([
  ["short", undefined, { text: "short", wasTruncated: false }],
  ["abcdef", 3, { text: "abc... [truncated]", wasTruncated: true }],
])("the line %j cut at %s", (line, longest, result) => {
  expect(call("truncateLine", line, longest)).toEqual(result);
});

test.each([
  ["---\nname: a\n---\n\nText\n", { frontmatter: { name: "a" }, body: "Text" }],
  ["---\nlist: [1, 2]\n---\nText", { frontmatter: { list: [1, 2] }, body: "Text" }],
  ["No header", { frontmatter: {}, body: "No header" }],
])("the front matter of %j", (text, result) => {
  expect(call("parseFrontmatter", text)).toEqual(result);
  expect(call("stripFrontmatter", text)).toBe(result.body);
});

test("front matter that is no YAML is an error with its line", () => {
  expect(() => call("parseFrontmatter", "---\na: [\n---\n")).toThrow("of the front matter");
});

test("skills are found at once, and what is wrong with them is told", () => {
  const write = (path: string, text: string): void => {
    mkdirSync(join(host.root, path, ".."), { recursive: true });
    writeFileSync(join(host.root, path), text);
  };
  write(".pi/skills/good/SKILL.md", "---\nname: good\ndescription: Does <good>\n---\nHow");
  write(".pi/skills/bad/SKILL.md", "---\nname: bad\n---\n");
  write("agent/skills/good/SKILL.md", "---\nname: good\ndescription: Second\n---\n");
  const { skills, diagnostics } = call("loadSkills") as FoundSkills;
  expect(skills).toMatchObject([
    { name: "good", filePath: join(host.root, ".pi/skills/good/SKILL.md"), source: "project" },
  ]);
  expect(diagnostics.map(({ path }) => path)).toEqual([join(host.root, ".pi/skills/bad/SKILL.md")]);
  expect(call("formatSkillsForPrompt", skills)).toContain("<description>Does &lt;good&gt;</description>");
  expect(call("formatSkillsForPrompt", [])).toBe("");
});

test("models and keys of this process, whatever a registry is made of", async () => {
  const Registry = module.ModelRegistry as (new (...given: unknown[]) => ModelRegistry) & { create: Call };
  for (const registry of [new Registry("a", "b"), Registry.create() as ModelRegistry]) {
    expect(registry.find("anthropic", "claude-test")).toBe(host.model);
    expect(await registry.getApiKeyAndHeaders(host.model)).toEqual({
      ok: true,
      apiKey: "ours",
      headers: { "x-own": "1" },
    });
    expect((await registry.complete(host.model, { messages: [] })).stopReason).toBe("stop");
    expect(await registry.getApiKeyForProvider("nobody")).toBeUndefined();
    registry.authStorage.setRuntimeApiKey("nobody", "k");
    expect(await registry.getApiKeyForProvider("nobody")).toBe("k");
  }
  host.models.credentials = () => Promise.reject(new Error("none"));
  expect(await new Registry().getApiKeyAndHeaders(host.model)).toEqual({ ok: false, error: "none" });
});

test("settings are read from the process, and what is set stays with the object", () => {
  interface Manager {
    [name: string]: (...given: unknown[]) => unknown;
  }
  const Settings = module.SettingsManager as { create(): Manager; inMemory(own?: object): Manager };
  const settings = Settings.create();
  expect(settings.getRetryEnabled!()).toBe(true);
  settings.setRetryEnabled!(false);
  settings.applyOverrides!({ compaction: { enabled: false }, theme: "dark" });
  expect([settings.getRetryEnabled!(), settings.getCompactionEnabled!(), settings.getTheme!()]).toEqual([
    false,
    false,
    "dark",
  ]);
  expect(Settings.create().getRetryEnabled!()).toBe(true);
  expect(Settings.inMemory({ retry: { maxRetries: 9 } }).getRetrySettings!()).toMatchObject({ maxRetries: 9 });
});

test("summaries are asked of a model", async () => {
  const preparation = {
    messagesToSummarize: [{ role: "user", content: "x", timestamp: 0 }],
    firstKeptEntryId: "e1",
    tokensBefore: 12,
    previousSummary: "before",
  };
  const result = await call("compact", preparation, host.model, "key", undefined, "the tests");
  expect(result).toEqual({ summary: "Hello you", firstKeptEntryId: "e1", tokensBefore: 12 });
  const [request] = host.asked;
  expect(request?.apiKey).toBe("key");
  const text = String(request?.messages[0]?.content);
  for (const part of ["[user]", "before", "the tests"]) expect(text).toContain(part);
});

test("a summary that fails is an error", async () => {
  const error = { type: "error" as const, error: Object.assign(new Error("full"), { kind: "server" }) as never };
  const failing = createTestHost([error]);
  const own = await codingAgentModule(failing)();
  await expect((own.generateSummary as Call)([], failing.model, 100)).rejects.toThrow("Summarization failed: full");
  failing.remove();
});

test("usage is that of the last whole answer", () => {
  const usage = { ...answer([]).usage, totalTokens: 5 };
  const entry = (message: unknown) => ({ type: "message", id: "a", parentId: null, timestamp: "", message });
  const entries = [entry(answer([], { usage })), entry(answer([], { stopReason: "aborted" }))];
  expect(call("getLastAssistantUsage", entries)).toBe(usage);
  expect(call("calculateContextTokens", usage)).toBe(5);
  const settings = module.DEFAULT_COMPACTION_SETTINGS;
  expect([call("shouldCompact", 90_000, 100_000, settings), call("shouldCompact", 10, 100_000, settings)]).toEqual([
    true,
    false,
  ]);
});

test("a bus goes on when a listener fails", async () => {
  const bus = call("createEventBus") as { on: Call; emit: Call };
  const heard: unknown[] = [];
  bus.on("c", () => {
    throw new Error("bad");
  });
  const stop = bus.on("c", (data: unknown) => heard.push(data)) as () => void;
  bus.emit("c", 1);
  stop();
  bus.emit("c", 2);
  await Promise.resolve();
  expect(heard).toEqual([1]);
  expect(host.lines).toEqual(['A listener of "c" failed: bad', 'A listener of "c" failed: bad']);
});

test("what would need a second agent says so when it is used, not before", () => {
  expect(() => call("createAgentSession")).toThrow("createAgentSession is not available inside an extension here");
  const Loader = module.DefaultResourceLoader as new () => object;
  class Mine extends Loader {}
  expect(() => new Mine()).toThrow("DefaultResourceLoader is not available");
  expect(() => call("createAgentSession")).toThrow("tiller --mode rpc");
});
