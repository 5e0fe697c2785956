// A whole conversation of an editor with pi-acp, which finds us on the PATH as `pi`.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withTimeout } from "./both-clients.mjs";
import { check, createWorld, equal } from "./world.mjs";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/** Three, because the adapter looks at the file when it hears of the edit, and may come too late. */
const EDITS = ["second", "2nd", "last"].map((oldText, i) => ({ oldText, newText: ["2nd", "last", "end of"][i] }));
const edited = (edit) => [
  [{ toolCall: { name: "edit", arguments: { path: "notes.txt", edits: [edit] } } }],
  "Changed.",
];
const slow = (text) => [{ text, chunk: 4, pace: 40 }];

/** One after the other, as the steps below ask. */
const TURNS = [
  [{ text: "Let me look now.", chunk: 4, pace: 60 }, { toolCall: { name: "read", arguments: { path: "notes.txt" } } }],
  "Two lines.",
  ...EDITS.flatMap(edited),
  [{ text: "Wait" }, { hang: true }],
  slow("The first of two."),
  slow("The second of two."),
  "I see it.",
  "Hello Bob!",
  "In short.",
];

/** The editor's side of the pipe. */
function openEditor(entry, world) {
  const child = spawn(process.execPath, [entry], {
    cwd: world.cwd,
    env: world.pathEnv,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const pending = new Map();
  const updates = [];
  let rest = "";
  let stderr = "";
  let count = 0;
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const { id, method, params, result, error } = JSON.parse(line);
      if (method === "session/update") updates.push(params.update);
      else if (pending.has(id)) pending.get(id)(error ? { error } : { result });
    }
  });
  const closed = new Promise((resolve) => child.on("close", resolve));
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    updates,
    note: (method, params) => send({ method, params }),
    async ask(method, params) {
      const id = ++count;
      const answer = new Promise((resolve) => pending.set(id, resolve));
      send({ id, method, params });
      const { result, error } = await answer;
      if (error)
        throw new Error(`${method}: ${error.message} ${JSON.stringify(error.data ?? "")} ${stderr.slice(-400)}`);
      return result;
    },
    async close() {
      child.stdin.end();
      return closed;
    },
    kill: () => child.kill("SIGKILL"),
  };
}

const CAPABILITIES = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };

/** Step by step; each sees what the ones before have left in `at`. */
const STEPS = {
  async initialize(at) {
    const { protocolVersion, agentCapabilities } = await at.editor.ask("initialize", {
      protocolVersion: 1,
      clientCapabilities: CAPABILITIES,
    });
    equal([protocolVersion, agentCapabilities.loadSession], [1, true], "what it can do");
    return "the adapter starts";
  },
  async "session/new"(at) {
    const made = await at.editor.ask("session/new", { cwd: at.world.cwd, mcpServers: [] });
    at.sessionId = made.sessionId;
    const told = JSON.stringify(made);
    for (const model of ["mock/mock-1", "mock/mock-2", "script/script"])
      check(told.includes(model), `${model} is not offered: ${told}`);
    check(told.includes('"medium"') && told.includes('"high"'), `no thinking levels: ${told}`);
    return "with the models and thinking levels to choose from";
  },
  async "session/prompt: text, streamed"(at) {
    const { stopReason, updates } = await at.prompt("What is in notes.txt?");
    equal(stopReason, "end_turn", "stopReason");
    const chunks = updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    check(chunks.length >= 3, `only ${chunks.length} chunks`);
    equal(chunks.map(({ content }) => content.text).join(""), "Let me look now.Two lines.", "the text");
    at.first = updates;
    return "piece by piece, the pieces make up the text";
  },
  async "session/prompt: tool call"(at) {
    const calls = at.first.filter(({ sessionUpdate }) => /^tool_call/.test(sessionUpdate));
    equal(calls[0].kind, "read", "the kind");
    check(
      calls.some(({ locations }) => locations?.[0].path === join(at.world.cwd, "notes.txt")),
      "no location",
    );
    const { status, content } = calls.at(-1);
    equal([status, content[0].content.text], ["completed", "first line\nsecond line\n"], "how it ends");
    return "pending, in progress and completed, with the file it is about and its output";
  },
  async "session/prompt: edit as a diff"(at) {
    const seen = [];
    for (const _ of EDITS) seen.push(...(await at.prompt("Change it")).updates);
    const contents = seen.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const diff = contents.find(({ type }) => type === "diff");
    check(diff && diff.oldText !== diff.newText && /line/.test(diff.newText), `no diff: ${JSON.stringify(contents)}`);
    return "old and new text of the file";
  },
  async "session/cancel"(at) {
    const asked = at.prompt("Go on");
    await at.until(({ content }) => content?.text === "Wait");
    at.editor.note("session/cancel", { sessionId: at.sessionId });
    equal((await asked).stopReason, "cancelled", "stopReason");
    return "the prompt ends as cancelled";
  },
  async "session/prompt: one while another runs"(at) {
    const first = at.prompt("One");
    const second = at.prompt("Two");
    equal([(await first).stopReason, (await second).stopReason], ["end_turn", "end_turn"], "how both end");
    const text = at.editor.updates.map(({ content }) => content?.text ?? "").join("");
    check(text.indexOf("The first of two.") < text.indexOf("The second of two."), "not one after the other");
    return "both are answered, one after the other";
  },
  async "session/prompt: image"(at) {
    const image = { type: "image", data: PIXEL, mimeType: "image/png" };
    const { stopReason } = await at.prompt("Look", [image]);
    equal(stopReason, "end_turn", "stopReason");
    check(readFileSync(at.sessionFile(), "utf8").includes(PIXEL), "the image is not in the session file");
    return "reaches the conversation";
  },
  async "session/set_mode"(at) {
    await at.editor.ask("session/set_mode", { sessionId: at.sessionId, modeId: "high" });
    await at.until(
      ({ sessionUpdate, currentModeId }) => sessionUpdate === "current_mode_update" && currentModeId === "high",
    );
    return "chooses the thinking level";
  },
  async "choosing a model"(at) {
    const { sessionId } = at;
    const choose = async (value) => {
      try {
        return await at.editor.ask("session/set_model", { sessionId, modelId: value });
      } catch (error) {
        if (!/not found/i.test(error.message)) throw error;
        return at.editor.ask("session/set_config_option", { sessionId, configId: "model", value });
      }
    };
    await choose("mock/mock-2");
    check(/"modelId":"mock-2"/.test(readFileSync(at.sessionFile(), "utf8")), "it is not in the session file");
    await choose("script/script");
    return "`session/set_model`, or `session/set_config_option` in newer versions";
  },
  async "template as a slash command"(at) {
    const { updates } = await at.prompt("/greet Bob");
    check(JSON.stringify(updates).includes("Hello Bob!"), `the model was not asked: ${JSON.stringify(updates)}`);
    check(readFileSync(at.sessionFile(), "utf8").includes("Greet Bob kindly"), "the template was not expanded");
    return "is listed and expanded";
  },
  async "/session"(at) {
    const { updates } = await at.prompt("/session");
    check(JSON.stringify(updates).includes(at.sessionFile()), `no session file: ${JSON.stringify(updates)}`);
    return "tells messages, tokens, cost and file";
  },
  async "/name"(at) {
    await at.prompt("/name my session");
    check(readFileSync(at.sessionFile(), "utf8").includes('"name":"my session"'), "it is not in the session file");
    return "names the session";
  },
  async "/steering, /follow-up, /autocompact"(at) {
    for (const text of ["/steering all", "/follow-up all", "/autocompact off"]) {
      const { stopReason, updates } = await at.prompt(text);
      check(stopReason === "end_turn" && updates.length > 0, `${text} says nothing`);
    }
    return "set what they say";
  },
  async "/compact"(at) {
    await at.prompt("/compact be short");
    check(readFileSync(at.sessionFile(), "utf8").includes('"type":"compaction"'), "no summary in the session file");
    return "leaves a summary in the session file";
  },
  async "/export"(at) {
    const { updates } = await at.prompt("/export");
    const said = JSON.stringify(updates);
    check(!said.includes("not available in this version"), said);
    check(/\.html/.test(said), `no page: ${said}`);
    return "writes a page";
  },
  async "session/list"(at) {
    const { sessions } = await at.editor.ask("session/list", { cwd: at.world.cwd });
    check(
      sessions.some(({ sessionId }) => sessionId === at.sessionId),
      `it is not among ${JSON.stringify(sessions)}`,
    );
    return "finds our session files";
  },
  async "the end"(at) {
    equal(await at.editor.close(), 0, "the exit code");
    return "the adapter and its `pi` end when the editor closes the pipe";
  },
  async "session/load in a new process"(at) {
    at.editor = at.open();
    await at.editor.ask("initialize", { protocolVersion: 1, clientCapabilities: CAPABILITIES });
    await at.editor.ask("session/load", { sessionId: at.sessionId, cwd: at.world.cwd, mcpServers: [] });
    const told = JSON.stringify(at.editor.updates);
    // What was compacted away is not told.
    check(told.includes("Hello Bob!") && told.includes('"user_message_chunk"'), `not told again: ${told}`);
    equal((await at.prompt("Once more")).stopReason, "end_turn", "stopReason");
    await at.editor.close();
    return "the conversation is told again and goes on";
  },
};

export async function checkAcp({ entry, cli, parent, only }) {
  const world = createWorld(parent, cli, TURNS);
  const at = {
    world,
    open: () => openEditor(entry, world),
    sessionFile: () => {
      const map = JSON.parse(readFileSync(join(world.folder, ".pi/pi-acp/session-map.json"), "utf8"));
      const [, path] = /"([^"]+\.jsonl)"/.exec(JSON.stringify(map)) ?? [];
      check(path && existsSync(path), `no session file in ${JSON.stringify(map)}`);
      return path;
    },
    async prompt(text, blocks = []) {
      const from = at.editor.updates.length;
      const prompt = [{ type: "text", text }, ...blocks];
      const { stopReason } = await at.editor.ask("session/prompt", { sessionId: at.sessionId, prompt });
      return { stopReason, updates: at.editor.updates.slice(from) };
    },
    async until(fits) {
      while (!at.editor.updates.some(fits)) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };
  at.editor = at.open();
  const rows = [];
  try {
    for (const [name, step] of Object.entries(STEPS)) rows.push({ name, ...(await taken(step, at)) });
  } finally {
    at.editor.kill();
    world.remove();
  }
  return only === undefined ? rows : rows.filter(({ name }) => name.includes(only));
}

async function taken(step, at) {
  try {
    return { says: await withTimeout(step(at)) };
  } catch (error) {
    return { problem: error.message };
  }
}
