import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BY_OPTION, BY_SETTING, projectFolders } from "../prompts/places.ts";
import { createTestTree, type TestTree } from "../prompts/test-fixture.ts";
import { findSkills, type SkillRequest, skillSetting } from "./discover.ts";

let tree: TestTree;
beforeEach(() => {
  tree = createTestTree();
});
afterEach(() => tree.remove());

const find = async (more: Partial<SkillRequest> = {}) => {
  const { cwd, agentDir, env } = tree;
  const found = await findSkills({ cwd, agentDir, env, projectFolders: [cwd], named: [], ...more });
  return { skills: found.skills, problems: found.problems.map(tree.short) };
};
const names = async (more?: Partial<SkillRequest>) => (await find(more)).skills.map(({ name }) => name);

/** Writes a skill as a folder. */
function put(folder: string, name: string, more = ""): void {
  tree.write({ [`${folder}/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: About ${name}\n${more}---\nbody` });
}

describe("skills", () => {
  test("a set-up without any has none, and no problem", async () => {
    expect(await find()).toEqual({ skills: [], problems: [] });
  });

  test("are found in all these places, the project's first", async () => {
    const folders = [".tiller", ".pi", ".omp", ".xcsh", ".agents", ".claude"].map((name) => `project/${name}/skills`);
    const users = ["home/agent/skills", "home/.agents/skills", "home/.claude/skills"];
    for (const [index, folder] of folders.entries()) put(folder, `p${index}`);
    for (const [index, folder] of users.entries()) put(folder, `u${index}`);
    put("settings", "s");
    put("", "option");
    const named = [
      { path: "../settings", ...BY_SETTING },
      { path: tree.at("option/SKILL.md"), ...BY_OPTION },
    ];
    const { skills, problems } = await find({ named });
    expect(
      skills.map(({ name, source, sourceInfo }) => `${name} ${source} ${sourceInfo.source} ${sourceInfo.scope}`),
    ).toEqual([
      ...folders.map((_, index) => `p${index} project local project`),
      ...users.map((_, index) => `u${index} user local user`),
      "s path settings user",
      "option path cli temporary",
    ]);
    expect(problems).toEqual([]);
  });

  test("of the folders above are found up to the top of the repository", async () => {
    put("project/a/b/.pi/skills", "near");
    put("project/.agents/skills", "top");
    put(".pi/skills", "outside");
    const cwd = tree.at("project/a/b");
    expect(await names({ cwd, projectFolders: projectFolders(cwd, tree.cwd) })).toEqual(["near", "top"]);
    expect(await names({ cwd, projectFolders: projectFolders(cwd, undefined) })).toEqual(["near"]);
  });

  test("above a link to the working folder are not the project's", async () => {
    put("project/.agents/skills", "top");
    put("project/a/.pi/skills", "near");
    put("shared/.pi/skills", "theirs");
    tree.link("shared/link", tree.at("project/a"));
    const cwd = tree.at("shared/link");
    expect(await names({ cwd, projectFolders: projectFolders(cwd, tree.cwd) })).toEqual(["near", "top"]);
  });

  test("of an untrusted project are not read", async () => {
    put("project/.pi/skills", "a");
    put("home/agent/skills", "b");
    expect(await names({ projectFolders: [] })).toEqual(["b"]);
  });

  test("can be turned off but for those of the command line, or narrowed to some", async () => {
    for (const name of ["git-log", "git-push", "web"]) put("project/.pi/skills", name);
    put("more", "named");
    const named = [{ path: "../more", ...BY_OPTION }];
    expect(await names({ onlyNamed: true, named })).toEqual(["named"]);
    expect(await names({ only: ["git-*", "w?b"] })).toEqual(["git-log", "git-push", "web"]);
    expect(await names({ only: ["git-l?g", "[a"] })).toEqual(["git-log"]);
    // A name may be as long as a file.
    const long = `---\nname: ${"a-".repeat(200_000)}\ndescription: d\n---\n`;
    tree.write({ "project/.pi/skills/long/SKILL.md": long });
    expect(await names({ only: ["*a*-*a*b", "web"] })).toEqual(["web"]);
  });

  test("may lie deeper, but not inside of another one, in hidden folders or in node_modules", async () => {
    put("project/.pi/skills/group/more", "deep");
    put("project/.pi/skills", "outer");
    put("project/.pi/skills/outer", "inner");
    put("project/.pi/skills/.hidden", "hidden");
    put("project/.pi/skills/node_modules", "packed");
    expect(await names()).toEqual(["deep", "outer"]);
  });

  test("are found though an ignore file has more rules than anyone can go through", async () => {
    put("project/.pi/skills", "a".repeat(60));
    const rules = Array.from({ length: 6000 }, (_, index) => `*${"*a".repeat(15)}*${index}`).join("\n");
    tree.write({ "project/.pi/skills/.gitignore": rules });
    const { skills, problems } = await find();
    expect(skills).toHaveLength(1);
    expect(problems).toEqual([expect.stringContaining("Some of their rules were left out")]);
  });

  test("that an ignore file beside or above them hides are passed over, without a word", async () => {
    for (const name of ["a", "b", "c", "draft-1", "draft-2"]) put("project/.pi/skills", name);
    put("project/.pi/skills/group", "d");
    put("project/.pi/skills/group/old", "e");
    tree.write({
      "project/.gitignore": ".pi/\n",
      "project/.pi/skills/.gitignore": "# not yet\nb/\ndraft-*\n/one.md\nSKILL.md.bak\n",
      "project/.pi/skills/.ignore": "!draft-2\n",
      "project/.pi/skills/.fdignore": "c\n",
      "project/.pi/skills/group/.gitignore": "old\n",
      "project/.pi/skills/one.md": "---\ndescription: One\n---\nx",
      "project/.omp/skills/.gitignore/x": "",
      "project/.omp/skills/two.md": "---\ndescription: Two\n---\nx",
    });
    expect(await names()).toEqual(["a", "draft-2", "d", "two"]);
    const named = [{ path: ".pi/skills/b", ...BY_OPTION }];
    expect(await names({ named, projectFolders: [] })).toEqual(["b"]);
  });

  test("may be single files at the top, where a README is none", async () => {
    tree.write({
      "project/.pi/skills/one.md": "---\ndescription: One\n---\nx",
      "project/.pi/skills/README.md": "# Our skills",
      "project/.pi/skills/group/two.md": "---\ndescription: Two\n---\nx",
    });
    expect(await find()).toMatchObject({
      skills: [{ name: "one", baseDir: tree.at("project/.pi/skills") }],
      problems: [],
    });
  });

  test("of the same name: the first counts, the other is told", async () => {
    put("project/.pi/skills", "a");
    put("home/agent/skills", "a");
    expect(await find()).toMatchObject({
      skills: [{ source: "project" }],
      problems: [
        'home/agent/skills/a/SKILL.md: there is a skill "a" already, in project/.pi/skills/a/SKILL.md; that one counts',
      ],
    });
  });

  test("that are one folder under several names are there once, without a word", async () => {
    put("project/.agents/skills", "a");
    tree.link("project/.pi/skills", tree.at("project/.agents/skills"));
    tree.link("home/agent/skills/a", tree.at("project/.agents/skills/a"));
    expect(await find()).toMatchObject({ skills: [{ name: "a" }], problems: [] });
  });

  test("in folders that lead round in circles are found once", async () => {
    put("project/.pi/skills/group", "a");
    tree.link("project/.pi/skills/group/back", tree.at("project/.pi/skills"));
    tree.link("project/.pi/skills/self", "self");
    expect(await find()).toMatchObject({ skills: [{ name: "a" }], problems: [] });
  });

  test("that cannot be used are told, and the others load", async () => {
    put("project/.pi/skills", "fine");
    tree.link("project/.tiller/skills", tree.at("project/.tiller/skills"));
    tree.write({
      "project/.pi/skills/bad/SKILL.md": "---\nname: [\n---\n",
      "project/.pi/skills/huge/SKILL.md": Buffer.alloc(1024 * 1024 + 1, "x"),
      "x.txt": "x",
    });
    const named = ["nowhere", "../x.txt"].map((path) => ({ path, ...BY_OPTION }));
    const { skills, problems } = await find({ named });
    expect(skills.map(({ name }) => name)).toEqual(["fine"]);
    expect(problems).toEqual([
      "project/.tiller/skills: cannot be read (ELOOP)",
      expect.stringMatching(/^project\/\.pi\/skills\/bad\/SKILL\.md:\d: /),
      expect.stringMatching(/^project\/\.pi\/skills\/bad\/SKILL\.md:1: "description" is missing.*"bad" is left out$/),
      "project/.pi/skills/huge/SKILL.md: 1025 KiB are too many, at most 1024 are read",
      "project/nowhere: there is no such file or folder; a skill is a folder with a SKILL.md",
      "x.txt: this is neither a folder nor a Markdown file; a skill is a folder with a SKILL.md",
    ]);
  });

  test("by the thousand are bounded, and so are the complaints", async () => {
    const many = Array.from({ length: 1003 }, (_, i) => `project/.pi/skills/s${String(i).padStart(4, "0")}.md`);
    tree.write(Object.fromEntries(many.map((path) => [path, "---\ndescription: D\n---\n"])));
    for (let i = 0; i < 60; i++) tree.write({ [`project/.omp/skills/b${i}/SKILL.md`]: "x" });
    const { skills, problems } = await find();
    expect(skills).toHaveLength(1000);
    expect(problems).toEqual([expect.stringMatching(/s1000\.md: .*more than 1000 skills/)]);
    const broken = await find({ projectFolders: [], named: [{ path: ".omp/skills", ...BY_OPTION }] });
    expect(broken.problems).toHaveLength(50);
    expect(broken.problems.at(-1)).toBe("11 more files have problems of this kind");
  });
});

test.each([
  [undefined, { paths: [], isEnabled: true }],
  [["a", "b"], { paths: ["a", "b"], isEnabled: true }],
  [["a", 1], { paths: ["a"], isEnabled: true, problem: expect.stringMatching(/no path/) }],
  [{ customDirectories: ["a"] }, { paths: ["a"], isEnabled: true }],
  [{ enabled: false }, { paths: [], isEnabled: false }],
  ["a", { paths: [], isEnabled: true, problem: expect.stringMatching(/list of paths/) }],
])("the setting skills: %j", (value, expected) => {
  expect(skillSetting(value)).toEqual(expected);
});
