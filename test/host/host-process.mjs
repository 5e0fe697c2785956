// A host in a process of its own, so that somebody can kill it: it starts the agent, approves the first call and then
// only reads. Usage: node host-process.mjs PROGRAM ARGUMENTS...
import { spawn } from "node:child_process";

const agent = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
const send = (frame) => agent.stdin.write(`${JSON.stringify(frame)}\n`);
process.stdout.write(`agent ${agent.pid}\n`);
send({ id: "1", type: "prompt", message: "go" });
let rest = "";
let approved = 0;
agent.stdout.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const frame of lines.map((line) => JSON.parse(line))) {
    if (frame.type !== "extension_ui_request") continue;
    process.stdout.write(`asked ${JSON.stringify(frame.title)}\n`);
    if (approved++ === 0) send({ type: "extension_ui_response", id: frame.id, value: "Approve" });
  }
});
