import type { Line } from "../session/store/migrations.ts";
import { type IndexColumns, indexColumns, isFields } from "./html/format.ts";

/** What the index of the page, and the summary of the session, want to know of an entry. */
export interface EntryRow {
  id: string;
  parentId: string | null;
  /** Place in KINDS. */
  kind: number;
  /** Milliseconds; undefined when it does not say. */
  time: number | undefined;
  timestamp: string;
  lines: number;
  /** `provider/model` of an answer. */
  model: string | undefined;
  /** Input, output, cache read, cache write, cost. */
  usage: [number, number, number, number, number] | undefined;
}

/** The row of an entry that was parsed; it has an id. */
export function rowOf(entry: Line): EntryRow {
  const { kind, time, lines, usage } = indexColumns([entry], undefined);
  const { id, parentId, timestamp, message } = entry;
  const [spent] = usage;
  return {
    id: id as string,
    parentId: typeof parentId === "string" ? parentId : null,
    kind: kind[0]!,
    time: time[0] || undefined,
    timestamp: typeof timestamp === "string" ? timestamp : "",
    lines: lines[0]!,
    model: isFields(message) && message.role === "assistant" ? modelOf(message) : undefined,
    usage: spent && [spent[1], spent[2], spent[3], spent[4], spent[5]],
  };
}

function modelOf({ provider, model }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof model !== "string") return undefined;
  return typeof provider === "string" ? `${provider}/${model}` : model;
}

/** The rows of a block as columns. `before` is the id of the entry before the first. */
export function columnsOf(rows: readonly EntryRow[], before: string | undefined): IndexColumns {
  const columns: IndexColumns = { id: [], parent: [], kind: [], time: [], lines: [], usage: [] };
  let previousId = before;
  let previousTime = 0;
  for (const [at, { id, parentId, kind, time = previousTime, lines, usage }] of rows.entries()) {
    columns.id.push(id);
    columns.parent.push(parentId !== null && parentId === previousId ? 0 : parentId);
    columns.kind.push(kind);
    columns.time.push(time - previousTime);
    columns.lines.push(lines);
    if (usage?.some((amount) => amount !== 0)) columns.usage.push([at, ...usage]);
    previousId = id;
    previousTime = time;
  }
  return columns;
}
