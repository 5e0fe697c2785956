import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { compileGlob } from "./glob.ts";
import { createGrepCollector, type GrepRequest } from "./grep-format.ts";
import { grepWithJs } from "./grep-js.ts";
import { findRipgrep, grepWithRipgrep } from "./grep-rg.ts";
import { walk } from "./walk.ts";

/** Whoever searches, ripgrep or we: the same lines come out, on trees with everything that trees have. */

const ripgrep = await findRipgrep(process.env);
const home = realpathSync(mkdtempSync(join(tmpdir(), "tiller-grep-")));
afterAll(() => rmSync(home, { recursive: true, force: true }));

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
  { weight: 1, arbitrary: fc.constant("foo\n\0\nfoo\n") },
  { weight: 1, arbitrary: fc.constant("\ufefffoo\na\n") },
);
const file = fc.record({
  folders: fc.array(name, { maxLength: 3 }),
  name: fc.oneof(
    { weight: 5, arbitrary: name },
    { weight: 1, arbitrary: fc.constantFrom(".gitignore", ".ignore", ".rgignore", "link") },
  ),
  content,
  rules: fc.array(rule, { maxLength: 4 }),
});
const pattern = fc.constantFrom(
  ..."a;foo;^foo;foo$;a.b;[ab]+;\\bfoo\\b;\\w+\\(\\d\\);\\s;é;(?i)FOO;a|b;^$;[[:upper:]];\\p{Lu};foo\\_bar;\\.;[^a-z ]+;o{2};stra(ss|ß)e;\\d;\\S\\s\\S;[a&&b];[\\w--a];\\x61;\\Bo;(?P<x>a)b;foo(?=_);(a)\\1;\\[x\\];.*;[]a]".split(
    ";",
  ),
);
const request = fc.record({
  pattern,
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
});

let count = 0;

function plant({
  files,
  below,
  repositories,
}: {
  files: readonly PlannedFile[];
  below: string[];
  repositories: string[][];
}): string {
  const root = join(home, String(count++));
  const folder = join(root, ...below);
  mkdirSync(folder, { recursive: true });
  for (const path of repositories) attempt(() => mkdirSync(join(root, ...path, ".git"), { recursive: true }));
  for (const { folders, name: fileName, content: text, rules } of files) {
    const path = join(root, ...folders, fileName);
    // A file may stand where a folder should be: then there is one file less.
    attempt(() => {
      mkdirSync(dirname(path), { recursive: true });
      if (fileName === "link") symlinkSync("..", path);
      else writeFileSync(path, fileName.endsWith("ignore") ? rules.join("\n") : text);
    });
  }
  return folder;
}

interface PlannedFile {
  folders: string[];
  name: string;
  content: string;
  rules: string[];
}

function attempt(work: () => void): void {
  try {
    work();
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toMatch(/^(EEXIST|ENOTDIR|EISDIR)$/);
  }
}

const never = new AbortController().signal;

async function byJs(wanted: GrepRequest, limit: number) {
  const collector = createGrepCollector({ limit, context: wanted.context });
  await grepWithJs(wanted, collector, never);
  return collector.result();
}

async function byRipgrep(program: string, wanted: GrepRequest, limit: number) {
  const collector = createGrepCollector({ limit, context: wanted.context });
  const context = { cwd: wanted.folder, env: process.env, clock: systemClock };
  const done = await grepWithRipgrep(program, wanted, context, collector, never);
  // A pattern that only we know is ours in both cases.
  return done ? collector.result() : byJs(wanted, limit);
}

/** Without ripgrep there is still the plain way: every file of the walk, line by line, in the words of the pattern. */
async function plainly(wanted: GrepRequest, limit: number) {
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

const runs = Number(process.env.TILLER_PROPERTY_RUNS ?? 60);

it(ripgrep
  ? "our search and ripgrep agree on random trees"
  : "WITHOUT RIPGREP on this machine: our search agrees with itself, file by file", async () => {
  await fc.assert(
    fc.asyncProperty(tree, request, async (plan, options) => {
      const folder = plant(plan);
      const wanted: GrepRequest = { ...options, folder };
      const ours = await byJs(wanted, plan.limit);
      const theirs = ripgrep ? await byRipgrep(ripgrep, wanted, plan.limit) : await plainly(wanted, plan.limit);
      expect(ours).toEqual(theirs);
    }),
    { numRuns: runs },
  );
}, 600_000);
