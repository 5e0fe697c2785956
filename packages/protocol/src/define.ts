import type { Static, TObject, TSchema } from "typebox";

/** The shape of the protocol's tables. A row is data; types, checks, JSON Schema and docs are made from it. */

/** The fields of a frame, without those that every frame of its kind has (`id`, `type`, `seq`, ...). */
export type Fields = Record<string, TSchema>;
export type FieldsOf<F extends Fields> = Static<TObject<F>>;

/** How a command is scheduled; `docs/prose/lanes.md` tells what each lane promises. */
export type Lane = "control" | "ordered" | "background";

/**
 * Who has it: `pi`, `omp`, `xcsh` in their documented protocols, `later` in newer releases of that family,
 * `tiller` only here.
 */
export type System = "pi" | "omp" | "xcsh" | "later" | "tiller";

/** One exchange. Exactly one of `data` (absent for commands without data) and `error` is the answer. */
export interface CommandExample<P extends Fields, R extends TSchema | undefined> {
  note?: string;
  params: FieldsOf<P>;
  data?: R extends TSchema ? Static<R> : undefined;
  error?: string;
}

export interface CommandRow<
  T extends string = string,
  P extends Fields = Fields,
  R extends TSchema | undefined = TSchema | undefined,
> {
  type: T;
  summary: string;
  params: P;
  /** Schema of `data`; undefined when a success has none. */
  result: R;
  lane: Lane;
  systems: readonly System[];
  /** The capability that is still missing. Until it is there the command answers `success:false` and says so. */
  opens?: string;
  examples: readonly CommandExample<P, R>[];
}

export function defineCommand<T extends string, P extends Fields, R extends TSchema | undefined = undefined>(row: {
  type: T;
  summary: string;
  params: P;
  result?: R;
  lane: Lane;
  systems: readonly System[];
  opens?: string;
  examples: readonly CommandExample<NoInfer<P>, NoInfer<R>>[];
}): CommandRow<T, P, R> {
  return { ...row, result: row.result as R };
}

export interface EventRow<T extends string = string, F extends Fields = Fields> {
  type: T;
  summary: string;
  fields: F;
  systems: readonly System[];
  /** Its content stands in the session file before the frame is sent. */
  persisted: boolean;
  /** Belongs to a prompt and carries its `promptId`. */
  promptScoped: boolean;
  opens?: string;
  examples: readonly FieldsOf<F>[];
}

export function defineEvent<T extends string, F extends Fields>(row: {
  type: T;
  summary: string;
  fields: F;
  systems: readonly System[];
  persisted?: boolean;
  promptScoped?: boolean;
  opens?: string;
  examples: readonly FieldsOf<F>[];
}): EventRow<T, F> {
  return { ...row, persisted: row.persisted ?? false, promptScoped: row.promptScoped ?? false };
}

/** `in` is what a host writes, `out` what it reads. */
export type Direction = "in" | "out";

export interface FrameRow<T extends string = string, S extends TSchema = TSchema> {
  type: T;
  summary: string;
  direction: Direction;
  /** The whole frame, `type` included: some frames have several forms. */
  schema: S;
  systems: readonly System[];
  opens?: string;
  examples: readonly Static<S>[];
}

export function defineFrame<T extends string, S extends TSchema>(row: {
  type: T;
  summary: string;
  direction: Direction;
  schema: S;
  systems: readonly System[];
  opens?: string;
  examples: readonly Static<NoInfer<S>>[];
}): FrameRow<T, S> {
  return row;
}

/** A table of rows under their own names: a key that differs from its row's `type` does not compile. */
export function table<const T extends { readonly [K in keyof T]: { readonly type: K } }>(rows: T): T {
  return rows;
}
