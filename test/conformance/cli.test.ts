import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { loadSettings } from "../../packages/coding-agent/src/config/settings.ts";
import { SETTING_ROWS, type SettingKey } from "../../packages/coding-agent/src/config/settings-schema.ts";
import { at } from "../support/frame.ts";
import { say, startMockLlm } from "../support/mock-llm.ts";
import { cliPath, type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";
import { type Proves, proves } from "./proofs.ts";

/** How the process is started, and what the command line decides. */

const start = useRpc();

const model = (id: string, more: object = {}) => ({
  id,
  contextWindow: 1000,
  maxTokens: 100,
  reasoning: true,
  ...more,
});
const server = { baseUrl: "http://127.0.0.1:9", api: "anthropic-messages", apiKey: "none" };
const TWO_PROVIDERS = JSON.stringify({
  providers: {
    north: { ...server, models: [model("owl-1"), model("fox-2", { name: "Fox the Second" })] },
    south: { ...server, models: [model("owl-1"), model("eel-3")] },
  },
});

/** Starts and looks: the model in use and the thinking level. */
async function chosen(args: string[], agentFiles: RpcOptions["agentFiles"] = {}): Promise<string> {
  const rpc = start({ args: ["--no-session", ...args], agentFiles: { "models.json": TWO_PROVIDERS, ...agentFiles } });
  const { data } = await rpc.call({ type: "get_state" });
  return `${at(data, "model", "provider")}/${at(data, "model", "id")}:${at(data, "thinkingLevel")}`;
}

/** What it had to say for people, all of it. */
async function finalStderr(rpc: RpcProcess): Promise<string> {
  rpc.closeStdin();
  await rpc.waitExit();
  return rpc.stderr;
}

/** A process that must not start: its exit code and what it says. */
async function refusal(options: RpcOptions): Promise<{ code: number | null; stderr: string }> {
  const rpc = start(options);
  const { code } = await rpc.waitExit();
  expect(rpc.stdoutBytes).toBe(0);
  return { code, stderr: rpc.stderr };
}

describe("the mode", () => {
  const spellings = [["--mode", "rpc"], ["--mode=rpc"], ["--mode", "rpc-ui"], ["--no-session", "--mode", "rpc"]];
  for (const mode of spellings) {
    proves("pi.cli.mode-rpc", `${mode.join(" ")} with other options behind it`, async () => {
      const rpc = start({ mode, args: ["--thinking", "low"], script: ['text "here"'] });
      expect(await rpc.call({ type: "get_state" })).toMatchObject({ data: { thinkingLevel: "low" } });
    });
  }

  it("must be given: there is no other one", async () => {
    const { code, stderr } = await refusal({ mode: [] });
    expect([code, stderr]).toEqual([2, expect.stringContaining("--mode rpc")]);
  });
});

it("the tools of the start are those of the setting defaultTools, and what is none is told", async () => {
  const rpc = start({ agentFiles: { "settings.json": '{"defaultTools": ["read", "bash", "fly"]}' } });
  const { data } = await rpc.call({ type: "get_context" });
  const tools = String(at(data, "systemPrompt")).matchAll(/^- (\w+): /gm);
  expect([...tools].map(([, name]) => name)).toEqual(["read", "bash"]);
  expect(await finalStderr(rpc)).toContain('there is no tool "fly"; it is left out');
});

describe("the first model", () => {
  const cases: { args: string[]; model: string; proves: Proves }[] = [
    { args: ["--provider", "south"], model: "south/owl-1:medium", proves: "pi.cli.provider" },
    { args: ["--provider", "north"], model: "north/owl-1:medium", proves: "pi.cli.provider" },
    { args: ["--provider", "south", "--model", "owl-1"], model: "south/owl-1:medium", proves: "pi.cli.provider" },
    { args: ["--model", "eel-3"], model: "south/eel-3:medium", proves: "pi.cli.model-pattern" },
    { args: ["--model", "fox"], model: "north/fox-2:medium", proves: "pi.cli.model-pattern" },
    { args: ["--model", "the second"], model: "north/fox-2:medium", proves: "pi.cli.model-pattern" },
    { args: ["--model", "south/owl-1"], model: "south/owl-1:medium", proves: "pi.cli.model-with-provider" },
    { args: ["--model", "north/owl-1"], model: "north/owl-1:medium", proves: "pi.cli.model-with-provider" },
    { args: ["--model", "eel-3:high"], model: "south/eel-3:high", proves: "pi.cli.model-with-thinking" },
    { args: ["--model", "north/fox:off"], model: "north/fox-2:off", proves: "pi.cli.model-with-thinking" },
  ];
  for (const { args, model, proves } of cases) {
    it(`is ${model} for ${args.join(" ")} [${proves}]`, async () => {
      expect(await chosen(args)).toBe(model);
    });
  }

  const unknown: [args: string[], said: string][] = [
    [["--provider", "west"], 'Unknown provider "west"'],
    [["--model", "bear"], 'Model "bear" not found'],
  ];
  for (const [args, said] of unknown) {
    it(`is missing for ${args.join(" ")}: the process starts and a prompt says how to configure one`, async () => {
      const rpc = start({ args: ["--no-session", ...args] });
      expect(await rpc.call({ type: "get_state" })).toMatchObject({ success: true, data: { model: null } });
      const answer = await rpc.call({ type: "prompt", message: "hi" });
      expect(answer).toMatchObject({ command: "prompt", success: false, error: expect.stringContaining(said) });
      expect(answer.error).toContain(`models.json`);
      expect(await rpc.call({ type: "set_model", provider: "offline", modelId: "scout" })).toMatchObject({
        success: true,
      });
      expect((await rpc.prompt("hi")).result).toMatchObject({ status: "completed", offline: true });
      expect(await finalStderr(rpc)).toContain(said);
    });
  }

  it("is missing with --no-offline-model and nothing configured", async () => {
    const rpc = start({ args: ["--no-session", "--no-offline-model"] });
    expect(await rpc.call({ type: "get_state" })).toMatchObject({ data: { model: null } });
    expect(await rpc.call({ type: "prompt", message: "hi" })).toMatchObject({
      success: false,
      error: expect.stringMatching(/No model selected.*ANTHROPIC_API_KEY/),
    });
  });

  it("is the offline model with nothing configured at all, and everybody is told", async () => {
    const rpc = start({ args: ["--no-session"] });
    expect(await rpc.waitFor("notice")).toMatchObject({
      level: "warning",
      message: expect.stringContaining("offline"),
    });
    expect((await rpc.prompt("hi")).result).toMatchObject({ status: "completed", offline: true });
    expect(await finalStderr(rpc)).toContain("offline model");
  });

  it("is the default role of a set-up in YAML, with its level", async () => {
    const config = "modelRoles:\n  default: south/eel-3:low\n  smol: north/owl-1\n";
    expect(await chosen([], { "config.yml": config })).toBe("south/eel-3:low");
    expect(await chosen(["--model", "fox"], { "config.yml": config })).toBe("north/fox-2:medium");
  });
});

describe("the session file", () => {
  const filesBelow = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".jsonl"));

  proves("pi.cli.no-session", "is not there with --no-session, wherever one looks", async () => {
    const rpc = start({ args: ["--no-session"], script: ['text "hi"'] });
    await rpc.prompt("hello");
    expect((await rpc.call({ type: "get_state" })).data).not.toHaveProperty("sessionFile");
    expect(filesBelow(rpc.sandbox.root)).toEqual([]);
  });

  proves("pi.cli.no-session", "is there without it", async () => {
    const rpc = start({ script: ['text "hi"'] });
    await rpc.prompt("hello");
    const { data } = await rpc.call({ type: "get_state" });
    expect(filesBelow(rpc.sandbox.root).map((path) => join(rpc.sandbox.root, path))).toEqual([at(data, "sessionFile")]);
  });

  proves("pi.cli.session-dir", "goes to the folder that --session-dir names", async () => {
    const rpc = start({ args: ["--session-dir", "my/talks"], script: ['text "hi"'] });
    await rpc.prompt("hello");
    const folder = join(rpc.sandbox.cwd, "my/talks");
    expect(filesBelow(rpc.sandbox.root)).toHaveLength(1);
    expect(filesBelow(folder)).toHaveLength(1);
    expect(readFileSync(join(folder, filesBelow(folder)[0] ?? ""), "utf8")).toContain("hello");
  });
});

describe("what the process refuses to start with", () => {
  proves("omp.cli.file-argument", "an @file argument", async () => {
    expect(await refusal({ args: ["@notes.txt"], files: { "notes.txt": "read me" } })).toEqual({
      code: 1,
      stderr: "Error: @file arguments are not supported in RPC mode\n",
    });
  });

  for (const dialect of ["union", "pi"]) {
    it(`an unknown option, in the ${dialect} dialect`, async () => {
      const { code, stderr } = await refusal({ args: ["--dialect", dialect, "--frobnicate"] });
      expect([code, stderr]).toEqual([2, "Error: Unknown option: --frobnicate (--help lists all)\n"]);
    });
  }

  for (const dialect of ["omp", "xcsh"]) {
    it(`but an unknown option is only a warning in the ${dialect} dialect`, async () => {
      const rpc = start({ args: ["--no-session", "--dialect", dialect, "--frobnicate"] });
      expect(await rpc.call({ type: "get_state" })).toMatchObject({ success: true });
      expect(await finalStderr(rpc)).toContain("Unknown option ignored: --frobnicate");
    });
  }
});

describe("--system-prompt", () => {
  const cases: [what: string, given: string, seen: string][] = [
    ["a text", "Speak like a pirate.", "Speak like a pirate."],
    ["the path of a file", "pirate.md", "Arr!"],
    ["a text that happens to name a folder", "src", "src"],
  ];
  for (const [what, given, seen] of cases) {
    it(`takes ${what}`, async () => {
      const files = { "pirate.md": "Arr!", "src/a.txt": "" };
      const script = [`expect system ${JSON.stringify(seen)} + text "aye"`];
      const rpc = start({ args: ["--no-session", "--system-prompt", given], files, script });
      expect((await rpc.prompt("hi")).result).toMatchObject({ status: "completed" });
    });
  }
});

describe("the name of the program", () => {
  for (const dialect of ["omp", "xcsh", "tiller"]) {
    it(`${dialect} is heard`, async () => {
      const { root, remove } = createSandbox();
      onTestFinished(remove);
      symlinkSync(cliPath(), join(root, dialect));
      const rpc = start({ cli: join(root, dialect), args: ["--no-session"] });
      expect(await rpc.waitFor("ready")).toMatchObject({ dialect: dialect === "tiller" ? "union" : dialect });
    });
  }
});

proves("xcsh.cli.no-title-generation", "nobody asks the model but the prompt", async () => {
  const llm = await startMockLlm();
  onTestFinished(() => llm.close());
  llm.reply(say("one"), say("two"), say("a title"));
  const rpc = start({ args: ["--model", "mock-1"], agentFiles: { "models.json": llm.modelsJson() } });
  await rpc.prompt("first");
  await rpc.prompt("second");
  rpc.closeStdin();
  await rpc.waitExit();
  expect(llm.requests.map(({ body }) => (body.messages as unknown[]).length)).toEqual([1, 3]);
});

describe("workflow settings of the user", () => {
  const groups: { prefix: string; proves: Proves }[] = [
    { prefix: "todo.", proves: "xcsh.cli.todo-settings-reset" },
    { prefix: "task.", proves: "xcsh.cli.task-settings-reset" },
    { prefix: "async.", proves: "xcsh.cli.async-settings-reset" },
  ];
  /** Another value than the default. */
  const different = (key: string): unknown => {
    const { type, default: value, values } = SETTING_ROWS[key] as { type: string; default: unknown; values?: string[] };
    if (values) return values.find((other) => other !== value);
    if (typeof value === "boolean") return !value;
    if (typeof value === "number") return value + 1;
    if (Array.isArray(value)) return ["mine"];
    return type === "map" ? { mine: "mine" } : "mine";
  };

  for (const { prefix, proves } of groups) {
    it(`${prefix}* give way to the built-in defaults [${proves}]`, () => {
      const { agentDir, cwd, remove } = createSandbox();
      onTestFinished(remove);
      const keys = Object.keys(SETTING_ROWS).filter((key): key is SettingKey => key.startsWith(prefix));
      const mine = Object.fromEntries(keys.map((key) => [key, different(key)]));
      writeFileSync(join(agentDir, "settings.json"), JSON.stringify(mine));
      mkdirSync(join(cwd, ".tiller"));
      writeFileSync(join(cwd, ".tiller/settings.json"), JSON.stringify(mine));
      const load = (rpc: boolean) =>
        loadSettings({ dialect: "xcsh", rpc, agentDir, cwd, projectTrust: "code", env: {}, flags: {} });
      const values = (rpc: boolean) => Object.fromEntries(keys.map((key) => [key, load(rpc).settings.get(key)]));

      expect(keys.length).toBeGreaterThan(1);
      expect(load(false).problems).toEqual([]);
      expect(values(false)).toEqual(mine);
      expect(values(true)).toEqual(
        Object.fromEntries(
          keys.map((key) => [key, SETTING_ROWS[key]?.dialectDefaults?.xcsh ?? SETTING_ROWS[key]?.default]),
        ),
      );
    });
  }

  it("are not even read by the process, others are", async () => {
    const wrong = { todo: { enabled: "?" }, task: { eager: "?" }, async: { enabled: "?" }, retry: { enabled: "?" } };
    const rpc = start({ args: ["--no-session"], agentFiles: { "settings.json": JSON.stringify(wrong) } });
    expect((await finalStderr(rpc)).match(/\w+\.\w+ is "\?"/g)).toEqual(['retry.enabled is "?"']);
  });
});
