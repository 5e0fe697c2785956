import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import { afterEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import { repoRoot } from "../../../../test/support/rpc-process.ts";
import { systemClock } from "../lib/clock.ts";
import type { McpServerState } from "../session/ports.ts";
import { readServer, type ServerConfig } from "./config.ts";
import { createServers } from "./servers.ts";

/** Real servers: children that speak on their stdio, and one behind HTTP on this machine. */

const FIXTURE = join(repoRoot, "test/support/mcp-server.mjs");
const never = new AbortController().signal;
const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

function config(name: string, given: Record<string, unknown>): ServerConfig {
  const around = {
    cwd: repoRoot,
    env: { KEY: "secret-of-mine", HOME: "/home/of-mine" },
    problem: (_: unknown, what: string) => expect.unreachable(what),
  };
  return readServer({ name, from: "mcp.json", scope: "user" }, given, around as never) as ServerConfig;
}

const deck = (...args: string[]): ServerConfig =>
  config("deck", { command: process.execPath, args: [FIXTURE, ...args] });

function open(configs: ServerConfig[], clock: Clock = systemClock) {
  const problems: string[] = [];
  const changes: McpServerState[][] = [];
  const added: string[] = [];
  const servers = createServers({
    clock,
    env: () => ({ PATH: process.env.PATH }),
    fullEnv: { KEY: "secret-of-mine", HOME: "/home/of-mine" },
    runCommand: async () => ({ output: "" }),
    clientVersion: "1",
    isTaken: () => false,
    onAdded: (name) => void added.push(name),
    onProblem: (problem) => void problems.push(problem),
    onChange: (states) => void changes.push(states),
  });
  endings.push(servers.close);
  servers.set(configs);
  const call = (tool: string, args: Record<string, unknown> = {}, signal = never, updates: unknown[] = []) =>
    servers.tool(tool)!.execute({ toolCallId: "1", args, signal, onUpdate: (partial) => void updates.push(partial) });
  return { servers, problems, changes, added, call };
}

const text = (said: string) => ({ content: [{ type: "text", text: said }] });

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("on stdio", () => {
  test("its tools are there and can be called; it knows none of our keys", async () => {
    const { servers, problems, changes, added, call } = open([deck(), config("off", { command: "x", disabled: true })]);
    expect(servers.list()).toMatchObject([{ status: "waiting" }, { name: "off", status: "disabled" }]);
    await servers.ready(never);
    const names = ["hail", "wait", "heard", "die", "fail", "environment", "grow"].map((name) => `mcp__deck__${name}`);
    expect(servers.names()).toEqual(names);
    expect(added).toEqual(names);
    expect(servers.tool("mcp__deck__hail")).toMatchObject({ label: "Hail", concurrency: "shared", source: "mcp:deck" });
    expect(servers.tool("mcp__deck__wait")).toMatchObject({ label: "wait", concurrency: "exclusive" });
    expect(problems).toEqual([
      'MCP server "deck": its tool "broken" is left out: its inputSchema cannot be used: "type" is "strnig"',
    ]);
    expect(changes.map((states) => states[0]?.status)).toEqual(["waiting", "connecting", "connected"]);
    expect(await call("mcp__deck__hail", { ship: "Swallow" })).toEqual(text("Ahoy, Swallow!"));
    expect(await call("mcp__deck__fail")).toEqual({ ...text("no wind"), isError: true });
    expect(await call("mcp__deck__environment", { name: "HOME" })).toEqual(text("HOME=undefined"));

    const controller = new AbortController();
    const updates: unknown[] = [];
    const waiting = call("mcp__deck__wait", {}, controller.signal, updates);
    await until(() => updates.length > 0);
    controller.abort();
    await expect(waiting).rejects.toThrow('MCP server "deck": Request was aborted');
    expect(updates).toEqual([text("half way")]);
    expect(await call("mcp__deck__heard")).toEqual(text("notifications/initialized, notifications/cancelled"));

    await call("mcp__deck__grow");
    await until(() => added.includes("mcp__deck__late"));
    expect(changes.at(-1)?.[0]?.tools).toEqual([...names, "mcp__deck__late"]);
    const same = servers.tool("mcp__deck__heard");
    servers.set([deck()]);
    expect(servers.list()).toMatchObject([{ status: "connected" }]);
    expect(await same?.execute({ toolCallId: "1", args: {}, signal: never, onUpdate: () => undefined })).toBeDefined();
    servers.set([]);
    expect(servers.names()).toEqual([]);
  });

  test("one that dies in a call is started again at the next", async () => {
    const { servers, problems, call } = open([deck()]);
    await servers.ready(never);
    problems.length = 0;
    const why = "it has ended (exit code 3). On stderr it said:\nman overboard";
    await expect(call("mcp__deck__die")).rejects.toThrow(`MCP server "deck": ${why}`);
    expect(problems).toEqual([`MCP server "deck": has ended, and is started again when it is needed: ${why}`]);
    expect(servers.list()).toMatchObject([{ status: "failed", error: why }]);
    expect(await call("mcp__deck__hail", { ship: "Finch" })).toEqual(text("Ahoy, Finch!"));
    // Having been of use, it may die once more.
    await expect(call("mcp__deck__die")).rejects.toThrow("exit code 3");
    await expect(call("mcp__deck__die")).rejects.toThrow("exit code 3");
    expect(servers.names()).toEqual([]);
  });

  test.each([
    ["old", "connected", undefined],
    ["stateless", "connected", undefined],
    ["chatty", "connected", undefined],
    ["exit", "failed", "it has ended (exit code 2). On stderr it said:\nno chart on board"],
    [
      "garbage",
      "failed",
      'it has ended (exit code 0). A line on its stdout was no message of the protocol: {"not the protocol": true}',
    ],
    ["refusing", "failed", "it refused the handshake: not today"],
    [
      "future",
      "failed",
      "it speaks version 2099-01-01 of the protocol; here 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05 are spoken",
    ],
  ])("a server that is %s is %s", async (mood, status, error) => {
    const { servers, problems, call } = open([deck(mood)]);
    await servers.ready(never);
    expect(servers.list()).toMatchObject([{ status, ...(error && { error }) }]);
    if (error) {
      const about = 'could not be started, so its tools are missing (mcp.json names it, and may say "disabled": true)';
      expect(problems).toEqual([`MCP server "deck": ${about}: ${error}`]);
      await servers.ready(never);
      expect([problems.length, servers.names()]).toEqual([1, []]);
    } else expect(await call("mcp__deck__hail", { ship: "Tern" })).toEqual(text("Ahoy, Tern!"));
  });

  test("one that knows no tools is connected, and has none", async () => {
    const { servers, problems } = open([deck("toolless")]);
    await servers.ready(never);
    expect([servers.list(), problems]).toEqual([[{ name: "deck", status: "connected", tools: [] }], []]);
  });

  test("two whose names become the same keep their tools apart, whichever starts first", async () => {
    const both = ["my deck", "my_deck"].map((name, index) =>
      config(name, { command: process.execPath, args: [FIXTURE, "well"], disabled: index === 0 }),
    );
    const { servers } = open(both);
    await servers.ready(never);
    expect(servers.names()).toContain("mcp__my_deck_2__hail");
  });

  test("one that dies when it is asked for its tools is told of once, and without colours", async () => {
    const { servers, problems } = open([deck("listless")]);
    await servers.ready(never);
    const why = "it has ended (exit code 4). On stderr it said:\nno list on board";
    expect(servers.list()).toMatchObject([{ status: "failed", error: why }]);
    expect(problems).toHaveLength(1);
  });

  test("one that does not listen is ended, not waited for", async () => {
    const { servers } = open([deck("deaf")]);
    await servers.ready(never);
    expect(servers.list()).toMatchObject([{ status: "failed", error: expect.stringMatching(/^it has ended/) }]);
  });

  test("what it says in errors and of its progress is cut, rare, and free of secrets", async () => {
    const given = { command: process.execPath, args: [FIXTURE, "wordy", `\${KEY}`] };
    const { servers, call } = open([config("deck", given)]);
    await servers.ready(never);
    const updates: unknown[] = [];
    const error = await call("mcp__deck__hail", { ship: "Tern" }, never, updates).catch((failure: Error) => failure);
    expect((error as Error).message).toMatch(/^MCP server "deck": no entry for \[hidden\] x{7900,8000}…$/);
    expect(updates[0]).toEqual(text("step 0"));
    expect(updates.length).toBeLessThan(1000);
  });

  test("a path in its environment is hidden whole, not what begins like it", async () => {
    const says = 'console.error("no /home/of-mine/charts, but /home/of-mine/deck.js and /home"); process.exit(1)';
    const given = { command: process.execPath, args: ["-e", says], env: { CHARTS: `\${HOME}/charts` } };
    const { servers } = open([config("deck", given)]);
    await servers.ready(never);
    const error = expect.stringMatching(/said:\nno \[hidden\], but \/home\/of-mine\/deck.js and \/home$/);
    expect(servers.list()).toMatchObject([{ status: "failed", error }]);
  });

  test("one that fails once is tried once more at the next prompt", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tiller-mcp-"));
    endings.push(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "starts"), "");
    const { servers } = open([deck("second", join(folder, "starts"))]);
    await servers.ready(never);
    expect(servers.list()).toMatchObject([{ status: "failed", error: "it has ended (exit code 1)" }]);
    await servers.ready(never);
    expect(servers.list()).toMatchObject([{ status: "connected" }]);
  });

  test("a program or a folder that is not there", async () => {
    const { servers } = open([
      config("a", { command: "no-such-program" }),
      config("b", { command: "node", cwd: "/no/such/folder" }),
    ]);
    await servers.ready(never);
    expect(servers.list().map(({ error }) => error)).toEqual([
      "Cannot start the command: no-such-program does not exist (ENOENT)",
      "Cannot start the command: its working folder /no/such/folder does not exist any more (ENOENT)",
    ]);
  });

  test("one that says nothing is not waited for for ever", async () => {
    const clock = new FakeClock();
    const { servers, problems } = open([deck("silent")], clock);
    const first = servers.ready(never);
    await clock.advance(10_000);
    await first;
    expect(problems).toEqual([
      'MCP server "deck": has not started within 10 s: the prompt goes on without its tools, which come when it has',
    ]);
    await servers.ready(never);
    await clock.advance(50_000);
    await until(() => servers.list()[0]?.status === "failed");
    expect(servers.list()).toMatchObject([{ error: "it did not answer initialize within 60 s" }]);
  });

  test("an abort ends the wait, and a server that is taken away ends", async () => {
    const controller = new AbortController();
    const { servers, problems } = open([deck("silent")]);
    const waiting = servers.ready(controller.signal);
    controller.abort();
    await waiting;
    servers.set([]);
    expect([problems, servers.list()]).toEqual([[], []]);
  });
});

/** A server behind HTTP; `answer` says what comes back for a message. */
async function serve(
  answer: (message: Asked, response: ServerResponse, request: IncomingMessage) => unknown,
): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = body === "" ? ({ method: "GET" } as Asked) : (JSON.parse(body) as Asked);
    const result = answer(message, response, request);
    if (response.headersSent || response.writableEnded) return;
    if (result === undefined) return response.writeHead(202).end();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  endings.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

interface Asked {
  id?: number;
  method: string;
  params: { name?: string; protocolVersion?: string; _meta?: Record<string, unknown> };
}

const TOOLS = [{ name: "hail", inputSchema: { type: "object" } }];
const shake = ({ params }: Asked) => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} } });
const events = (response: ServerResponse, messages: readonly unknown[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const message of messages)
    response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...(message as object) })}\n\n`);
};

describe("over HTTP", () => {
  test("a session with headers of ours, answers as JSON and as events, and news by themselves", async () => {
    const seen: string[] = [];
    const tools = [...TOOLS];
    let sessions = 0;
    let listener: ServerResponse | undefined;
    let gone: 404 | 400 | undefined;
    const url = await serve((message, response, { headers }) => {
      const { method, id } = message;
      const about = [headers.authorization, headers["mcp-session-id"], headers["mcp-protocol-version"]];
      seen.push([method, ...about].join(" "));
      if (gone && method === "tools/call") {
        const status = gone;
        gone = undefined;
        response.writeHead(status, { "content-type": "application/json" });
        return response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID"}}');
      }
      if (method === "GET") {
        listener = response;
        return events(response, []);
      }
      if (method === "initialize") {
        sessions += 1;
        response.setHeader("mcp-session-id", `s${sessions}`);
        return shake(message);
      }
      if (method === "tools/list") return { tools };
      if (method !== "tools/call") return undefined;
      events(response, [
        { method: "notifications/progress", params: { progressToken: id, progress: 1 } },
        { id, result: { content: [{ type: "text", text: "Ahoy!" }] } },
      ]);
      response.end();
      return undefined;
    });
    const given = config("deck", { url, headers: { Authorization: `Bearer \${KEY}` } });
    const { servers, call, added, problems } = open([given]);
    await servers.ready(never);
    await until(() => listener !== undefined);
    const [key, session] = ["Bearer secret-of-mine", "s1 2025-11-25"];
    expect(seen.toSorted()).toEqual(
      [
        `initialize ${key}  `,
        `notifications/initialized ${key} ${session}`,
        `GET ${key} ${session}`,
        `tools/list ${key} ${session}`,
      ].toSorted(),
    );
    const updates: unknown[] = [];
    expect(await call("mcp__deck__hail", {}, never, updates)).toEqual(text("Ahoy!"));
    expect(updates).toEqual([text("1")]);

    // The server has forgotten the session: another one is begun, and the call is made there.
    for (const status of [404, 400] as const) {
      const before = sessions;
      gone = status;
      seen.length = 0;
      listener = undefined;
      expect(await call("mcp__deck__hail")).toEqual(text("Ahoy!"));
      const asked = seen.filter((line) => /^(tools\/call|initialize)/.test(line)).map((line) => line.replace(key, ""));
      expect(asked).toEqual([
        `tools/call  s${before} 2025-11-25`,
        "initialize   ",
        `tools/call  s${before + 1} 2025-11-25`,
      ]);
      await until(() => listener !== undefined);
    }

    tools.push({ name: "late", inputSchema: { type: "object" } });
    (listener as ServerResponse | undefined)?.write(
      `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n\n`,
    );
    await until(() => added.includes("mcp__deck__late"));
    expect(problems).toEqual([]);
  });

  test("an answer whose events have numbers goes on where it was cut", async () => {
    const asked: unknown[] = [];
    let id: unknown;
    const url = await serve((message, response, { headers }) => {
      if (message.method === "initialize") return shake(message);
      if (message.method === "tools/list") return { tools: TOOLS };
      if (message.method === "tools/call") {
        id = message.id;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("retry: 1\nid: e1\ndata: \n\n", () => response.destroy());
      }
      if (message.method === "GET" && headers["last-event-id"] !== undefined) {
        asked.push(headers["last-event-id"]);
        const isLast = asked.length > 1;
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(
          isLast
            ? `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "Ahoy!" }] } })}\n\n`
            : "id: e2\ndata: \n\n",
        );
      } else if (message.method === "GET") response.writeHead(405).end();
      return undefined;
    });
    const { servers, call } = open([config("deck", { url })]);
    await servers.ready(never);
    expect(await call("mcp__deck__hail")).toEqual(text("Ahoy!"));
    expect(asked).toEqual(["e1", "e2"]);
  });

  test("an answer that is too long is not read on, and not asked for again", async () => {
    const ended: string[] = [];
    const url = await serve((message, response) => {
      response.on("close", () => ended.push(message.method));
      if (message.method === "initialize") return shake(message);
      if (message.method === "tools/list") return { tools: TOOLS };
      if (message.method === "GET") response.writeHead(405).end();
      if (message.method !== "tools/call") return undefined;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("id: 1\ndata: \n\ndata: ");
      const piece = Buffer.alloc(1024 * 1024, "x");
      const pour = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      pour();
      response.on("drain", pour);
      return undefined;
    });
    const { servers, call } = open([config("deck", { url })]);
    await servers.ready(never);
    await expect(call("mcp__deck__hail")).rejects.toThrow("longer than");
    await until(() => ended.includes("tools/call"));
  });

  test("a call that is cut off is not made again", async () => {
    let calls = 0;
    const url = await serve((message, response) => {
      if (message.method === "initialize") return shake(message);
      if (message.method === "tools/list") return { tools: TOOLS };
      if (message.method === "tools/call") {
        calls += 1;
        response.destroy();
      }
      return undefined;
    });
    const { servers, call } = open([config("deck", { url })]);
    await servers.ready(never);
    await expect(call("mcp__deck__hail")).rejects.toThrow("Connection");
    expect(calls).toBe(1);
  });

  test("a prompt that comes while a server tells its tools waits for them", async () => {
    let tell: (() => unknown) | undefined;
    const url = await serve((message, response) => {
      if (message.method === "initialize") return shake(message);
      if (message.method !== "tools/list") return undefined;
      response.writeHead(200, { "content-type": "application/json" });
      tell = () => response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { tools: TOOLS } }));
      return undefined;
    });
    const { servers } = open([config("deck", { url })]);
    const first = servers.ready(never);
    await until(() => tell !== undefined);
    const second = servers.ready(never).then(() => servers.names());
    await new Promise((resolve) => setImmediate(resolve));
    tell?.();
    expect(await second).toEqual(["mcp__deck__hail"]);
    await first;
  });

  test("a server without sessions is told with each request who we are", async () => {
    const seen: unknown[] = [];
    const url = await serve(({ method, params, id }, response, { headers }) => {
      if (method === "initialize") {
        response.writeHead(400, { "content-type": "application/json" });
        return response.end(
          JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32600, message: "no handshake" } }),
        );
      }
      const meta = params._meta?.["io.modelcontextprotocol/protocolVersion"];
      seen.push([method, id, headers["mcp-protocol-version"], headers["mcp-method"], headers["mcp-name"], meta]);
      if (method === "server/discover") return { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
      return method === "tools/list" ? { tools: TOOLS } : { content: [], structuredContent: { a: 1 } };
    });
    const { servers, call } = open([config("deck", { url })]);
    await servers.ready(never);
    expect(await call("mcp__deck__hail")).toMatchObject({ details: { structuredContent: { a: 1 } } });
    const version = "2026-07-28";
    expect(seen).toEqual([
      ["server/discover", 2, version, "server/discover", undefined, version],
      ["tools/list", 3, version, "tools/list", undefined, version],
      ["tools/call", 4, version, "tools/call", "hail", version],
    ]);
  });

  const html = "<html><body>Welcome</body></html>";
  test.each<[what: string, status: number, type: string, body: string, error: RegExp]>([
    [
      "401",
      401,
      "text/plain",
      "who are you, secret-of-mine?",
      /^401 who are you, \[hidden\]\?; it wants to know who asks: give it a key in "headers"$/,
    ],
    [
      "401 in JSON",
      401,
      "application/json",
      '{"error":"invalid_token"}',
      /^it answered 401 with \{"error":"invalid_token"\}; it wants to know/,
    ],
    ["500", 500, "text/plain", "sunk", /^500 sunk$/],
    ["a key at the cut", 200, "application/json", `${"x".repeat(194)}secret-of-mine`, /^it .* x+\[hidden\]…$/],
    ["a key at the cut of an error", 500, "text/plain", `${"x".repeat(1990)}secret-of-mine`, /^500 x+\[hidden\]…$/],
    ["a page", 200, "text/html", html, /answered with text\/html .*Welcome/],
    ["broken JSON", 200, "application/json", "{", /^it answered 200 with \{$/],
    ["a list of tools that is none", 200, "application/json", "", /^it answered 200 with $/],
    ["a stream without an answer", 200, "text/event-stream", "data: {}\n\n", /^it ended its answer without a result$/],
  ])("%s is told", async (_what, status, type, body, error) => {
    const url = await serve((_message, response) => response.writeHead(status, { "content-type": type }).end(body));
    const { servers } = open([config("deck", { url, headers: { X: "$KEY" } })]);
    await servers.ready(never);
    expect(servers.list()[0]).toMatchObject({ status: "failed", error: expect.stringMatching(error) });
  });

  test("nobody there", async () => {
    const { servers } = open([config("deck", { url: "http://127.0.0.1:1/mcp" })]);
    await servers.ready(never);
    expect(servers.list()[0]?.error).toMatch(/127\.0\.0\.1:1/);
  });
});
