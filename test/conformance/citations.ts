import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Finds which requirements the tests say they prove, by reading the test sources: no test has to run for it. */

export interface Citation {
  id: string;
  /** Path from the root of the repository. */
  file: string;
  line: number;
}

interface Found {
  id: string;
  line: number;
}

/** `proves("id", ...)`, `proves(["id", "id"], ...)` and, in tables of test cases, `proves: ["id"]`. */
const CITING_CODE = /\bproves\s*[(:]\s*(\[[^\]]*\]|"[^"\n]*")/g;
/** `proves: id, id` or `# proves: id, id` on a line of its own. */
const CITING_TRANSCRIPT = /^(?:#\s*)?proves:[ \t]*(.*)$/gm;

export function citationsInCode(source: string): Found[] {
  return collect(withoutComments(source), CITING_CODE, /"([^"\n]*)"/g);
}

/** A test that is commented out proves nothing. Lines keep their numbers. */
function withoutComments(source: string): string {
  return source.replace(/^\s*\/\/.*$/gm, "").replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ""));
}

export function citationsInTranscript(source: string): Found[] {
  return collect(source, CITING_TRANSCRIPT, /([^\s,]+)/g);
}

function collect(source: string, citing: RegExp, id: RegExp): Found[] {
  const found: Found[] = [];
  for (const match of source.matchAll(citing)) {
    const start = match.index + match[0].length - (match[1] ?? "").length;
    for (const item of (match[1] ?? "").matchAll(id)) {
      found.push({ id: item[1] ?? "", line: lineAt(source, start + item.index) });
    }
  }
  return found;
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split("\n").length;
}

const SKIPPED_FOLDERS = new Set(["node_modules", "dist", ".git"]);
/** Tests of this machinery, whose made-up citations prove nothing. */
const NOT_PROOFS = new Set(["test/conformance/citations.test.ts", "test/conformance/coverage.test.ts"]);

/** Reads `packages` and `test` below the root of the repository. */
export function findCitations(root: string): Citation[] {
  const citations: Citation[] = [];
  for (const path of [...filesBelow(join(root, "packages")), ...filesBelow(join(root, "test"))].sort()) {
    const file = relative(root, path).split(sep).join("/");
    const read = readerFor(file);
    if (read === undefined) continue;
    for (const found of read(readFileSync(path, "utf8"))) citations.push({ ...found, file });
  }
  return citations;
}

/** Tests that are switched off: what they cite would be proved by nothing. */
export function switchedOffTests(root: string): string[] {
  const files = [...filesBelow(join(root, "packages")), ...filesBelow(join(root, "test"))];
  const tests = files.filter((path) => path.endsWith(".test.ts"));
  return tests
    .filter((path) => SWITCHED_OFF.test(withoutComments(readFileSync(path, "utf8"))))
    .map((path) => relative(root, path).split(sep).join("/"));
}

const SWITCHED_OFF = /\b(?:it|test|describe)\.(?:skip|todo|only|fails)\b/;

function readerFor(file: string): ((source: string) => Found[]) | undefined {
  if (NOT_PROOFS.has(file)) return undefined;
  if (file.endsWith(".test.ts")) return citationsInCode;
  if (file.endsWith(".rpc.txt")) return citationsInTranscript;
  return undefined;
}

function filesBelow(folder: string): string[] {
  const files: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(entry.name)) files.push(...filesBelow(path));
    } else files.push(path);
  }
  return files;
}
