#!/usr/bin/env node
// usage: client.mjs MESSAGE [options of tiller]
import { spawn } from "node:child_process";

const [message, ...options] = process.argv.slice(2);
const agent = spawn("tiller", ["--mode", "rpc", "--no-session", ...options], { stdio: ["pipe", "pipe", "inherit"] });
const send = (frame) => agent.stdin.write(`${JSON.stringify(frame)}\n`);
let status = "lost";

const finish = (how) => {
  status = how;
  agent.stdin.end(); // the agent ends when nobody can write to it any more
};

/** Says yes to every question, and nothing to all that needs a text. */
function answer({ id, method, title }) {
  console.error(`\n? ${title}`);
  send({ type: "extension_ui_response", id, ...(method === "confirm" ? { confirmed: true } : { cancelled: true }) });
}

function take(frame) {
  const step = frame.assistantMessageEvent;
  if (frame.type === "message_update" && step.type === "text_delta") process.stdout.write(step.delta);
  else if (frame.type === "message_update" && step.type === "text_end") console.log();
  else if (frame.type === "extension_ui_request" && /^(confirm|select|input|editor)$/.test(frame.method)) answer(frame);
  else if (frame.type === "prompt_result" && frame.id === "1") finish(frame.error ? `${frame.status}: ${frame.error.message}` : frame.status);
  else if (frame.type === "response" && !frame.success) {
    console.error(frame.error);
    finish("refused");
  }
}

// Not readline: it would also split at U+2028.
let rest = "";
agent.stdout.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) take(JSON.parse(line));
});
agent.on("close", () => {
  console.log(`\n${status}`);
  process.exitCode = status === "completed" ? 0 : 1;
});

send({ id: "1", type: "prompt", message });
