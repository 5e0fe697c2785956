import { readFileSync } from "node:fs";
import { PROVIDERS } from "../../packages/ai/src/providers/index.ts";
import type { ProviderRow } from "../../packages/ai/src/providers/provider-row.ts";

/** The tables of docs/models.md. The text around them is written by hand. */

const cell = (text: string): string => text.replaceAll("|", "\\|");
const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const named = (row: ProviderRow): string => (row.keyPage ? `[${row.name}](${row.keyPage})` : row.name);

/** Providers behind a key, in the order of their models. */
export function providersTable(): string {
  const rows = PROVIDERS.filter((row) => !row.keyless).map((row) => [
    code(row.id),
    named(row),
    row.keyVariables.map(code).join(", else "),
    row.defaultModel ? code(row.defaultModel) : "none: name one",
    code(row.api),
  ]);
  return table(["provider", "key from", "variable", "default model", "API"], rows);
}

export function localServersTable(): string {
  const rows = PROVIDERS.filter((row) => row.keyless).map((row) => [
    code(row.id),
    row.name,
    code(row.baseUrl),
    row.baseUrlVariable ? code(row.baseUrlVariable) : "",
    row.keyVariables.map(code).join(", else "),
  ]);
  return table(["provider", "server", "address", "other address", "key, if it wants one"], rows);
}

export function sourcesList(sources: readonly string[]): string {
  return sources.map((source) => `- ${code(source.split(" ")[0] ?? "")}`).join("\n");
}

/** The page with its generated parts brought up to date. Each stands between `<!-- name -->` and `<!-- end -->`. */
export function renderModelsDoc(page: string, sources: readonly string[]): string {
  const parts = { providers: providersTable(), "local servers": localServersTable(), sources: sourcesList(sources) };
  let text = page;
  for (const [name, part] of Object.entries(parts)) {
    const start = `<!-- generated: ${name} -->\n`;
    const from = text.indexOf(start);
    const to = text.indexOf("<!-- end -->", from);
    if (from === -1 || to === -1)
      throw new Error(`docs/models.md has no place for "${name}": ${start.trim()} … <!-- end -->`);
    text = `${text.slice(0, from + start.length)}\n${part}\n\n${text.slice(to)}`;
  }
  return text;
}

/** The page as it should be on disk. */
export function modelsDoc(): string {
  const { sources } = JSON.parse(readFileSync("packages/ai/src/models.json", "utf8"));
  return renderModelsDoc(readFileSync("docs/models.md", "utf8"), sources);
}
