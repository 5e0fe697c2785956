import type { Model } from "@tiller/protocol/model";

/** What `--list-models` prints: one line for each model, as `provider/id` and the facts that people choose by. */
export function modelList(models: readonly Model[], search: string | true): string {
  const text = search === true ? "" : search.toLowerCase();
  const found = models.filter(({ provider, id, name }) => `${provider}/${id} ${name}`.toLowerCase().includes(text));
  if (found.length === 0) return search === true ? "No model can be used." : `No model matches "${search}".`;
  const rows = found.map((model) => [
    `${model.provider}/${model.id}`,
    `${thousands(model.contextWindow)} context`,
    `${thousands(model.maxTokens)} output`,
    model.reasoning ? "thinks" : "-",
    model.input.includes("image") ? "sees" : "-",
  ]);
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function thousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}
