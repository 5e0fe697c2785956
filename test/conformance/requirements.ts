import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { OMP, type OmpId } from "./requirements/omp.ts";
import { PI, type PiId } from "./requirements/pi.ts";
import type { Area, RowDetail, SeedName, SeedTable } from "./requirements/row.ts";
import { XCSH, type XcshId } from "./requirements/xcsh.ts";

/**
 * Every sentence of the seed documents that can be true or false, as data. Tests cite the ids they prove (see
 * proofs.ts); coverage.test.ts is red when a row has neither a proof nor a place on the open list.
 */

export type RequirementId = PiId | OmpId | XcshId;

export interface Requirement {
  id: string;
  source: { seed: SeedName; files: readonly string[]; heading: string };
  area: Area;
  text: string;
  /** Undefined: it holds in every dialect. */
  dialects: readonly DialectName[] | undefined;
  /** The row that is proved together with this one. */
  same: string | undefined;
  /** The capability that will bring it. Undefined: a test must prove it now. */
  open: Area | undefined;
}

export const SEED_TABLES: readonly SeedTable[] = [PI, OMP, XCSH];

/** Flattens the tables. A row with `same` takes from its sibling what it does not say itself, always its openness. */
export function toRequirements(tables: readonly SeedTable[]): Requirement[] {
  const byId = new Map<string, Requirement>();
  const all: Requirement[] = [];
  for (const { seed, files, sections } of tables) {
    for (const { heading, area, open, rows } of sections) {
      for (const [id, value] of Object.entries(rows)) {
        const detail: RowDetail = typeof value === "string" ? { text: value } : value;
        const row = resolveRow(id, detail, detail.same === undefined ? undefined : byId.get(detail.same));
        const requirement = { ...row, open: row.open ?? (detail.same === undefined ? open : undefined) };
        all.push({ ...requirement, id, area, source: { seed, files, heading } });
        byId.set(id, { ...requirement, id, area, source: { seed, files, heading } });
      }
    }
  }
  return all;
}

function resolveRow(id: string, detail: RowDetail, sibling: Requirement | undefined) {
  if (detail.same !== undefined && sibling === undefined) {
    throw new Error(`${id}: same is "${detail.same}", which is no row above it; name a row of an earlier table`);
  }
  const text = detail.text ?? sibling?.text;
  if (text === undefined) throw new Error(`${id}: has no text; write one, or name the row that says it in same`);
  if (sibling !== undefined && detail.open !== undefined) {
    throw new Error(`${id}: open comes from its sibling ${sibling.id}; remove it here`);
  }
  const dialects = detail.dialects ?? sibling?.dialects;
  return { text, dialects, same: detail.same, open: detail.open ?? sibling?.open };
}

export const REQUIREMENTS: readonly Requirement[] = toRequirements(SEED_TABLES);
