import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Frame, list } from "../support/frame.ts";
import { cliPath, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { messagesIn, readSessionFile } from "./support/session-tree.ts";
import { dataOf, expectFileHolds, fileOf, messagesOf, script, textsOf } from "./support/stories.ts";

/** Disks that are full and folders that may only be read: the real process under a limit of its own. */

let home = "";
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-disk-")));
  chmodSync(home, 0o755);
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

// Hooks run backwards: the processes end, and have kept their compiled code, before the folder goes.
const start = useRpc();

/** A program for `cli` that prepares the place, then starts the real one in it with the same streams. */
function launcher(prepare: string, command: string, options = "{}"): string {
  const path = join(home, "launcher.mjs");
  writeFileSync(
    path,
    `import fs from "node:fs";
    import { join } from "node:path";
    import { spawnSync } from "node:child_process";
    const args = process.argv.slice(2);
    ${prepare}
    const [program, ...rest] = ${command};
    const { status } = spawnSync(program, rest, { stdio: "inherit", ...${options} });
    process.exitCode = status ?? 1;`,
  );
  return path;
}

const isSessionNotice = ({ type, source }: Frame): boolean => type === "notice" && source === "session";
const bash = (rpc: RpcProcess, command: string): Promise<Frame> => dataOf(rpc, { type: "bash", command });

describe("a disk that is full", () => {
  /** A disk of 128 KB where the system lets us make one, else files that may not grow beyond 64 KB for now. */
  const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;
  const name = canMount ? "fills up in mid-run" : "lets files not grow in mid-run";

  it(`${name}: the conversation goes on in memory and is written when there is room`, async () => {
    const folder = join(home, "small");
    mkdirSync(folder);
    const limit = canMount
      ? `mount -t tmpfs -o size=128k tmpfs ${folder} && head -c 65536 /dev/zero > ${folder}/filler`
      : "ulimit -S -f 64";
    const shell = JSON.stringify(["bash", "--norc", "-c", `${limit} && exec "$0" "$@"`, process.execPath, cliPath()]);
    const cli = launcher("", `[...${canMount ? '["unshare", "-rm"]' : "[]"}, ...${shell}, ...args]`);
    const prompts = Array.from({ length: 22 }, (_, i) => `prompt ${i} ${"ü".repeat(2000)}`);
    const rpc = start({
      cli,
      script: script(...prompts.map((_, i) => `answer ${i}`)),
      args: ["--session-dir", folder],
    });
    const path = await fileOf(rpc);

    for (const prompt of prompts.slice(0, -1)) expect((await rpc.prompt(prompt)).result.status).toBe("completed");
    const [trouble, ...more] = rpc.frames.filter(isSessionNotice);
    expect(trouble).toMatchObject({
      level: "error",
      message: expect.stringMatching(/cannot be written \((ENOSPC|EFBIG): .*goes on in memory/),
    });
    expect(trouble?.message).toContain(path);
    expect(more).toEqual([]);
    expect(await messagesOf(rpc)).toHaveLength(42);

    // Only this process sees its disk.
    const copy = join(home, "copy.jsonl");
    await bash(rpc, `cp ${path} ${copy}`);
    const before = readSessionFile(copy);
    expect(before.torn).toBe("");
    expect(messagesIn(before.entries).length).toBeLessThan(42);

    await bash(rpc, canMount ? `rm ${folder}/filler` : "prlimit --fsize=unlimited:unlimited --pid $PPID");
    expect((await rpc.prompt(prompts.at(-1) ?? "")).result.status).toBe("completed");
    expect(rpc.frames.filter(isSessionNotice).slice(1)).toMatchObject([
      { level: "info", message: expect.stringContaining(`${path} again`) },
    ]);
    const messages = await messagesOf(rpc);
    await bash(rpc, `cp ${path} ${copy}`);
    expect(textsOf(messages).filter((text) => text.startsWith("prompt"))).toEqual(prompts);
    expectFileHolds(copy, messages);
  });
});

describe("a folder that may only be read", () => {
  const NOBODY = 65534;
  const isRoot = process.getuid?.() === 0;

  /** The superuser may write anywhere: the process must be somebody else. */
  const startAsSomebody = (args: string[], answers: string[]): RpcProcess => {
    const dist = join(home, "dist");
    cpSync(dirname(cliPath()), dist, { recursive: true });
    const prepare = isRoot
      ? `const root = join(process.env.TILLER_DIR, "..");
         fs.chmodSync(root, 0o755);
         for (const path of [root, ...fs.readdirSync(root, { recursive: true }).map((path) => join(root, path))])
           fs.chownSync(path, ${NOBODY}, ${NOBODY});`
      : "";
    const command = `[process.execPath, ${JSON.stringify(join(dist, "cli.js"))}, ...args]`;
    const options = isRoot ? `{ uid: ${NOBODY}, gid: ${NOBODY} }` : "{}";
    return start({ cli: launcher(prepare, command, options), script: script(...answers), args });
  };

  it("keeps nobody from talking; what was said is written when that is over", async () => {
    const rpc = startAsSomebody(["--session-dir", "kept"], ["one", "two", "three"]);
    const path = await fileOf(rpc);
    const folder = dirname(path);
    await rpc.call({ type: "bash", command: `mkdir ${folder}; chmod 555 ${folder}` });
    expect((await rpc.prompt("first")).result.status).toBe("completed");
    expect((await rpc.prompt("second")).result.status).toBe("completed");
    const told = rpc.frames.filter(isSessionNotice);
    expect(told).toMatchObject([{ level: "error", message: expect.stringContaining("EACCES") }]);
    expect(told[0]?.message).toContain(path);
    expect(textsOf(list(await messagesOf(rpc)).slice(-4))).toEqual(["first", "one", "second", "two"]);
    chmodSync(folder, 0o755);
    await rpc.waitFor((frame) => isSessionNotice(frame) && frame.level === "info");
    expectFileHolds(path, await messagesOf(rpc));
    await rpc.prompt("third");
    expectFileHolds(path, await messagesOf(rpc));
  });

  it("does not disturb a file that is open", async () => {
    const rpc = startAsSomebody(["--session-dir", "kept"], ["one", "two"]);
    await rpc.prompt("first");
    const path = await fileOf(rpc);
    chmodSync(path, 0o444);
    chmodSync(dirname(path), 0o555);
    await rpc.prompt("second");
    expect(rpc.frames.filter(isSessionNotice)).toEqual([]);
    expectFileHolds(path, await messagesOf(rpc));
    chmodSync(dirname(path), 0o755);
  });

  it("and a file that may not be read says so at the start", async () => {
    const path = join(home, "secret.jsonl");
    writeFileSync(path, "{}\n");
    chmodSync(path, 0o000);
    const rpc = startAsSomebody(["--session", path], []);
    expect(await rpc.waitExit()).toMatchObject({ code: 1 });
    expect(rpc.stderr).toContain(`${path} cannot be read: EACCES`);
    expect(rpc.frames).toEqual([]);
  });
});
