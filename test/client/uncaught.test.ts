import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cliPath, repoRoot } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";

/** A program that catches nothing: Node prints the line that threw, and that must not be a whole file. */

const from = (name: string) => JSON.stringify(join(repoRoot, "packages/coding-agent/dist", name));

const COMMAND = { cliPath: cliPath(), args: ["--no-session"] };

test.each([
  [
    "a command that the agent refuses",
    `const { RpcClient } = require(${from("client.js")}), client = new RpcClient(${JSON.stringify(COMMAND)});
    client.start().then(() => client.setModel("no", "such"));`,
    /ClientError: .*no\/such/,
  ],
  [
    "a session that cannot be",
    `require(${from("index.js")}).createAgentSession({ model: "no/such" }).then(({ session }) => session.setModel("x"));`,
    /Error: set_model: /,
  ],
])("%s is told in a few lines", (_, program, says) => {
  const sandbox = createSandbox();
  try {
    const options = { cwd: sandbox.cwd, env: sandbox.env, encoding: "utf8", timeout: 15_000 } as const;
    const { stderr, status } = spawnSync(process.execPath, ["--eval", program], options);
    expect(stderr).toMatch(says);
    expect(stderr.length).toBeLessThan(2000);
    expect(status).toBe(1);
  } finally {
    sandbox.remove();
  }
});
