import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { IndexColumns, PageEnd, PageStart } from "../../packages/coding-agent/src/export/html/format.ts";

/** For tests: what stands in an exported page, read as a browser would. */
export interface ReadPage {
  html: string;
  start: PageStart;
  end: PageEnd;
  blocks: { columns: IndexColumns; entries: Record<string, unknown>[] }[];
  entries: Record<string, unknown>[];
  /** The id of each entry and of the one it follows. */
  tree: [id: string, parent: string | null][];
}

const DATA = /<script type="application\/json" (?:id|class)="(\w+)">([^<]*)<\/script>/g;

export function readPage(path: string): ReadPage {
  const html = readFileSync(path, "utf8");
  const found = [...html.matchAll(DATA)].map(([, name, json = ""]) => ({ name, value: JSON.parse(json) }));
  const named = (name: string) => found.filter((one) => one.name === name).map(({ value }) => value);
  const bodies = named("d");
  const blocks = named("i").map((columns, at) => ({ columns, entries: bodies[at] }));
  const tree: ReadPage["tree"] = [];
  for (const { columns } of blocks) {
    for (const [at, id] of columns.id.entries()) {
      const parent = columns.parent[at];
      tree.push([id, parent === 0 ? (tree.at(-1)?.[0] ?? null) : parent]);
    }
  }
  return { html, start: named("start")[0], end: named("end")[0], blocks, entries: bodies.flat(), tree };
}

/** A folder that is gone after each test. */
export function useFolder(): () => string {
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tiller-export-"));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  return () => dir;
}
