import { cleanText } from "../exec/clean-text.ts";
import { withoutEnding } from "../lib/without-ending.ts";
import { formatSize } from "./truncate.ts";

/** A Jupyter notebook as text: its cells in order, with the beginning and the end of what they put out. Pure. */

const MAX_OUTPUT_LINES = 20;
const MAX_OUTPUT_LINE_CHARS = 500;

interface Output {
  output_type?: unknown;
  text?: unknown;
  data?: unknown;
  ename?: unknown;
  evalue?: unknown;
  traceback?: unknown;
}

interface Cell {
  cell_type?: unknown;
  source?: unknown;
  execution_count?: unknown;
  outputs?: unknown;
}

/** Undefined when the text is no notebook of the current format: it is then shown as the text it is. */
export function renderNotebook(json: string): string | undefined {
  const notebook = parseObject(json);
  if (!notebook || !Array.isArray(notebook.cells)) return undefined;
  const cells = notebook.cells.filter(isObject);
  const language = languageOf(notebook);
  const count = `${cells.length} ${cells.length === 1 ? "cell" : "cells"}`;
  const head = `[Jupyter notebook: ${count}${language ? `, ${language}` : ""}. Shown as text; the file is JSON, so edit needs the text of the JSON (bash: cat).]`;
  return `${[head, ...cells.map(renderCell)].join("\n\n")}\n`;
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function languageOf({ metadata }: Record<string, unknown>): string | undefined {
  if (!isObject(metadata)) return undefined;
  const { language_info: info, kernelspec: kernel } = metadata;
  const name = (isObject(info) && info.name) || (isObject(kernel) && (kernel.language ?? kernel.name));
  return typeof name === "string" ? name : undefined;
}

function renderCell(cell: Cell, index: number): string {
  const run = typeof cell.execution_count === "number" ? ` (run ${cell.execution_count})` : "";
  const parts = [`[${index + 1}] ${String(cell.cell_type ?? "cell")}${run}`, textOf(cell.source)];
  const outputs = Array.isArray(cell.outputs) ? cell.outputs.filter(isObject).map(renderOutput) : [];
  const shown = outputs.filter((text) => text !== "");
  if (shown.length > 0) parts.push(`[output]\n${shown.join("\n")}`);
  return parts.filter((text) => text !== "").join("\n");
}

function renderOutput(output: Output): string {
  if (output.output_type === "error") {
    const trace = textOf(output.traceback, "\n") || `${textOf(output.ename)}: ${textOf(output.evalue)}`;
    return shorten(cleanText(trace));
  }
  if (output.text !== undefined) return shorten(cleanText(textOf(output.text)));
  return isObject(output.data) ? renderData(output.data) : "";
}

/** The plain form; pictures and the like are only named. */
function renderData(data: Record<string, unknown>): string {
  const others = Object.entries(data)
    .filter(([type]) => type.startsWith("image/") || (data["text/plain"] === undefined && type !== "text/plain"))
    .map(([type, value]) => `[${type}, ${formatSize(textOf(value).length)}]`);
  const plain = shorten(cleanText(textOf(data["text/plain"])));
  return [plain, ...others].filter((text) => text !== "").join("\n");
}

/** Long lines lose their end, long outputs their middle. */
function shorten(text: string): string {
  const lines = withoutEnding(text, "\n")
    .split("\n")
    .map((line) => (line.length > MAX_OUTPUT_LINE_CHARS ? `${line.slice(0, MAX_OUTPUT_LINE_CHARS)}...` : line));
  if (lines.length <= MAX_OUTPUT_LINES) return lines.join("\n").toWellFormed();
  const half = MAX_OUTPUT_LINES / 2;
  const left = `... [${lines.length - MAX_OUTPUT_LINES} lines left out]`;
  return [...lines.slice(0, half), left, ...lines.slice(-half)].join("\n").toWellFormed();
}

/** Notebooks hold texts whole or as a list of pieces. */
function textOf(value: unknown, separator = ""): string {
  if (Array.isArray(value)) return value.map((piece) => (typeof piece === "string" ? piece : "")).join(separator);
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
