#!/usr/bin/env node
// The first half of `npm run test:package`. Packs the product, installs the tarball into an empty folder, counts what is
// there, talks to it, also with its client, compiles a program against its types, and follows the links of its pages.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./ensure.mjs";
import { check, withPacked } from "./packed.mjs";

const TIMEOUT_MS = 30_000;

/** The client, as a program of the user imports it. */
function useClient(folder) {
  const program = `import { RpcClient } from "tiller/client";
    const client = new RpcClient({ args: ["--no-session"] });
    await client.start();
    process.stdout.write((await client.ask("hello")).status);
    await client.stop();`;
  const env = { PATH: process.env.PATH, HOME: folder, TILLER_DIR: join(folder, "home/agent") };
  const args = ["--input-type=module", "--eval", program];
  const result = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8", timeout: TIMEOUT_MS });
  check(result.stdout === "completed", `the client said "${result.stdout}".\nstderr: ${result.stderr}`);
}

/** One prompt over pipes; resolves to what came out. */
function converse(bin, folder) {
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, TILLER_DIR: join(home, "agent") };
  const child = spawn(bin, ["--mode", "rpc", "--no-session"], { cwd: folder, env });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    if (stdout.includes('"type":"session_settled"')) child.stdin.end();
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  child.stdin.write('{"id":"1","type":"prompt","message":"hello"}\n');
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`no session_settled within ${TIMEOUT_MS} ms.\nstdout:\n${stdout}\nstderr:\n${stderr}`));
    }, TIMEOUT_MS);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

function checkFrames({ code, stdout, stderr }) {
  const frames = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const types = frames.map((frame) => frame.type);
  const seen = `frames: ${types.join(" ")}\nstderr: ${stderr}`;
  check(types[0] === "ready", `the first frame is not "ready".\n${seen}`);
  const answer = frames.find((frame) => frame.type === "response" && frame.id === "1");
  check(answer?.success === true && answer.command === "prompt", `the prompt was not accepted.\n${seen}`);
  for (const type of [
    "agent_start",
    "message_update",
    "agent_end",
    "agent_settled",
    "prompt_result",
    "session_settled",
  ]) {
    check(types.includes(type), `no ${type}.\n${seen}`);
  }
  check(code === 0, `exit code ${code} after stdin was closed.\n${seen}`);
  return types.length;
}

/** Uses of every entry that are right, and the same with mistakes that the types must notice. */
const RIGHT = `import { createAgent } from "tiller/agent";
import { streamAssistant } from "tiller/ai";
import { RpcClient, type CommandResults } from "tiller/client";
import { COMMAND_TABLE, type RpcCommand, type RpcEvent } from "tiller/protocol";
import { createAgentSession, type AgentSessionEvent } from "tiller";
export const parts = [createAgent, streamAssistant, COMMAND_TABLE.prompt.lane];
export const command: RpcCommand<"prompt"> = { type: "prompt", message: "hello" };
export const event: RpcEvent<"session_settled"> = { type: "session_settled", seq: 1 };
export const text = (told: AgentSessionEvent): string => (told.type === "message_update" ? told.message.model : told.type);
export const level = async (client: RpcClient): Promise<CommandResults["get_state"]["thinkingLevel"]> =>
  (await client.commands.getState()).thinkingLevel;
export async function tree(): Promise<number> {
  const { session } = await createAgentSession({ session: false });
  return (await session.call("get_tree")).tree.length;
}
`;
const WRONG = [
  ['type: "prompt", message: "hello"', 'type: "prompt", massage: "hello"', "massage"],
  ['session.call("get_tree")', 'session.call("get_three")', "get_three"],
  ["session: false", "sesion: false", "sesion"],
  ["getState()).thinkingLevel", "getState()).thinkingLevle", "thinkingLevle"],
  ["told.message.model", "told.message.modle", "modle"],
];

/** The types of the package itself are checked too, and without the schema library they are made from. */
function compile(folder) {
  const options = { strict: true, module: "nodenext", target: "es2023", noEmit: true, skipLibCheck: false };
  const typeRoots = [join(root, "node_modules/@types")];
  const compilerOptions = { ...options, types: ["node"], typeRoots };
  copyFileSync(join(root, "docs/examples/library.ts"), join(folder, "example.mts"));
  writeFileSync(join(folder, "right.mts"), RIGHT);
  const wrong = WRONG.map(([right, mistake], i) => [`wrong${i}.mts`, RIGHT.replace(right, mistake)]);
  for (const [name, program] of wrong) writeFileSync(join(folder, name), program);
  const files = ["example.mts", "right.mts", ...wrong.map(([name]) => name)];
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  // It ends soon: what collecting garbage would give back is not needed.
  const env = { GOGC: "off", ...process.env };
  const { stdout } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { encoding: "utf8", env });
  const errors = stdout.split("\n").filter((line) => /\(\d+,\d+\): error/.test(line));
  const unexpected = errors.filter((line) => !/^(.*\/)?wrong\d/.test(line));
  check(unexpected.length === 0, `a program does not compile against the package:\n${unexpected.join("\n")}`);
  for (const [i, [, , word]] of WRONG.entries()) {
    const isNoticed = errors.some((line) => line.includes(`wrong${i}.mts`) && line.includes(word));
    check(isNoticed, `the types do not notice "${word}"; they say:\n${stdout}`);
  }
}

/** Whoever reads the package finds what its pages point to. */
function followLinks(folder) {
  const home = join(folder, "node_modules/tiller");
  const pages = readdirSync(home, { recursive: true }).filter((path) => path.endsWith(".md"));
  let followed = 0;
  for (const page of pages) {
    const text = readFileSync(join(home, page), "utf8").replace(/^```.*?^```/gms, "");
    for (const [, target] of text.matchAll(/\]\(([^()\s#:]+)(?:#[^()\s]*)?\)/g)) {
      check(
        existsSync(join(home, dirname(page), target)),
        `${page} leads to ${target}, which the package does not have`,
      );
      followed += 1;
    }
  }
  check(followed > 0, "no page of the package leads anywhere");
}

const MOST_PACKAGES = 8;

/** What npm has put into the empty folder, by name; packages of packages count as well. */
function packagesIn(folder) {
  const { packages } = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
  const names = Object.keys(packages).map((path) =>
    path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
  );
  check(names.includes("tiller"), `npm has installed no tiller, but ${names.join(", ")}`);
  check(
    names.length <= MOST_PACKAGES,
    `${names.length} packages are too many, at most ${MOST_PACKAGES}: ${names.join(", ")}`,
  );
  return names.length;
}

withPacked(async ({ tarball, user, bin }) => {
  const packages = packagesIn(user);
  const count = checkFrames(await converse(bin, user));
  useClient(user);
  compile(user);
  followLinks(user);
  process.stdout.write(
    `packed ${tarball.count} files, ${(tarball.size / 1024).toFixed(0)} KB; installed as ${packages} packages; ${count} frames for one prompt; a program compiles against its types; fine\n`,
  );
}).catch((error) => {
  process.stderr.write(`pack-smoke: ${error.message}\n`);
  process.exitCode = 1;
});
