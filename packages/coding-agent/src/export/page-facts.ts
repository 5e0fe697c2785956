import type { Line } from "../session/store/migrations.ts";
import { nameOf, type SessionHead, textOf } from "../session/store/session-head.ts";
import type { EntryRow } from "./entry-row.ts";
import { isFields, type PageEnd, type PageTokens } from "./html/format.ts";

/** What is known of a session as a whole when all its entries were seen. */
export interface PageFacts {
  /** `entry`, if it was parsed: all that say something about the whole, beside answers, are. */
  take(row: EntryRow, entry: Line | undefined): void;
  end(): PageEnd;
}

interface Gathered {
  entries: number;
  lastId: string | null;
  name: string | undefined;
  models: Set<string>;
  first: string | undefined;
  last: string | undefined;
  tokens: PageTokens;
  cost: number;
  labels: Map<string, string>;
  systemPrompt: string | undefined;
  tools: string[] | undefined;
}

export function createPageFacts({ created, title }: Pick<SessionHead, "created" | "title">): PageFacts {
  const gathered: Gathered = {
    entries: 0,
    lastId: null,
    name: title,
    models: new Set(),
    first: textOf(created),
    last: undefined,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
    labels: new Map(),
    systemPrompt: undefined,
    tools: undefined,
  };
  return {
    take({ id, timestamp, model, usage }, entry) {
      gathered.entries += 1;
      gathered.lastId = id;
      if (timestamp !== "") gathered.last = timestamp;
      gathered.first ??= gathered.last;
      if (model !== undefined) gathered.models.add(model);
      if (usage) takeUsage(usage, gathered);
      const type = String(entry?.type);
      if (entry && Object.hasOwn(TAKERS, type)) TAKERS[type]!(entry, gathered);
    },
    end: () => endOf(gathered),
  };
}

/** Kinds of entries that say something about the whole. */
const TAKERS: Readonly<Record<string, (entry: Line, gathered: Gathered) => void>> = {
  session_info({ name }, gathered) {
    gathered.name = nameOf(name);
  },
  title_change({ title }, gathered) {
    gathered.name = nameOf(title);
  },
  label({ targetId, label }, { labels }) {
    if (typeof targetId !== "string") return;
    const text = nameOf(label);
    if (text === undefined) labels.delete(targetId);
    else labels.set(targetId, text);
  },
  session_init({ systemPrompt, tools }, gathered) {
    gathered.systemPrompt ??= textOf(systemPrompt);
    if (Array.isArray(tools)) gathered.tools ??= tools.filter((tool) => typeof tool === "string");
  },
  custom({ customType, message }, gathered) {
    // How newer files of pi keep it.
    if (customType === "message.system" && isFields(message)) gathered.systemPrompt ??= textOf(message.content);
  },
};

function takeUsage(
  [input, output, cacheRead, cacheWrite, cost]: NonNullable<EntryRow["usage"]>,
  gathered: Gathered,
): void {
  const { tokens } = gathered;
  tokens.input += input;
  tokens.output += output;
  tokens.cacheRead += cacheRead;
  tokens.cacheWrite += cacheWrite;
  tokens.total += input + output + cacheRead + cacheWrite;
  gathered.cost += cost;
}

function endOf({ entries, lastId, name, models, first, last, tokens, cost, labels, ...rest }: Gathered): PageEnd {
  const durationMs = first !== undefined && last !== undefined ? Date.parse(last) - Date.parse(first) : Number.NaN;
  return {
    entries,
    leafId: lastId,
    ...(name !== undefined && { name }),
    models: [...models],
    ...(first !== undefined && { started: first }),
    ...(last !== undefined && { ended: last }),
    ...(durationMs >= 0 && { durationMs }),
    tokens,
    cost: Number(cost.toPrecision(10)),
    labels: [...labels],
    ...(rest.systemPrompt !== undefined && { systemPrompt: rest.systemPrompt }),
    ...(rest.tools && { tools: rest.tools.map((tool) => ({ name: tool })) }),
  };
}
