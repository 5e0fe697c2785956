import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ExtensionPlace, findExtensions } from "./find-extensions.ts";
import { mayHaveExtensions } from "./may-have-extensions.ts";
import { createTestFolder, type TestFolder } from "./test-fixture.ts";
import { isRemembered } from "./trust.ts";

let folder: TestFolder;
beforeEach(() => {
  folder = createTestFolder();
});
afterEach(() => folder.remove());

const place = (more: Partial<ExtensionPlace> = {}): ExtensionPlace => ({
  cwd: folder.at("project"),
  agentDir: folder.at("agent"),
  env: { HOME: folder.at("home") },
  projectTrust: "code",
  settings: {},
  named: [],
  ...more,
});
const find = (more?: Partial<ExtensionPlace>) => {
  const found = findExtensions(place(more));
  return {
    paths: found.sources.map(({ path }) => folder.short(path)),
    leftOut: found.leftOut.map(folder.short),
    problems: found.problems.map(folder.short),
    found,
  };
};

describe("where extensions are found", () => {
  test("nowhere, when there are none", () => {
    expect(find()).toMatchObject({ paths: [], leftOut: [], problems: [] });
  });

  test("project, user, settings, packages, command line: in this order", () => {
    folder.write({
      "project/.xcsh/extensions/d.ts": "",
      "project/.omp/extensions/c.ts": "",
      "project/.pi/extensions/b.ts": "",
      "project/.tiller/extensions/a.ts": "",
      "agent/extensions/e.ts": "",
      "home/f.ts": "",
      "agent/more/g.js": "",
      "agent/npm/node_modules/@me/tools/index.ts": "",
      "agent/git/github.com/me/tools/index.ts": "",
      "local/index.js": "",
      "project/x.ts": "",
      "project/plugins/y.ts": "",
    });
    const { found, paths, problems } = find({
      settings: {
        extensions: ["~/f.ts", "more/g.js"],
        packages: ["npm:@me/tools@1.0.0", "git:github.com/me/tools@v1", folder.at("local")],
      },
      named: ["x.ts"],
      pluginDirs: ["plugins"],
    });
    expect(problems).toEqual([]);
    expect(paths).toEqual([
      "project/.tiller/extensions/a.ts",
      "project/.pi/extensions/b.ts",
      "project/.omp/extensions/c.ts",
      "project/.xcsh/extensions/d.ts",
      "agent/extensions/e.ts",
      "home/f.ts",
      "agent/more/g.js",
      "agent/npm/node_modules/@me/tools/index.ts",
      "agent/git/github.com/me/tools/index.ts",
      "local/index.js",
      "project/x.ts",
      "project/plugins/y.ts",
    ]);
    expect(
      found.sources.map(({ source, scope, origin }) => `${source} ${scope} ${origin}`.replace(folder.root, "")),
    ).toEqual([
      ...Array(4).fill("auto project top-level"),
      "auto user top-level",
      ...Array(2).fill("settings user top-level"),
      "npm:@me/tools@1.0.0 user package",
      "git:github.com/me/tools@v1 user package",
      "/local user package",
      ...Array(2).fill("cli temporary top-level"),
    ]);
  });

  test("in a folder: code files, and folders with a manifest or an index", () => {
    folder.write({
      "agent/extensions/a.ts": "",
      "agent/extensions/b.mjs": "",
      "agent/extensions/c.cts": "",
      "agent/extensions/types.d.ts": "",
      "agent/extensions/.hidden.ts": "",
      "agent/extensions/README.md": "",
      "agent/extensions/d/index.ts": "",
      "agent/extensions/d/helper.ts": "",
      "agent/extensions/e/package.json": '{"pi":{"extensions":["./src/one.ts","src/two.ts"],"skills":["skills"]}}',
      "agent/extensions/e/src/one.ts": "",
      "agent/extensions/e/src/two.ts": "",
      "agent/extensions/e/skills/s/SKILL.md": "",
      "agent/extensions/f/other.ts": "",
      "agent/extensions/g/deep/index.ts": "",
      "agent/extensions/node_modules/index.ts": "",
    });
    const { paths, found, problems } = find();
    expect(paths.map((path) => path.replace("agent/extensions/", ""))).toEqual([
      "a.ts",
      "b.mjs",
      "c.cts",
      "d/index.ts",
      "e/src/one.ts",
      "e/src/two.ts",
    ]);
    expect(found.resources.skills.map(({ path }) => folder.short(path))).toEqual(["agent/extensions/e/skills"]);
    expect(problems).toEqual([]);
  });

  test.each(["tiller", "pi", "omp", "xcsh"])("a manifest may have the key %s", (key) => {
    folder.write({
      "agent/extensions/x/package.json": `{"${key}":{"extensions":["m.ts"]}}`,
      "agent/extensions/x/m.ts": "",
    });
    expect(find().paths).toEqual(["agent/extensions/x/m.ts"]);
  });

  test("a manifest may use patterns and exclusions, and name folders", () => {
    const manifest = JSON.stringify({ pi: { extensions: ["src/*.ts", "!src/old.ts", "more"], prompts: ["p/*.md"] } });
    folder.write({
      "project/pack/package.json": manifest,
      "project/pack/src/a.ts": "",
      "project/pack/src/old.ts": "",
      "project/pack/src/deep/b.ts": "",
      "project/pack/more/c.ts": "",
      "project/pack/p/review.md": "",
    });
    const { paths, found } = find({ named: ["pack"] });
    expect(paths).toEqual(["project/pack/src/a.ts", "project/pack/more/c.ts"]);
    expect(found.resources.prompts).toEqual([
      {
        path: folder.at("project/pack/p/review.md"),
        baseDir: folder.at("project/pack"),
        source: "cli",
        scope: "temporary",
        origin: "top-level",
      },
    ]);
  });

  test("a package without manifest has its usual folders", () => {
    folder.write({
      "agent/npm/node_modules/pack/package.json": '{"name":"pack"}',
      "agent/npm/node_modules/pack/index.js": "",
      "agent/npm/node_modules/pack/extensions/a.ts": "",
      "agent/npm/node_modules/pack/skills/s/SKILL.md": "",
      "agent/npm/node_modules/pack/prompts/p.md": "",
    });
    const { paths, found } = find({ settings: { packages: ["npm:pack"] } });
    expect(paths).toEqual(["agent/npm/node_modules/pack/extensions/a.ts"]);
    expect(found.resources.skills).toMatchObject([{ source: "npm:pack", origin: "package", scope: "user" }]);
    expect(found.resources.prompts).toHaveLength(1);
  });

  test.each([
    [["extensions/*.ts", "!extensions/b.ts"], ["a.ts"]],
    [[], []],
    [["!extensions/a.ts"], ["b.ts"]],
    [["-extensions/a.ts"], ["b.ts"]],
    [["extensions/a.ts"], ["a.ts"]],
    [["!extensions/*", "+extensions/b.ts"], ["b.ts"]],
  ])("the settings may narrow a package with %j", (extensions, expected) => {
    folder.write({ "agent/p/extensions/a.ts": "", "agent/p/extensions/b.ts": "" });
    const { paths } = find({ settings: { packages: [{ source: "./p", extensions }] } });
    expect(paths.map((path) => path.replace("agent/p/extensions/", ""))).toEqual(expected);
  });

  test("the same file counts once, under whatever name", () => {
    folder.write({ "home/dev/a.ts": "" });
    folder.link("agent/extensions/a.ts", "home/dev/a.ts");
    expect(find({ settings: { extensions: ["~/dev/a.ts"] }, named: ["../home/dev/a.ts"] }).paths).toEqual([
      "agent/extensions/a.ts",
    ]);
  });

  test("with --no-extensions only what the command line names", () => {
    folder.write({ "agent/extensions/a.ts": "", "project/.pi/extensions/b.ts": "", "project/x.ts": "" });
    const more = { noExtensions: true, settings: { extensions: ["extensions/a.ts"], packages: ["npm:p"] } };
    expect(find({ ...more, named: ["x.ts"] })).toMatchObject({ paths: ["project/x.ts"], problems: [], leftOut: [] });
  });
});

describe("patterns in the setting extensions", () => {
  test.each<[entries: string[], expected: string[]]>([
    [["./ext/*.ts"], ["a", "b", "c"]],
    [
      ["ext/?.ts", "!ext/b.ts"],
      ["a", "c"],
    ],
    [
      ["ext/*.ts", "!**/[bc].ts", "!ext/c*"],
      ["a", "b"],
    ],
    [["ext/*.ts", "!ext/*.ts", "+ext/b.ts"], ["b"]],
    [
      ["ext/*", "-ext/a.ts"],
      ["b", "c", "deep/index"],
    ],
    [["e*/**/index.ts"], ["deep/index"]],
    [["~/ext/*.ts", "!~/ext/a.ts"], ["../home/ext/z"]],
  ])("%j", (extensions, expected) => {
    folder.write({
      ...Object.fromEntries(
        ["a.ts", "b.ts", "c.ts", "notes.md", "deep/index.ts"].map((name) => [`agent/ext/${name}`, ""]),
      ),
      "home/ext/a.ts": "",
      "home/ext/z.ts": "",
    });
    const { paths, problems } = find({ settings: { extensions } });
    const short = paths.map((path) => path.replace("agent/ext/", "").replace("home/", "../home/").replace(".ts", ""));
    expect([short, problems]).toEqual([expected, []]);
  });

  test("one that nothing is like is told; a file with such a name is meant itself", () => {
    folder.write({ "agent/odd*.ts": "" });
    const { paths, problems } = find({ settings: { extensions: ["ext/*.ts", "odd*.ts"] } });
    expect(paths).toEqual(["agent/odd*.ts"]);
    expect(problems).toEqual([
      "the setting extensions names ext/*.ts, but there is no file or folder like agent/ext/*.ts",
    ]);
  });
});

describe("what cannot be found is one sentence each", () => {
  test("missing paths and packages", () => {
    const { problems } = find({
      settings: {
        extensions: ["gone.ts"],
        packages: ["npm:pack@2", "git:github.com/a/b", "./away", 7, { extensions: [] }],
      },
      named: ["nope.ts"],
      pluginDirs: ["none"],
    });
    expect(problems.map((text) => text.replaceAll(folder.root, ""))).toEqual([
      "the setting extensions names gone.ts, but there is no file or folder agent/gone.ts",
      "the setting packages has an entry without source: 7; it is ignored",
      'the setting packages has an entry without source: {"extensions":[]}; it is ignored',
      'the package npm:pack@2 is not installed (there is no agent/npm/node_modules/pack); install it with: npm install --prefix "agent/npm" pack@2',
      "the package git:github.com/a/b is not installed (there is no agent/git/github.com/a/b); clone it into that folder, and run npm install there if it has dependencies",
      "the package ./away is not installed (there is no agent/away); correct the path in the setting packages",
      "--extension names nope.ts, but there is no file or folder project/nope.ts",
      "--plugin-dir names none, but there is no file or folder project/none",
    ]);
  });

  test("a broken package.json names itself and the place; its neighbours still load", () => {
    folder.write({
      "agent/extensions/bad/package.json": '{"pi": {',
      "agent/extensions/wrong/package.json": '{"pi": {"extensions": 5}}',
      "agent/extensions/lost/package.json": '{"pi": {"extensions": ["gone.ts"]}}',
      "agent/extensions/ok.ts": "",
    });
    const { paths, problems } = find();
    expect(paths).toEqual(["agent/extensions/ok.ts"]);
    expect(problems[0]).toMatch(/^agent\/extensions\/bad\/package\.json:1:\d+: /);
    expect(problems.slice(1)).toEqual([
      'agent/extensions/lost/package.json: "extensions" names gone.ts, which is not there',
      'agent/extensions/wrong/package.json: "pi.extensions" must be a list of paths; it is ignored',
    ]);
  });
});

describe("code of a project", () => {
  beforeEach(() => folder.write({ "project/.pi/extensions/a.ts": "", "agent/extensions/b.ts": "" }));

  test("is left out and listed, unless somebody trusts it", () => {
    expect(find({ projectTrust: "text" })).toMatchObject({
      paths: ["agent/extensions/b.ts"],
      leftOut: ["project/.pi/extensions/a.ts"],
    });
    expect(find({ projectTrust: "none" })).toMatchObject({ paths: ["agent/extensions/b.ts"], leftOut: [] });
  });

  test("loads when it is named", () => {
    const named = [".pi/extensions/a.ts"];
    expect(find({ projectTrust: "text", named })).toMatchObject({
      paths: ["agent/extensions/b.ts", "project/.pi/extensions/a.ts"],
      leftOut: [],
    });
  });

  test.each([
    ["true", true],
    ["false", false],
    ['"true"', false],
  ])("a remembered decision counts: %s", (decision, isTrusted) => {
    folder.write({ "agent/trust.json": `{${JSON.stringify(folder.at("project"))}: ${decision}}` });
    expect(isRemembered(folder.at("agent"), folder.at("project"))).toBe(isTrusted);
    expect(find({ projectTrust: "text" }).leftOut).toHaveLength(isTrusted ? 0 : 1);
  });

  test("a broken file of decisions trusts nobody, and neither does one for another project", () => {
    folder.write({ "agent/trust.json": "{" });
    expect(isRemembered(folder.at("agent"), folder.at("project"))).toBe(false);
    folder.write({ "agent/trust.json": `{${JSON.stringify(folder.at("other"))}: true}` });
    expect(isRemembered(folder.at("agent"), folder.at("project"))).toBe(false);
    expect(isRemembered(folder.at("nowhere"), folder.at("project"))).toBe(false);
  });

  test("is the user's when the project's folder is the agent folder", () => {
    const found = findExtensions(place({ agentDir: folder.at("project/.pi"), projectTrust: "text" }));
    expect(found.sources).toMatchObject([{ scope: "user" }]);
    expect(found.leftOut).toEqual([]);
  });
});

describe("whether it is worth looking", () => {
  const may = (more: Partial<Parameters<typeof mayHaveExtensions>[0]> = {}) =>
    mayHaveExtensions({ ...place({ projectTrust: "text" }), settings: {}, named: [], ...more });

  test("not in an empty set-up, nor for empty folders and lists", () => {
    expect(may()).toBe(false);
    mkdirSync(folder.at("agent/extensions"), { recursive: true });
    expect(may({ settings: { extensions: [], packages: [] } })).toBe(false);
  });

  test("for anything in a folder, a setting or on the command line", () => {
    expect(may({ named: ["x"] })).toBe(true);
    expect(may({ named: ["x"], noExtensions: true })).toBe(true);
    expect(may({ settings: { packages: ["npm:x"] } })).toBe(true);
    expect(may({ settings: { extensions: ["x"] } })).toBe(true);
    expect(may({ settings: { extensions: ["x"] }, noExtensions: true })).toBe(false);
    folder.write({ "project/.omp/extensions/a.ts": "" });
    expect(may()).toBe(true);
    expect(may({ projectTrust: "none" })).toBe(false);
    folder.write({ "agent/extensions/a.ts": "" });
    expect(may({ projectTrust: "none" })).toBe(true);
  });
});
