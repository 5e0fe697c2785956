import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { anyPattern, ODD_LINES } from "../../../../test/support/grep-arbitraries.ts";
import { systemClock } from "../lib/clock.ts";
import { compileGlob } from "./glob.ts";
import { createGrepCollector, type GrepRequest } from "./grep-format.ts";
import { grepWithJs } from "./grep-js.ts";
import { findRipgrep, grepWithRipgrep } from "./grep-rg.ts";
import { walk } from "./walk.ts";

/** Whoever searches, ripgrep or we: the same lines come out, on trees with everything that trees have. */

/** All that are on this machine: versions differ among themselves too. More can be named in the environment. */
const programs = [
  ...new Set([
    await findRipgrep(process.env),
    await findRipgrep({ PATH: "" }),
    ...(process.env.TILLER_RIPGREPS ?? "").split(delimiter),
  ]),
].filter((path): path is string => path !== undefined && path !== "");
const home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-grep-")));
afterAll(() => rmSync(home, { recursive: true, force: true }), 120_000);

const name = fc.constantFrom(
  "a",
  "b",
  "src",
  "dist",
  "a.log",
  "b.ts",
  "é",
  "two words",
  ".hid",
  "node_modules",
  "x.y.ts",
);
const rule = fc.constantFrom(
  ..."*.log;!a.log;dist/;/a;src/b.ts;**/b;a/**;!*.ts;*;!*/;# note;b.*;[ab]*;\\!x;é;two words;src/*;/src/**/b;?;*.{ts,log};[!a]*;a/b/;!src/;  ;/dist".split(
    ";",
  ),
);
const line = fc.oneof(
  fc.stringMatching(/^[abAB ._1é"-]{0,12}$/),
  fc.constantFrom("foo bar", "foo_bar(1)", "Foo\r", "  tab\tfoo", "ünïcode Straße", "日本語 foo", "[x] {y}", "end$"),
);
const content = fc.oneof(
  { weight: 8, arbitrary: fc.array(line, { maxLength: 8 }).map((lines) => lines.join("\n")) },
  { weight: 4, arbitrary: fc.array(line, { maxLength: 8 }).map((lines) => `${lines.join("\n")}\n`) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...ODD_LINES), { maxLength: 8 }).map(joinLines) },
  { weight: 1, arbitrary: fc.constant("foo\n\0\nfoo\n") },
  { weight: 1, arbitrary: fc.constant("\ufefffoo\na\n") },
  { weight: 1, arbitrary: fc.constantFrom("foo\r\na\n", "a\n\ud83dfoo", "foo\n\0\nfoo\n", "é").map(utf16) },
  { weight: 1, arbitrary: fc.constantFrom("foo\r\na\n", "foo\né\n").map((text) => utf16(text).swap16()) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(3), fc.boolean()).map(([matches, open]) => lateZero(matches, open)) },
);

function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((one, index) => [one, Buffer.from(index % 3 === 0 ? "\r\n" : "\n")]));
}

function utf16(text: string): Buffer {
  return Buffer.from(`\ufeff${text}`, "utf16le");
}

/** Matches, then more than is read at once, then what makes the file no text, in a line that matches or not. */
function lateZero(matches: number, isOpen: boolean): string {
  return `${"foo a\n".repeat(matches)}${"x\n".repeat(100_000)}${isOpen ? "foo a" : ""}\0\nfoo a\n`;
}

const file = fc.record({
  folders: fc.array(name, { maxLength: 3 }),
  name: fc.oneof(
    { weight: 5, arbitrary: name },
    { weight: 1, arbitrary: fc.constantFrom(".gitignore", ".ignore", ".rgignore", "link") },
    { weight: 1, arbitrary: fc.constantFrom("n\xff", "n\xfe", "n\u0080.ts") },
  ),
  content,
  rules: fc.array(rule, { maxLength: 4 }),
});
const usualPattern = fc.constantFrom(
  ..."a;foo;^foo;foo$;a.b;[ab]+;\\bfoo\\b;\\w+\\(\\d\\);\\s;é;(?i)FOO;a|b;^$;[[:upper:]];\\p{Lu};foo\\_bar;\\.;[^a-z ]+;o{2};stra(ss|ß)e;\\d;\\S\\s\\S;[a&&b];[\\w--a];\\x61;\\Bo;(?P<x>a)b;foo(?=_);(a)\\1;\\[x\\];.*;[]a]".split(
    ";",
  ),
);
const request = fc.record({
  pattern: fc.oneof({ weight: 3, arbitrary: usualPattern }, { weight: 1, arbitrary: anyPattern }),
  literal: fc.boolean(),
  ignoreCase: fc.boolean(),
  context: fc.nat(2),
  glob: fc.option(
    fc.constantFrom(
      "*.ts",
      "*.{ts,log}",
      "src/**",
      "**/b.ts",
      "a",
      "[ab]*",
      "!a",
      "src/",
      "/a/*",
      "*",
      "@(a|b)",
      "**/src/*.ts",
    ),
    { nil: undefined },
  ),
});
const tree = fc.record({
  files: fc.array(file, { minLength: 1, maxLength: 14 }),
  /** Where the search begins, and where the repositories do. */
  below: fc.array(name, { maxLength: 2 }),
  repositories: fc.array(fc.array(name, { maxLength: 2 }), { maxLength: 2 }),
  limit: fc.constantFrom(1, 2, 5, 100),
  /** The folder is named by a link, or only one of the files is searched. */
  byLink: fc.boolean(),
  only: fc.option(name, { freq: 5 }),
});

let count = 0;

function plant({ files, below, repositories, byLink }: PlannedTree): string {
  const root = join(home, String(count++));
  const folder = join(root, ...below);
  mkdirSync(folder, { recursive: true });
  for (const path of repositories) attempt(() => mkdirSync(join(root, ...path, ".git"), { recursive: true }));
  for (const { folders, name: fileName, content: text, rules } of files) {
    const parent = join(root, ...folders);
    // Names are bytes, and not all of them are UTF-8.
    const bytes = /[\x80-\xff]/.test(fileName) && fileName.startsWith("n") ? "latin1" : "utf8";
    const path = Buffer.concat([Buffer.from(`${parent}/`), Buffer.from(fileName, bytes)]);
    // A file may stand where a folder should be: then there is one file less.
    attempt(() => {
      mkdirSync(parent, { recursive: true });
      if (fileName === "link") symlinkSync("..", path);
      else writeFileSync(path, fileName.endsWith("ignore") ? rules.join("\n") : text);
    });
  }
  if (!byLink) return folder;
  mkdirSync(join(root, "links"), { recursive: true });
  symlinkSync(folder, join(root, "links/to"));
  return join(root, "links/to");
}

interface PlannedTree {
  files: readonly PlannedFile[];
  below: string[];
  repositories: string[][];
  byLink: boolean;
}

interface PlannedFile {
  folders: string[];
  name: string;
  content: string | Buffer;
  rules: string[];
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(EEXIST|ENOTDIR|EISDIR|EILSEQ)$/);
  }
}

const never = new AbortController().signal;

type Answer = ReturnType<ReturnType<typeof createGrepCollector>["result"]> | { error: string };

/** A refusal is an answer too. */
async function answer(work: () => Promise<Answer>): Promise<Answer> {
  return work().catch((error: Error) => ({ error: error.message }));
}

async function byJs(wanted: GrepRequest, limit: number): Promise<Answer> {
  const collector = createGrepCollector({ limit, context: wanted.context });
  await grepWithJs(wanted, collector, never);
  return collector.result();
}

async function byRipgrep(program: string, wanted: GrepRequest, limit: number): Promise<Answer> {
  const collector = createGrepCollector({ limit, context: wanted.context });
  const context = { cwd: wanted.folder, env: process.env, clock: systemClock };
  const done = await grepWithRipgrep(program, wanted, context, collector, never);
  // A pattern that only we know is ours in both cases.
  return done ? collector.result() : byJs(wanted, limit);
}

/** Without ripgrep there is still the plain way: every file of the walk, line by line, in the words of the pattern. */
async function plainly(wanted: GrepRequest, limit: number): Promise<Answer> {
  const collector = createGrepCollector({ limit, context: wanted.context });
  const matches = wanted.glob ? compileGlob(wanted.glob) : () => true;
  for await (const entries of walk(wanted.folder, never)) {
    for (const entry of entries) {
      if (!entry.isFile || !matches(entry.path)) continue;
      const one = createGrepCollector({ limit: Number.MAX_SAFE_INTEGER, context: wanted.context });
      await grepWithJs(
        { ...wanted, folder: dirname(join(wanted.folder, entry.path)), fileName: entry.path.split("/").at(-1)! },
        { ...one, note: () => undefined, add: (found) => collector.add({ ...found, path: entry.path }) },
        never,
      );
    }
  }
  return collector.result();
}

const runs = Number(process.env.TILLER_PROPERTY_RUNS ?? 30);
/** The same stories each time, unless somebody asks for others: two programs of other people are compared with. */
const seed = Number(process.env.TILLER_SEED ?? 7);

it(programs.length > 0
  ? "our search and ripgrep agree on random trees"
  : "WITHOUT RIPGREP on this machine: our search agrees with itself, file by file", async () => {
  await fc.assert(
    fc.asyncProperty(tree, request, async (plan, options) => {
      const folder = plant(plan);
      const isFile = plan.only !== null && statSync(join(folder, plan.only), { throwIfNoEntry: false })?.isFile();
      const wanted: GrepRequest = { ...options, folder, ...(isFile && { fileName: plan.only! }) };
      const ours = await answer(() => byJs(wanted, plan.limit));
      const others = programs.map((program) => answer(() => byRipgrep(program, wanted, plan.limit)));
      if (programs.length === 0 && !isFile) others.push(answer(() => plainly(wanted, plan.limit)));
      for (const theirs of await Promise.all(others)) expect(ours).toEqual(theirs);
    }),
    { numRuns: runs, seed },
  );
}, 600_000);

it.runIf(programs.length > 0)(
  "they find the same odd lines, whatever the pattern",
  async () => {
    const folder = join(home, "odd");
    mkdirSync(folder);
    writeFileSync(join(folder, "lines"), joinLines(ODD_LINES));
    await fc.assert(
      fc.asyncProperty(anyPattern, fc.boolean(), async (pattern, ignoreCase) => {
        const wanted: GrepRequest = { pattern, ignoreCase, literal: false, context: 0, folder, fileName: "lines" };
        const ours = await answer(() => byJs(wanted, 1000));
        const others = programs.map((program) => answer(() => byRipgrep(program, wanted, 1000)));
        for (const theirs of await Promise.all(others)) expect(ours).toEqual(theirs);
      }),
      { numRuns: runs * 2, seed },
    );
  },
  600_000,
);
