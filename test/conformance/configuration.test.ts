import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { at, list } from "../support/frame.ts";
import { PLAYS_ALL } from "../support/part-of.ts";
import { cliPath, type RpcProcess, repoRoot, useRpc } from "../support/rpc-process.ts";
import { createSandbox, type SandboxOptions } from "../support/sandbox.ts";

/** models.json, models.yml, auth.json, `tiller models` and `tiller doctor`, with the real program and a server on loopback. */

const KEY = "planted-key-4f1c9a";

/** A server that lists one model and refuses every other key, quoting it, as real ones do. */
let baseUrl: string;
const requests: string[] = [];
/** The headers that carry some. */
const secrets: string[] = [];
beforeEach(async () => {
  requests.length = 0;
  secrets.length = 0;
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  closing = () => {
    server.closeAllConnections();
    server.close();
  };
});
let closing: () => void = () => undefined;
afterEach(() => closing());

function answer(request: IncomingMessage, response: ServerResponse): void {
  requests.push(`${request.method} ${request.url}`);
  secrets.push(String(request.headers.authorization), String(request.headers["x-more"]));
  const key = (request.headers.authorization ?? "").replace("Bearer ", "");
  const isGood = key === KEY && request.method === "GET";
  response.writeHead(isGood ? 200 : 401, { "content-type": "application/json" });
  const refusal = { error: { message: `Incorrect API key provided: ${key}`, type: "invalid_request_error" } };
  response.end(JSON.stringify(isGood ? { object: "list", data: [{ id: "m1" }] } : refusal));
  request.resume();
}

const provider = (more: object) => ({ baseUrl, api: "openai-completions", models: [{ id: "m1" }], ...more });
const modelsJson = (more: object) => JSON.stringify({ providers: { mine: provider(more) } });

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Servers that happen to run beside the test are none of its business. */
const NOBODY_LOCAL = { OLLAMA_HOST: "127.0.0.1:9" };

function tiller(args: string[], options: SandboxOptions = {}, prepare?: (agentDir: string) => void): Promise<Ran> {
  const sandbox = createSandbox({ ...options, env: { ...NOBODY_LOCAL, ...options.env } });
  onTestFinished(sandbox.remove);
  prepare?.(sandbox.agentDir);
  const child = spawn(process.execPath, [cliPath(), ...args], { cwd: sandbox.cwd, env: sandbox.env });
  const ran: Ran = { code: null, stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    ran.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    ran.stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ ...ran, code }));
  });
}

const start = useRpc({ env: NOBODY_LOCAL });
const namesOf = async (rpc: RpcProcess): Promise<string[]> => {
  const { data } = await rpc.call({ type: "get_available_models" });
  return list(at(data, "models")).map((model) => `${at(model, "provider")}/${at(model, "id")}`);
};

describe("models.json with mistakes", () => {
  const broken = () => `{
  // my servers
  "providers": {
    "mine": ${JSON.stringify(provider({ auth: "none" }))},
    "half": {
      "baseUrl": "http://127.0.0.1:9", "auth": "none", "api": "openai-completions",
      "models": [
        { "id": "good" },
        { "id": "bad",
          "contextWindow": "large" },
      ],
    },
    "odd": { "baseUrl": "http://127.0.0.1:9", "api": "telepathy", "models": [{ "id": "x" }] },
  },
}`;

  it("names file, line and key of each, and the rest loads", async () => {
    const rpc = start({ agentFiles: { "models.json": broken() } });
    expect(await namesOf(rpc)).toEqual(["mine/m1", "half/good"]);
    const file = join(rpc.sandbox.agentDir, "models.json");
    expect(rpc.stderr).toContain(`${file}:10:11: providers.half.models[1].contextWindow must be a number above 0\n`);
    expect(rpc.stderr).toMatch(/models\.json:13:\d+: providers\.odd\.api is "telepathy", .*openai-completions/);
  });

  it("that is no JSON at all names the place, and keys from elsewhere still count", async () => {
    const rpc = start({
      agentFiles: { "models.json": '{\n "providers": {mine: 1}\n}' },
      env: { GROQ_API_KEY: "test" },
    });
    expect((await namesOf(rpc)).every((name) => name.startsWith("groq/"))).toBe(true);
    expect(rpc.stderr).toMatch(/models\.json:2:16: expected a key in double quotes; the file is ignored/);
  });
});

describe("models.yml", () => {
  it("is read like models.json, with the places of its mistakes", async () => {
    const yaml = `
providers:
  mine:
    baseUrl: ${baseUrl}
    api: openai-completions
    auth: none
    models:
      - id: m1
      - id: m2
        maxTokens: none
`;
    const rpc = start({ agentFiles: { "models.yml": yaml } });
    expect(await namesOf(rpc)).toEqual(["mine/m1"]);
    expect(rpc.stderr).toContain("models.yml:10:9: providers.mine.models[1].maxTokens must be a number above 0");
  });
});

describe("a key", () => {
  /** Asks the server once; it refuses everything but lists. */
  async function outputs(rpc: RpcProcess): Promise<string> {
    for (const type of ["get_available_models", "get_state", "get_capabilities", "cycle_model"])
      await rpc.call({ type });
    const { result } = await rpc.prompt("hi");
    expect(result).toMatchObject({ status: "error" });
    expect(at(result, "error", "message")).toContain("Incorrect API key provided: [hidden]");
    await rpc.call({ type: "get_messages" });
    return JSON.stringify(rpc.frames) + rpc.stderr;
  }

  it.each<[story: string, options: () => SandboxOptions & { args?: string[] }]>([
    ["in models.json", () => ({ agentFiles: { "models.json": modelsJson({ apiKey: KEY }) } })],
    [
      "in a variable",
      () => ({ agentFiles: { "models.json": modelsJson({ apiKey: "$MY_KEY" }) }, env: { MY_KEY: KEY } }),
    ],
    ["from a command", () => ({ agentFiles: { "models.json": modelsJson({ apiKey: `!echo ${KEY}` }) } })],
    [
      "in auth.json",
      () => ({
        agentFiles: { "models.json": modelsJson({}), "auth.json": `{"mine":{"type":"api_key","key":"${KEY}"}}` },
      }),
    ],
    [
      "in a header",
      () => ({
        agentFiles: { "models.json": modelsJson({ auth: "none", headers: { authorization: `Bearer ${KEY}` } }) },
      }),
    ],
    ["on the command line", () => ({ agentFiles: { "models.json": modelsJson({}) }, args: ["--api-key", KEY] })],
  ])("%s is said nowhere, not even when the server quotes it", async (_story, options) => {
    const { args = [], ...files } = options();
    const rpc = start({
      ...files,
      args: ["--no-session", "--model", "mine/m1", "--set", "retry.enabled=false", ...args],
    });
    expect(await outputs(rpc)).not.toContain(KEY);
    expect(requests).toContain("POST /v1/chat/completions");
  });

  it.each<[story: string, entry: () => object]>([
    [
      "options of a package, and their variables and commands",
      () => ({
        api: "ai-sdk",
        auth: "none",
        baseUrl,
        compat: {
          package: "@ai-sdk/openai-compatible",
          from: repoRoot,
          options: { apiKey: `!echo ${KEY}`, headers: { "x-more": "$MY_KEY" }, secretAccessKey: KEY },
        },
      }),
    ],
    ["a password in the base URL", () => ({ auth: "none", baseUrl: baseUrl.replace("//", `//me:${KEY}@`) })],
    ["a key in the query of the base URL", () => ({ auth: "none", baseUrl: `${baseUrl}?code=${KEY}` })],
  ])("in %s reaches the server, and is said nowhere", async (_story, entry) => {
    const agentFiles = { "models.json": modelsJson(entry()) };
    const rpc = start({
      agentFiles,
      env: { MY_KEY: `${KEY}\n` },
      args: ["--no-session", "--model", "mine/m1", "--set", "retry.enabled=false"],
    });
    for (const type of ["get_available_models", "get_state", "get_capabilities", "cycle_model"])
      await rpc.call({ type });
    await rpc.call({ type: "set_model", provider: "mine", modelId: "m1" });
    const { result } = await rpc.prompt("hi");
    expect(result).toMatchObject({ status: "error" });
    await rpc.call({ type: "get_messages" });
    const sent = (secrets.join("\n") + requests.join("\n")).replaceAll(btoa(`me:${KEY}`), KEY);
    expect(sent).toContain(KEY);
    const outputs = [JSON.stringify(rpc.frames) + rpc.stderr];
    for (const args of [["models", "--all"], ["doctor"], ["doctor", "--json"]]) {
      const { stdout, stderr } = await tiller(args, { agentFiles, env: { MY_KEY: KEY } });
      outputs.push(stdout + stderr);
    }
    for (const output of outputs) {
      expect(output).toContain("mine");
      expect(output).not.toContain(KEY);
      expect(output).not.toContain(btoa(`me:${KEY}`));
    }
  });

  it("with a line break behind it is used without; with one in it the prompt is refused by its place", async () => {
    const options = { args: ["--no-session", "--model", "mine/m1", "--set", "retry.enabled=false"] };
    const agentFiles = { "models.json": modelsJson({ apiKey: "$MY_KEY" }) };
    const rpc = start({ ...options, agentFiles, env: { MY_KEY: `${KEY}\r\n` } });
    await rpc.prompt("hi");
    expect(secrets).toContain(`Bearer ${KEY}`);
    const broken = start({ ...options, agentFiles, env: { MY_KEY: `planted\n${KEY}` } });
    const refused = await broken.call({ type: "prompt", message: "hi" });
    expect(refused).toMatchObject({
      success: false,
      error: expect.stringMatching(/from models\.json \(\$MY_KEY\) holds/),
    });
    expect(JSON.stringify(broken.frames) + broken.stderr).not.toMatch(/planted/);
  });

  it("is said by neither `tiller models` nor `tiller doctor`, whether it works or not", async () => {
    const keys = [KEY, `${KEY}-wrong`, `!echo ${KEY}-wrong; exit 1`];
    for (const [number, key] of keys.entries()) {
      const options = {
        agentFiles: { "models.json": modelsJson({ apiKey: key }), "auth.json": `{"x":{"ky":"${KEY}"}}` },
      };
      const commands = [["models"], ["models", "--all"], ["doctor"], ["doctor", "--json"]];
      // Each command at least once, each key with both programs.
      for (const args of commands.filter((_, at) => PLAYS_ALL || at % 2 === number % 2)) {
        const { stdout, stderr } = await tiller(args, options);
        expect(stdout).not.toBe("");
        expect(stdout + stderr).not.toContain(KEY);
      }
    }
  });

  it("from a command that fails ends the run with an error that names the provider, and no output of the command", async () => {
    const rpc = start({
      args: ["--no-session", "--model", "mine/m1"],
      agentFiles: { "models.json": modelsJson({ apiKey: `!echo ${KEY}; echo ${KEY} >&2; exit 7` }) },
    });
    const { result } = await rpc.prompt("hi");
    expect(result).toMatchObject({ status: "error", error: { retryable: false } });
    expect(at(result, "error", "message")).toContain('credentials of "mine" failed (exit code 7)');
    expect(JSON.stringify(rpc.frames) + rpc.stderr).not.toContain(KEY);
    expect(requests).toEqual([]);
  });

  it("from a command that takes its time does not hold up an abort", async () => {
    const rpc = start({
      args: ["--no-session", "--model", "mine/m1"],
      agentFiles: { "models.json": modelsJson({ apiKey: "!sleep 8; echo late" }) },
    });
    const since = rpc.mark();
    await rpc.call({ id: "p", type: "prompt", message: "hi" });
    await rpc.waitFor("message_start", { since });
    await rpc.call({ type: "abort" }, 4_000);
    expect(await rpc.waitFor("prompt_result", { since })).toMatchObject({ id: "p", status: "aborted" });
  });

  it("in auth.json that others may read is told with the way out", async () => {
    const rpc = start({ agentFiles: { "auth.json": "{}" } });
    const path = join(rpc.sandbox.agentDir, "auth.json");
    await rpc.call({ type: "get_state" });
    expect(rpc.stderr).toContain(`(mode 0644); to keep your keys to yourself: chmod 600 ${path}`);
  });

  it("of a login that has expired is not used, and the prompt is refused with the reason", async () => {
    const login = { mine: { type: "oauth", access: KEY, refresh: KEY, expires: 1_700_000_000_000 } };
    const rpc = start({
      args: ["--no-session", "--model", "mine/m1"],
      agentFiles: { "models.json": modelsJson({}), "auth.json": JSON.stringify(login) },
    });
    const refused = await rpc.call({ type: "prompt", message: "hi" });
    expect(refused).toMatchObject({ success: false });
    expect(refused.error).toContain('the login of "mine" in auth.json expired at 2023-11-14 22:13 UTC');
  });
});

describe("a server on this machine", () => {
  it("is asked for any model by name, without any configuration", async () => {
    const host = new URL(baseUrl).host;
    const rpc = start({ args: ["--no-session", "--model", "ollama/qwen3:8b"], env: { OLLAMA_HOST: host } });
    expect(await namesOf(rpc)).toEqual(["ollama/qwen3:8b"]);
    const { data } = await rpc.call({ type: "get_state" });
    expect(at(data, "model")).toMatchObject({ provider: "ollama", id: "qwen3:8b", baseUrl });
    await rpc.prompt("hi", {}, 20_000);
    expect(requests).toContain("POST /v1/chat/completions");
    expect(rpc.stderr).not.toContain("not found");
  });
});

describe("tiller models", () => {
  it("prints a table of what can be used, and what is wrong on stderr", async () => {
    const agentFiles = { "models.json": modelsJson({ apiKey: KEY, models: [{ id: "m1" }, { id: "other" }, {}] }) };
    const { code, stdout, stderr } = await tiller(["models", "--offline"], { agentFiles });
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        "model       context  output  thinks  sees  $ in/out per 1M",
        "mine/m1     128k     16k     -       -     -",
        "mine/other  128k     16k     -       -     -",
        "",
      ].join("\n"),
    );
    expect(stderr).toMatch(/models\.json:1:\d+: providers\.mine\.models\[2\]\.id is missing/);
    expect(requests).toEqual([]);
  });

  it("finds the models of a server on this machine, and can be narrowed", async () => {
    const agentFiles = {
      "models.json": JSON.stringify({
        providers: { attic: { baseUrl, discovery: { type: "vllm" }, headers: { authorization: `Bearer ${KEY}` } } },
      }),
    };
    const { stdout } = await tiller(["models", "attic"], { agentFiles });
    expect(stdout).toContain("attic/m1 ");
    expect((await tiller(["models", "nothing-like-it"], { agentFiles })).stdout).toBe(
      'No model matches "nothing-like-it".\n',
    );
  });
});

describe("tiller doctor", () => {
  it("is content with a server that answers", async () => {
    const agentFiles = { "models.json": modelsJson({ apiKey: "$MY_KEY" }) };
    const { code, stdout, stderr } = await tiller(["doctor"], { agentFiles, env: { MY_KEY: KEY } });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("ok  models.json: read");
    expect(stdout).toContain("ok  mine: from models.json ($MY_KEY)");
    expect(stdout).toContain(`ok  mine: ${baseUrl} answers; 1 model`);
    expect(stdout).toContain("ok  mine/m1: would be asked now: it is the first one that has a key");
    expect(stdout).toMatch(/\nReady\.\n$/);
  });

  it("says which key is refused, and where it came from", async () => {
    const agentFiles = { "models.json": modelsJson({}), "auth.json": '{"mine":{"type":"api_key","key":"wrong-key"}}' };
    const { code, stdout } = await tiller(["doctor"], { agentFiles }, (agentDir) =>
      chmodSync(join(agentDir, "auth.json"), 0o600),
    );
    expect(code).toBe(1);
    expect(stdout).toContain(`x   mine: the key from auth.json is refused (401 from ${baseUrl}): `);
    expect(stdout).toMatch(/\nNot ready: 1 problem\.\n$/);
  });

  it("tells the same as one JSON object", async () => {
    const agentFiles = { "models.json": modelsJson({ apiKey: KEY }) };
    const { code, stdout } = await tiller(["doctor", "--json"], { agentFiles });
    const report = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(report).toMatchObject({ ok: true, node: process.versions.node, version: expect.stringMatching(/^\d+\./) });
    expect(report.checks).toContainEqual({ area: "keys", subject: "mine", level: "ok", text: "from models.json" });
  });

  it("asks nobody with --offline", async () => {
    const agentFiles = { "models.json": modelsJson({ apiKey: KEY }) };
    for (const options of [{ args: ["--offline"] }, { args: [], env: { PI_OFFLINE: "1" } }]) {
      const { code, stdout } = await tiller(["doctor", ...options.args], { agentFiles, env: options.env });
      expect(code).toBe(0);
      expect(stdout).toContain("not asked (--offline or PI_OFFLINE)");
    }
    expect(requests).toEqual([]);
  });
});
