import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model } from "@tiller/protocol/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseArgs } from "../args.ts";
import type { AskServer, ServerAnswer } from "../ask-server.ts";
import { systemClock } from "../lib/clock.ts";
import { openSetUp } from "../set-up.ts";
import { type DoctorReport, reportText } from "./check.ts";
import { listModels } from "./list-models.ts";
import { runDoctor } from "./run-doctor.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-doctor-"));
  mkdirSync(join(root, "agent"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

interface Scene {
  files?: Record<string, string>;
  env?: Record<string, string>;
  args?: string[];
  /** What servers answer, by provider; the others are not there. */
  servers?: Record<string, ServerAnswer>;
  isOffline?: boolean;
}

const SILENT: ServerAnswer = { kind: "silent", words: "nobody answers" };
const NO: ServerAnswer = { kind: "refused", status: 401, words: "invalid x-api-key" };
const has = (...ids: string[]): ServerAnswer => ({ kind: "models", models: ids.map((id) => ({ id }) as Model) });
const ollamaModel = (id: string) => ({ ...MODEL, id, name: id, provider: "ollama" });
const MODEL: Omit<Model, "id" | "name" | "provider"> = {
  api: "openai-completions",
  baseUrl: "http://127.0.0.1:11434/v1",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 32_768,
  maxTokens: 16_384,
};

async function scene({ files = {}, env = {}, args = [], servers = {} }: Scene) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, "agent", name), text, { mode: 0o600 });
  const full = { HOME: root, TILLER_DIR: join(root, "agent"), PATH: process.env.PATH, ...env };
  const parsed = parseArgs(["doctor", ...args], "tiller");
  if (parsed.kind !== "doctor") throw new Error(JSON.stringify(parsed));
  const setUp = await openSetUp({ run: parsed.run, env: full, cwd: root, clock: systemClock });
  if ("error" in setUp) throw new Error(setUp.error);
  const asked: { provider: string; url: string; key: string | undefined }[] = [];
  const ask: AskServer = async (row, url, { apiKey }) => {
    asked.push({ provider: row.id, url, key: apiKey });
    return servers[row.id] ?? SILENT;
  };
  return { setUp, env: full, clock: systemClock, ask, asked };
}

async function doctor(given: Scene): Promise<DoctorReport & { text: string; asked: unknown[] }> {
  const { asked, ...inputs } = await scene(given);
  const report = await runDoctor({ ...inputs, version: "1.2.3", isOffline: given.isOffline ?? false });
  return { ...report, text: reportText(report), asked };
}

const SERVER = { baseUrl: "http://127.0.0.1:9/v1", api: "openai-completions" };
const models = (entry: object) => JSON.stringify({ providers: { mine: { ...SERVER, ...entry } } });

describe("with nothing configured", () => {
  test("it is not ready, and says how to begin", async () => {
    const { ok, text } = await doctor({});
    expect(ok).toBe(false);
    expect(text).toMatch(/^tiller 1\.2\.3 on Node \d+.*agent folder /);
    expect(text).toContain("x   offline/scout: nothing else is configured, and it is no language model");
    expect(text).toMatch(/-> set ANTHROPIC_API_KEY, .*--model ollama\/NAME.*models\.json/);
    expect(text).toMatch(/Not ready: 1 problem\.$/);
  });

  test("but mistakes in mcp.json, it does not say that there is no configuration", async () => {
    const { text } = await doctor({ files: { "mcp.json": '{"mcpServers": []}' } });
    expect(text).toMatch(/agent: has no settings\.json, models\.json or auth\.json, which is fine/);
    expect(text).toContain("x   mcp.json: ");
  });

  test("but a server runs, that is the way", async () => {
    const { ok, text } = await doctor({ servers: { ollama: has("qwen3:8b", "llama3") } });
    expect(ok).toBe(false);
    expect(text).toContain("ok  ollama: http://127.0.0.1:11434/v1 answers; 2 models: ollama/qwen3:8b, ollama/llama3");
    expect(text).toContain("-   vllm: no server at http://127.0.0.1:8000/v1");
    expect(text).toContain("-> use the model that is there: --model ollama/qwen3:8b");
  });

  test("and the model of that server is named, it is ready", async () => {
    const { ok, text } = await doctor({
      args: ["--model", "ollama/llama3"],
      servers: { ollama: has("llama3:latest") },
    });
    expect(ok).toBe(true);
    expect(text).toContain("ok  ollama/llama3: would be asked now: the command line asks for it");
    expect(text).toMatch(/Ready\.$/);
  });

  test("and a model of it is named that it does not have", async () => {
    const { ok, text } = await doctor({ args: ["--model", "ollama/qwen3"], servers: { ollama: has("llama3") } });
    expect(ok).toBe(true);
    expect(text).toContain("!   ollama/qwen3: the server does not list it; it has llama3");
    expect(text).toMatch(/Ready, with 1 warning\.$/);
  });

  test("and the named server is not there", async () => {
    const { ok, text } = await doctor({ args: ["--model", "ollama/qwen3"] });
    expect(ok).toBe(false);
    expect(text).toContain("x   ollama: nobody answers\n      -> start the server, or");
  });
});

describe("with a key", () => {
  const env = { ANTHROPIC_API_KEY: "planted-key-1" };

  test("that works", async () => {
    const { ok, text, asked } = await doctor({ env, servers: { anthropic: has("claude-opus-5-5") } });
    expect(ok).toBe(true);
    expect(text).toContain("ok  anthropic: from ANTHROPIC_API_KEY");
    expect(text).toContain("ok  anthropic: https://api.anthropic.com answers; 1 model\n");
    expect(text).toContain("ok  anthropic/claude-opus-5-5: would be asked now: it is the first one that has a key");
    expect(text).not.toContain("planted");
    expect(asked).toContainEqual({ provider: "anthropic", url: "https://api.anthropic.com", key: "planted-key-1" });
    expect(asked).not.toContainEqual(expect.objectContaining({ provider: "openai" }));
  });

  test("that is refused", async () => {
    const { ok, text } = await doctor({ env, servers: { anthropic: NO } });
    expect(ok).toBe(false);
    expect(text).toContain(
      "x   anthropic: the key from ANTHROPIC_API_KEY is refused (401 from https://api.anthropic.com): invalid x-api-key\n",
    );
    expect(text).toContain("-> make a new key at https://");
  });

  test("that may not be used is another matter than one that nobody knows", async () => {
    const servers = { anthropic: { kind: "refused", status: 403, words: "not in your country" } as const };
    const { text } = await doctor({ env, servers });
    expect(text).toContain("x   anthropic: the key from ANTHROPIC_API_KEY may not be used (403 from");
    expect(text).toContain("): not in your country\n      -> look at what the key may do");
  });

  test("that is refused does not matter while its provider is not in use", async () => {
    const both = { ...env, OPENAI_API_KEY: "planted-key-2" };
    const servers = { anthropic: has("claude-opus-5-5"), openai: NO };
    const { ok, text } = await doctor({ env: both, servers });
    expect(ok).toBe(true);
    expect(text).toContain("!   openai: the key from OPENAI_API_KEY is refused (401");
    expect(text).toMatch(/Ready, with 1 warning\.$/);
  });

  test("of CI jobs for GitHub is nobody's key here", async () => {
    const { text, asked } = await doctor({ env: { GITHUB_TOKEN: "planted-ci", GH_TOKEN: "planted-ci" } });
    expect(text).not.toContain("github-models");
    expect(JSON.stringify(asked)).not.toContain("planted");
    const own = await doctor({ env: { GITHUB_MODELS_TOKEN: "planted-ci" } });
    expect(own.text).toContain("ok  github-models: from GITHUB_MODELS_TOKEN");
  });

  test.each<[status: number, level: string]>([
    [500, "x"],
    [429, "!"],
  ])("and a server that answers %i instead of a list, in its own words", async (status, mark) => {
    const { text } = await doctor({ env, servers: { anthropic: { kind: "failed", status, words: "try later" } } });
    expect(text).toContain(
      `${mark}   anthropic: https://api.anthropic.com answers ${status} when asked for its models: try later`,
    );
  });

  test("and a server that has no list", async () => {
    const { ok, text } = await doctor({ env, servers: { anthropic: { kind: "answers" } } });
    expect(ok).toBe(true);
    expect(text).toContain("ok  anthropic: https://api.anthropic.com answers, without a list of models");
  });

  test("with a character in it that no request can carry", async () => {
    const { ok, text } = await doctor({ env: { ANTHROPIC_API_KEY: "planted\u200b-key" } });
    expect(ok).toBe(false);
    expect(text).toContain("x   anthropic: The key of anthropic from ANTHROPIC_API_KEY holds a line break");
    expect(text).not.toContain("planted");
  });

  test("but no network", async () => {
    const { ok, text, asked } = await doctor({ env, isOffline: true });
    expect([ok, asked]).toEqual([true, []]);
    expect(text).toContain("-   servers: not asked (--offline or PI_OFFLINE)");
    expect(text).not.toContain("\nServers");
  });

  test("for a server that does not answer: bad when it is the one in use, else worth a look", async () => {
    const both = { ...env, OPENAI_API_KEY: "planted-key-2" };
    const { checks } = await doctor({ env: both, args: ["--model", "anthropic/claude-opus-5-5"] });
    const servers = checks.filter(({ area, level }) => area === "servers" && level !== "info");
    expect(servers.map(({ subject, level }) => [subject, level])).toEqual([
      ["anthropic", "problem"],
      ["openai", "warning"],
    ]);
  });

  test("and a proxy, whose password is nobody's business", async () => {
    const { text } = await doctor({ env: { ...env, HTTPS_PROXY: "http://me:planted@proxy.example:3128" } });
    expect(text).toContain("ok  HTTPS_PROXY: requests go through http://proxy.example:3128");
    expect(text).not.toContain("planted");
  });

  test("in auth.json that others may read", async () => {
    writeFileSync(join(root, "agent/auth.json"), '{"openai":{"type":"api_key","key":"planted"}}', { mode: 0o644 });
    const { text, checks } = await doctor({ servers: { openai: has("gpt") } });
    expect(text).toMatch(/! {3}auth\.json: other users .*\(mode 0644\).*chmod 600/);
    expect(checks).toContainEqual({ area: "keys", subject: "openai", level: "ok", text: "from auth.json" });
    expect(text).not.toContain("planted");
  });

  test("from a command, which is run to ask the server", async () => {
    const files = { "models.json": models({ apiKey: "!echo planted-by-command", models: [{ id: "m1" }] }) };
    const { ok, text, asked } = await doctor({ files, servers: { mine: has("m1") } });
    expect(ok).toBe(true);
    expect(text).toContain("ok  mine: from models.json (a command)");
    expect(asked).toContainEqual({ provider: "mine", url: SERVER.baseUrl, key: "planted-by-command" });
    expect(text).not.toContain("planted");
  });

  test("from a command that fails", async () => {
    const files = { "models.json": models({ apiKey: "!echo planted; exit 4", models: [{ id: "m1" }] }) };
    const { ok, text } = await doctor({ files });
    expect(ok).toBe(false);
    expect(text).toContain('x   mine: The command that gives the credentials of "mine" failed (exit code 4)');
    expect(text).not.toContain("planted");
  });
});

describe("what is set up wrongly is named", () => {
  test.each<[story: string, given: Scene, expected: string]>([
    [
      "a base URL without http://",
      { files: { "models.json": models({ baseUrl: "localhost:8000/v1", auth: "none", models: [{ id: "m1" }] }) } },
      'x   mine: its base URL is not a URL: "localhost:8000/v1"\n      -> a base URL begins with http',
    ],
    ["the address of a local server", { env: { OLLAMA_HOST: "a b" } }, '!   ollama: its base URL is not a URL: "a b"'],
    [
      "certificates that are not there",
      { env: { TILLER_CA_FILE: "/nowhere/ca.pem" } },
      "x   TILLER_CA_FILE: Cannot use the certificates in /nowhere/ca.pem (from TILLER_CA_FILE): ENOENT",
    ],
    [
      "certificates that are none",
      { env: { SSL_CERT_FILE: "/dev/null" } },
      "x   SSL_CERT_FILE: Cannot use the certificates in /dev/null (from SSL_CERT_FILE): it holds no PEM certificate",
    ],
    [
      "certificates that Node does without",
      { env: { NODE_EXTRA_CA_CERTS: "/nowhere/ca.pem" } },
      "!   NODE_EXTRA_CA_CERTS: Cannot use the certificates in /nowhere/ca.pem",
    ],
    [
      "a provider without a key, with the plainest way to one",
      { files: { "models.json": JSON.stringify({ providers: { anthropic: { baseUrl: "http://127.0.0.1:9" } } }) } },
      "!   anthropic: none found\n      -> set ANTHROPIC_API_KEY, or",
    ],
  ])("%s", async (_story, given, expected) => {
    expect((await doctor(given)).text).toContain(expected);
  });

  const servers: Scene["servers"] = { sdk: { kind: "unasked" } };
  const sdk = (name: string) => ({
    "models.json": JSON.stringify({
      providers: {
        sdk: { api: "ai-sdk", auth: "none", compat: { package: name }, models: [{ id: "a" }, { id: "b" }] },
      },
    }),
  });

  test("a package of the AI SDK that is not installed, once", async () => {
    const { ok, text } = await doctor({ files: sdk("@ai-sdk/amazon-bedrock"), servers });
    expect(ok).toBe(false);
    const line = `sdk: the package @ai-sdk/amazon-bedrock is not installed in ${join(root, "agent")}`;
    expect(text.split(line)).toHaveLength(2);
    expect(text).toContain(`x   ${line}\n      -> cd ${join(root, "agent")} && npm install @ai-sdk/amazon-bedrock`);
  });

  test("but one that is installed is fine", async () => {
    const home = join(root, "agent/node_modules/some-sdk");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "package.json"), "{}");
    const { ok, text } = await doctor({ files: sdk("some-sdk/deep"), servers });
    expect(ok).toBe(true);
    expect(text).toContain("ok  sdk: the package some-sdk/deep is installed");
    expect(text).not.toContain("so it was not checked");
  });
});

test("a provider on this machine without a model: the first one of the server would be taken", async () => {
  const { ok, text } = await doctor({ args: ["--provider", "ollama"], servers: { ollama: has("qwen3:8b", "b") } });
  expect(ok).toBe(true);
  expect(text).toContain("-   ollama: the first one of the server would be taken: ollama/qwen3:8b");
  expect(text).not.toContain("does not list it");
});

describe("the files", () => {
  test("are told with the place of what is wrong in them", async () => {
    const text = `{"providers": {
      "mine": ${JSON.stringify({ ...SERVER, auth: "none", models: [{ id: "m1" }] })},
      "bad": { "baseUrl": "http://x", "api": "openai-completions",
        "models": [{ "id": "m", "contextWindow": "large" }] }
    }}`;
    const report = await doctor({ files: { "models.json": text, "settings.json": "{" }, servers: { mine: has("m1") } });
    expect(report.ok).toBe(false);
    expect(report.text).toContain(
      "x   models.json: line 4, column 33: providers.bad.models[0].contextWindow must be a number above 0",
    );
    expect(report.text).toMatch(/x {3}settings\.json: line 1, column 2: /);
    expect(report.text).toContain("ok  mine/m1: would be asked now");
  });

  test("may describe a provider without a key", async () => {
    const { checks } = await doctor({ files: { "models.json": models({ models: [{ id: "m1" }] }) } });
    expect(checks).toContainEqual({
      area: "keys",
      subject: "mine",
      level: "warning",
      text: "none found",
      advice: 'add an apiKey to models.json; "auth": "none" if it needs none',
    });
  });

  test("may name a default model that nobody knows", async () => {
    const { text } = await doctor({ files: { "settings.json": '{"defaultProvider":"gone","defaultModel":"x"}' } });
    expect(text).toContain("!   set-up: The default model of the settings, gone/x, is not known; another one is used");
  });
});

describe("the list of models", () => {
  const list = async (given: Scene & { search?: string; isAll?: boolean }): Promise<string[]> => {
    const { asked: _, ...inputs } = await scene(given);
    const { search = "", isAll = false, isOffline = false } = given;
    const text = await listModels({ ...inputs, search, isAll, isOffline });
    return text.split("\n").map((line) => line.split(/\s{2,}/)[0] ?? "");
  };
  const files = { "models.json": models({ auth: "none", models: [{ id: "m1" }, { id: "m2" }] }) };

  test("has what can be used, and what servers on this machine have", async () => {
    const ollama: ServerAnswer = { kind: "models", models: [ollamaModel("a"), ollamaModel("b")] };
    expect(await list({ files })).toEqual(["model", "mine/m1", "mine/m2"]);
    expect(await list({ files, servers: { ollama } })).toEqual(["model", "mine/m1", "mine/m2", "ollama/a", "ollama/b"]);
    expect(await list({ files: {}, servers: { ollama } })).toEqual([
      "model",
      "mine/m1",
      "mine/m2",
      "ollama/a",
      "ollama/b",
    ]);
    expect(await list({ servers: { ollama }, search: "OLLAMA/B" })).toEqual(["model", "ollama/b"]);
    expect(await list({ servers: { ollama }, isOffline: true })).not.toContain("ollama/a");
  });

  test("hides the offline model as soon as there is another one", async () => {
    const ollama: ServerAnswer = { kind: "models", models: [ollamaModel("a")] };
    expect(await list({})).toEqual(["model", "offline/scout"]);
    expect(await list({ servers: { ollama } })).toEqual(["model", "ollama/a"]);
  });

  test("has everything with --all", async () => {
    const all = await list({ isAll: true, search: "claude-opus-5-5" });
    expect(all).toContain("anthropic/claude-opus-5-5");
  });
});

test("MCP servers are listed and not started; what is wrong with them is told", async () => {
  const servers = {
    deck: { command: process.execPath },
    far: { url: "https://user:secret@charts.example/mcp?key=secret" },
    off: { command: "x", disabled: true },
    lost: { command: "no-such-program" },
    typo: {},
  };
  const inputs = await scene({ files: { "mcp.json": JSON.stringify({ mcpServers: servers }) } });
  mkdirSync(join(root, ".tiller"));
  writeFileSync(join(root, ".tiller", "mcp.json"), "{}");
  const report = await runDoctor({ ...inputs, version: "1", isOffline: true });
  const told = report.checks
    .filter(({ area }) => area === "mcp")
    .map(({ subject, level, text }) => [subject, level, text]);
  expect(told).toEqual([
    [
      "mcp.json",
      "problem",
      expect.stringMatching(/mcp\.json:1:\d+: mcpServers\.typo needs either "command" or "url"$/),
    ],
    ["deck", "ok", `${process.execPath}, started when it is needed`],
    ["far", "ok", "over HTTP, at charts.example"],
    ["off", "info", "disabled"],
    ["lost", "problem", "there is no program no-such-program"],
    [join(root, ".tiller", "mcp.json"), "info", "not read: nobody has said that this project is trusted (--approve)"],
  ]);
  expect(reportText(report)).toContain("MCP servers\n");
  expect(reportText(report)).not.toContain("secret");
});
