import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cliPath, type RpcProcess, useRpc } from "./support/rpc-process.ts";

/** The program compiles its own code once and keeps it beside itself; nobody may ever notice more than the speed. */
describe("the code cache", () => {
  const start = useRpc();
  const root = mkdtempSync(join(tmpdir(), "tiller-cache-"));
  let dist = "";
  let count = 0;

  beforeEach(() => {
    dist = join(root, `dist-${count++}`);
    cpSync(dirname(cliPath()), dist, {
      recursive: true,
      preserveTimestamps: true,
      // The types are hundreds of files that no process reads.
      filter: (source) => !/\/dist\/(code-cache|types)(\/|$)/.test(source),
    });
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const cacheFiles = (): string[] =>
    readdirSync(dist).includes("code-cache")
      ? readdirSync(join(dist, "code-cache"), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      : [];

  /** One prompt from start to end of a process; gives the text that was answered. */
  const answerOnce = async (): Promise<string> => {
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], script: ['text "Hello from the script"'] });
    rpc.send({ type: "prompt", message: "hi" });
    const end = await rpc.waitFor("agent_end");
    await rpc.dispose();
    return JSON.stringify(end.messages);
  };

  test("is made by the first process that has answered a prompt, and used by the next", async () => {
    const idle = start({ cli: join(dist, "cli.js"), args: ["--no-session"] });
    await idle.call({ type: "get_state" });
    await idle.dispose();
    expect(cacheFiles()).toEqual([]);
    // What extensions need is the same each time: it is kept by a start, and nothing else is.
    const file = { "noop.ts": "export default () => undefined;" };
    const extended = start({ cli: join(dist, "cli.js"), args: ["--no-session", "-e", "noop.ts"], files: file });
    await extended.call({ type: "get_state" });
    await extended.dispose();
    expect(cacheFiles().some((name) => name.includes("load-extensions"))).toBe(true);
    expect(cacheFiles().filter((name) => /(app\.js|start-|run-machinery)[^/]*$/.test(name))).toEqual([]);

    expect(await answerOnce()).toContain("Hello from the script");
    const made = cacheFiles().map((file) => file.slice(file.lastIndexOf("/") + 1).replace(/-.*/, ""));
    expect(made).toEqual(expect.arrayContaining(["start", "run"]));
    expect(await answerOnce()).toContain("Hello from the script");
    expect(cacheFiles()).toHaveLength(made.length);
  });

  const DAMAGE: readonly ((bytes: Buffer) => Uint8Array)[] = [
    // Cut off, empty, zeros in its second half, other bytes in its middle, one bit that is wrong.
    (bytes) => bytes.subarray(0, bytes.length / 2),
    () => new Uint8Array(),
    (bytes) => bytes.fill(0, bytes.length / 2),
    (bytes) => bytes.fill(0xa5, bytes.length / 2, bytes.length / 2 + 100),
    (bytes) => bytes.fill(bytes[500]! ^ 1, 500, 501),
  ];

  test.each([0, 3])(
    "is not believed when it is damaged, each file in another way, and made anew (%i)",
    async (from) => {
      await answerOnce();
      expect(cacheFiles().length).toBeGreaterThanOrEqual(3);
      const damaged = cacheFiles().map((file, i) => {
        const bytes = DAMAGE[(from + i) % DAMAGE.length]!(readFileSync(file));
        return { file, bytes };
      });
      for (const { file, bytes } of damaged) writeFileSync(file, bytes);
      expect(await answerOnce()).toContain("Hello from the script");
      for (const { file, bytes } of damaged) expect(readFileSync(file).equals(bytes)).toBe(false);
    },
  );

  const times = (): Record<string, number> =>
    Object.fromEntries(cacheFiles().map((file) => [file.slice(file.lastIndexOf("/") + 1), statSync(file).mtimeMs]));
  const texts = (count: number): string[] => Array.from({ length: count }, (_, i) => `text "answer ${i}"`);
  /** What comes behind an answer comes before the next question is answered; a prompt that is quick enough overtakes it. */
  const lookedBack = (rpc: RpcProcess): Promise<unknown> => rpc.call({ type: "get_state" });
  const answer = async (count: number, script = texts(count)): Promise<void> => {
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], script });
    for (let i = 1; i <= count; i++) {
      rpc.send({ type: "prompt", id: `${i}`, message: "hi" });
      await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === `${i}`);
      await lookedBack(rpc);
    }
    await rpc.dispose();
  };
  const machineryBytes = (): number => {
    const file = cacheFiles().find((name) => name.includes("run-machinery")) ?? "missing";
    return statSync(file).size;
  };

  test("is made of what the first answer took, however long the process goes on", async () => {
    await answer(1);
    const short = machineryBytes();
    rmSync(join(dist, "code-cache"), { recursive: true });
    await answer(2, ['text "first"', 'toolCall read {"path":"nothing.txt"}', 'text "last"']);
    const long = machineryBytes();
    rmSync(join(dist, "code-cache"), { recursive: true });
    // The sizes of two runs differ by a few bytes; what calls tools, which only the second prompt needs, is thousands.
    expect(Math.abs(long - short)).toBeLessThan(2000);
    await answer(1);
    const first = times();
    await answer(3);
    expect(times()).toEqual(first);
  });

  /** Tells on stderr each time the engine is made to learn. */
  const listening = (): Record<string, string> => {
    const hook = join(dist, "hook.cjs");
    writeFileSync(
      hook,
      `const { Session } = require("node:inspector");
      const { post } = Session.prototype;
      Session.prototype.post = function (method, ...rest) {
        if (method === "Profiler.startPreciseCoverage") process.stderr.write("LESSON\\n");
        return post.call(this, method, ...rest);
      };`,
    );
    return { NODE_OPTIONS: `--require ${hook}` };
  };

  const lessonsOf = (rpc: RpcProcess): number => rpc.stderr.split("LESSON").length - 1;
  const lessonsAtTheEnd = async (rpc: RpcProcess): Promise<number> => {
    rpc.closeStdin();
    await rpc.waitExit();
    return lessonsOf(rpc);
  };

  test("goes with a lesson in types behind a turn that has loaded something", async () => {
    const script = ['text "one"', 'text "two"', 'toolCall read {"path":"nothing.txt"}', 'text "three"', 'text "four"'];
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], script, env: listening() });
    await rpc.prompt("go on");
    await expect.poll(() => lessonsOf(rpc)).toBe(1);
    await rpc.prompt("go on");
    await lookedBack(rpc);
    expect(lessonsOf(rpc)).toBe(1);
    await rpc.prompt("read something");
    await expect.poll(() => lessonsOf(rpc)).toBe(2);
    await rpc.prompt("go on");
    expect(await lessonsAtTheEnd(rpc)).toBe(2);
  });

  test("gives no lesson to a process that has learned by itself what it uses", async () => {
    const script = [...texts(8), 'toolCall bash {"command":"true"}', ...texts(2)];
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], script, env: listening() });
    for (let i = 0; i < 10; i++) {
      await rpc.prompt("go on");
      await lookedBack(rpc);
    }
    expect(await lessonsAtTheEnd(rpc)).toBe(1);
  });

  test("gives two lessons at most, however many turns of a prompt load something", async () => {
    const script = ['toolCall read {"path":"a"}', 'toolCall bash {"command":"true"}', 'toolCall grep {"pattern":"x"}'];
    script.push('toolCall write {"path":"a","content":"x"}', ...texts(2));
    const args = ["--no-session", "--tools", "read,bash,grep,write"];
    const rpc = start({ cli: join(dist, "cli.js"), args, script, env: listening() });
    await rpc.prompt("look around");
    await rpc.prompt("go on");
    expect(await lessonsAtTheEnd(rpc)).toBe(2);
  });

  test("keeps nobody waiting with a lesson who is about to end", () => {
    const env = { PATH: process.env.PATH ?? "", HOME: root, ...listening() };
    const args = [join(dist, "cli.js"), "--offline", "--no-session", "-p", "hi"];
    const once = spawnSync(process.execPath, args, { cwd: root, env, input: "", encoding: "utf8" });
    expect(once).toMatchObject({ status: 0, stderr: expect.not.stringContaining("LESSON") });
    expect(once.stdout).not.toBe("");
  });

  test("leaves nothing half-written behind, and removes what others have left", async () => {
    await answer(1);
    // Something that cannot be replaced stops the writing.
    const machinery = cacheFiles().find((file) => file.includes("run-machinery")) ?? "";
    const folders = (): string[] => readdirSync(dirname(machinery)).filter((name) => name.startsWith("new-"));
    rmSync(machinery);
    mkdirSync(join(machinery, "in the way"), { recursive: true });
    await answer(1);
    expect(folders()).toEqual([]);
    rmSync(machinery, { recursive: true });
    // What a process left that was killed while it wrote is removed, unless one may be at it.
    for (const name of ["new-old", "new-young"]) mkdirSync(join(dirname(machinery), name));
    utimesSync(join(dirname(machinery), "new-old"), 1, 1);
    await answer(1);
    expect(folders()).toEqual(["new-young"]);
    expect(await answerOnce()).toContain("Hello from the script");
  });

  /** The file that every start loads. */
  const program = (): string => {
    const name = readdirSync(join(dist, "chunks")).find((file) => file.startsWith("start-"));
    return join(dist, "chunks", name ?? "missing");
  };
  /** The same length: the engine by itself would take the old code. */
  const shout = (file: string): void =>
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("No model is configured,", "NO MODEL IS CONFIGURED,"));
  const hearsShouting = async (): Promise<void> => {
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"] });
    await rpc.waitFor((frame) => String(frame.message).startsWith("NO MODEL"));
    await rpc.dispose();
  };

  test("belongs to one state of the program: a changed file is compiled anew", async () => {
    await answerOnce();
    shout(program());
    await hearsShouting();
  });

  test("belongs to one build: an upgrade that keeps names, sizes and times is noticed", async () => {
    await answerOnce();
    const [cli, app] = [join(dist, "cli.js"), program()];
    const { atime, mtime } = statSync(app);
    const [build = ""] = readdirSync(join(dist, "code-cache")).map((name) => name.split("-").at(-1) ?? "");
    shout(app);
    utimesSync(app, atime, mtime);
    expect(readFileSync(cli, "utf8")).toContain(build);
    writeFileSync(cli, readFileSync(cli, "utf8").replace(build, "anotherbuild"));
    await hearsShouting();

    await answerOnce();
    expect(readdirSync(join(dist, "code-cache"))).toEqual([expect.stringMatching(/anotherbuild$/)]);
  });

  test("a part of the program that could not be loaded is tried again", async () => {
    const chunks = join(dist, "chunks");
    const name = readdirSync(chunks).find((file) => file.startsWith("run-machinery")) ?? "";
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], script: ['text "Hello from the script"'] });
    await rpc.call({ type: "get_state" });
    renameSync(join(chunks, name), join(chunks, "away"));
    rpc.send({ type: "prompt", id: "1", message: "hi" });
    await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.status === "error");
    renameSync(join(chunks, "away"), join(chunks, name));
    rpc.send({ type: "prompt", id: "2", message: "hi" });
    await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.status === "completed");
  });

  test("is left out where the program's folder cannot be written", async () => {
    // A file in the way stops everybody, also those who may write anywhere.
    writeFileSync(join(dist, "code-cache"), "in the way");
    expect(await answerOnce()).toContain("Hello from the script");
  });
});
