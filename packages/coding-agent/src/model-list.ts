import type { Model } from "@tiller/protocol/model";
import { oneLine } from "./lib/visible.ts";

export interface TableOptions {
  /** Only models whose name holds this text; empty for all. */
  search: string;
  /** What else is to be said of a model. */
  remark?(model: Model): string;
}

const HEAD = ["model", "context", "output", "thinks", "sees", "$ in/out per 1M", ""];

/** What `--list-models` and `tiller models` print: a line for each model, with the facts that people choose by. */
export function modelTable(models: readonly Model[], { search, remark }: TableOptions): string {
  const text = search.toLowerCase();
  const found = models.filter(({ provider, id, name }) => `${provider}/${id} ${name}`.toLowerCase().includes(text));
  if (found.length === 0) {
    return search === "" ? "No model can be used; `tiller doctor` tells why." : `No model matches "${search}".`;
  }
  const rows = found.map((model) => [
    // Servers name their models as they like.
    oneLine(`${model.provider}/${model.id}`),
    rounded(model.contextWindow),
    rounded(model.maxTokens),
    model.reasoning ? "yes" : "-",
    model.input.includes("image") ? "yes" : "-",
    prices(model.cost),
    remark?.(model) ?? "",
  ]);
  return columns([HEAD, ...rows]);
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

function prices({ input, output }: Model["cost"]): string {
  return input === 0 && output === 0 ? "-" : `${input}/${output}`;
}

/** `900`, `128k`, `1M` */
function rounded(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  return tokens < 999_500 ? `${Math.round(tokens / 1000)}k` : `${Math.round(tokens / 100_000) / 10}M`;
}
