import type { IdSource } from "@tiller/protocol/clock";
import type { SessionHeader } from "@tiller/protocol/session-entry";
import type { EntryLog } from "./entry-log.ts";

/**
 * A copy of one path of a session. Every entry stays as it is, so that ids and parents fit. Labels may stand anywhere in
 * the old file: those of entries on the path that do not stand on it are given anew.
 */
export function copyPath(
  log: EntryLog,
  path: readonly number[],
  header: SessionHeader,
  { ids, timestamp }: { ids: IdSource; timestamp: string },
): EntryLog {
  const copy = log.part(path, header);
  const labels = labelsOf(log);
  const onPath = labelsOf(copy);
  for (const targetId of new Set([...labels.keys(), ...onPath.keys()])) {
    const label = labels.get(targetId);
    if (label === onPath.get(targetId) || copy.find(targetId) < 0) continue;
    let id = ids.short();
    while (copy.has(id)) id = ids.short();
    const parentId = copy.length === 0 ? null : copy.id(copy.length - 1);
    copy.append({ type: "label", id, parentId, timestamp, targetId, ...(label === undefined ? {} : { label }) });
  }
  return copy;
}

/** The labels that hold: the last word on each entry. */
export function labelsOf(log: EntryLog): Map<string, string> {
  return new Map([...labelEntriesOf(log)].map(([targetId, { label }]) => [targetId, label]));
}

/** The same with the time when each was given. */
export function labelEntriesOf(log: EntryLog): Map<string, { label: string; timestamp?: string }> {
  const labels = new Map<string, { label: string; timestamp?: string }>();
  for (let at = 0; at < log.length; at++) {
    if (log.kind(at) !== "label") continue;
    const { targetId, label, timestamp } = (log.entry(at) ?? {}) as Partial<LabelFields>;
    if (targetId === undefined) continue;
    if (label) labels.set(targetId, { label, timestamp });
    else labels.delete(targetId);
  }
  return labels;
}

type LabelFields = Record<"targetId" | "label" | "timestamp", string>;
