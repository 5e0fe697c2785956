import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { checkArguments } from "../packages/agent/src/check-arguments.ts";
import { failureOf } from "../packages/ai/src/http/failure.ts";
import { readReadme } from "../packages/ai/src/providers/offline/readme.ts";
import { resolveScope } from "../packages/ai/src/resolve-model.ts";
import { testModel } from "../packages/ai/src/testing.ts";
import { matchRestricted } from "../packages/coding-agent/src/approvals/command-match.ts";
import { readShellLine } from "../packages/coding-agent/src/approvals/shell-line.ts";
import { plainName, sessionFileName } from "../packages/coding-agent/src/config/paths.ts";
import { createWatchdog } from "../packages/coding-agent/src/exec/watchdog.ts";
import { isOnlyOurs } from "../packages/coding-agent/src/lib/code-cache.ts";
import { copied } from "../packages/coding-agent/src/lib/copies.ts";
import { imageProblem } from "../packages/coding-agent/src/lib/image-problem.ts";
import { readSimpleHeader } from "../packages/coding-agent/src/prompts/frontmatter.ts";
import { withoutFileLists } from "../packages/coding-agent/src/session/compaction/file-lists.ts";
import { describeSession, descriptionText } from "../packages/coding-agent/src/sessions/show-session.ts";
import { joinFailure } from "../packages/coding-agent/src/tools/bash-command.ts";
import { missingHint } from "../packages/coding-agent/src/tools/edit-hints.ts";
import { parseIgnoreFile } from "../packages/coding-agent/src/tools/gitignore.ts";
import { compileGlob } from "../packages/coding-agent/src/tools/glob.ts";
import { createGrepCollector } from "../packages/coding-agent/src/tools/grep-format.ts";
import { findRipgrep } from "../packages/coding-agent/src/tools/grep-rg.ts";
import { createIgnoreWork } from "../packages/coding-agent/src/tools/ignore-work.ts";
import { shortCommand } from "../packages/coding-agent/src/tools/job-text.ts";
import { renderNotebook } from "../packages/coding-agent/src/tools/notebook.ts";
import { readPattern } from "../packages/coding-agent/src/tools/rust-regex.ts";
import { useRpc } from "./support/rpc-process.ts";

/** What models, repositories, tools and session files may say, and what must not come of it. See SECURITY.md. */

const LONG = 400_000;
const many = (piece: string): string => piece.repeat(LONG / piece.length);

// Each of these once took minutes, in which nothing else happened in the process. They end, that is all.
describe("a long text does not stop everything", () => {
  const ended = { ended: "exited", exitCode: 1, signal: null } as const;
  it.each<[what: string, work: () => unknown]>([
    ["output of a command", () => joinFailure({ content: `${many("\n")}x`, notice: "" } as never, "failed", ended)],
    ["the command of a job", () => shortCommand({ command: `a${many(" ")}b` })],
    ["a line of front matter", () => readSimpleHeader(`name: a${many(" ")}x`)],
    ["a line that grep found", () => createGrepCollector({ limit: 1, context: 0 }).add(grepLine(`${many("\r")}x`))],
    ["a notebook", () => renderNotebook(JSON.stringify(notebook(`${many("\n")}x`)))],
    ["a text to be replaced", () => missingHint("a\nb", `${many("\n")}x`)],
    ["data of an image", () => imageProblem({ data: `${many("=")}x`, mimeType: "image/png" })],
    ["blanks in a summary", () => withoutFileLists(`${many(" ")}x`)],
    ["lists without an end in a summary", () => withoutFileLists(many("<read-files>\n"))],
    ["braces in a command", () => matchRestricted(readShellLine(`$x${many("{")}`), "", ["rm"])],
    ["an error page", () => failureOf({ status: 500, headers: {}, body: `<html>${many("<")}` } as never, 0)],
    ["a README", () => readReadme(`# ${many("#")}x\n\n${many("<")}\n\n${many("[")}`)],
  ])("%s", (_, work) => {
    expect(() => work()).not.toThrow();
  });

  const grepLine = (text: string) => ({ path: "a", number: 1, text, isMatch: true }) as never;
  const notebook = (text: string) => ({
    nbformat: 4,
    cells: [{ cell_type: "code", source: "", outputs: [{ output_type: "stream", text }] }],
  });

  it("a property in a pattern", () => {
    expect(() => readPattern(`\\p{${many(" ")}!a}`)).toThrow(SyntaxError);
  });

  it("lists are taken out of a summary as before", () => {
    const lists = "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\n</modified-files>";
    expect(withoutFileLists(`one${lists}\n two ${lists}`)).toBe("one\n two");
    expect(withoutFileLists("<read-files>\nopen")).toBe("<read-files>\nopen");
  });
});

describe("stars over long names", () => {
  const stars = "*a".repeat(30);
  const name = "a".repeat(200);

  it("in an ignore file are a rule like others", () => {
    const rules = parseIgnoreFile(`${stars}b\nother\n*a*a*c`, createIgnoreWork());
    expect(rules.verdict(name, name, false)).toBeUndefined();
    expect(rules.verdict("other", "other", false)).toBe("ignored");
    expect(rules.verdict("xaxac", "xaxac", false)).toBe("ignored");
    expect(parseIgnoreFile(stars, createIgnoreWork()).verdict(name, name, false)).toBe("ignored");
  });

  it("in a glob of the model end with an error that says so", () => {
    const matches = compileGlob(`${stars}[b]`);
    expect(() => matches(name)).toThrow("takes too long");
    expect(compileGlob("+(a|a?)c")("aaac")).toBe(true);
    expect(() => compileGlob("+(a|a?)[!a]")(name)).toThrow("takes too long");
  });

  it("in the models of a project match nothing", () => {
    const model = testModel({ provider: "p", id: name, name });
    const source = { available: () => [model], all: () => [model], modelsOf: () => [model] } as never;
    expect(resolveScope([`${"*?".repeat(30)}b`], source).warnings).toHaveLength(1);
    expect(resolveScope(["a*a*a*a*"], source).scoped).toHaveLength(1);
  });
});

describe("an id out of a session file", () => {
  it.each(["../../x", "/etc/passwd", "..", ".", "", "a/b", "a\\b", "\0", "..\u2215", "x".repeat(500)])("%j", (id) => {
    const name = plainName(id);
    expect(name).toMatch(/^(?!\.*$)[\w.-]{1,128}$/);
    expect(join("/root", sessionFileName(0, id)).split(sep)).toHaveLength(3);
  });

  it("is a name in its folder, whatever it is, and an ordinary one stays itself", () => {
    fc.assert(fc.property(fc.string(), (id) => join("/f", plainName(id)).startsWith("/f/")));
    expect(plainName("01997b2c-3d4e_x.y")).toBe("01997b2c-3d4e_x.y");
  });
});

describe("a program in the folder of the project", () => {
  const folder = mkdtempSync(join(tmpdir(), "tiller-programs-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.skipIf(process.platform === "win32")(
    "is not taken for one of ours because PATH has a relative folder",
    async () => {
      writeFileSync(join(folder, "rg"), "#!/bin/sh\n", { mode: 0o755 });
      expect(await findRipgrep({ PATH: folder })).toBe(join(folder, "rg"));
      expect(await findRipgrep({ PATH: `${relative(process.cwd(), folder)}::.` }, "no-such-package")).toBeUndefined();
    },
  );
});

describe("names that every object knows", () => {
  const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"];

  it.each(names)("%s as a kind of entry and as a role in a session file", (name) => {
    const entry = { id: "1", parentId: null };
    const lines = [
      { type: "session", version: 3, id: "s", cwd: "/" },
      { ...entry, type: name },
      { ...entry, type: "message", message: { role: name, content: [] } },
    ];
    const description = describeSession("/x", Buffer.from(lines.map((line) => JSON.stringify(line)).join("\n")))!;
    expect(descriptionText(description)).not.toContain("function");
    expect(description.entries).toBe(2);
  });

  // What the others name is a function to the schema library, so a tool may have them only as required parameters.
  it.each(names.slice(0, 2))("%s as a parameter of a tool", (name) => {
    const properties = JSON.parse(`{"${name}":{"type":"object","properties":{"x":{"type":"number"}}}}`);
    const tool = { name: "t", parameters: { type: "object", properties } };
    const none = checkArguments(tool, {}) as { args: object };
    expect(Object.keys(none.args)).toEqual([]);
    const some = checkArguments(tool, JSON.parse(`{"${name}":{"x":"7"}}`)) as { args: object };
    expect(JSON.stringify(some.args)).toBe(`{"${name}":{"x":7}}`);
    expect(Object.getPrototypeOf(some.args)).toBe(Object.prototype);
  });

  it.each(names)("%s as a property in a pattern", (name) => {
    expect(() => readPattern(`\\p{${name}}`)).toThrow(SyntaxError);
  });

  it("a field of that name is copied as a field", () => {
    const copy = copied(JSON.parse('{"__proto__":{"isAdmin":true},"a":1}'));
    expect(copy.isAdmin).toBeUndefined();
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":1}');
  });
});

describe.runIf(process.getuid !== undefined)("compiled code", () => {
  let folder = "";
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it.each<[mode: number, isOurs: boolean]>([
    [0o755, true],
    [0o700, true],
    [0o775, false],
    [0o777, false],
  ])("in a folder of mode %o counts: %s", (mode, isOurs) => {
    folder = mkdtempSync(join(tmpdir(), "tiller-planted-"));
    writeFileSync(join(folder, "cli.js"), "");
    const mask = process.umask(0);
    try {
      const cache = mkdtempSync(join(folder, "cache-"));
      process.getBuiltinModule("node:fs").chmodSync(cache, mode);
      expect(isOnlyOurs(cache, join(folder, "cli.js"))).toBe(isOurs);
    } finally {
      process.umask(mask);
    }
  });

  it.runIf(process.getuid?.() === 0)("of another user counts only when the program is that user's (root only)", () => {
    folder = mkdtempSync(join(tmpdir(), "tiller-planted-"));
    const program = join(folder, "cli.js");
    writeFileSync(program, "");
    const cache = mkdtempSync(join(folder, "cache-"));
    const { chmodSync, chownSync } = process.getBuiltinModule("node:fs");
    chmodSync(cache, 0o755);
    chownSync(cache, 4711, 4711);
    expect([statSync(cache).uid, isOnlyOurs(cache, program)]).toEqual([4711, false]);
    chownSync(program, 4711, 4711);
    expect(isOnlyOurs(cache, program)).toBe(true);
    expect(isOnlyOurs(join(folder, "none"), program)).toBe(true);
  });
});

// A process chooses its own name, and it stands in the file in which its group is looked up.
describe.runIf(existsSync("/proc/self/comm"))("the watchdog", () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started) if (child.pid !== undefined && child.exitCode === null) child.kill("SIGKILL");
  });
  const run = (script: string, env: Record<string, string>): ChildProcess => {
    const child = spawn("/bin/bash", ["-c", script], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: { PATH: process.env.PATH ?? "", ...env },
    });
    started.push(child);
    return child;
  };

  it("ends what carries the token and no group that it names itself after", async () => {
    const token = `test-token-${process.pid}-${Date.now()}`;
    const bystander = run("echo up; while :; do sleep 1; done", {});
    await once(bystander.stdout!, "data");
    const rename = `printf 'x) S 1 ${bystander.pid}\\n' >/proc/$$/comm; echo up; while :; do read -rt 1 _ <> <(:); done`;
    const marked = run(rename, { TOKEN: token });
    await once(marked.stdout!, "data");
    let watcher: ChildProcess | undefined;
    const watchdog = createWatchdog(
      ((...given: Parameters<typeof spawn>) => {
        watcher = spawn(...given);
        return watcher;
      }) as typeof spawn,
      token,
    );
    watchdog.watch([]);
    const over = once(marked, "exit");
    watcher!.stdin!.end();
    expect((await over)[1]).toBe("SIGKILL");
    await once(watcher!, "exit");
    await wait(20);
    expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
  });
});

describe("a session file with values nested so deeply that they cannot be written as JSON", () => {
  const start = useRpc();
  const deep = `${'{"a":'.repeat(4200)}1${"}".repeat(4200)}`;
  const at = { timestamp: "2026-01-01T00:00:00.000Z" };
  const answer = { role: "assistant", api: "x", provider: "p", model: "m", stopReason: "toolUse", timestamp: 1 };
  const call = { type: "toolCall", id: "c", name: "read", arguments: "DEEP" };
  const result = {
    role: "toolResult",
    toolCallId: "c",
    toolName: "read",
    content: [],
    details: "DEEP",
    isError: false,
    timestamp: 1,
  };
  const lines = [
    { type: "session", version: 3, id: "0", cwd: "/", ...at },
    { type: "message", id: "a1", parentId: null, ...at, message: { role: "user", content: "Hi.", timestamp: 1 } },
    { type: "message", id: "a2", parentId: "a1", ...at, message: { ...answer, content: [call] } },
    { type: "message", id: "a3", parentId: "a2", ...at, message: result },
    { type: "custom", id: "a4", parentId: "a3", ...at, customType: "x", data: "DEEP" },
  ];
  const file = lines.map((line) => `${JSON.stringify(line).replaceAll('"DEEP"', deep)}\n`).join("");

  it("opens, and everything is answered as of any other", async () => {
    const rpc = start({ args: ["--session", "deep.jsonl"], files: { "deep.jsonl": file }, script: ['text "Aye."'] });
    for (const type of ["get_state", "get_session_stats", "get_context", "get_tree"]) {
      expect(await rpc.call({ type })).toMatchObject({ success: true });
    }
    const shown = await rpc.call({ type: "get_messages" });
    const left = { leftOut: expect.stringContaining("500 levels") };
    expect(shown).toMatchObject({
      data: { messages: [{ role: "user" }, { content: [{ arguments: left }] }, { details: left }] },
    });
    expect((await rpc.prompt("Go on")).result.status).toBe("completed");
  });
});
