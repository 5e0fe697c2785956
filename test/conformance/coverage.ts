import type { Citation } from "./citations.ts";
import type { Requirement } from "./requirements.ts";

export interface Coverage {
  proved: Requirement[];
  open: Requirement[];
  /** Neither on the open list nor cited by a test: the run must be red. */
  unproved: Requirement[];
  /** Citations of ids that no table has. */
  unknown: Citation[];
  /** Citations of open rows: a test proves them, so they must leave the open list. */
  closable: Citation[];
}

/** A row is proved when a test cites it, or the row it is the `same` as. Siblings always stand earlier in the list. */
export function measureCoverage(requirements: readonly Requirement[], citations: readonly Citation[]): Coverage {
  const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  const provedIds = new Set(citations.map((citation) => citation.id));
  const coverage: Coverage = { proved: [], open: [], unproved: [], unknown: [], closable: [] };
  for (const requirement of requirements) {
    if (requirement.same !== undefined && provedIds.has(requirement.same)) provedIds.add(requirement.id);
    if (requirement.open !== undefined) coverage.open.push(requirement);
    else if (provedIds.has(requirement.id)) coverage.proved.push(requirement);
    else coverage.unproved.push(requirement);
  }
  for (const citation of citations) {
    const requirement = byId.get(citation.id);
    if (requirement === undefined) coverage.unknown.push(citation);
    else if (requirement.open !== undefined) coverage.closable.push(citation);
  }
  return coverage;
}

/** How many open rows wait for each capability, sorted by name. */
export function countOpen(requirements: readonly Requirement[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { open } of requirements) {
    if (open !== undefined) counts.set(open, (counts.get(open) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b)));
}

/** What to say about an open list that is not the recorded one. */
export function openListChanges(counted: Record<string, number>, recorded: Record<string, number>): string[] {
  const changes: string[] = [];
  for (const capability of new Set([...Object.keys(recorded), ...Object.keys(counted)])) {
    const [now, before] = [counted[capability] ?? 0, recorded[capability] ?? 0];
    if (now > before) changes.push(`${capability}: ${before} open rows became ${now}; the open list may only shrink`);
    if (now < before)
      changes.push(`${capability}: ${before} open rows became ${now}; write ${now} into open-count.json`);
  }
  return changes;
}

export function repeatedIds(requirements: readonly Requirement[]): string[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { id } of requirements) {
    if (seen.has(id)) repeated.add(id);
    seen.add(id);
  }
  return [...repeated];
}

/** Rows that still need a test, without those that a test of their sibling will prove. */
export function proofsWanted(unproved: readonly Requirement[]): Requirement[] {
  const ids = new Set(unproved.map((requirement) => requirement.id));
  return unproved.filter(({ same }) => same === undefined || !ids.has(same));
}
