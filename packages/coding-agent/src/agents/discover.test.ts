import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestTree, type TestTree } from "../prompts/test-fixture.ts";
import { BUNDLED_AGENTS } from "./bundled.ts";
import { findAgents } from "./discover.ts";

let tree: TestTree;
beforeEach(() => {
  tree = createTestTree();
});
afterEach(() => tree.remove());

const bundled = BUNDLED_AGENTS.map(({ name }) => name);
const find = async (projectFolders = [tree.cwd]) => {
  const { cwd, agentDir, env } = tree;
  const { agents, problems } = await findAgents({ cwd, agentDir, env, projectFolders });
  return { agents, names: [...agents.keys()], problems: problems.map(tree.short) };
};
const put = (path: string, header = "description: About it\n", body = "Do it.") =>
  tree.write({ [path]: `---\n${header}---\n${body}\n` });

describe("agents", () => {
  test("without any file there are the bundled ones", async () => {
    const { names, problems } = await find();
    expect({ names, problems }).toEqual({ names: bundled, problems: [] });
  });

  test("are found in all these places, the project's first, each with where it comes from", async () => {
    const folders = [".tiller", ".pi", ".omp", ".xcsh", ".agents", ".claude"].map((name) => `project/${name}/agents`);
    const users = ["home/agent/agents", "home/.agents/agents", "home/.claude/agents"];
    for (const [index, folder] of [...folders, ...users].entries()) put(`${folder}/a${index}.md`);
    const { agents } = await find();
    expect([...agents.values()].map(({ name, source }) => `${name} ${source}`)).toEqual([
      ...folders.map((_, index) => `a${index} project`),
      ...users.map((_, index) => `a${folders.length + index} user`),
      ...bundled.map((name) => `${name} bundled`),
    ]);
  });

  test("of a project that is not trusted are not looked at", async () => {
    put("project/.omp/agents/p.md");
    put("home/agent/agents/u.md");
    expect((await find([])).names).toEqual(["u", ...bundled]);
  });

  test("the first of a name counts, which is told; one of the name of a bundled one takes its place", async () => {
    put("project/.omp/agents/one.md", "name: explore\ndescription: Mine\n");
    put("home/agent/agents/two.md", "name: explore\ndescription: Another\n");
    const { agents, names, problems } = await find();
    expect(agents.get("explore")).toMatchObject({ description: "Mine", source: "project" });
    expect(names.toSorted()).toEqual(bundled.toSorted());
    expect(problems).toEqual([
      `home/agent/agents/two.md: there is an agent "explore" already, in project/.omp/agents/one.md; that one counts`,
    ]);
  });

  test.each<[what: string, header: string, fields: object]>([
    [
      "all it can say",
      "description: D\ntools: [read, Bash]\nmodel: a/b, c\nthinking: high\n",
      { tools: ["read", "Bash"], models: ["a/b", "c"], thinking: "high" },
    ],
    ["tools with commas", "description: D\ntools: Read, Grep ,\n", { tools: ["Read", "Grep"] }],
    ["a model alone", "description: D\nmodel: sonnet\n", { models: ["sonnet"], tools: undefined }],
    ["no tools at all", "description: D\ntools: []\n", { tools: [] }],
  ])("front matter: %s", async (_what, header, fields) => {
    put("project/.omp/agents/x.md", header);
    const { agents, problems } = await find();
    expect(problems).toEqual([]);
    expect({ tools: undefined, ...agents.get("x") }).toMatchObject({
      name: "x",
      description: "D",
      prompt: "Do it.",
      ...fields,
    });
  });

  test.each<[what: string, text: string, says: string, isThere: boolean]>([
    ["no YAML", "---\ndescription: D\nmodel: [a\n---\nBody", "x.md:", true],
    [
      "no YAML, and its tools are lost",
      "---\ndescription: Reviews: reads only\ntools: [read, grep]\n---\nBody",
      'its tools are not known, so the agent "x" is left out',
      false,
    ],
    [
      "no YAML, and its list of tools is lost",
      "---\ndescription: Reviews: reads only\ntools:\n  - read\n---\nBody",
      'its tools are not known, so the agent "x" is left out',
      false,
    ],
    ["never closed", "---\ndescription: D\nBody", "x.md:1: the front matter is never closed", false],
    [
      "no description",
      "---\nname: x\ntools: read\n---\nBody",
      'x.md:1: "description" is missing; the agent "x" is left out',
      false,
    ],
    ["nothing to say", "---\nname: x\ndescription: D\n---\n", "x.md:2: nothing follows the front matter", false],
    [
      "tools that are none",
      "---\ndescription: D\ntools:\n  read: yes\n---\nBody",
      'x.md:3: "tools" must be a list',
      false,
    ],
    ["a name that is none", "---\nname: [a]\ndescription: D\n---\nBody", 'x.md:2: "name" must be a text', true],
  ])("broken: %s is told with file and line", async (_what, text, says, isThere) => {
    tree.write({ "project/.omp/agents/x.md": text, "project/.omp/agents/good.md": "---\ndescription: G\n---\nBody" });
    const { names, problems } = await find();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^project\/\.omp\/agents\/x\.md:\d+: /);
    expect(problems[0]).toContain(says);
    expect(names.includes("x")).toBe(isThere);
    expect(names).toContain("good");
  });

  test("other files beside them are nobody's mistake", async () => {
    tree.write({
      "project/.omp/agents/README.md": "# Agents",
      "project/.omp/agents/.hidden.md": "---\ndescription: H\n---\nBody",
      "project/.omp/agents/notes.txt": "---",
      "project/.omp/agents/folder/deep.md": "---\ndescription: H\n---\nBody",
    });
    expect(await find()).toMatchObject({ names: bundled, problems: [] });
  });
});
