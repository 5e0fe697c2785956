import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { mcpFiles } from "./config/mcp-files.ts";
import type { RegisteredServer } from "./extensions/actions.ts";
import type { Ground } from "./ground.ts";
import { createSessionMcp } from "./session-mcp.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-mcp-"));
  for (const folder of ["agent", ".pi", ".tiller"]) mkdirSync(join(root, folder));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Trust = "none" | "text" | "code";

/** Every server is disabled, so that none is started: which of several counts shows in the order and in who is asked. */
function write(folder: string, servers: Record<string, object>): void {
  const off = Object.fromEntries(Object.entries(servers).map(([name, one]) => [name, { disabled: true, ...one }]));
  writeFileSync(join(root, folder, "mcp.json"), JSON.stringify({ mcpServers: off }));
}

function scene(projectTrust: Trust, more: Partial<Ground> = {}) {
  const problems: string[] = [];
  const told: unknown[] = [];
  const registered = new Map<string, RegisteredServer>();
  const agentDir = join(root, "agent");
  const ground = { env: {}, clock: new FakeClock(), cwd: root, agentDir, run: { projectTrust, options: {} }, ...more };
  const mcp = createSessionMcp(ground as unknown as Ground, {
    files: mcpFiles({ agentDir, cwd: root, projectTrust }),
    registered,
    keyVariables: new Set(),
    hooks: { listens: () => true, run: async (...about: unknown[]) => void told.push(about) } as never,
    toolbox: () => ({ hasBuiltIn: () => false, other: () => undefined }) as never,
    onProblem: (problem) => void problems.push(problem),
  });
  return {
    mcp,
    problems,
    told,
    registered,
    names: () => mcp.servers.list().map(({ name, status }) => `${name} ${status}`),
  };
}

test.each<[Trust, string[], number]>([
  ["none", ["mine disabled", "both disabled"], 0],
  ["text", ["mine disabled", "both disabled"], 1],
  ["code", ["mine disabled", "both waiting", "theirs disabled"], 0],
])("of a project that is trusted as %s", (trust, names, notices) => {
  write("agent", { mine: { command: "a" }, both: { command: "a" } });
  write(".pi", { both: { command: "b" } });
  write(".tiller", { both: { command: "c", disabled: false }, theirs: { command: "c" } });
  const { problems, names: found } = scene(trust);
  expect(found()).toEqual(names);
  expect(problems).toHaveLength(notices);
  if (notices > 0)
    expect(problems[0]).toContain(`${join(root, ".pi/mcp.json")}, ${join(root, ".tiller/mcp.json")}. Start`);
});

test("an extension that has a say about the project has the last word", () => {
  write(".tiller", { theirs: { command: "c" } });
  expect(scene("text", { extensions: { isTrusted: true } as never }).names()).toEqual(["theirs disabled"]);
});

test("servers of extensions come on top, go again, and are told; mistakes are notices", () => {
  write("agent", { mine: { command: "a" } });
  const { mcp, registered, names, problems, told } = scene("text");
  registered.set("mine", { extensionPath: "/x.ts", name: "mine", config: { url: "http://b", disabled: true } });
  registered.set("own", { extensionPath: "/x.ts", name: "own", config: { command: "a", disabled: true } });
  registered.set("bad", { extensionPath: "/x.ts", name: "bad", config: { command: 5 } });
  mcp.update();
  expect(names()).toEqual(["mine disabled", "own disabled"]);
  expect(problems).toEqual([
    '/x.ts registers the MCP server "bad", which is left out: command must be the name or path of a program',
  ]);
  registered.clear();
  mcp.update();
  expect(names()).toEqual(["mine disabled"]);
  const state = (name: string) => ({ name, status: "disabled", tools: [] });
  expect(told).toEqual([
    ["mcp_servers_change", { servers: [state("mine")] }],
    ["mcp_servers_change", { servers: [state("mine"), state("own")] }],
    ["mcp_servers_change", { servers: [state("mine")] }],
  ]);
});

test("files that cannot be read are told, and the others count", () => {
  write("agent", { mine: { command: "a" } });
  writeFileSync(join(root, ".pi/mcp.json"), "{");
  writeFileSync(join(root, ".tiller/mcp.json"), '{"servers":{}}');
  const { names, problems } = scene("code");
  expect(names()).toEqual(["mine disabled"]);
  expect(problems).toEqual([
    expect.stringMatching(/\.pi\/mcp\.json:1:2: .*the file is ignored/),
    expect.stringMatching(/\.tiller\/mcp\.json:1:1: expected \{"mcpServers":\{\.\.\.\}\}/),
  ]);
});

test("there are none while a session is recorded", () => {
  write("agent", { mine: { command: "a" } });
  const { names, problems } = scene("code", { recording: {} as never });
  expect(names()).toEqual([]);
  expect(problems).toEqual([expect.stringContaining("not started while a session is recorded")]);
});

test("files of a size that nobody writes are told and not read", () => {
  write(".tiller", { theirs: { command: "c" } });
  const file = join(root, ".tiller/mcp.json");
  truncateSync(file, 3 * 1024 ** 3);
  const { problems, names } = scene("code");
  expect(names()).toEqual([]);
  expect(problems).toEqual([`${file}: has 3221225472 bytes, so it is not read; at most 1048576`]);
});
