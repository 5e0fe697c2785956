import { closeSync, readFileSync, writeFileSync } from "node:fs";

/**
 * A server of the Model Context Protocol on stdio, in plain Node, for tests. The first argument says what is wrong with it:
 * nothing without one.
 */

const [mood = "well", file] = process.argv.slice(2);
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const object = (properties = {}) => ({ type: "object", properties });
const text = (said) => ({ content: [{ type: "text", text: said }] });
const heard = [];
const extra = [];

const tools = {
  hail: {
    description: "Hails a ship. It is polite.",
    inputSchema: { ...object({ ship: { type: "string" } }), required: ["ship"] },
    annotations: { title: "Hail", readOnlyHint: true },
    run: ({ ship }) => text(`Ahoy, ${ship}!`),
  },
  wait: {
    description: "Waits for ever",
    inputSchema: object(),
    run(_, { progressToken }) {
      if (progressToken !== undefined)
        say({
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2, message: "half way" },
        });
    },
  },
  heard: { description: "What was told", inputSchema: object(), run: () => text(heard.join(", ")) },
  die: {
    description: "Ends the server",
    inputSchema: object(),
    run() {
      process.stderr.write("man overboard\n");
      process.exit(3);
    },
  },
  fail: { description: "Fails", inputSchema: object(), run: () => ({ ...text("no wind"), isError: true }) },
  environment: {
    description: "A variable",
    inputSchema: object({ name: { type: "string" } }),
    run: ({ name }) => text(`${name}=${{ cwd: process.cwd(), pid: process.pid }[name] ?? process.env[name]}`),
  },
  grow: {
    description: "Gets one more tool",
    inputSchema: object(),
    run() {
      extra.push({ name: "late", description: "Came later", inputSchema: object() });
      say({ method: "notifications/tools/list_changed" });
      return text("grown");
    },
  },
};

const listed = () => [
  ...Object.entries(tools).map(([name, { run: _, ...tool }]) => ({ name, ...tool })),
  ...extra,
  { name: "broken", description: "", inputSchema: { type: "strnig" } },
];

const versions = { old: "2024-11-05", future: "2099-01-01" };

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: versions[mood] ?? protocolVersion,
    capabilities: mood === "toolless" ? {} : { tools: { listChanged: true } },
    serverInfo: { name: "deck", version: "1" },
  }),
  "server/discover": () => ({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } }),
  "tools/list": ({ cursor }) => {
    if (mood === "toolless") return undefined;
    const all = listed();
    return cursor === "rest" ? { tools: all.slice(1) } : { tools: all.slice(0, 1), nextCursor: "rest" };
  },
  "tools/call": ({ name, arguments: given, _meta }) => tools[name].run(given, _meta ?? {}),
};

const answer = ({ id, method, params = {} }) => {
  if (
    mood === "stateless" &&
    (method === "initialize" || params._meta?.["io.modelcontextprotocol/protocolVersion"] === undefined)
  )
    return say({ id, error: { code: -32601, message: "there is no handshake" } });
  if (mood === "listless" && method === "tools/list") {
    process.stderr.write("\u001b[31mno list on board\u001b[0m\n");
    process.exit(4);
  }
  if (mood === "wordy" && method === "tools/call") {
    const { progressToken } = params._meta;
    for (let step = 0; step < 2000; step++)
      say({ method: "notifications/progress", params: { progressToken, progress: step, message: `step ${step}` } });
    return say({ id, error: { code: 1, message: `no entry for ${file} ${"x".repeat(100_000)}` } });
  }
  // Node itself never closes it.
  if (mood === "deaf") {
    process.stdin.destroy();
    closeSync(0);
    setInterval(() => undefined, 1000);
  }
  if (mood === "refusing") return say({ id, error: { code: -32000, message: "not today" } });
  const result = methods[method]?.(params);
  if (result !== undefined) say({ id, result });
  else if (mood === "toolless") say({ id, error: { code: -32601, message: "Method not found" } });
};

if (mood === "exit") {
  process.stderr.write("no chart on board\n");
  process.exit(2);
}
// Works from the second start on.
if (mood === "second") {
  const isFirst = readFileSync(file, "utf8") === "";
  writeFileSync(file, "started");
  if (isFirst) process.exit(1);
}
if (mood === "chatty") process.stdout.write("Listening on deck 3\n");

let rest = "";
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.id === undefined) heard.push(message.method);
    else if (mood === "garbage") process.stdout.write('{"not the protocol": true}\n', () => process.exit(0));
    else if (mood !== "silent") answer(message);
  }
});
