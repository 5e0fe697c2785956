// Plays one prompt against a real `tiller --mode rpc` and shows the frames that go in and out, shortened for people.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./ensure.mjs";

const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
const bold = paint(1);
const dim = paint(2);
const green = paint(32);
const yellow = paint(33);
const cyan = paint(36);
const red = paint(31);

const width = Math.min(process.stdout.columns || 110, 140);
const print = (text = "") => process.stdout.write(`${text}\n`);
const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1))}…`);
const oneLine = (text) => text.replaceAll(/\s+/g, " ").trim();

function show(arrow, type, rest = "") {
  const room = width - type.length - 6;
  const head = arrow === ">" ? yellow(`> ${type}`) : `${cyan("<")} ${green(type)}`;
  print(`${head}  ${dim(cut(oneLine(rest), room))}`);
}

const textOf = (content) =>
  typeof content === "string"
    ? content
    : content.map((block) => block.text ?? block.thinking ?? `[${block.type}]`).join(" ");

/** What is worth seeing of a frame, by its type; the rest of its fields is left out here. */
const BRIEF = {
  ready: (f) => `version ${f.version}, dialect ${f.dialect}`,
  response: (f) =>
    `${f.command} ${f.success ? "success" : `failed: ${f.error}`} ${f.data ? JSON.stringify(f.data) : ""}`,
  notice: (f) => `${f.level}: ${f.message}`,
  message_start: (f) => f.message.role,
  message_end: (f) =>
    `${f.message.role} ${f.message.stopReason ?? ""} ${JSON.stringify(cut(oneLine(textOf(f.message.content)), 70))}`,
  tool_execution_start: (f) => `${f.toolName} ${JSON.stringify(f.args)}`,
  tool_execution_update: (f) => `${f.toolName} ${JSON.stringify(cut(oneLine(textOf(f.partialResult.content)), 60))}`,
  tool_execution_end: (f) =>
    `${f.toolName} ${f.isError ? "error" : "ok"} ${JSON.stringify(cut(oneLine(textOf(f.result.content)), 70))}`,
  turn_end: (f) => `${f.message.stopReason}, ${f.toolResults.length} tool result(s)`,
  agent_end: (f) => `${f.messages.length} messages`,
  agent_settled: (f) => `aborted ${f.aborted}`,
  prompt_result: (f) => `${f.status}${f.offline ? ", by the offline model" : ""}`,
};

/** Shows frames; message_update frames that follow one another become one line with the joined text. */
function createViewer() {
  let streamed = "";
  let count = 0;
  const endStream = () => {
    if (count > 0) show("<", "message_update", `${count} frame(s), deltas: ${JSON.stringify(oneLine(streamed))}`);
    streamed = "";
    count = 0;
  };
  return (frame) => {
    if (frame.type === "message_update") {
      count += 1;
      streamed += frame.assistantMessageEvent.delta ?? "";
      return;
    }
    endStream();
    show("<", frame.type, BRIEF[frame.type]?.(frame) ?? "");
  };
}

function finalText(frame) {
  const answer = frame.messages.findLast((message) => message.role === "assistant");
  return answer ? textOf(answer.content) : "";
}

/** Starts the agent, sends one prompt, shows everything until its prompt_result. Resolves to the exit code. */
export async function showDemo(cli) {
  const dir = mkdtempSync(join(tmpdir(), "tiller-demo-"));
  print(bold("Tiller: the coding agent that your program steers"));
  print("A real `tiller --mode rpc` on the offline model, asked about this repository. > goes in, < comes out;");
  print("each line stands for one JSON object with that type, shortened here.");
  print();
  const agent = spawn(process.execPath, [cli, "--mode", "rpc", "--no-session", "--model", "offline/scout"], {
    cwd: root,
    env: { ...process.env, TILLER_DIR: dir, PI_CODING_AGENT_DIR: "" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const prompt = { id: "req_1", type: "prompt", message: "Summarize this repo" };
  show(">", prompt.type, JSON.stringify(prompt));
  agent.stdin.write(`${JSON.stringify(prompt)}\n`);

  const view = createViewer();
  let rest = "";
  let answer = "";
  let status = "no prompt_result";
  agent.stdout.setEncoding("utf8");
  agent.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const frame = JSON.parse(line);
      view(frame);
      if (frame.type === "agent_end") answer = finalText(frame);
      if (frame.type === "prompt_result") {
        status = frame.status;
        agent.stdin.end();
      }
    }
  });
  const code = await new Promise((resolve) => agent.on("close", resolve));
  rmSync(dir, { recursive: true, force: true });

  print();
  print(bold("The answer"));
  print(answer);
  print();
  if (status !== "completed" || code !== 0) {
    print(red(`The demo did not end as it should: status ${status}, exit code ${code}`));
    return 1;
  }
  print(bold("Next"));
  print("  a real model    ANTHROPIC_API_KEY=... npm start -- --mode rpc --model sonnet");
  print("                  or your own server in ~/.tiller/agent/models.json (see README.md)");
  print("  the raw server  npm start -- --mode rpc        then type a JSON object per line");
  print("  from a program  node packages/coding-agent/dist/cli.js --mode rpc");
  print("  the tests       npm test");
  return 0;
}
