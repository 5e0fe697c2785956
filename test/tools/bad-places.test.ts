import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** What the tools do where the system refuses: without permission, and on a full disk. Each in a process of its own. */

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;
const home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-places-")));
const program = join(home, "program", "call-tools.mjs");

beforeAll(async () => {
  chmodSync(home, 0o755);
  const bundle = await rolldown({
    input: new URL("call-tools.ts", import.meta.url).pathname,
    platform: "node",
    logLevel: "silent",
  });
  await bundle.write({ dir: join(home, "program"), format: "esm", entryFileNames: "[name].mjs" });
  await bundle.close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

type Call = [tool: string, args: Record<string, unknown>];

/** A file with the calls, for the program. */
function listed(calls: Call[]): string {
  const path = join(home, "calls.json");
  writeFileSync(path, JSON.stringify(calls));
  return path;
}

function folder(name: string): string {
  const path = join(home, name);
  mkdirSync(path);
  return path;
}

describe(isRoot ? "as a user without rights" : "without rights", () => {
  const forbidden = () => {
    const path = folder("forbidden");
    writeFileSync(join(path, "secret"), "old\n");
    writeFileSync(join(path, "fixed"), "old\n");
    mkdirSync(join(path, "closed"));
    writeFileSync(join(path, "closed", "a.txt"), "needle\n");
    writeFileSync(join(path, "open.txt"), "needle\n");
    if (isRoot) execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, path]);
    chmodSync(join(path, "secret"), 0o000);
    chmodSync(join(path, "fixed"), 0o444);
    chmodSync(join(path, "closed"), 0o000);
    return path;
  };
  const asNobody = (cwd: string, calls: Call[]): string[] => {
    const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
    const env = { PATH: process.env.PATH, HOME: cwd };
    return JSON.parse(
      execFileSync(process.execPath, [program, listed(calls)], { cwd, env, encoding: "utf8", ...user }),
    );
  };

  it("files that may not be read or written are named with the system's word, folders are passed over in searches", () => {
    const cwd = forbidden();
    const edits = [{ oldText: "old", newText: "new" }];
    const outcomes = asNobody(cwd, [
      ["read", { path: "secret" }],
      ["edit", { path: "secret", edits }],
      ["edit", { path: "fixed", edits }],
      ["write", { path: "secret", content: "x" }],
      ["write", { path: "fixed", content: "x" }],
      ["write", { path: "closed/new", content: "x" }],
      ["write", { path: "closed/deep/new", content: "x" }],
      ["ls", { path: "closed" }],
      ["grep", { pattern: "needle" }],
      ["find", { pattern: "*.txt" }],
    ]);
    expect(outcomes).toEqual([
      `Error: EACCES: permission denied, access '${cwd}/secret'`,
      "Error: Could not edit file: secret. Error code: EACCES.",
      "Error: Could not edit file: fixed. Error code: EACCES.",
      `Error: EACCES: permission denied, access '${cwd}/secret'`,
      `Error: EACCES: permission denied, access '${cwd}/fixed'`,
      expect.stringContaining("Error: EACCES: permission denied, stat"),
      expect.stringContaining("Error: EACCES: permission denied, mkdir"),
      `Error: EACCES: permission denied, scandir '${cwd}/closed'`,
      "open.txt:1: needle",
      "open.txt",
    ]);
    chmodSync(join(cwd, "closed"), 0o755);
    expect(readFileSync(join(cwd, "fixed"), "utf8")).toBe("old\n");
  });

  it("a file in a folder that takes no new ones is written where it is", () => {
    const cwd = folder("no-new-files");
    writeFileSync(join(cwd, "a.txt"), "old\n");
    if (isRoot) execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, cwd]);
    chmodSync(cwd, 0o555);
    const outcomes = asNobody(cwd, [
      ["write", { path: "a.txt", content: "new\n" }],
      ["edit", { path: "a.txt", edits: [{ oldText: "new", newText: "newer" }] }],
    ]);
    chmodSync(cwd, 0o755);
    expect(outcomes).toEqual(["Successfully wrote 4 bytes to a.txt", "Successfully replaced 1 block(s) in a.txt."]);
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("newer\n");
  });
});

/** A disk of 64 KB where the system lets us make one, else files that may not grow beyond 64 KB. */
const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;

describe(canMount ? "on a full disk" : "where files may not grow", () => {
  it("a write that does not fit leaves everything as it was", () => {
    const cwd = folder("full");
    const large = "y".repeat(100 * 1024);
    const calls: Call[] = [
      ["write", { path: "a.txt", content: large }],
      ["write", { path: "linked.txt", content: large }],
      ["write", { path: "new.txt", content: large }],
      ["edit", { path: "a.txt", edits: [{ oldText: "old", newText: large }] }],
      ["write", { path: "small.txt", content: "fits" }],
    ];
    const limit = canMount ? `mount -t tmpfs -o size=64k tmpfs ${cwd} && cd ${cwd}` : `cd ${cwd} && ulimit -f 64`;
    const script = `${limit} && echo old > a.txt && echo old > linked.txt && ln linked.txt other.txt && "$0" ${program} "$1" && echo && cat a.txt linked.txt && ls -A`;
    const shell = ["bash", "--norc", "-c", script, process.execPath, listed(calls)];
    const command = canMount ? ["unshare", "-rm", ...shell] : shell;
    const output = execFileSync(command[0]!, command.slice(1), { encoding: "utf8", env: { PATH: process.env.PATH } });
    const [outcomes, ...rest] = output.trimEnd().split("\n");
    const refused = expect.stringMatching(/^Error: (ENOSPC|EFBIG): /);
    expect(JSON.parse(outcomes!)).toEqual([
      refused,
      refused,
      refused,
      expect.stringMatching(/^Error: Could not edit file: a\.txt\. Error code: (ENOSPC|EFBIG)\.$/),
      "Successfully wrote 4 bytes to small.txt",
    ]);
    expect(rest).toEqual(["old", "old", "a.txt", "linked.txt", "other.txt", "small.txt"]);
    expect(existsSync(cwd) && (canMount ? readdirSync(cwd) : [])).toEqual([]);
  });
});
