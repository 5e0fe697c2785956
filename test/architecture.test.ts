import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  CODE_RULES,
  dependencyProblems,
  directionProblems,
  eagerModules,
  importCycles,
  ruleProblems,
} from "./support/architecture-rules.ts";
import { PLAYS_ALL } from "./support/part-of.ts";
import { sizeReport } from "./support/size-report.ts";
import { parseSource, readSources, repoRoot, type SourceFile } from "./support/source-tree.ts";

/** The borders of the house, see ARCHITECTURE.md. The rules themselves stand in support/architecture-rules.ts. */

const sources = readSources();
const CLI = "packages/coding-agent/src/cli.ts";
/** What the CLI loads by name, with the code cache. */
const APP = "packages/coding-agent/src/app.ts";

function dependenciesOf(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(join(repoRoot, folder, "package.json"), "utf8"));
  return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
}

describe("the sources", () => {
  test("import only downwards", () => {
    expect(directionProblems(sources)).toEqual([]);
  });

  test("import in no circle", () => {
    expect(importCycles(sources)).toEqual([]);
  });

  test("import only node: builtins and the packages their package.json names", () => {
    expect(dependencyProblems(sources, dependenciesOf)).toEqual([]);
  });

  test("import only files that exist", () => {
    const known = new Set(sources.map((file) => file.path));
    const lost = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ target }) => target?.endsWith(".ts") && !known.has(target))
        .map(({ target }) => `${path}: ${target}`),
    );
    expect(lost).toEqual([]);
  });

  test.each(CODE_RULES.map((rule) => [rule.name, rule] as const))("%s", (_name, rule) => {
    expect(ruleProblems(rule, sources)).toEqual([]);
  });
});

describe("the start path", () => {
  const eager = [...new Set([...eagerModules(sources, CLI), ...eagerModules(sources, APP)])].sort();

  test("is what test/eager-modules.txt lists; after a deliberate change: npx vitest run test/architecture.test.ts -u", async () => {
    await expect(`${eager.join("\n")}\n`).toMatchFileSnapshot("./eager-modules.txt");
  });

  test("holds no package, least of all the schema library", () => {
    expect(eager.filter((name) => name.startsWith("npm:"))).toEqual([]);
  });
});

/** With the long tests: nothing in it can fail. */
if (PLAYS_ALL) {
  test("sizes, for people to read", () => {
    console.info(sizeReport(sources));
  });
}

describe("the rules notice", () => {
  const file = (path: string, text: string): SourceFile => parseSource(`packages/coding-agent/src/${path}`, text);
  const broken: [rule: string, path: string, text: string][] = [
    ["stdout belongs to the frame writer", "session/a.ts", "process.stdout.write('x')"],
    ["stdout belongs to the frame writer", "session/a.ts", "fs.writeSync(1, 'x')"],
    ["stdout belongs to the frame writer", "session/a.ts", "new Socket({ fd: 1 })"],
    ["console is nobody's", "tools/a.ts", "console.warn('x')"],
    ["only the CLI and the mode's shut-down end the process", "main.ts", "process.exit(1)"],
    ["text is parsed as JSON only in listed files", "modes/rpc/lanes.ts", "JSON.parse(line)"],
    ["only the clock reads the time", "tools/a.ts", "const a = Date.now()"],
    ["only the clock reads the time", "tools/a.ts", "const a = new Date()"],
    ["only the clock sets timers", "tools/a.ts", "setTimeout(f, 1)"],
    ["only the clock and the ids are random", "tools/a.ts", "Math.random()"],
    [
      "only run-process and the client's transport start processes",
      "tools/a.ts",
      "import { spawn } from 'node:child_process'",
    ],
    ["only the transport talks to the network", "tools/a.ts", "await fetch('x')"],
    ["only the transport talks to the network", "tools/a.ts", "process.getBuiltinModule('node:https')"],
    ["only the store writes session files", "session/a.ts", "import { writeFileSync } from 'node:fs'"],
    [
      "readline splits at U+2028 on some platforms; the rest is missing on Node 20",
      "lib/a.ts",
      "import 'node:readline'",
    ],
    ["pure files stay pure", "session/next-step.ts", "export const f = async () => { await 1 }"],
    ["pure files stay pure", "session/store/tree.ts", "export const now = new Date(5)"],
    ["no any", "lib/a.ts", "let a: any"],
    ["no suppressed checks", "lib/a.ts", "// @ts-ignore\nf()"],
    ["no empty catch", "lib/a.ts", "try { f() } catch {}"],
    ["no default exports", "lib/a.ts", "export default 1"],
    ["barrels only at package roots", "session/index.ts", "export * from './a.ts'"],
  ];
  test.each(broken)("%s: %s: %s", (name, path, text) => {
    const rule = CODE_RULES.find((candidate) => candidate.name === name);
    expect(rule && ruleProblems(rule, [file(path, text)])).toHaveLength(1);
  });

  test("every rule has an example", () => {
    const shown = new Set(broken.map(([name]) => name));
    expect(CODE_RULES.map((rule) => rule.name).filter((name) => !shown.has(name))).toEqual([]);
  });

  const upwards: [path: string, text: string, says: RegExp][] = [
    ["lib/a.ts", "import '../config/settings.ts'", /lib must not import config/],
    ["tools/a.ts", "import type { A } from '../session/agent-session.ts'", /tools must not import session/],
    ["tools/a.ts", "import { runAgent } from '@tiller/agent/agent-loop'", /only types from agent/],
    ["session/a.ts", "await import('../modes/rpc/rpc-mode.ts')", /session must not import modes/],
    [
      "modes/a.ts",
      "import type { A } from '../session/store/session-store.ts'",
      /modes must not import session\/store/,
    ],
    ["create-session.ts", "import './modes/rpc/rpc-mode.ts'", /composition must not import modes/],
    ["extensions/a.ts", "import type { A } from '../session/session-run.ts'", /only .*ports.ts/],
    ["novelty/a.ts", "import '../lib/jsonl.ts'", /"novelty" is not in the table/],
  ];
  test.each(upwards)("%s: %s", (path, text, says) => {
    expect(directionProblems([file(path, text)]).join()).toMatch(says);
  });

  test("a circle, also of types", () => {
    const circle = [file("lib/a.ts", "import './b.ts'"), file("lib/b.ts", "import type { A } from './a.ts'")];
    expect(importCycles(circle)).toEqual([circle.map(({ path }) => path)]);
  });

  test("a package that package.json does not name", () => {
    expect(dependencyProblems([file("lib/a.ts", "import 'left-pad'; import 'fs'")], dependenciesOf)).toHaveLength(2);
  });

  test("what is loaded early: static imports, not lazy ones, not types", () => {
    const files = [
      file("cli.ts", "import './main.ts'; import type { A } from './types.ts'; await import('./lazy.ts')"),
      file("main.ts", "import { Type } from 'typebox'; import 'node:fs'"),
    ];
    expect(eagerModules(files, CLI)).toEqual(["npm:typebox", CLI, "packages/coding-agent/src/main.ts"]);
  });
});
