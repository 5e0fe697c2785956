// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these placeholders are those of prompt templates
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ExpansionOptions, expandInput } from "./expand.ts";
import { ODD_PIECES } from "./test-fixture.ts";

const anyText = fc.array(fc.constantFrom(...ODD_PIECES), { maxLength: 12 }).map((pieces) => pieces.join(""));

const FILES: Record<string, string> = {
  "/p/fix.md": "---\ndescription: Fix it\n---\n\nFix $1 in $2.\n",
  "/p/plain.md": "Look at the tests.\n",
  "/o/.omp/commands/plain-omp.md": "Look at the tests.",
  "/s/web/SKILL.md": "---\nname: web\ndescription: Search\n---\n\n# Web\n\nRun $1 as scripts/search.\n",
};

const options = (family: ExpansionOptions["family"] = "union"): ExpansionOptions => ({
  skills: [
    { name: "web", path: "/s/web/SKILL.md", baseDir: "/s/web" },
    { name: "gone", path: "/s/gone/SKILL.md", baseDir: "/s/gone" },
  ],
  templates: [
    { name: "fix", path: "/p/fix.md", appendsArguments: false },
    { name: "plain", path: "/p/plain.md", appendsArguments: false },
    { name: "plain-omp", path: "/o/.omp/commands/plain-omp.md", appendsArguments: true },
    { name: "lost", path: "/p/lost.md", appendsArguments: false },
  ],
  readFile(path) {
    const text = FILES[path];
    if (text === undefined) throw new Error("ENOENT: no such file");
    return text;
  },
  family,
});

const textOf = (text: string, family?: ExpansionOptions["family"]) => {
  const expansion = expandInput(text, options(family));
  return "text" in expansion ? expansion.text : expansion;
};

describe("a template", () => {
  test.each([
    ["/fix bug main.ts", "Fix bug in main.ts."],
    ['/fix "the bug" main.ts', "Fix the bug in main.ts."],
    ["/fix\nbug main.ts", "Fix bug in main.ts."],
    ["/fix", "Fix  in ."],
    ["/plain", "Look at the tests."],
  ])("%j becomes %j", (given, expected) => {
    expect(textOf(given)).toBe(expected);
  });

  test("says what it came from", () => {
    const expandedFrom = { kind: "template", name: "fix", path: "/p/fix.md" };
    expect(expandInput("/fix a b", options())).toEqual({ text: "Fix a in b.", expandedFrom });
  });

  test.each([
    ["pi", "/plain now", "Look at the tests."],
    ["pi", "/plain-omp now", "Look at the tests."],
    ["omp", "/plain now", "Look at the tests.\n\nnow"],
    ["omp", "/plain", "Look at the tests."],
    ["omp", "/plain \"as it 'stands'\"", "Look at the tests.\n\n\"as it 'stands'\""],
    ["omp", "/fix a b c", "Fix a in b."],
    ["union", "/plain now", "Look at the tests."],
    ["union", "/plain-omp now", "Look at the tests.\n\nnow"],
  ] as const)("in %s, with arguments nobody asked for: %j", (family, given, expected) => {
    expect(textOf(given, family)).toBe(expected);
  });
});

describe("a skill", () => {
  const opening = '<skill name="web" location="/s/web/SKILL.md">\nReferences are relative to /s/web.\n\n';
  const whole = `${opening}# Web\n\nRun $1 as scripts/search.\n</skill>`;
  test.each([
    ["/skill:web", whole],
    ["/skill:web  ", whole],
    ["/skill:web find $1 for me", `${whole}\n\nfind $1 for me`],
    ["/skill:web\nfirst line\n  second", `${whole}\n\nfirst line\n  second`],
  ])("%j is its text, its place and the arguments", (given, expected) => {
    expect(textOf(given)).toBe(expected);
  });

  test.each([
    ["/skill:two words", "two words", ""],
    ["/skill:two words\nand more", "two words", "and more"],
    ["/skill:two wordsmiths", "two", "wordsmiths"],
    ["/skill:two", "two", ""],
  ])("%j: every name that is listed can be called", (given, name, rest) => {
    const skills = ["two", "two words"].map((each) => ({ name: each, path: "/s/web/SKILL.md", baseDir: "/s" }));
    const expansion = expandInput(given, { ...options(), skills });
    expect(expansion).toMatchObject({ expandedFrom: { name } });
    expect("text" in expansion && expansion.text.split("</skill>")[1]).toBe(rest === "" ? "" : `\n\n${rest}`);
  });

  test("says what it came from", () => {
    expect(expandInput("/skill:web", options())).toMatchObject({
      expandedFrom: { kind: "skill", name: "web", path: "/s/web/SKILL.md" },
    });
  });
});

test.each([
  ["/nothing here", "nothing"],
  ["/usr/bin is full", "usr/bin"],
  ["/skill:nothing", "skill:nothing"],
  ["/web", "web"],
  ["/Fix a", "Fix"],
  ["//", "/"],
])("nobody knows %j", (given, unknown) => {
  expect(expandInput(given, options())).toEqual({ unknown });
});

test.each(["hello", "", "/", "/ fix", " /fix a", "fix /fix"].map((text) => [text]))("%j is no call", (text) => {
  expect(expandInput(text, options())).toEqual({ text });
});

test.each([
  ["/lost a", /^The template "lost" cannot be read from \/p\/lost\.md: ENOENT/],
  ["/skill:gone", /^The skill "gone" cannot be read from \/s\/gone\/SKILL\.md: ENOENT/],
])("%j: a file that has vanished is an error, not a prompt", (given, error) => {
  expect(expandInput(given, options())).toEqual({ error: expect.stringMatching(error) });
});

test.each([
  ["/t", "$@", /^The template "t" is empty.*: give it arguments \(\/t\)$/],
  ["/t a", "---\na: b\n---\n\n", /^The template "t" is empty.*: write something into it/],
])("%j of %j: nothing is an error, because no model takes it", (given, file, error) => {
  const templates = [{ name: "t", path: "/t", appendsArguments: false }];
  const expansion = expandInput(given, { skills: [], templates, readFile: () => file, family: "pi" });
  expect(expansion).toEqual({ error: expect.stringMatching(error) });
});

test.each([
  ["many places", "$@".repeat(100_000), "a".repeat(10_000)],
  ["a place in a list", "{{#each args}}$@{{/each}}", "aaa ".repeat(10_000)],
  ["a tag in a list", "{{#each args}}{{args}}{{/each}}", "aaa ".repeat(10_000)],
])("%s: a text that grows without measure is an error", (_, file, given) => {
  const templates = [{ name: "t", path: "/t", appendsArguments: true }];
  const expansion = expandInput(`/t ${given}`, { skills: [], templates, readFile: () => file, family: "omp" });
  expect(expansion).toEqual({
    error: expect.stringMatching(/^The template "t" is too long with these arguments: .*16 MiB/),
  });
});

test("no text and no file makes it fail", () => {
  const name = fc.oneof(fc.constantFrom("/t ", "/skill:s ", "/t", "/"), fc.string());
  fc.assert(
    fc.property(name, anyText, anyText, fc.constantFrom("pi", "omp", "union"), (start, given, file, family) => {
      const skills = [{ name: "s", path: "/s", baseDir: "/" }];
      const templates = [{ name: "t", path: "/t", appendsArguments: true }];
      const expansion = expandInput(start + given, { skills, templates, readFile: () => file, family });
      expect(Object.keys(expansion).length).toBeGreaterThan(0);
    }),
  );
});

test("whatever is said to a skill arrives unchanged", () => {
  const said = anyText.map((raw) => raw.trim()).filter((text) => text !== "");
  fc.assert(
    fc.property(said, (given) => {
      expect(String(textOf(`/skill:web ${given}`)).endsWith(`search.\n</skill>\n\n${given}`)).toBe(true);
    }),
  );
});
