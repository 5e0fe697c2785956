import { describe, expect, test } from "vitest";
import { readMarkdown } from "../prompts/frontmatter.ts";
import type { Place } from "../prompts/places.ts";
import { readSkill } from "./skill.ts";

const place: Place = {
  path: "/s",
  location: "user",
  source: "local",
  scope: "user",
  origin: "top-level",
  baseDir: "/s",
};
const read = async (header: string, path = "/s/pdf/SKILL.md") =>
  readSkill(path, await readMarkdown(header === "" ? "# Only a title\n" : `---\n${header}\n---\nbody`, path), place);

test("a skill is its name, its description and its place", async () => {
  expect(await read("name: pdf\ndescription: Reads PDF files")).toEqual({
    skill: {
      name: "pdf",
      description: "Reads PDF files",
      path: "/s/pdf/SKILL.md",
      baseDir: "/s/pdf",
      source: "user",
      sourceInfo: { path: "/s/pdf/SKILL.md", source: "local", scope: "user", origin: "top-level", baseDir: "/s" },
      disableModelInvocation: false,
    },
    problems: [],
  });
});

test.each([
  ["the folder's name when it has none", "description: D", "/s/pdf/SKILL.md", "pdf"],
  ["its own name", "name: a-1\ndescription: D", "/s/x.md", "a-1"],
  ["the file's name when it is a single file", "description: D", "/s/x.md", "x"],
])("is called by %s", async (_what, header, path, name) => {
  expect(await read(header, path)).toMatchObject({ skill: { name }, problems: [] });
});

test.each([
  ["disable-model-invocation: true", true],
  ['disable-model-invocation: "true"', true],
  ["disable-model-invocation: false", false],
  ["disable-model-invocation: yes", false],
])("%s", async (line, expected) => {
  expect((await read(`name: pdf\ndescription: D\n${line}`)).skill?.disableModelInvocation).toBe(expected);
});

describe("is used and complained about when", () => {
  test.each([
    [
      "the name is not that of the folder",
      "name: other\ndescription: D",
      /^\/s\/pdf\/SKILL\.md:2: .*"other".*folder, "pdf"/,
    ],
    ["the name is a list", "description: D\nname: [a]", /SKILL\.md:3: "name" must be a text; .*"pdf"/],
    [
      "the description is too long",
      `name: pdf\ndescription: ${"d".repeat(1025)}`,
      /SKILL\.md:3: .*1025 characters.* 1024/,
    ],
    ["the front matter is broken", "name: pdf\ndescription: Use it: now", /SKILL\.md:3: .*colon/],
  ])("%s", async (_what, header, problem) => {
    const found = await read(header);
    expect(found.skill?.description).toBeTruthy();
    expect(found.problems).toEqual([expect.stringMatching(problem)]);
  });

  test.each(["PDF", "p df", "-pdf", "pdf-", "p--df", "pdf_1", "pdf.1", "größe", "a".repeat(65)])(
    "the name is %s",
    async (name) => {
      const found = await read(`name: "${name}"\ndescription: D`, `/s/${name}/SKILL.md`);
      expect(found.skill?.name).toBe(name);
      expect(found.problems).toEqual([expect.stringMatching(/SKILL\.md:2: the name .*portable/)]);
    },
  );

  test("nothing is said about the longest portable name and description", async () => {
    const name = "a".repeat(64);
    expect(await read(`name: ${name}\ndescription: ${"d".repeat(1024)}`, `/s/${name}/SKILL.md`)).toMatchObject({
      problems: [],
    });
  });
});

describe("is left out when", () => {
  test.each([
    ["there is no description", "name: pdf"],
    ["it is empty", 'name: pdf\ndescription: ""'],
    ["it is a list", "name: pdf\ndescription: [a]"],
    ["there is no front matter", ""],
  ])("%s, and that is told", async (_what, header) => {
    const found = await read(header);
    expect(found).toEqual({ problems: [expect.stringMatching(/SKILL\.md:\d: "description" .*"pdf" is left out/)] });
  });

  test("it is a README beside the skills, which is no problem", async () => {
    expect(await read("", "/s/README.md")).toEqual({ problems: [] });
  });
});
