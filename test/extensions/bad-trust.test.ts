import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";
import { command, extension } from "./bad-support.ts";

/** Code that comes with a project runs only when somebody has said that it may. */

const start = useRpc();
const mark = (name: string): string => extension(command(name, ""));
const FILES = {
  ".tiller/extensions/one.ts": mark("one"),
  ".pi/extensions/two.ts": mark("two"),
};

async function loaded(rpc: RpcProcess): Promise<string[]> {
  const { data } = await rpc.call({ type: "get_commands" });
  const { commands } = data as { commands: { name: string; source: string }[] };
  return commands
    .filter(({ source }) => source === "extension")
    .map(({ name }) => name)
    .sort();
}

function notices(rpc: RpcProcess): string[] {
  return rpc.frames
    .filter(({ type, source }) => type === "notice" && source === "extensions")
    .map(({ message }) => String(message));
}

test("nobody has said anything: nothing is loaded, and one notice names the files", async () => {
  const rpc = start({ files: FILES });
  expect(await loaded(rpc)).toEqual([]);
  expect(notices(rpc)).toEqual([expect.stringContaining(join(rpc.sandbox.cwd, ".tiller/extensions/one.ts"))]);
  expect(notices(rpc)[0]).toContain(join(rpc.sandbox.cwd, ".pi/extensions/two.ts"));
  expect(notices(rpc)[0]).toContain("--approve");
});

test.each<[string, Partial<RpcOptions>, string[], number]>([
  ["--approve", { args: ["--approve"] }, ["one", "two"], 0],
  ["--no-approve", { args: ["--no-approve"] }, [], 0],
  ["--no-extensions", { args: ["--no-extensions"] }, [], 0],
  ["--no-extensions --approve", { args: ["--no-extensions", "--approve"] }, [], 0],
  [
    "defaultProjectTrust always",
    { agentFiles: { "settings.json": '{"defaultProjectTrust":"always"}' } },
    ["one", "two"],
    0,
  ],
  ["defaultProjectTrust never", { agentFiles: { "settings.json": '{"defaultProjectTrust":"never"}' } }, [], 0],
  [
    "never, but --approve",
    { args: ["--approve"], agentFiles: { "settings.json": '{"defaultProjectTrust":"never"}' } },
    ["one", "two"],
    0,
  ],
  [
    "always, but --no-approve",
    { args: ["--no-approve"], agentFiles: { "settings.json": '{"defaultProjectTrust":"always"}' } },
    [],
    0,
  ],
  [
    "the project says always",
    { files: { ...FILES, ".tiller/settings.json": '{"defaultProjectTrust":"always"}' } },
    [],
    1,
  ],
  [
    "the project names its extension in its settings",
    { files: { ...FILES, ".tiller/settings.json": '{"extensions":["./.pi/extensions/two.ts"]}' } },
    [],
    1,
  ],
  [
    "the project brings a trust.json",
    { files: { ...FILES, ".tiller/trust.json": "true", "trust.json": "true" } },
    [],
    1,
  ],
  ["a trust.json that is broken", { agentFiles: { "trust.json": "{ nonsense" } }, [], 1],
  ["a trust.json about another project", { agentFiles: { "trust.json": '{"/elsewhere":true}' } }, [], 1],
  ["a trust.json that says a word instead of true", { agentFiles: { "trust.json": '{"/":"yes"}' } }, [], 1],
  ["-e names one of them", { args: ["-e", ".pi/extensions/two.ts"] }, ["two"], 1],
  ["-e and --no-extensions", { args: ["--no-extensions", "-e", ".pi/extensions/two.ts"] }, ["two"], 0],
  ["pi's dialect", { args: ["--dialect", "pi"] }, ["one", "two"], 0],
])("%s", async (_, options, expected, told) => {
  const rpc = start({ files: FILES, ...options });
  expect(await loaded(rpc)).toEqual(expected);
  expect(notices(rpc)).toHaveLength(told);
});

test.each([
  [true, ["one", "two"]],
  [false, []],
  [null, []],
])("a trust.json that says %s about this project", async (decision, expected) => {
  const rpc = start({ files: FILES });
  const { cwd, agentDir } = rpc.sandbox;
  await rpc.call({ type: "get_state" });
  writeFileSync(join(agentDir, "trust.json"), JSON.stringify({ [cwd]: decision }));
  const second = start({ mode: ["--mode", "rpc", "--cwd", cwd], env: { TILLER_DIR: agentDir } });
  expect(await loaded(second)).toEqual(expected);
});

test("a link in the project to the user's own folder is the user's", async () => {
  const sandbox = createSandbox({ agentFiles: { "extensions/mine.ts": mark("mine") } });
  mkdirSync(join(sandbox.cwd, ".tiller"));
  symlinkSync(join(sandbox.agentDir, "extensions"), join(sandbox.cwd, ".tiller/extensions"));
  const rpc = start({ mode: ["--mode", "rpc", "--cwd", sandbox.cwd], env: { TILLER_DIR: sandbox.agentDir } });
  expect(await loaded(rpc)).toEqual(["mine"]);
  expect(notices(rpc)).toEqual([]);
  await rpc.dispose();
  sandbox.remove();
});

test("a link in the project to code outside of it is code of the project", async () => {
  const sandbox = createSandbox({});
  mkdirSync(join(sandbox.cwd, ".tiller/extensions"), { recursive: true });
  writeFileSync(join(sandbox.root, "elsewhere.ts"), mark("elsewhere"));
  symlinkSync(join(sandbox.root, "elsewhere.ts"), join(sandbox.cwd, ".tiller/extensions/link.ts"));
  const rpc = start({ mode: ["--mode", "rpc", "--cwd", sandbox.cwd] });
  expect(await loaded(rpc)).toEqual([]);
  expect(notices(rpc)).toHaveLength(1);
  await rpc.dispose();
  sandbox.remove();
});

test.each<[string, (folder: string) => void]>([
  ["is a file", (folder) => writeFileSync(folder, "x")],
  ["leads nowhere", (folder) => symlinkSync("/nowhere/at/all", folder)],
  ["leads to itself", (folder) => symlinkSync(folder, folder)],
  [
    "cannot be read",
    (folder) => {
      mkdirSync(folder);
      writeFileSync(join(folder, "one.ts"), mark("one"));
      chmodSync(folder, 0);
    },
  ],
  ["holds folders with endings of files", (folder) => mkdirSync(join(folder, "x.ts"), { recursive: true })],
  [
    "holds a link that leads nowhere",
    (folder) => {
      mkdirSync(folder);
      symlinkSync("/nowhere/at/all.ts", join(folder, "x.ts"));
    },
  ],
])("a folder of extensions that %s does no harm", async (_, make) => {
  const sandbox = createSandbox({});
  const folder = join(sandbox.cwd, ".tiller/extensions");
  mkdirSync(join(sandbox.cwd, ".tiller"));
  make(folder);
  for (const args of [[], ["--approve"]]) {
    const rpc = start({ mode: ["--mode", "rpc", "--cwd", sandbox.cwd, ...args] });
    expect((await rpc.call({ type: "get_state" })).success).toBe(true);
    await rpc.dispose();
  }
  sandbox.remove();
});

test("another session that is entered while somebody still decides begins once, and with a yes the code of the project comes to it", async () => {
  const told = `pi.on("session_start", ({ reason }, ctx) => ctx.ui.notify(reason));`;
  const decide = `pi.on("project_trust", async () => {
    await new Promise((done) => { globalThis.decide = done; });
    return { trusted: "yes" };
  });`;
  const rpc = start({
    files: FILES,
    agentFiles: {
      "extensions/user.ts": extension(`${told} ${decide} ${command("yes", "globalThis.decide();")}`),
    },
  });
  expect((await rpc.call({ type: "new_session" })).success).toBe(true);
  await rpc.prompt("/yes");
  await rpc.waitFor(({ method, message }) => method === "notify" && message === "reload");
  expect(await loaded(rpc)).toEqual(["one", "two", "yes"]);
  const heard = rpc.frames.filter(({ method }) => method === "notify").map(({ message }) => message);
  expect(heard).toEqual(["new", "reload"]);
});
