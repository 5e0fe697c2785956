import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ContextFileRequest, contextFolders, findContextFiles, MAX_CONTEXT_FILE_BYTES } from "./context-files.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-context-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (path: string): string => join(root, path);

function write(files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
}

/** A project at home/repo, the working folder two levels below its top. */
function find(more: Partial<ContextFileRequest> = {}) {
  mkdirSync(at("home/repo/a/b"), { recursive: true });
  const request = { cwd: at("home/repo/a/b"), agentDir: at("home/.tiller/agent"), env: { HOME: at("home") } };
  const { files, problems } = findContextFiles({
    ...request,
    repositoryTop: at("home/repo"),
    trustsProject: true,
    ...more,
  });
  const short = (text: string): string => text.replaceAll(`${root}/`, "");
  return {
    files: files.map(({ path, text, place }) => `${place} ${short(path)}: ${short(text)}`),
    problems: problems.map(short),
  };
}

describe("context files", () => {
  test("without any there is nothing", () => {
    expect(find()).toEqual({ files: [], problems: [] });
  });

  test("come from the agent folder, then from the top down", () => {
    write({
      "home/.tiller/agent/AGENTS.md": "global\n",
      "home/AGENTS.md": "home",
      "home/repo/CLAUDE.md": "top",
      "home/repo/a/AGENTS.md": "middle",
      "home/repo/a/b/AGENTS.md": "here",
      "home/repo/a/b/c/AGENTS.md": "below",
    });
    expect(find()).toEqual({
      files: [
        "global home/.tiller/agent/AGENTS.md: global",
        "above home/AGENTS.md: home",
        "above home/repo/CLAUDE.md: top",
        "above home/repo/a/AGENTS.md: middle",
        "cwd home/repo/a/b/AGENTS.md: here",
      ],
      problems: [],
    });
  });

  test("of a stranger do not count because the user has no home", () => {
    write({ "home/AGENTS.md": "stranger", "home/repo/AGENTS.md": "ours" });
    const env = { HOME: "/" };
    const request = { cwd: at("home/repo"), agentDir: at("agent"), env, repositoryTop: undefined, trustsProject: true };
    const { files } = findContextFiles(request, () => false);
    expect(files.map(({ text }) => text)).toEqual(["ours"]);
  });

  test("are one per folder", () => {
    write({
      "home/repo/a/b/CLAUDE.md": "claude",
      "home/repo/a/b/AGENTS.md": "agents",
      "home/repo/a/CLAUDE.MD": "loud",
    });
    expect(find().files).toEqual(["above home/repo/a/CLAUDE.MD: loud", "cwd home/repo/a/b/AGENTS.md: agents"]);
  });

  test("are read once, whatever they are called", () => {
    write({ "home/.tiller/agent/AGENTS.md": "one" });
    mkdirSync(at("home/repo/a/b"), { recursive: true });
    symlinkSync(at("home/.tiller/agent/AGENTS.md"), at("home/repo/CLAUDE.md"));
    expect(find().files).toEqual(["global home/.tiller/agent/AGENTS.md: one"]);
  });

  test("of an untrusted project are left out", () => {
    write({ "home/.tiller/agent/AGENTS.md": "global", "home/repo/AGENTS.md": "project" });
    expect(find({ trustsProject: false }).files).toEqual(["global home/.tiller/agent/AGENTS.md: global"]);
  });

  test("that are empty, folders or links to nowhere are passed over", () => {
    write({ "home/repo/AGENTS.md": " \n", "home/repo/a/AGENTS.md/x": "x", "home/repo/a/CLAUDE.md": "\ufeffthis one" });
    mkdirSync(at("home/repo/a/b"), { recursive: true });
    symlinkSync("AGENTS.md", at("home/repo/a/b/AGENTS.md"));
    expect(find()).toEqual({ files: ["above home/repo/a/CLAUDE.md: this one"], problems: [] });
  });

  test.each(["", "# Title\n"])("that are too long and one long line are cut within it", (before) => {
    write({ "home/repo/AGENTS.md": before + "aé€😀".repeat(MAX_CONTEXT_FILE_BYTES / 8) });
    const { files, problems } = find();
    expect(files[0]).toMatch(
      /(aé€😀){6000,}a?é?€?\n\n\[This file goes on; read home\/repo\/AGENTS\.md for the rest\.\]$/u,
    );
    expect(problems).toEqual([expect.stringContaining("the model sees only the first 64 KiB; make it shorter")]);
  });

  test("that are too long are cut at a line, and everybody is told", () => {
    const line = `${"é".repeat(30)}\n`;
    write({
      "home/repo/AGENTS.md": line.repeat(Math.ceil(MAX_CONTEXT_FILE_BYTES / 61) + 1),
      "home/repo/a/AGENTS.md": "next",
    });
    const { files, problems } = find();
    expect(files[0]).toMatch(/(é{30}\n){1000,}\n\[This file goes on; read home\/repo\/AGENTS\.md for the rest\.\]$/);
    expect(files[0]).not.toContain("\ufffd");
    expect(files[1]).toBe("above home/repo/a/AGENTS.md: next");
    expect(problems).toEqual([
      "home/repo/AGENTS.md: 65 KiB long, the model sees only the first 64 KiB; make it shorter",
    ]);
  });

  test("share a limit", () => {
    const deep = "1/2/3/4/5/6";
    const cwd = at(`home/repo/${deep}`);
    mkdirSync(cwd, { recursive: true });
    for (let folder = cwd; folder !== at("home"); folder = dirname(folder)) {
      writeFileSync(join(folder, "AGENTS.md"), "x\n".repeat(30_000));
    }
    const { files, problems } = find({ cwd });
    expect(files.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(260 * 1024);
    expect(problems).toHaveLength(3);
  });
});

describe("the folders that count", () => {
  const env = { HOME: "/home/me" };
  const above = (folder: string) => ({ folder, place: "above" });
  test.each([
    ["/home/me/repo/a", "/home/me/repo", ["(/)", "(/home)", "/home/me", "/home/me/repo", "/home/me/repo/a"]],
    ["/home/me", undefined, ["(/)", "(/home)", "/home/me"]],
    ["/home/mean/repo", undefined, ["(/)", "(/home)", "(/home/mean)", "/home/mean/repo"]],
    ["/srv/repo/a", "/srv/repo", ["(/)", "(/srv)", "/srv/repo", "/srv/repo/a"]],
    ["/tmp/a/b", undefined, ["(/)", "(/tmp)", "(/tmp/a)", "/tmp/a/b"]],
  ])("for %s in the repository %s", (cwd, repositoryTop, expected) => {
    const found = contextFolders({ cwd, env, repositoryTop });
    expect(found.map(({ folder, isOwn }) => (isOwn ? folder : `(${folder})`))).toEqual(expected);
    expect(found.at(-1)).toMatchObject({ place: "cwd" });
    expect(found.slice(0, -1)).toMatchObject(found.slice(0, -1).map(({ folder }) => above(folder)));
  });
});

describe("a file around the home folder and the repository", () => {
  const outside = { cwd: "work/a/b", repositoryTop: undefined };
  const findThere = (isOurs?: (path: string) => boolean): string[] => {
    mkdirSync(at(outside.cwd), { recursive: true });
    const request = {
      cwd: at(outside.cwd),
      agentDir: at("agent"),
      env: { HOME: at("home") },
      repositoryTop: undefined,
    };
    const { files } = findContextFiles({ ...request, trustsProject: true }, isOurs);
    return files.map(({ text }) => text);
  };

  test("counts if the user owns it", () => {
    write({ "work/AGENTS.md": "outer", "work/a/CLAUDE.md": "inner", "work/a/b/GEMINI.md": "here" });
    expect(findThere()).toEqual(["outer", "inner", "here"]);
  });

  test("does not count if it is somebody else's, but the next name may", () => {
    write({
      "work/AGENTS.md": "theirs",
      "work/CLAUDE.md": "ours",
      "work/a/AGENTS.md": "theirs",
      "work/a/b/AGENTS.md": "x",
    });
    expect(findThere((path) => path === at("work/CLAUDE.md"))).toEqual(["ours", "x"]);
  });
});

test("above a link to the working folder nothing is looked for", () => {
  write({ "shared/AGENTS.md": "not ours", "repo/AGENTS.md": "top", "repo/a/AGENTS.md": "here" });
  symlinkSync(at("repo/a"), at("shared/link"));
  const cwd = at("shared/link");
  const request = { cwd, agentDir: at("agent"), env: { HOME: at("home") }, repositoryTop: at("repo") };
  const { files } = findContextFiles({ ...request, trustsProject: true });
  expect(files.map(({ text }) => text)).toEqual(["top", "here"]);
});

test("a file in UTF-16 is read, one that is neither is told", () => {
  write({
    "home/repo/AGENTS.md": Buffer.from("\ufeffHello", "utf16le"),
    "home/repo/a/AGENTS.md": Buffer.from([0x61, 0xe9]),
  });
  expect(find()).toEqual({
    files: ["above home/repo/AGENTS.md: Hello", "above home/repo/a/AGENTS.md: a\ufffd"],
    problems: ["home/repo/a/AGENTS.md: it is not UTF-8, so some letters of it are lost; save it as UTF-8"],
  });
});
