import { execFileSync, spawnSync } from "node:child_process";
import fs, {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { createSessionFile } from "./session-file.ts";

let home = "";
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-session-file-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A session file with everything that it was given and everything it told. */
function open(path: string, existing?: string, fsync: "turn" | "always" | "never" = "never") {
  const lines = existing?.trimEnd().split("\n") ?? [];
  const told: string[] = [];
  const clock = new FakeClock();
  const file = createSessionFile({
    path,
    size: existing === undefined ? undefined : Buffer.byteLength(existing),
    whole: () => lines,
    fsync,
    clock,
    onTrouble: (message) => told.push(`trouble: ${message}`),
    onRecovered: (message) => told.push(`recovered: ${message}`),
  });
  const append = (...more: string[]): void => {
    lines.push(...more);
    file.appendAll(more);
  };
  return { file, append, told, clock, lines };
}

const text = (path: string): string => readFileSync(path, "utf8");

describe("a session file", () => {
  it("appears with its folder when the first line comes, for its owner only", async () => {
    const path = join(home, "deep", "er", "s.jsonl");
    const { file, append, told } = open(path);
    file.endTurn();
    expect(existsSync(dirname(path))).toBe(false);
    append("a");
    expect(text(path)).toBe("a\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    append("b", "c", "ü\u2028");
    expect(text(path)).toBe("a\nb\nc\nü\u2028\n");
    await file.close();
    expect(told).toEqual([]);
  });

  it.each([
    ["goes on at the end of what was read", "a\nb\n", "a\nb\nc\n"],
    ["ends a last line that lacks only its end", "a\nb", "a\nb\nc\n"],
    ["begins where an empty file was found", "", "c\n"],
  ])("%s", async (_name, before, after) => {
    const path = join(home, "s.jsonl");
    writeFileSync(path, before);
    const { file, append, told } = open(path, before);
    append("c");
    await file.close();
    expect(text(path)).toBe(after);
    expect(told).toEqual([]);
  });

  it.runIf(existsSync("/proc/self"))("holds one descriptor, and none after it was closed (Linux only)", async () => {
    const path = join(home, "s.jsonl");
    const descriptors = (): number =>
      readdirSync("/proc/self/fd").filter((name) => linkTarget(`/proc/self/fd/${name}`)?.startsWith(home)).length;
    const { file, append } = open(path);
    append("a");
    rmSync(path);
    append("b");
    truncateSync(path, 1);
    append("c");
    expect(descriptors()).toBe(1);
    await file.close();
    expect(descriptors()).toBe(0);
    append("d");
    expect(text(path)).toBe("a\nb\nc\nd\n");
    expect(descriptors()).toBe(0);
  });
});

/** Undefined for a descriptor that is closed by now: that of the listing itself. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

describe("a session file that others change", () => {
  const whole = (path: string): string => `recovered: The whole conversation is in the session file ${path} again.`;

  const changes: [what: string, change: (path: string) => void, says: string][] = [
    ["deleted", (path) => rmSync(path), "was deleted or moved from outside"],
    ["moved away", (path) => renameSync(path, `${path}~`), "was deleted or moved from outside"],
    [
      "deleted with its folder",
      (path) => rmSync(dirname(path), { recursive: true }),
      "was deleted or moved from outside",
    ],
    ["cut in a line", (path) => truncateSync(path, 3), "was cut to 3 bytes from outside"],
    ["emptied", (path) => truncateSync(path, 0), "was cut to 0 bytes from outside"],
    [
      "replaced by a copy",
      (path) => {
        writeFileSync(`${path}.copy`, text(path));
        renameSync(`${path}.copy`, path);
      },
      "was replaced from outside",
    ],
  ];
  it.each(changes)("is written anew when it was %s", async (_what, change, says) => {
    const path = join(home, "f", "s.jsonl");
    const { file, append, told } = open(path);
    append("one");
    append("two");
    change(path);
    append("three");
    expect(text(path)).toBe("one\ntwo\nthree\n");
    expect(told).toEqual([`trouble: The session file ${path} ${says}; it was written anew from memory.`, whole(path)]);
    append("four");
    expect(text(path)).toBe("one\ntwo\nthree\nfour\n");
    expect(told).toHaveLength(2);
    expect(readdirSync(dirname(path)).filter((name) => name.includes("replaced"))).toEqual([]);
    await file.close();
  });

  it("keeps what somebody else put in its place, each time", async () => {
    const path = join(home, "s.jsonl");
    const { file, append } = open(path);
    append("one");
    for (const theirs of ["theirs", "other"]) {
      writeFileSync(`${path}.new`, theirs);
      renameSync(`${path}.new`, path);
      append(`after ${theirs}`);
    }
    writeFileSync(path, "x");
    append("end");
    await file.close();
    expect(text(path)).toBe("one\nafter theirs\nafter other\nend\n");
    expect([".replaced", ".replaced-2", ".replaced-3"].map((end) => text(path + end))).toEqual([
      "theirs",
      "other",
      "x",
    ]);
  });

  it("lets others write behind its lines, ends their last one, and says so once", async () => {
    const path = join(home, "s.jsonl");
    const { file, append, told } = open(path);
    append("one");
    appendFileSync(path, "theirs\nhalf");
    append("two");
    appendFileSync(path, "whole\n");
    append("three");
    await file.close();
    expect(text(path)).toBe("one\ntheirs\nhalf\ntwo\nwhole\nthree\n");
    expect(told).toEqual([
      `trouble: The session file ${path} is written by another program too; new lines follow at its end.`,
      whole(path),
    ]);
  });

  it("goes on behind a file that is there before its first line", async () => {
    const path = join(home, "s.jsonl");
    const { file, append, told } = open(path);
    writeFileSync(path, "theirs");
    append("one");
    await file.close();
    expect(text(path)).toBe("theirs\none\n");
    expect(told).toHaveLength(2);
  });

  it("writes through links and leaves them there", async () => {
    const target = join(home, "target.jsonl");
    const path = join(home, "link.jsonl");
    symlinkSync("target.jsonl", path);
    const { file, append } = open(path);
    append("one");
    rmSync(target);
    append("two");
    truncateSync(target, 1);
    append("three");
    await file.close();
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(text(target)).toBe("one\ntwo\nthree\n");
  });

  it("waits in memory while something else stands in its place, and tries every two seconds", async () => {
    const path = join(home, "s.jsonl");
    mkdirSync(path);
    const { file, append, told, clock } = open(path);
    append("one");
    append("two");
    expect(file.isBehind).toBe(true);
    expect(told).toEqual([
      `trouble: The session file ${path} cannot be written (${path} is a folder, not a session file; name another path); the conversation goes on in memory and is written as soon as that is possible.`,
    ]);
    clock.advanceSync(10_000);
    expect(clock.waits).toEqual([2000]);
    rmSync(path, { recursive: true });
    clock.advanceSync(2000);
    expect(text(path)).toBe("one\ntwo\n");
    expect([file.isBehind, clock.pending, told.slice(1)]).toEqual([false, 0, [whole(path)]]);
    await file.close();
  });

  it.each([
    ["the next line", ({ append }: ReturnType<typeof open>) => append("two"), "one\ntwo\n"],
    ["the end of the turn", ({ file }: ReturnType<typeof open>) => file.endTurn(), "one\n"],
    ["closing", ({ file }: ReturnType<typeof open>) => file.close(), "one\n"],
  ])("tries again with %s", async (_name, act, after) => {
    const path = join(home, "s.jsonl");
    mkdirSync(path);
    const opened = open(path);
    opened.append("one");
    rmSync(path, { recursive: true });
    await act(opened);
    expect(text(path)).toBe(after);
    expect(opened.clock.pending).toBe(0);
    await opened.file.close();
  });

  it("gives up what still waits when it is closed, and says so", async () => {
    const path = join(home, "s.jsonl");
    mkdirSync(path);
    const { file, append, clock, told } = open(path);
    append("one");
    await file.close();
    expect([file.isBehind, clock.pending]).toEqual([true, 0]);
    expect(told.slice(1)).toEqual([
      `trouble: The session file ${path} was closed before all of the conversation could be written; what it lacks is lost.`,
    ]);
  });

  it("holds every line in order, whatever is done to it between them", () => {
    const act = fc.oneof(
      fc.constant({ act: "nothing" as const, n: 0 }),
      fc.record({ act: fc.constantFrom("delete", "cut", "grow", "replace", "move"), n: fc.nat(40) }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(act, fc.integer({ min: 1, max: 3 })), { maxLength: 12 }), (steps) => {
        const path = join(home, "s.jsonl");
        const { append, lines, file } = open(path);
        append("header");
        for (const [step, { act, n }, count] of steps.map(([a, b], i) => [i, a, b] as const)) {
          if (act === "delete") rmSync(path);
          if (act === "cut") truncateSync(path, Math.min(n, statSync(path).size));
          if (act === "grow") appendFileSync(path, "x".repeat(n));
          if (act === "move") renameSync(path, `${path}.moved`);
          if (act === "replace") {
            rmSync(path);
            writeFileSync(path, "y\n".repeat(n));
          }
          append(...Array.from({ length: count }, (_, i) => `line ${step}.${i}`));
          const ours = text(path)
            .split("\n")
            .filter((line) => !/^[xy]*$/.test(line));
          expect(ours).toEqual(lines);
          expect(file.isBehind).toBe(false);
        }
        void file.close();
        rmSync(path);
      }),
      { numRuns: 60 },
    );
  });
});

/** Lets one function of the system fail or be watched. Everything else is the real thing. */
function instead<Name extends "fdatasync" | "fsyncSync" | "ftruncateSync" | "renameSync" | "writeSync">(
  name: Name,
  substitute: (real: (typeof fs)[Name]) => unknown,
): () => void {
  const real = fs[name];
  Object.assign(fs, { [name]: substitute(real) });
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { [name]: real });
    syncBuiltinESMExports();
  };
}

const failure = (code: string, message: string): Error => Object.assign(new Error(`${code}: ${message}`), { code });

describe("what the system promises", () => {
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const one of undo.splice(0)) one();
  });

  /** Holds back the answers of the thread pool. */
  function watchSync() {
    const answers: ((error: Error | null) => void)[] = [];
    undo.push(instead("fdatasync", () => (_fd: number, done: (error: Error | null) => void) => answers.push(done)));
    return answers;
  }

  it("a turn is synced once, beside the work, and what is written meanwhile once more", async () => {
    const syncs = watchSync();
    const { file, append } = open(join(home, "s.jsonl"), undefined, "turn");
    append("one");
    expect(syncs).toHaveLength(0);
    file.endTurn();
    file.endTurn();
    append("two");
    file.endTurn();
    expect(syncs).toHaveLength(1);
    syncs[0]!(null);
    expect(syncs).toHaveLength(2);
    let isClosed = false;
    const closing = file.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    syncs[1]!(null);
    await closing;
    expect(syncs).toHaveLength(2);
  });

  it.each([
    ["always", 2],
    ["never", 0],
  ] as const)("the policy %s syncs %d of two lines at once", async (policy, count) => {
    const syncs = watchSync();
    let synced = 0;
    undo.push(
      instead("fsyncSync", (real) => (fd: number) => {
        synced++;
        real(fd);
      }),
    );
    const { file, append } = open(join(home, "s.jsonl"), undefined, policy);
    append("one");
    append("two");
    file.endTurn();
    expect([synced, syncs.length]).toEqual([count, 0]);
    await file.close();
  });

  it("a disk that lost what it had accepted gets everything again", async () => {
    const path = join(home, "s.jsonl");
    const syncs = watchSync();
    const { file, append, told, clock } = open(path, undefined, "turn");
    append("one");
    file.endTurn();
    // As such a disk would have it.
    writeFileSync(path, "\0\0\0\0");
    syncs[0]!(failure("EIO", "i/o error"));
    expect(told).toEqual([expect.stringContaining("cannot be written anew (EIO: i/o error)")]);
    expect(file.isBehind).toBe(true);
    clock.advanceSync(2000);
    expect(text(path)).toBe("one\n");
    expect(told).toHaveLength(2);
    await file.close();
  });

  it("a file system without sync is no trouble", async () => {
    const syncs = watchSync();
    undo.push(
      instead("fsyncSync", () => () => {
        throw failure("EINVAL", "invalid argument");
      }),
    );
    const turn = open(join(home, "turn.jsonl"), undefined, "turn");
    const always = open(join(home, "always.jsonl"), undefined, "always");
    for (const { append, file } of [turn, always]) {
      append("one");
      file.endTurn();
    }
    syncs[0]!(failure("EINVAL", "invalid argument"));
    expect([turn.told, always.told]).toEqual([[], []]);
    await turn.file.close();
    await always.file.close();
  });

  it("a process that may not sync, which is told so at once, goes on without and can be closed", async () => {
    const denied = failure("ERR_ACCESS_DENIED", "fsync API is disabled when Permission Model is enabled.");
    undo.push(
      instead("fdatasync", () => (_fd: number, done: (error: Error | null) => void) => done(denied)),
      instead("fsyncSync", () => () => {
        throw denied;
      }),
    );
    for (const how of ["turn", "always"] as const) {
      const { file, append, told } = open(join(home, `${how}.jsonl`), undefined, how);
      append("one");
      file.endTurn();
      append("two");
      file.endTurn();
      await file.close();
      expect(told).toEqual([]);
    }
  });

  it("a file of others that could not be put aside is never taken for ours", async () => {
    const path = join(home, "s.jsonl");
    const { file, append, told, clock } = open(path);
    append("one");
    rmSync(path);
    writeFileSync(path, "theirs, and longer\n");
    const repair = instead("renameSync", () => () => {
      throw failure("EACCES", "permission denied, rename 'a' -> 'b'");
    });
    append("two");
    repair();
    expect(told).toEqual([
      expect.stringContaining("was replaced from outside and cannot be written anew (EACCES: permission denied);"),
    ]);
    clock.advanceSync(2000);
    expect([text(path), text(`${path}.replaced`)]).toEqual(["one\ntwo\n", "theirs, and longer\n"]);
    expect(told).toHaveLength(2);
    await file.close();
  });

  it("half a line that could not be taken back is taken back before anything else is written", async () => {
    const path = join(home, "s.jsonl");
    const { file, append, told } = open(path);
    append("one");
    const broken = [
      instead("writeSync", (real) => {
        let calls = 0;
        return (fd: number, bytes: Buffer, from: number) => {
          if (calls++ > 0) throw failure("EIO", "i/o error, write");
          return real(fd, bytes, from, 2);
        };
      }),
      instead("ftruncateSync", () => () => {
        throw failure("EIO", "i/o error");
      }),
    ];
    append("two");
    expect(text(path)).toBe("one\ntw");
    for (const one of broken) one();
    append("three");
    expect(text(path)).toBe("one\ntwo\nthree\n");
    expect(told).toEqual([expect.stringContaining("cannot be written (EIO: i/o error);"), expect.anything()]);
    await file.close();
  });
});

/** Scenes that need a process of their own: another user, a disk of their own. */
describe("where the system refuses", () => {
  const NOBODY = 65534;
  const isRoot = process.getuid?.() === 0;
  let program = "";
  beforeAll(async () => {
    const place = realpathSync(mkdtempSync(join(tmpdir(), "tiller-session-program-")));
    chmodSync(place, 0o755);
    program = join(place, "session-file.mjs");
    const input = ["session-file.ts", "whole-file.ts"].map((name) => new URL(name, import.meta.url).pathname);
    const bundle = await rolldown({ input, platform: "node", logLevel: "silent" });
    await bundle.write({ dir: place, entryFileNames: "[name].mjs", format: "esm" });
    await bundle.close();
  });
  afterAll(() => rmSync(dirname(program), { recursive: true, force: true }));

  /** The scene tells by `show` what there is to see. */
  const sceneText = (scene: string): string => `
    import fs from "node:fs";
    import { execSync } from "node:child_process";
    import { createSessionFile } from ${JSON.stringify(program)};
    import { writeWholeFile } from ${JSON.stringify(join(dirname(program), "whole-file.mjs"))};
    const lines = [], told = [], shown = [], timers = [];
    const file = createSessionFile({
      path: "s.jsonl", whole: () => lines, fsync: "turn",
      clock: { now: () => 0, after: (ms, fn) => (timers.push(fn), () => timers.splice(timers.indexOf(fn), 1)) },
      onTrouble: (message) => told.push(message), onRecovered: (message) => told.push(message),
    });
    const append = (line) => { lines.push(line); file.appendAll([line]); };
    const onDisk = () => fs.readFileSync("s.jsonl", "utf8").split("\\n").slice(0, -1);
    const isAllThere = () => JSON.stringify(onDisk()) === JSON.stringify(lines);
    const show = (...values) => shown.push(...values);
    ${scene}
    await file.close();
    process.stdout.write(JSON.stringify({ shown, told }));
  `;

  interface Shown {
    shown: unknown[];
    told: string[];
  }

  it("keeps all in memory in a folder that became read-only, and writes it when that is over", () => {
    chmodSync(home, 0o755);
    const folder = join(home, "f");
    mkdirSync(folder);
    if (isRoot) execFileSync("chown", [`${NOBODY}:${NOBODY}`, folder]);
    const scene = sceneText(`
      append("one");
      fs.rmSync("s.jsonl");
      fs.chmodSync(".", 0o555);
      append("two");
      append("three");
      show(file.isBehind, fs.existsSync("s.jsonl"));
      fs.chmodSync(".", 0o755);
      timers.shift()();
      show(file.isBehind, onDisk(), timers.length);
      fs.chmodSync("s.jsonl", 0o444);
      append("the descriptor is still open");
      show(isAllThere(), fs.readdirSync("."));
    `);
    const { shown, told }: Shown = JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "-e", scene], {
        cwd: folder,
        env: { PATH: process.env.PATH },
        encoding: "utf8",
        ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
      }),
    );
    expect(shown).toEqual([true, false, false, ["one", "two", "three"], 0, true, ["s.jsonl"]]);
    expect(told).toEqual([
      "The session file s.jsonl was deleted or moved from outside and cannot be written anew (EACCES: permission denied); the conversation goes on in memory and is written as soon as that is possible.",
      "The whole conversation is in the session file s.jsonl again.",
    ]);
  });

  /** A disk of 64 KB where the system lets us make one, else files that may not grow beyond 64 KB for now. */
  const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;

  it(`keeps all in memory while ${canMount ? "the disk is full" : "files may not grow"}, and writes it when there is room`, () => {
    const scene = sceneText(`
      const makeRoom = () => execSync(${JSON.stringify(canMount ? "rm filler" : "prlimit --fsize=unlimited:unlimited --pid $PPID")});
      const line = (n) => n + " " + "ü".repeat(1500);
      if (${canMount}) fs.writeFileSync("filler", Buffer.alloc(32768));
      let n = 0;
      while (!file.isBehind && n < 100) append(line(n++));
      show(n < 100, fs.readFileSync("s.jsonl", "utf8").endsWith("\\n"), onDisk().length === n - 1);
      append(line(n++));
      append("short");
      file.endTurn();
      show(file.isBehind, told.length, onDisk().every((found, i) => found === lines[i]));
      try {
        writeWholeFile("other.jsonl", Array.from({ length: 100 }, (_, i) => line(i)));
      } catch (error) {
        show(error.code, fs.readdirSync(".").filter((name) => name !== "filler"));
      }
      makeRoom();
      timers.shift()();
      show(file.isBehind, isAllThere());
      append("after");
      show(isAllThere(), timers.length);
    `);
    const limit = canMount ? `mount -t tmpfs -o size=64k tmpfs ${home}` : "ulimit -S -f 64";
    const shell = ["bash", "--norc", "-c", `${limit} && cd ${home} && "$0" --input-type=module -e "$1"`];
    const command = [...(canMount ? ["unshare", "-rm"] : []), ...shell, process.execPath, scene];
    const output = execFileSync(command[0]!, command.slice(1), { encoding: "utf8", env: { PATH: process.env.PATH } });
    const { shown, told }: Shown = JSON.parse(output);
    expect(shown).toEqual([true, true, true, true, 1, true, "unwritable", ["s.jsonl"], false, true, true, 0]);
    expect(told).toEqual([
      expect.stringMatching(
        /^The session file s\.jsonl cannot be written \((ENOSPC|EFBIG): [^,]*\); the conversation /,
      ),
      "The whole conversation is in the session file s.jsonl again.",
    ]);
  });
});
