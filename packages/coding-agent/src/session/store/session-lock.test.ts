import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { systemClock } from "../../lib/clock.ts";
import { type LockAttempt, ownerText, tryLock, waitForLock } from "./session-lock.ts";

let home = "";
let locksFolder = "";
let sessionPath = "";
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-lock-")));
  locksFolder = join(home, "agent", "locks");
  sessionPath = join(home, "s.jsonl");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const attemptAt = (path = sessionPath, clock = systemClock): LockAttempt =>
  tryLock({ locksFolder, sessionPath: path, clock });
const outcome = (attempt: LockAttempt): string => Object.keys(attempt)[0]!;

function lockAt(path = sessionPath) {
  const attempt = attemptAt(path);
  if (!("lock" in attempt)) throw new Error(JSON.stringify(attempt));
  return attempt.lock;
}

function ownerAt(path = sessionPath) {
  const attempt = attemptAt(path);
  if (!("owner" in attempt)) throw new Error(JSON.stringify(attempt));
  return attempt.owner;
}

/** Takes the lock and writes something else into it, as if somebody else had left it behind. */
function leaveBehind(change: Record<string, unknown> | string): string {
  lockAt();
  const [name] = readdirSync(locksFolder);
  const file = join(locksFolder, name!);
  const content = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, typeof change === "string" ? change : JSON.stringify({ ...content, ...change }));
  return file;
}

/** A process that has ended. */
function deadPid(): number {
  return Number(execFileSync("sh", ["-c", "echo $$"], { encoding: "utf8" }));
}

describe("a session's lock", () => {
  it("says who holds it, leaves nothing else in the folder, and is gone after its release", () => {
    const clock = new FakeClock();
    const attempt = attemptAt(sessionPath, clock);
    const names = readdirSync(locksFolder);
    expect(names).toEqual([expect.stringMatching(/^s-[0-9a-f]{16}\.lock$/)]);
    expect(JSON.parse(readFileSync(join(locksFolder, names[0]!), "utf8"))).toMatchObject({
      path: sessionPath,
      pid: process.pid,
      host: hostname(),
      since: "2026-01-01T00:00:00.000Z",
    });
    if ("lock" in attempt) attempt.lock.release();
    expect(readdirSync(locksFolder)).toEqual([]);
  });

  it("is held once, also within one process, until it is released", () => {
    const lock = lockAt();
    expect(ownerAt()).toMatchObject({ pid: process.pid, host: hostname(), path: sessionPath });
    lock.release();
    const next = lockAt();
    lock.release();
    expect(outcome(attemptAt())).toBe("owner");
    next.release();
    expect(outcome(attemptAt())).toBe("lock");
  });

  it("is the same on every way to the file, and another for every other file", () => {
    const folder = join(home, "real");
    mkdirSync(folder);
    symlinkSync("real", join(home, "linked"));
    lockAt(join(folder, "s.jsonl"));
    expect(outcome(attemptAt(join(home, "linked", "..", "linked", "s.jsonl")))).toBe("owner");
    expect(outcome(attemptAt(join(folder, "t.jsonl")))).toBe("lock");
    expect(outcome(attemptAt(join(home, "s.jsonl")))).toBe("lock");
    writeFileSync(join(folder, "s.jsonl"), "");
    symlinkSync(join(folder, "s.jsonl"), join(home, "file-link.jsonl"));
    expect(outcome(attemptAt(join(home, "file-link.jsonl")))).toBe("owner");
  });

  it("can be had for a path whose folders do not exist yet, however odd its name is", () => {
    const odd = join(home, "not", "yet", `${"ü /:".replace("/", "")}${"x".repeat(200)}.jsonl`);
    lockAt(odd);
    mkdirSync(join(home, "not", "yet"), { recursive: true });
    expect(outcome(attemptAt(odd))).toBe("owner");
  });

  it("is only released by its owner", () => {
    const lock = lockAt();
    const file = join(locksFolder, readdirSync(locksFolder)[0]!);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"token":"./, '"token":"z'));
    lock.release();
    expect(existsSync(file)).toBe(true);
  });

  it("cannot be made where nothing can be written, and says why", () => {
    writeFileSync(join(home, "agent"), "a file");
    expect(attemptAt()).toEqual({ failed: expect.stringContaining(`No lock can be made in ${locksFolder}: ENOTDIR`) });
  });
});

describe("a lock that was left behind", () => {
  const stale: [what: string, change: () => Record<string, unknown> | string][] = [
    ["a process that has ended", () => ({ pid: deadPid() })],
    ["an earlier process with the same number", () => ({ processStart: "another-boot/1" })],
  ];
  it.each(stale)("by %s is taken over at once", (_what, change) => {
    const file = leaveBehind(change());
    const lock = lockAt();
    expect(JSON.parse(readFileSync(file, "utf8")).pid).toBe(process.pid);
    expect(outcome(attemptAt())).toBe("owner");
    lock.release();
    expect(readdirSync(locksFolder)).toEqual([]);
  });

  it("by an earlier process with our number is taken over also where the system does not tell when it started", () => {
    leaveBehind({ processStart: undefined, token: "theirs" });
    // This process holds a lock of that name itself: then the number means this process.
    expect(outcome(attemptAt())).toBe("owner");
    const other = join(home, "other.jsonl");
    const lock = lockAt(other);
    const file = ownerAt(other).lockFile;
    const content = JSON.parse(readFileSync(file, "utf8"));
    lock.release();
    writeFileSync(file, JSON.stringify({ ...content, processStart: undefined }));
    expect(outcome(attemptAt(other))).toBe("lock");
  });

  it.runIf(existsSync("/proc/self"))(
    "by a process that ended unnoticed by its parent is taken over (Linux only)",
    () => {
      const parent = spawn("bash", ["--norc", "-c", "sleep 0.2 & echo $!; exec sleep 1000"], { stdio: "pipe" });
      const zombie = new Promise<number>((resolve) => parent.stdout.once("data", (data) => resolve(Number(data))));
      return zombie
        .then(async (pid) => {
          const state = () => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
          while (state() !== "Z") await new Promise((resolve) => setTimeout(resolve, 5));
          leaveBehind({ pid, processStart: undefined });
          expect(outcome(attemptAt())).toBe("lock");
        })
        .finally(() => parent.kill("SIGKILL"));
    },
  );

  it("by a process on another host stays: nobody here knows whether it lives", () => {
    leaveBehind({ pid: deadPid(), host: "elsewhere" });
    expect(ownerAt().host).toBe("elsewhere");
  });

  it("by a process of another user is not taken from it", () => {
    leaveBehind({ pid: 1, processStart: undefined });
    expect(ownerAt().pid).toBe(1);
  });

  const garbage = ["", "{", "null", "[]", '{"pid":-1}', '{"pid":1}', '{"pid":1,"path":"p","host":7,"since":"s"}'];
  it.each(garbage)("as %j is left alone for a second, then taken over", (text) => {
    const file = leaveBehind(text);
    expect(ownerAt().pid).toBe(0);
    const old = new Date(Date.now() - 5000);
    utimesSync(file, old, old);
    expect(outcome(attemptAt())).toBe("lock");
  });

  describe("is taken over by its heir, who holds a lock that is named after it", () => {
    const leaveHeir = (change: Record<string, unknown>): string => {
      const file = leaveBehind({ pid: deadPid() });
      const text = readFileSync(file, "utf8");
      const heir = `${file}.${fnv1a64(text)}`;
      writeFileSync(heir, JSON.stringify({ ...JSON.parse(text), ...change }));
      return heir;
    };

    it("and by nobody else while the heir lives", () => {
      leaveHeir({ pid: process.pid, since: "now" });
      expect(ownerAt()).toMatchObject({ pid: process.pid, since: "now" });
    });

    it("or by the heir of the heir when that has died too, and so on", () => {
      const heir = leaveHeir({ pid: deadPid(), token: "heir" });
      const text = readFileSync(heir, "utf8");
      writeFileSync(`${heir}.${fnv1a64(text)}`, text.replace("heir", "heir's heir"));
      const lock = lockAt();
      expect(outcome(attemptAt())).toBe("owner");
      lock.release();
      expect(readdirSync(locksFolder)).toEqual([]);
    });
  });
});

/** The same in another way: 64 bits as two numbers. */
function fnv1a64(text: string): string {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (const byte of Buffer.from(text)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + (low << 8) + Math.floor(product / 2 ** 32)) >>> 0;
    low = product >>> 0;
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

describe("waiting for a lock", () => {
  const options = (clock: FakeClock) => ({ locksFolder, sessionPath, clock });

  it("ends as soon as the lock is free", async () => {
    const clock = new FakeClock();
    const lock = lockAt();
    const waiting = waitForLock(options(clock), 2000, new AbortController().signal);
    await clock.advance(100);
    expect(clock.waits).toEqual([25]);
    lock.release();
    await clock.advance(25);
    expect(outcome(await waiting)).toBe("lock");
  });

  it("ends with the owner when patience does", async () => {
    const clock = new FakeClock();
    lockAt();
    const waiting = waitForLock(options(clock), 60, new AbortController().signal);
    await clock.advance(60);
    expect(outcome(await waiting)).toBe("owner");
    expect(outcome(await waitForLock(options(clock), 0, new AbortController().signal))).toBe("owner");
  });

  it("ends with the owner when it is called off", async () => {
    const clock = new FakeClock();
    lockAt();
    const abort = new AbortController();
    const waiting = waitForLock(options(clock), 2000, abort.signal);
    await clock.advance(10);
    abort.abort();
    expect(outcome(await waiting)).toBe("owner");
    expect(clock.pending).toBe(0);
  });
});

describe("the sentence about the owner", () => {
  const owner = { pid: 7, host: hostname(), since: "2026-01-01T00:00:00.000Z", path: "/s.jsonl", lockFile: "/l.lock" };
  it.each([
    [
      owner,
      "The session file /s.jsonl is in use by process 7 since 2026-01-01T00:00:00.000Z; end that process, or fork the session.",
    ],
    [
      { ...owner, host: "elsewhere" },
      'The session file /s.jsonl is in use by process 7 on the host "elsewhere" since 2026-01-01T00:00:00.000Z; end that process, or fork the session, or remove /l.lock if it no longer runs, which cannot be told from here.',
    ],
    [
      { ...owner, pid: 0 },
      "The session file /s.jsonl is just being locked by another process; try again, or fork the session.",
    ],
  ])("names the file, the process and the way out", (who, says) => {
    expect(ownerText(who)).toBe(says);
  });
});

describe("several processes", () => {
  let program = "";
  beforeAll(async () => {
    program = join(mkdtempSync(join(tmpdir(), "tiller-lock-program-")), "session-lock.mjs");
    const input = new URL("session-lock.ts", import.meta.url).pathname;
    const bundle = await rolldown({ input, platform: "node", logLevel: "silent" });
    await bundle.write({ file: program, format: "esm" });
    await bundle.close();
  });
  afterAll(() => rmSync(join(program, ".."), { recursive: true, force: true }));

  const children = new Set<ChildProcess>();
  afterEach(async () => {
    await Promise.all([...children].map((child) => end(child)));
    children.clear();
  });

  interface Running {
    child: ChildProcess;
    /** The lines it has printed. */
    said(): string[];
    has(line: string): Promise<void>;
  }

  function start(script: string): Running {
    const text = `
      import fs from "node:fs";
      import { tryLock } from ${JSON.stringify(program)};
      const clock = { now: () => Date.now(), after: () => () => undefined };
      const attempt = (sessionPath) => tryLock({ locksFolder: ${JSON.stringify(locksFolder)}, sessionPath, clock });
      ${script}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", text], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env.PATH },
    });
    children.add(child);
    let output = "";
    const said = (): string[] => output.split("\n");
    child.stdout.on("data", (data) => {
      output += data;
    });
    const has = async (line: string): Promise<void> => {
      while (!said().includes(line)) {
        if (child.exitCode !== null) throw new Error(`a child ended with ${child.exitCode} before it said "${line}"`);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    };
    return { child, said, has };
  }

  const end = (child: ChildProcess): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });

  it("that find the same stale locks at once: each lock goes to exactly one of them", async () => {
    const pid = deadPid();
    const paths = Array.from({ length: 200 }, (_, i) => join(home, `${i}.jsonl`));
    for (const path of paths) {
      lockAt(path);
      const { lockFile } = ownerAt(path);
      writeFileSync(lockFile, JSON.stringify({ ...JSON.parse(readFileSync(lockFile, "utf8")), pid }));
    }
    const gate = join(home, "gate");
    const racers = Array.from({ length: 4 }, () =>
      start(`
        process.stdout.write("ready\\n");
        while (!fs.existsSync(${JSON.stringify(gate)}));
        const all = ${JSON.stringify(paths)}.map((path) => [path, attempt(path)]);
        const failed = all.filter(([, { failed }]) => failed);
        if (failed.length > 0) throw new Error(JSON.stringify(failed));
        process.stdout.write(all.map(([path, { lock }]) => (lock ? path + "\\n" : "")).join("") + "done\\n");
        process.stdin.resume();`),
    );
    await Promise.all(racers.map((racer) => racer.has("ready")));
    writeFileSync(gate, "");
    // Nobody may leave before all are done: those who hold locks must live.
    await Promise.all(racers.map((racer) => racer.has("done")));
    const taken = racers.flatMap((racer) => racer.said().filter((line) => line.endsWith(".jsonl")));
    expect(taken.sort()).toEqual([...paths].sort());
  });

  it("that are killed at any moment: no two are ever inside, and the lock is never lost", async () => {
    const log = join(home, "log");
    writeFileSync(log, "");
    const worker = () =>
      start(`
        process.stdout.write("ready\\n");
        const log = fs.openSync(${JSON.stringify(log)}, "a");
        for (;;) {
          const { lock, failed } = attempt(${JSON.stringify(sessionPath)});
          if (failed) throw new Error(failed);
          if (!lock) continue;
          fs.writeSync(log, "+" + process.pid + "\\n");
          fs.writeSync(log, "-" + process.pid + "\\n");
          lock.release();
        }`);
    const entries = (): string[] => readFileSync(log, "latin1").trimEnd().split("\n");
    const killed = new Set<number>();
    const workers = Array.from({ length: 3 }, worker);
    for (let round = 0; round < 12; round++) {
      const one = workers[round % workers.length]!;
      await one.has("ready");
      const before = entries().length;
      // Whoever was killed last: the others go on.
      while (entries().length < before + 20) await new Promise((resolve) => setTimeout(resolve, 1));
      killed.add(one.child.pid!);
      one.child.kill("SIGKILL");
      workers[round % workers.length] = worker();
    }
    for (const { child } of workers) killed.add(child.pid!);
    await Promise.all([...children].map((child) => end(child)));
    expect(entries().length).toBeGreaterThan(240);
    expect(broken(entries(), killed)).toEqual([]);
  });

  /** Entries by somebody while another one was inside and alive. */
  function broken(entries: readonly string[], killed: ReadonlySet<number>): string[] {
    let inside = 0;
    const last = new Map(entries.map((entry, at) => [Number(entry.slice(1)), at]));
    return entries.filter((entry, at) => {
      const pid = Number(entry.slice(1));
      // Who left without a word was killed, and said nothing afterwards.
      const wasKilled = killed.has(inside) && last.get(inside)! < at;
      const isFine = entry[0] === "-" ? inside === pid : inside === 0 || wasKilled;
      inside = entry[0] === "-" ? 0 : pid;
      return !isFine;
    });
  }
});
