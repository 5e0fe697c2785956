#!/usr/bin/env node
// The floor: the least an RPC agent on plain Node can do and still say the protocol's events. A yardstick, not a product:
// one provider (Anthropic Messages over http), one tool (bash), nothing is checked, there is no system prompt.
//
// MOCK_BASE_URL is the provider. --no-session, --session-dir DIR and --session FILE are understood, other arguments are
// ignored.
import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";

const optionValue = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const provider = new URL(process.env.MOCK_BASE_URL ?? "http://127.0.0.1:1");
const isKept = !process.argv.includes("--no-session");
const sessionDir = optionValue("--session-dir");

let messages = [];
/** Set while a prompt runs: `cancel` ends whatever it waits for. */
let run;

// Frames: one write for all that is said in one turn of the event loop.
let unsent = "";
function flush() {
  const text = unsent;
  unsent = "";
  process.stdout.write(text);
}
function say(frame) {
  if (unsent === "") queueMicrotask(flush);
  unsent += `${JSON.stringify(frame)}\n`;
}

let sessionFile;
let sessionFd;
let parentId = null;

/** Every line is parsed, and every message kept: the plain way to do it. */
function openSession(file) {
  if (sessionFd !== undefined) fs.closeSync(sessionFd);
  sessionFd = undefined;
  sessionFile = file;
  messages = [];
  parentId = null;
  if (!file || !fs.existsSync(file)) return;
  for (const line of fs.readFileSync(file, "utf8").split("\n")) {
    if (!line) continue;
    const { type, id, message } = JSON.parse(line);
    if (type === "message") messages.push(message);
    if (type !== "session") parentId = id;
  }
}
const newFile = isKept && sessionDir ? path.join(sessionDir, `${randomUUID()}.jsonl`) : undefined;
openSession(optionValue("--session") ?? newFile);

function keep(message) {
  messages.push(message);
  if (!isKept || !sessionFile) return;
  const timestamp = new Date().toISOString();
  if (sessionFd === undefined) {
    const isNew = !fs.existsSync(sessionFile);
    fs.mkdirSync(path.dirname(sessionFile), { recursive: true });
    sessionFd = fs.openSync(sessionFile, "a");
    const header = { type: "session", version: 3, id: randomUUID(), timestamp, cwd: process.cwd() };
    if (isNew) fs.writeSync(sessionFd, `${JSON.stringify(header)}\n`);
  }
  const id = Math.random().toString(16).slice(2, 10);
  fs.writeSync(sessionFd, `${JSON.stringify({ type: "message", id, parentId, timestamp, message })}\n`);
  parentId = id;
}

const KEPT_OUTPUT = 50_000;
let childProcess;
async function runShell(command, holder) {
  childProcess ??= await import("node:child_process");
  const child = childProcess.spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"], detached: true });
  const pieces = [];
  let kept = 0;
  let cancelled = false;
  const take = (piece) => {
    pieces.push(piece);
    kept += piece.length;
    while (pieces.length > 1 && kept - pieces[0].length >= KEPT_OUTPUT) kept -= pieces.shift().length;
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  holder.cancel = () => {
    cancelled = true;
    process.kill(-child.pid, "SIGKILL");
  };
  const exitCode = await new Promise((resolve) => child.on("close", resolve));
  holder.cancel = () => undefined;
  const output = Buffer.concat(pieces).toString("utf8").slice(-KEPT_OUTPUT);
  return { output, exitCode: exitCode ?? undefined, cancelled };
}

/** The message as the provider wants it. */
function toWire(message) {
  if (message.role === "toolResult") {
    const result = { type: "tool_result", tool_use_id: message.toolCallId, content: message.content };
    return { role: "user", content: [result] };
  }
  if (message.role === "bashExecution") return { role: "user", content: `Ran ${message.command}\n${message.output}` };
  if (message.role === "user") return { role: "user", content: message.content };
  const content = message.content.map((block) =>
    block.type === "toolCall" ? { type: "tool_use", id: block.id, name: block.name, input: block.arguments } : block,
  );
  return { role: "assistant", content };
}

let http;
let keepAlive;
/** Yields the parsed events of each piece that arrives, together. */
async function* ask(holder) {
  http ??= await import("node:http");
  keepAlive ??= new http.Agent({ keepAlive: true });
  const body = JSON.stringify({ model: "mock-1", max_tokens: 1000, stream: true, messages: messages.map(toWire) });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-api-key": "key" };
  const { hostname: host, port } = provider;
  const request = http.request({ host, port, path: "/v1/messages", method: "POST", agent: keepAlive, headers });
  holder.cancel = () => request.destroy(new Error("aborted"));
  const response = await new Promise((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
    request.end(body);
  });
  if (response.statusCode !== 200) {
    response.resume();
    throw new Error(`HTTP ${response.statusCode}`);
  }
  response.setEncoding("utf8");
  let rest = "";
  for await (const piece of response) {
    rest += piece;
    const events = [];
    let at = 0;
    for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n", at)) {
      const data = rest.indexOf("data: ", at);
      if (data !== -1 && data < end) events.push(JSON.parse(rest.slice(data + 6, end)));
      at = end + 2;
    }
    rest = rest.slice(at);
    yield events;
  }
}

/** Once per token. */
function grow({ texts }, { index, delta: piece }) {
  const delta = piece.text ?? piece.partial_json ?? "";
  texts[index] += delta;
  const type = piece.type === "text_delta" ? "text_delta" : "toolcall_delta";
  say({ type: "message_update", assistantMessageEvent: { type, contentIndex: index, delta } });
}

const ON_OTHER_EVENT = {
  content_block_start(answer, { index, content_block: block }) {
    answer.texts[index] = "";
    answer.message.content[index] =
      block.type === "tool_use"
        ? { type: "toolCall", id: block.id, name: block.name, arguments: {} }
        : { type: "text", text: "" };
  },
  content_block_stop({ message, texts }, { index }) {
    const block = message.content[index];
    if (block.type === "text") block.text = texts[index];
    else block.arguments = JSON.parse(texts[index] || "{}");
  },
  message_delta({ message }, { delta }) {
    message.stopReason = delta.stop_reason === "tool_use" ? "toolUse" : "stop";
  },
};

async function answerOnce(holder) {
  const message = { role: "assistant", content: [], stopReason: "stop", timestamp: Date.now() };
  const answer = { message, texts: [] };
  say({ type: "message_start", message });
  try {
    for await (const events of ask(holder)) {
      for (const event of events) {
        if (event.type === "content_block_delta") grow(answer, event);
        else ON_OTHER_EVENT[event.type]?.(answer, event);
      }
      flush();
    }
  } catch (error) {
    message.stopReason = holder.aborted ? "aborted" : "error";
    if (!holder.aborted) message.errorMessage = error.message;
  }
  return message;
}

async function runTool({ id, name, arguments: args }, holder) {
  say({ type: "tool_execution_start", toolCallId: id, toolName: name, args });
  const { output, exitCode } = await runShell(args.command ?? "true", holder);
  const content = [{ type: "text", text: output }];
  const isError = exitCode !== 0;
  say({ type: "tool_execution_end", toolCallId: id, toolName: name, result: { content }, isError });
  return { role: "toolResult", toolCallId: id, toolName: name, content, isError, timestamp: Date.now() };
}

async function runPrompt(text) {
  const holder = { aborted: false, cancel: () => undefined };
  run = holder;
  const added = [];
  const add = (message) => {
    keep(message);
    added.push(message);
    say({ type: "message_end", message });
  };
  say({ type: "agent_start" });
  add({ role: "user", content: [{ type: "text", text }], timestamp: Date.now() });
  for (;;) {
    say({ type: "turn_start" });
    const message = await answerOnce(holder);
    add(message);
    const toolResults = [];
    const calls = message.stopReason === "toolUse" ? message.content.filter(({ type }) => type === "toolCall") : [];
    for (const call of calls) {
      const result = await runTool(call, holder);
      add(result);
      toolResults.push(result);
    }
    say({ type: "turn_end", message, toolResults });
    if (holder.aborted || toolResults.length === 0) break;
  }
  run = undefined;
  say({ type: "agent_end", messages: added });
}

const stateNow = () => ({
  model: { id: "mock-1", provider: "mock" },
  thinkingLevel: "off",
  isStreaming: run !== undefined,
  isCompacting: false,
  sessionFile,
  messageCount: messages.length,
  pendingMessageCount: 0,
});

function lastText() {
  const last = messages.findLast(({ role }) => role === "assistant");
  const texts = last?.content.filter(({ type }) => type === "text") ?? [];
  return last ? texts.map(({ text }) => text).join("") : null;
}

const COMMANDS = {
  get_state: stateNow,
  get_messages: () => ({ messages }),
  get_last_assistant_text: () => ({ text: lastText() }),
  async bash({ command }) {
    const result = await runShell(command, {});
    keep({ role: "bashExecution", command, ...result, timestamp: Date.now() });
    return result;
  },
  switch_session({ sessionPath }) {
    openSession(sessionPath);
    return { cancelled: false };
  },
  abort() {
    if (!run) return;
    run.aborted = true;
    run.cancel();
  },
  prompt({ message }) {
    queueMicrotask(() => runPrompt(message));
  },
};

function respond({ id, type }, data) {
  say({ id, type: "response", command: type, success: true, data });
}

function handle(command) {
  const data = COMMANDS[command.type]?.(command);
  // Waiting costs a turn of the event loop, so only those wait that must.
  if (data instanceof Promise) data.then((later) => respond(command, later));
  else respond(command, data);
}

let restOfLine = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const lines = (restOfLine + piece).split("\n");
  restOfLine = lines.pop();
  for (const line of lines) if (line) handle(JSON.parse(line));
});
process.stdin.on("end", () => process.exit(0));
