import { describe, expect, test } from "vitest";
import { parseJsonText } from "../config/json-text.ts";
import { expandValues, readServers } from "./config.ts";

const env = { HOME: "/home/me", TOKEN: "s3cret-token", EMPTY: "" };
const ground = { cwd: "/project", env };

function read(text: string) {
  const parsed = parseJsonText(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return readServers({ name: "mcp.json", value: parsed.value, locate: parsed.locate }, "user", ground);
}

test("servers of both kinds, with what is usual where nothing is said", () => {
  const { servers, problems } = read(`{
    // a comment
    "mcpServers": {
      "deck": { "command": "node", "args": ["deck.mjs", "\${HOME}/x", "--key=\${TOKEN}"], "cwd": "sub", "env": { "A": "$TOKEN" } },
      "charts": { "type": "http", "url": "https://charts.example/mcp", "headers": { "X": "y" }, "timeout": 5, "disabled": true },
    }
  }`);
  expect(problems).toEqual([]);
  const about = { from: "mcp.json", scope: "user" };
  expect(servers).toEqual([
    {
      ...{ ...about, name: "deck", isDisabled: false, timeoutMs: 120_000, secrets: ["s3cret-token"] },
      reach: {
        ...{ command: "node", args: ["deck.mjs", "/home/me/x", "--key=s3cret-token"] },
        ...{ env: { A: "$TOKEN" }, cwd: "/project/sub" },
      },
    },
    {
      ...{ ...about, name: "charts", isDisabled: true, timeoutMs: 5, secrets: [] },
      reach: { url: "https://charts.example/mcp", headers: { X: "y" } },
    },
  ]);
});

describe("a mistake is told with its place, and costs one server", () => {
  const good = '"good": {"command": "a"}';
  test.each([
    ['{"mcpServers": []}', 'mcp.json:1:1: expected {"mcpServers":{...}}'],
    ["{}", 'mcp.json:1:1: expected {"mcpServers":{...}}'],
    ['5, "x": 1', "mcp.json:2:1: mcpServers.bad must be an object"],
    ["{}", 'mcp.json:2:1: mcpServers.bad needs either "command" or "url"'],
    ['{"command":"a","url":"http://b"}', 'mcp.json:2:1: mcpServers.bad needs either "command" or "url"'],
    ['{"command":""}', "mcp.json:2:8: mcpServers.bad.command must be the name or path of a program"],
    ['{"command":"a","args":"b"}', "mcp.json:2:22: mcpServers.bad.args must be a list of texts"],
    ['{"command":"a","env":{"A":1}}', "mcp.json:2:22: mcpServers.bad.env must be an object of texts"],
    [
      '{"command":"a","env":{"A":"$NOPE"}}',
      "mcp.json:2:29: mcpServers.bad.env.A cannot be used: the environment variable NOPE is not set",
    ],
    [
      `{"command":"a","args":["x","\${NOPE}"]}`,
      "mcp.json:2:34: mcpServers.bad.args[1] cannot be used: the environment variable NOPE is not set",
    ],
    ['{"url":"ftp://b"}', "mcp.json:2:8: mcpServers.bad.url must be an address that begins with http:// or https://"],
    [
      '{"url":"http://b","type":"sse"}',
      'mcp.json:2:25: mcpServers.bad.type is "sse", a transport that is gone: use the "http" address of the server',
    ],
    ['{"url":"http://b","type":"carrier"}', 'mcp.json:2:25: mcpServers.bad.type must be "stdio" or "http"'],
    ['{"command":"a","timeout":0}', "mcp.json:2:22: mcpServers.bad.timeout must be a number of milliseconds above 0"],
    ['{"command":"a","disabled":"yes"}', "mcp.json:2:22: mcpServers.bad.disabled must be true or false"],
  ])("%s", (bad, problem) => {
    const isWhole = problem.includes("expected {");
    const text = isWhole ? bad : `{"mcpServers":{\n"bad":${bad.replace(', "x": 1', "")},\n${good}}}`;
    const { servers, problems } = read(text);
    expect(problems).toEqual([problem]);
    expect(servers.map(({ name }) => name)).toEqual(isWhole ? [] : ["good"]);
  });
});

test("values are expanded, and what came from elsewhere is a secret", async () => {
  const commands: string[] = [];
  const run = async (command: string) => {
    commands.push(command);
    return command === "pass" ? { output: "from pass\n" } : { failure: "exit code 1" };
  };
  const given = { A: "plain", B: `Bearer \${TOKEN}`, C: "!pass" };
  expect(await expandValues(given, env, run)).toEqual({
    values: { A: "plain", B: "Bearer s3cret-token", C: "from pass" },
    secrets: ["Bearer s3cret-token", "Bearer", "s3cret-token", "from pass", "from", "pass"],
  });
  await expect(expandValues({ KEY: "s3cret\0" }, env, run)).rejects.toThrow(
    "KEY cannot be used: it has a NUL character",
  );
  await expect(expandValues({ KEY: "!false" }, env, run)).rejects.toThrow(
    "the command that gives KEY failed (exit code 1)",
  );
});
