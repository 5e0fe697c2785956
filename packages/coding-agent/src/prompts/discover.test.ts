import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findTemplates } from "./discover.ts";
import { BY_OPTION, BY_SETTING, projectFolders, type ResourceRequest } from "./places.ts";
import { createTestTree, type TestTree } from "./test-fixture.ts";

let tree: TestTree;
beforeEach(() => {
  tree = createTestTree();
});
afterEach(() => tree.remove());

const find = async (more: Partial<ResourceRequest> = {}) => {
  const { cwd, agentDir, env } = tree;
  const found = await findTemplates({ cwd, agentDir, env, projectFolders: [cwd], named: [], ...more });
  return { templates: found.templates, problems: found.problems.map(tree.short) };
};
const names = async (more?: Partial<ResourceRequest>) => (await find(more)).templates.map(({ name }) => name);

describe("prompt templates", () => {
  test("a set-up without any has none, and no problem", async () => {
    expect(await find()).toEqual({ templates: [], problems: [] });
  });

  test("are the Markdown files of these folders, the project's first", async () => {
    const folders = [".tiller/prompts", ".pi/prompts", ".pi/agent/prompts", ".omp/commands", ".omp/prompts"];
    folders.push(".xcsh/commands", ".xcsh/prompts", ".claude/commands");
    for (const [index, folder] of folders.entries()) tree.write({ [`project/${folder}/p${index}.md`]: "x" });
    tree.write({
      "home/agent/prompts/u0.md": "x",
      "home/agent/commands/u1.md": "x",
      "home/.claude/commands/u2.md": "x",
      "settings/s.md": "x",
      "option.md": "x",
    });
    const named = [
      { path: "../settings", ...BY_SETTING },
      { path: tree.at("option.md"), ...BY_OPTION },
    ];
    const { templates, problems } = await find({ named });
    expect(templates.map(({ name, source }) => `${name} ${source}`)).toEqual([
      ...folders.map((_, index) => `p${index} project`),
      ...["u1 user", "u0 user", "u2 user", "s path", "option path"],
    ]);
    expect(templates.filter(({ appendsArguments }) => appendsArguments).map(({ name }) => name)).toEqual([
      "p3",
      "p4",
      "p5",
      "p6",
      "p7",
      "u1",
      "u2",
    ]);
    expect(problems).toEqual([]);
  });

  test("of an agent folder of omp or xcsh append arguments, and a command comes before a template of its name", async () => {
    tree.write({ "home/.omp/agent/prompts/a.md": "x", "home/.omp/agent/commands/a.md": "y" });
    tree.write({ "home/.omp/agent/prompts/b.md": "x", "home/.pi/agent/prompts/b.md": "x" });
    const inOmp = await find({ agentDir: tree.at("home/.omp/agent") });
    expect(inOmp.templates).toMatchObject([
      { name: "a", path: tree.at("home/.omp/agent/commands/a.md"), appendsArguments: true },
      { name: "b", appendsArguments: true },
    ]);
    const inPi = await find({ agentDir: tree.at("home/.pi/agent") });
    expect(inPi.templates).toMatchObject([{ name: "b", appendsArguments: false }]);
  });

  test("are told with where they come from", async () => {
    tree.write({ "project/.pi/prompts/fix.md": "---\ndescription: Fix tests\nargument-hint: FILE\n---\nFix $1" });
    const path = tree.at("project/.pi/prompts/fix.md");
    expect((await find()).templates).toEqual([
      {
        name: "fix",
        description: "Fix tests",
        argumentHint: "FILE",
        path,
        source: "project",
        sourceInfo: {
          path,
          source: "local",
          scope: "project",
          origin: "top-level",
          baseDir: tree.at("project/.pi/prompts"),
        },
        appendsArguments: false,
      },
    ]);
  });

  test.each([
    ["a description", "---\ndescription: D\n---\nbody", "D"],
    ["the first line", "\n\n# Title  \nmore", "# Title"],
    ["the first line after the front matter", "---\nmodel: x\n---\n\nFirst\nmore", "First"],
    ["a long first line", "x".repeat(61), `${"x".repeat(60)}...`],
    ["a line of 60", "x".repeat(60), "x".repeat(60)],
    ["wide characters", "🙂".repeat(70), `${"🙂".repeat(60)}...`],
    ["nothing", "", ""],
  ])("are described by %s", async (_what, text, description) => {
    tree.write({ "project/.tiller/prompts/a.md": text });
    expect((await find()).templates[0]).toMatchObject({ description });
  });

  test("have a hint as it was written, brackets or not", async () => {
    tree.write({ "project/.tiller/prompts/a.md": "---\nargument-hint: [file]\n---\nx" });
    expect((await find()).templates[0]?.argumentHint).toBe("[file]");
  });

  test("are found in the folders above too, the nearest first", async () => {
    tree.write({
      "project/.pi/prompts/a.md": "top",
      "project/sub/.pi/prompts/a.md": "near",
      "project/.pi/prompts/b.md": "x",
    });
    const cwd = tree.at("project/sub");
    const found = await find({ cwd, projectFolders: projectFolders(cwd, tree.cwd) });
    expect(found.templates.map(({ name, description }) => [name, description])).toEqual([
      ["a", "near"],
      ["b", "x"],
    ]);
    expect(found.problems).toEqual([
      'project/.pi/prompts/a.md: there is a prompt template "a" already, in project/sub/.pi/prompts/a.md; that one counts',
    ]);
  });

  test("of an untrusted project are not read", async () => {
    tree.write({ "project/.pi/prompts/a.md": "x", "home/agent/prompts/b.md": "x" });
    expect(await names({ projectFolders: [] })).toEqual(["b"]);
  });

  test("can be turned off but for those of the command line", async () => {
    tree.write({ "project/.pi/prompts/a.md": "x", "c.md": "x", "d.md": "x" });
    const named = [
      { path: tree.at("c.md"), ...BY_SETTING },
      { path: tree.at("d.md"), ...BY_OPTION },
    ];
    expect(await names({ onlyNamed: true, named })).toEqual(["d"]);
  });

  test("are not sub-folders, hidden files, other files or links to nowhere", async () => {
    tree.write({
      "project/.pi/prompts/sub/a.md": "x",
      "project/.pi/prompts/.b.md": "x",
      "project/.pi/prompts/c.txt": "x",
      "project/.pi/prompts/d.md/e": "x",
    });
    tree.link("project/.pi/prompts/f.md", "nowhere");
    expect(await find()).toEqual({ templates: [], problems: [] });
  });

  test("are the user's own when the project is the home folder", async () => {
    tree.write({ "home/.claude/commands/a.md": "x" });
    expect((await find({ cwd: tree.home, projectFolders: [tree.home] })).templates).toMatchObject([{ source: "user" }]);
  });

  test("that are one file under two names are there once", async () => {
    tree.write({ "project/.pi/prompts/a.md": "x" });
    tree.link("project/.tiller/prompts", tree.at("project/.pi/prompts"));
    expect(await find()).toMatchObject({ templates: [{ name: "a" }], problems: [] });
  });

  test("that are modules are told: they are another thing", async () => {
    tree.write({
      "project/.omp/commands/deploy/index.ts": "export default {}",
      "project/.omp/commands/notes/readme.txt": "no module",
      "project/.omp/commands/fix.md": "Fix it.",
      "project/.claude/commands/group/deep.md": "x",
      "project/.pi/prompts/tool/index.ts": "no folder of commands",
      "home/agent/commands/greet/index.js": "",
    });
    const { templates, problems } = await find();
    expect(templates.map(({ name }) => name)).toEqual(["fix"]);
    const text = "a command that is a module is not run here; write an extension that calls registerCommand";
    expect(problems).toEqual([
      `project/.omp/commands/deploy/index.ts: ${text}`,
      `home/agent/commands/greet/index.js: ${text}`,
    ]);
  });

  test("that cannot be used are told, and the others load", async () => {
    tree.write({
      "project/.pi/prompts/broken.md": "---\na: [\n---\nbody",
      "project/.pi/prompts/fine.md": "x",
      "project/.pi/prompts/huge.md": Buffer.alloc(1024 * 1024 + 1, "x"),
      "project/.pi/prompts/two words.md": "x",
      "x.txt": "x",
    });
    tree.link("project/.tiller/prompts", tree.at("project/.tiller/prompts"));
    const named = ["nowhere", "../x.txt"].map((path) => ({ path, ...BY_OPTION }));
    const { templates, problems } = await find({ named });
    expect(templates.map(({ name }) => name)).toEqual(["broken", "fine"]);
    expect(problems).toEqual([
      "project/.tiller/prompts: cannot be read (ELOOP)",
      expect.stringMatching(/^project\/\.pi\/prompts\/broken\.md:\d: /),
      "project/.pi/prompts/huge.md: 1025 KiB are too many, at most 1024 are read",
      "project/.pi/prompts/two words.md: a name with a space in it cannot be called; rename the file",
      "project/nowhere: there is no such file or folder with prompt templates",
      "x.txt: a prompt template must be a file whose name ends in .md",
    ]);
  });
});

test.each([
  ["/a/b/c", "/a", ["/a/b/c", "/a/b", "/a"]],
  ["/a/b", "/a/b", ["/a/b"]],
  ["/a/b", undefined, ["/a/b"]],
  ["/a/b", "/elsewhere", ["/a/b", "/a", "/"]],
])("the folders of the project %s with the top %s", (cwd, top, expected) => {
  expect(projectFolders(cwd, top)).toEqual(expected);
});
