import { type Static, type TLiteral, type TObject, Type } from "typebox";
import type { Fields, FieldsOf, System } from "./define.ts";

/** The shape of the table of entry kinds; the rows stand in session-entry.ts and session-entry-family.ts. */

/** What a model gets to see of an entry that is on the path from the root to the leaf. */
export type ContextRole = "nothing" | "its message" | "a summary" | "a custom message" | "its target, changed";

export interface EntryRow<T extends string = string, F extends Fields = Fields> {
  type: T;
  summary: string;
  /** Without those that every entry has. */
  fields: F;
  /** The same kind in the spelling of others. Readers get it in ours: see `normalise`. */
  elsewhere?: { systems: readonly System[]; fields: Fields };
  systems: readonly System[];
  context: ContextRole;
  examples: readonly FieldsOf<F>[];
}

export function defineEntry<T extends string, F extends Fields>(row: {
  type: T;
  summary: string;
  fields: F;
  elsewhere?: { systems: readonly System[]; fields: Fields };
  systems: readonly System[];
  context?: ContextRole;
  examples: readonly FieldsOf<F>[];
}): EntryRow<T, F> {
  return { ...row, context: row.context ?? "nothing" };
}

/** What every entry has beside its `type`. */
export const ENTRY_BASE = {
  id: Type.String({ description: "unique in the file; 8 hex digits in what we write" }),
  parentId: Type.Union([Type.String(), Type.Null()], { description: "the entry this one follows; null for a root" }),
  timestamp: Type.String({ description: "ISO 8601" }),
};

type EntryFields<T extends string, F extends Fields> = { type: TLiteral<T> } & typeof ENTRY_BASE & F;

/** The whole entry of a row. */
export function entryOf<T extends string, F extends Fields>(row: EntryRow<T, F>): TObject<EntryFields<T, F>> {
  return Type.Object({ type: Type.Literal(row.type), ...ENTRY_BASE, ...row.fields }) as TObject<EntryFields<T, F>>;
}

export type EntryIn<Rows extends Record<string, EntryRow>> = {
  [K in keyof Rows]: Rows[K] extends EntryRow<infer T, infer F> ? Static<TObject<EntryFields<T, F>>> : never;
}[keyof Rows];
