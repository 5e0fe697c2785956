// What the reference servers of the Model Context Protocol do here: each row is one story, told by a real `tiller`.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { startAgent } from "./agent.mjs";
import { check, equal } from "./clients/world.mjs";

const call = (name, args = {}) => ({ toolCall: { name, arguments: args } });

/** An agent with a script; what is installed is named by the ends of the names of its packages. */
function createPlace({ cli, parent, modules }) {
  const stdio = (name, ...args) => ({
    command: process.execPath,
    args: [join(modules, `@modelcontextprotocol/server-${name}/dist/index.js`), ...args],
  });
  const open = ({ servers = {}, turns = [["Aye."]], files = {}, args = [] }) => {
    const folder = mkdtempSync(join(parent, "mcp-"));
    const script = join(folder, "script.json");
    writeFileSync(script, JSON.stringify({ onEnd: "repeat-last", turns }));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, "app", name, ".."), { recursive: true });
      writeFileSync(join(folder, "app", name), text);
    }
    const agentFiles = { "mcp.json": JSON.stringify({ mcpServers: servers }) };
    const all = ["--script", script, ...args];
    return startAgent({ cli, folder, port: 9, settings: {}, agentFiles, args: all, doneType: "agent_settled" });
  };
  return { stdio, open, parent };
}

/** What the calls of a prompt came to: `[isError, content]`. */
const results = (frames) =>
  frames.filter(({ type }) => type === "tool_execution_end").map(({ result, isError }) => [isError, result.content]);
const textsOf = (frames) => results(frames).map(([, content]) => content.map(({ text }) => text).join("\n"));
const notices = ({ frames }) => frames.filter(({ type }) => type === "notice").map(({ message }) => message);
const updates = (frames) => frames.filter(({ type }) => type === "tool_execution_update");
const toolNames = async (agent) => JSON.stringify(await agent.call({ type: "get_context" })).match(/mcp__\w+[\w-]*/g);

/** Whether a process lives; a zombie does not. */
function lives(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The ids of all processes below this one. */
function childrenOf(pid) {
  const own = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return own.flatMap((child) => [child, ...childrenOf(child)]);
}

async function until(isSo, what) {
  const end = Date.now() + 10_000;
  while (!isSo()) {
    check(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function used(agent, story) {
  try {
    return await story(agent);
  } finally {
    await agent.end();
  }
}

/** A port that nobody has. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startHttp({ command, args }, port) {
  const child = spawn(command, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      said += chunk;
    });
  }
  await until(() => /listening/i.test(said), "the server over HTTP does not listen");
  const closed = new Promise((resolve) => child.on("close", resolve));
  return async () => {
    child.kill("SIGKILL");
    await closed;
  };
}

/** A way to a port that can be cut. */
async function startWay(port) {
  const open = new Set();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      one.on("error", () => undefined);
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
    open.add(near);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const stop = () => {
    cut();
    server.close();
  };
  return { port: server.address().port, cut, stop };
}

const LONG = "trigger-long-running-operation";

/** The same over both transports. */
const CALLS = [
  [call("mcp__all__echo", { message: "Ahoy" })],
  [call("mcp__all__get-sum", { a: 2, b: 3 })],
  [call("mcp__all__get-tiny-image")],
  [call("mcp__all__get-structured-content", { location: "Chicago" })],
  [call("mcp__all__get-resource-links", { count: 1 })],
  [call("mcp__all__get-resource-reference", { resourceType: "Text", resourceId: 1 })],
  [call(`mcp__all__${LONG}`, { duration: 0.5, steps: 5 })],
  // The server refuses it: these are no numbers.
  [call("mcp__all__get-sum", { a: "two", b: [] })],
  ["Aye."],
];

async function callsOf(agent) {
  const frames = await agent.prompt("Try all");
  const tools = await toolNames(agent);
  check(tools?.includes("mcp__all__echo"), `the tools are ${tools}`);
  const said = textsOf(frames);
  equal(said[0], "Echo: Ahoy", "echo");
  check(said[1].includes("is 5"), `get-sum says ${said[1]}`);
  const image = results(frames)[2][1].find(({ type }) => type === "image");
  equal(image?.mimeType, "image/png", "the type of the image");
  check(said[3].includes("temperature"), `get-structured-content says ${said[3]}`);
  check(said[4].includes("[Resource "), `get-resource-links says ${said[4]}`);
  check(said[5].includes("[Resource "), `get-resource-reference says ${said[5]}`);
  check(said[6].includes("completed"), `${LONG} says ${said[6]}`);
  const progress = updates(frames).map(({ partialResult }) => partialResult.content[0].text);
  check(progress.includes("1 of 5"), `the progress is ${progress}`);
  equal(results(frames)[7][0], true, "isError of a wrong call");
  equal(notices(agent), [], "notices");
  return `${new Set(tools).size} tools; text, image, structured content, resources, progress, an error`;
}

const WAIT = [call(`mcp__all__${LONG}`, { duration: 60, steps: 600 })];
const ECHO = [call("mcp__all__echo", { message: "still here" })];

/** Aborted when it has begun to tell of its progress, and of use afterwards. */
async function abortedOf(agent) {
  await agent.abortedPrompt("Wait", "tool_execution_update");
  equal(textsOf(await agent.prompt("And now?")), ["Echo: still here"], "the call after the abort");
}

export const STORIES = {
  "everything, over stdio: its tools are listed and called": (place) =>
    used(place.open({ servers: { all: place.stdio("everything") }, turns: CALLS }), callsOf),

  async "everything, over streamable HTTP: its tools are listed and called"(place) {
    const port = await freePort();
    const stop = await startHttp(place.stdio("everything", "streamableHttp"), port);
    const all = { url: `http://127.0.0.1:${port}/mcp` };
    return used(place.open({ servers: { all }, turns: CALLS }), callsOf).finally(stop);
  },

  "everything, over stdio: aborted in the middle": (place) =>
    used(place.open({ servers: { all: place.stdio("everything") }, turns: [WAIT, ECHO, ["Aye."]] }), abortedOf),

  async "everything, over streamable HTTP: aborted in the middle; ended and started again"(place) {
    const port = await freePort();
    const server = place.stdio("everything", "streamableHttp");
    let stop = await startHttp(server, port);
    const turns = [WAIT, ECHO, ["Aye."], WAIT, ["Aye."], ECHO, ["Aye."]];
    const all = { url: `http://127.0.0.1:${port}/mcp` };
    return used(place.open({ servers: { all }, turns }), async (agent) => {
      await abortedOf(agent);
      const from = agent.frames.length;
      const waiting = agent.prompt("Wait");
      await agent.frame(from, ({ type }) => type === "tool_execution_update", "progress");
      await stop();
      equal(results(await waiting)[0][0], true, "isError of the call whose server was killed");
      stop = await startHttp(server, port);
      equal(textsOf(await agent.prompt("And now?")), ["Echo: still here"], "the call after the restart");
    }).finally(() => stop());
  },

  async "everything, over streamable HTTP: a connection that is cut in the middle of a call"(place) {
    const port = await freePort();
    const stop = await startHttp(place.stdio("everything", "streamableHttp"), port);
    const way = await startWay(port);
    const turns = [[call(`mcp__all__${LONG}`, { duration: 1, steps: 10 })], ["Aye."]];
    const all = { url: `http://127.0.0.1:${way.port}/mcp` };
    return used(place.open({ servers: { all }, turns }), async (agent) => {
      const waiting = agent.prompt("Wait");
      await agent.frame(0, ({ type }) => type === "tool_execution_update", "progress");
      way.cut();
      const said = textsOf(await waiting);
      check(said[0].includes("completed"), `the call says ${said}`);
      return "the rest of the answer is asked for";
    }).finally(() => {
      way.stop();
      return stop();
    });
  },

  "everything, over stdio: killed in the middle, and started again": (place) =>
    used(
      place.open({ servers: { all: place.stdio("everything") }, turns: [WAIT, ["Aye."], ECHO, ["Aye."]] }),
      async (agent) => {
        const waiting = agent.prompt("Wait");
        await agent.frame(0, ({ type }) => type === "tool_execution_update", "progress");
        const [server] = childrenOf(agent.pid).filter((pid) =>
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("server-everything"),
        );
        process.kill(server, "SIGKILL");
        const [[isError, [{ text }]]] = results(await waiting);
        check(isError && text.includes("it has ended (by SIGKILL)"), `the call says ${text}`);
        equal(textsOf(await agent.prompt("And now?")), ["Echo: still here"], "the next call");
      },
    ),

  "everything, over stdio: what it may see of our environment": (place) =>
    used(
      place.open({
        servers: { all: { ...place.stdio("everything"), env: { COLOUR: "blue" } } },
        turns: [[call("mcp__all__get-env")], ["Aye."]],
      }),
      async (agent) => {
        const [env] = textsOf(await agent.prompt("What do you see?"));
        equal(JSON.parse(env).COLOUR, "blue", "the variable of its own");
      },
    ),

  "filesystem: inside its folder, and not outside": (place) => {
    const folder = realpathSync(mkdtempSync(join(place.parent, "harbour-")));
    const path = join(folder, "log.txt");
    const turns = [
      [call("mcp__files__write_file", { path, content: "first day\n" })],
      [call("mcp__files__read_text_file", { path })],
      [call("mcp__files__list_directory", { path: folder })],
      [call("mcp__files__read_text_file", { path: "/etc/hostname" })],
      ["Aye."],
    ];
    return used(place.open({ servers: { files: place.stdio("filesystem", folder) }, turns }), async (agent) => {
      const frames = await agent.prompt("Keep a log");
      equal(readFileSync(path, "utf8"), "first day\n", "the file");
      const said = textsOf(frames);
      check(said[1].includes("first day") && said[2].includes("log.txt"), `it says ${said}`);
      equal(
        results(frames).map(([isError]) => isError),
        [false, false, false, true],
        "isError",
      );
    });
  },

  "memory: goes on in the next session of the process": (place) => {
    const memory = { ...place.stdio("memory"), env: { MEMORY_FILE_PATH: join(place.parent, "memory.jsonl") } };
    const entities = [{ name: "Swallow", entityType: "ship", observations: ["has a leak"] }];
    const turns = [
      [call("mcp__memory__create_entities", { entities })],
      ["Aye."],
      [call("mcp__memory__read_graph")],
      ["Aye."],
    ];
    return used(place.open({ servers: { memory }, turns }), async (agent) => {
      await agent.prompt("Remember");
      await agent.call({ type: "new_session" });
      const [graph] = textsOf(await agent.prompt("What do you know?"));
      check(graph.includes("has a leak"), `it says ${graph}`);
    });
  },

  "two servers with the same tools": (place) => {
    const all = place.stdio("everything");
    const turns = [
      [call("mcp__port__echo", { message: "left" }), call("mcp__starboard__echo", { message: "right" })],
      ["Aye."],
    ];
    return used(place.open({ servers: { port: all, starboard: all }, turns }), async (agent) => {
      // They run at once: whichever server is quicker ends first.
      equal(textsOf(await agent.prompt("Both")).sort(), ["Echo: left", "Echo: right"], "both");
    });
  },

  async "servers of a project: only with --approve"(place) {
    const files = { ".tiller/mcp.json": JSON.stringify({ mcpServers: { all: place.stdio("everything") } }) };
    const names = (args) =>
      used(place.open({ files, args }), async (agent) => {
        await agent.prompt("Ahoy");
        return { tools: (await toolNames(agent)) ?? [], notices: notices(agent) };
      });
    const untrusted = await names([]);
    equal(untrusted.tools, [], "tools of a project that is not trusted");
    check(/were not started/.test(untrusted.notices), `the notices are ${untrusted.notices}`);
    check((await names(["--approve"])).tools.includes("mcp__all__echo"), "a trusted project has no tools");
    equal(await names(["--approve", "--no-mcp"]), { tools: [], notices: [] }, "with --no-mcp");
  },

  "an extension registers a server": (place) => {
    const config = JSON.stringify(place.stdio("everything"));
    const extension = `export default (pi) => { pi.registerMcpServer("all", ${config}); };\n`;
    const made = { turns: [ECHO, ["Aye."]], files: { "crew.js": extension }, args: ["--extension", "crew.js"] };
    return used(place.open(made), async (agent) => {
      equal(textsOf(await agent.prompt("Ahoy")), ["Echo: still here"], "the call");
    });
  },

  async "nothing is left when tiller ends, or is killed"(place) {
    const servers = { all: place.stdio("everything"), memory: place.stdio("memory") };
    for (const how of ["end", "kill"]) {
      const agent = place.open({ servers });
      await agent.prompt("Ahoy");
      const pids = childrenOf(agent.pid);
      check(pids.length >= 2, `there are only ${pids.length} processes`);
      await agent[how]();
      await until(() => !pids.some(lives), `after ${how}, of ${pids} there are still ${pids.filter(lives)}`);
    }
  },
};

/** What came of each story. */
export async function checkServers({ only, onRow, ...given }) {
  const place = createPlace(given);
  const rows = [];
  for (const [name, story] of Object.entries(STORIES)) {
    if (only !== undefined && !name.includes(only)) continue;
    const row = await Promise.resolve(story(place)).then(
      (says) => ({ name, says: says ?? "" }),
      (error) => ({ name, problem: error.message }),
    );
    onRow(row);
    rows.push(row);
  }
  return rows;
}
