import { describe, expect, it, test } from "vitest";
import { wildcardMatches } from "../lib/wildcard.ts";
import { type CallPath, isAllowedPath, matchRestrictedPath, type PathBases, pathPattern } from "./path-match.ts";

const BASES: PathBases = {
  cwd: { named: "/tmp/app", real: "/private/tmp/app" },
  home: { named: "/home/me", real: "/home/me" },
  ignoresCase: false,
};
const at = (named: string, real = named.replace(/^\/tmp\//, "/private/tmp/"), isTree = false): CallPath => ({
  shown: named,
  named,
  real,
  isTree,
});
const tree = (named: string): CallPath => ({ ...at(named), isTree: true });

describe("a rule that allows", () => {
  test.each<[path: CallPath, pattern: string, allowed: boolean]>([
    [at("/tmp/app/src/a.ts"), "src/**", true],
    [at("/tmp/app/src/x/y/a.ts"), "src/**", true],
    [at("/tmp/app/src/x/a.ts"), "src/*", false],
    [at("/tmp/app/src/a.ts"), "./src/*.ts", true],
    [at("/tmp/app/srcs/a.ts"), "src/**", false],
    [at("/tmp/app/deep/down/README.md"), "*.md", true],
    [at("/etc/README.md"), "*.md", false],
    [at("/tmp/app/.env"), "**", true],
    [at("/tmp/app"), "**", true],
    [at("/tmp/other/a"), "**", false],
    [at("/home/me/notes/a"), "~/notes/**", true],
    [at("/etc/hosts"), "/etc/hosts", true],
    [at("/etc/hosts"), "/etc", false],
    [at("/tmp/app/src"), "src", true],
  ])("%j and %j: %s", (path, pattern, allowed) => {
    expect(isAllowedPath(path, pattern, BASES)).toBe(allowed);
  });

  it("counts where the file really is, also when a link of the project leads there from an allowed folder", () => {
    expect(isAllowedPath(at("/tmp/app/src/link", "/etc/passwd"), "src/**", BASES)).toBe(false);
    expect(isAllowedPath(at("/tmp/app/build/x", "/home/me/x"), "build/**", BASES)).toBe(false);
    expect(isAllowedPath(at("/tmp/elsewhere", "/private/tmp/app/src/a"), "src/**", BASES)).toBe(true);
  });

  it("allows to search a folder only when everything in it is allowed", () => {
    const allowed = (folder: string, pattern: string) => isAllowedPath(tree(folder), pattern, BASES);
    expect(["src", "src/x"].map((folder) => allowed(`/tmp/app/${folder}`, "src/**"))).toEqual([true, true]);
    expect(["src/**", "src/*", "*", "src/**/*.ts", "src/*/**"].map((one) => allowed("/tmp/app/src", one))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect(allowed("/tmp/app", "src/**")).toBe(false);
  });
});

describe("a rule that asks or forbids", () => {
  test.each<[path: CallPath, pattern: string, match: string]>([
    [at("/tmp/app/.env"), ".env", "yes"],
    [at("/somewhere/else/.env"), ".env", "yes"],
    [at("/somewhere/.env/inner"), ".env", "yes"],
    [at("/tmp/app/x.env"), ".env", "no"],
    [at("/tmp/app/secrets/a/b"), "secrets/", "yes"],
    [at("/tmp/app/secrets/a/b"), "./secrets", "yes"],
    [at("/tmp/other/secrets/a"), "./secrets", "no"],
    [at("/home/me/.ssh/id_rsa"), "~/.ssh", "yes"],
    [at("/home/me/.ssh/id_rsa"), "~/.ssh/**", "yes"],
    [at("/home/me/.ssh"), "~/.ssh/**", "yes"],
    [at("/home/me/.sshx"), "~/.ssh", "no"],
    [at("/tmp/app/link", "/home/me/.ssh/id_rsa"), "~/.ssh", "yes"],
    [at("/tmp/app/notes", "/private/tmp/app/.env"), ".env", "yes"],
    [at("/tmp/app/.env", "/private/tmp/app/plain"), ".env", "yes"],
    [tree("/tmp/app"), ".env", "inside"],
    [tree("/home"), "~/.ssh", "inside"],
    [tree("/"), "~/.ssh", "inside"],
    [tree("/tmp/app/src"), "~/.ssh", "no"],
    [tree("/home/me/.ssh/keys"), "~/.ssh", "yes"],
    [at("/home"), "~/.ssh", "no"],
    [at("/tmp/app/.ENV"), ".env", "no"],
  ])("%j and %j: %s", (path, pattern, match) => {
    expect(matchRestrictedPath(path, pattern, BASES)).toBe(match);
  });

  it("sees through case and composed letters where the file system does", () => {
    const bases = { ...BASES, ignoresCase: true };
    expect(matchRestrictedPath(at("/tmp/app/.ENV"), ".env", bases)).toBe("yes");
    expect(matchRestrictedPath(at("/tmp/app/Ge\u0301heim"), "g\u00e9heim", bases)).toBe("yes");
  });
});

test.each(["", " ", "a/../b", "../x", "*.{a,b}", "[ab]", "!x", "a\\b", "~root/x"])(
  "%j is no path of a rule",
  (text) => {
    expect(pathPattern(text)).toHaveProperty("problem");
  },
);

it("wildcards take no time, whatever the pattern", () => {
  expect(wildcardMatches(`${"*a".repeat(50)}b`, "a".repeat(5000))).toBe(false);
  expect(wildcardMatches("*.t?", "a.b.ts")).toBe(true);
});
