import { describe, expect, test } from "vitest";
import { countFiles, parseEntries } from "./listing.ts";
import { MANIFESTS } from "./manifest.ts";
import { readReadme, shorten } from "./readme.ts";

describe("listings", () => {
  test("of ls, with folders, dot files and a notice", () => {
    const output = ".github/\nsrc/\nREADME.md\n\n[500 entries limit reached. Use limit=1000 for more]";
    expect(parseEntries(output)).toEqual({ folders: [".github", "src"], files: ["README.md"], partial: true });
  });

  test.each(["(empty directory)", "(no output)", "", "No files found matching pattern"])("%j is nothing", (output) => {
    expect(parseEntries(output)).toEqual({ folders: [], files: [], partial: false });
  });

  test("files are counted by extension and top folder, without what git and npm keep", () => {
    const files = [
      "./src/a.ts",
      "./src/b/c.TS",
      "README.md",
      "Makefile",
      ".gitignore",
      ".git/HEAD",
      "x/node_modules/y.js",
    ];
    const counts = countFiles(parseEntries(files.join("\n")));
    expect(counts.total).toBe(5);
    expect(counts.byExtension).toEqual([
      { name: "", files: 2 },
      { name: ".ts", files: 2 },
      { name: ".md", files: 1 },
    ]);
    expect([...counts.byFolder]).toEqual([["src", 2]]);
  });
});

describe("manifests", () => {
  const rows: readonly [file: string, text: string, files: string[], expected: Record<string, unknown>][] = [
    [
      "package.json",
      '{"name":"demo","version":"1.2.0","scripts":{"zip":"z","pretest":"p","test":"vitest","start":"node ."},"dependencies":{"a":"1"}}',
      [],
      {
        name: "demo",
        version: "1.2.0",
        dependencies: 1,
        commands: [
          { command: "npm start", note: "node ." },
          { command: "npm test", note: "vitest" },
          { command: "npm run zip", note: "z" },
        ],
      },
    ],
    [
      "package.json",
      '{"scripts":{"dev":"vite"}}',
      ["pnpm-lock.yaml"],
      { commands: [{ command: "pnpm run dev", note: "vite" }] },
    ],
    [
      "package.json",
      '{"name":"cut","description":"still told","scr',
      [],
      { name: "cut", description: "still told", commands: [] },
    ],
    ["package.json", "[]", [], { commands: [] }],
    [
      "pyproject.toml",
      '[build-system]\nname = "no"\n[project]\nname = "snake"\ndescription = "hiss"\n[project.scripts]\nsnake = "snake:main"\n',
      [],
      {
        name: "snake",
        description: "hiss",
        commands: [{ command: "pip install -e ." }, { command: "snake", note: "snake:main" }],
      },
    ],
    ["Cargo.toml", '[package]\nname = "crab"\nversion = "0.1.0"\n', [], { name: "crab", version: "0.1.0" }],
    ["go.mod", "module example.org/gopher\n\ngo 1.22\n", [], { name: "example.org/gopher" }],
    [
      "pom.xml",
      "<project><parent><artifactId>no</artifactId></parent><artifactId>bean</artifactId><description>\n Coffee\n</description></project>",
      [],
      { name: "bean", description: "Coffee" },
    ],
    [
      "pubspec.yaml",
      "name: dart_thing\ndescription: It flies.\n",
      [],
      { name: "dart_thing", description: "It flies." },
    ],
    ["CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(engine C)\n", [], { name: "engine" }],
    [
      "Makefile",
      "X := 1\nall: a\n\techo\ntest:\n",
      [],
      { commands: [{ command: "make all" }, { command: "make test" }] },
    ],
  ];

  test.each(rows)("%s: %s", (file, text, files, expected) => {
    const kind = MANIFESTS.find((row) => row.file === file)!;
    expect(kind.read(text, files)).toMatchObject(expected);
  });

  test("no reader throws, whatever the file says", () => {
    for (const kind of MANIFESTS) {
      for (const text of ["", "null", "42", "{", "[[[", "\u0000", "a: b: c", "<<<"])
        expect(kind.read(text, [])).toHaveProperty("commands");
    }
  });
});

describe("READMEs", () => {
  test.each([
    ["# Title\n\nWhat it is for.\n\nMore.", { title: "Title", purpose: "What it is for." }],
    ["# T\n[![ci](x)](y)\n\n<p>x</p>\n\n> Two\n> lines.", { title: "T", purpose: "Two lines." }],
    ["Title\n=====\n\nA [link](http://x) and **bold**.", { title: "Title", purpose: "A link and bold." }],
    ["---\na: b\n---\n# T\n```sh\nnpm i\n```\n- item\n\nText.", { title: "T", purpose: "Text." }],
    ["just one line", { title: undefined, purpose: "just one line" }],
    ["# Only a title", { title: "Only a title", purpose: undefined }],
    ["", { title: undefined, purpose: undefined }],
  ])("%j", (text, expected) => {
    expect(readReadme(text)).toEqual(expected);
  });

  test("long texts end at a sentence, or at a word, or at a whole character", () => {
    expect(shorten("One sentence. Another one that is long.", 30)).toBe("One sentence.");
    expect(shorten("several words without an end", 14)).toBe("several words …");
    expect(shorten("😀😀😀", 3)).toBe("😀 …");
  });
});

test("comments that are never closed and titles that never end hold nobody up", () => {
  const line = `# a${" ".repeat(1900)}\u2028b\n`;
  const text = `${line.repeat(20_000)}\nWhat it is.\n${"<!--".repeat(1_000_000)}`;
  expect(readReadme(text)).toEqual({ title: "a", purpose: "What it is." });
});

test("a long line of spaces in a manifest holds nobody up", () => {
  const pubspec = MANIFESTS.find(({ file }) => file === "pubspec.yaml")!;
  const text = `version:${" ".repeat(1_000_000)}#\nname: 'dart'\r\n`;
  expect(pubspec.read(text, [])).toMatchObject({ name: "dart" });
});

test.each([`<version>${" ".repeat(1_000_000)}<`, "<build>".repeat(500_000)])(
  "a pom that is never closed holds nobody up: %.20s",
  (open) => {
    const pom = MANIFESTS.find(({ file }) => file === "pom.xml")!;
    expect(pom.read(`<name> a b\n</name><description> </description>${open}`, [])).toMatchObject({ name: "a b" });
  },
);
