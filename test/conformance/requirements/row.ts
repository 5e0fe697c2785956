import type { DialectName } from "@tiller/protocol/dialects/dialect";

/**
 * The shape of the requirement tables. One table per seed document, one section per heading of it, one row per sentence
 * that can be true or false. Rows are keyed by id, so that the compiler knows every id and a test cannot cite a wrong one.
 */

export const AREAS = [
  "abort",
  "bash-command",
  "cli",
  "client",
  "compaction",
  "dialogs",
  "errors",
  "events",
  "framing",
  "host-tools",
  "html-export",
  "layout",
  "models",
  "prompt",
  "queue-modes",
  "queues",
  "retry",
  "sessions",
  "state",
  "templates",
  "thinking",
  "todos",
  "tools",
] as const;
export type Area = (typeof AREAS)[number];

export type SeedName = "pi" | "omp" | "xcsh";

export interface RowDetail {
  /** The requirement in our words. May be left out when `same` points to a row that says it already. */
  text?: string;
  /** The row of another seed that states the same fact: a test of that one proves this one too. */
  same?: string;
  /** The capability that will bring it. Absent: it must be proved now. */
  open?: Area;
  /** The dialects it holds in. Absent: all of them. */
  dialects?: readonly DialectName[];
}

export interface Section {
  heading: string;
  area: Area;
  /** Default for all rows of the section. */
  open?: Area;
  rows: Readonly<Record<string, string | RowDetail>>;
}

export interface SeedTable {
  seed: SeedName;
  /** Numbers of the documents that say this; the xcsh text exists in three languages. */
  files: readonly string[];
  sections: readonly Section[];
}

type KeysOfEach<T> = T extends unknown ? keyof T & string : never;
export type IdsOf<T extends SeedTable> = KeysOfEach<T["sections"][number]["rows"]>;
