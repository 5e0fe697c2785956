import { OPTION_ROWS, type OptionRow, SUB_COMMANDS } from "./cli-options.ts";

/** What `tiller --help` prints: how to start, then the options that do something. docs/cli.md has all of them. */
export function helpText(version: string): string {
  const rows = Object.entries(OPTION_ROWS).filter(([, row]) => row.status === "works");
  const lines = rows.map(([name, row]) => [invocation(name, row), plain(row.summary)] as const);
  const width = Math.max(...lines.map(([left]) => left.length));
  return [
    `tiller ${version}: a headless coding agent. Your program starts it and steers it over stdin and stdout.`,
    "",
    ...usageLines(),
    "",
    'In RPC mode write one JSON object per line, e.g. {"id":"1","type":"prompt","message":"Summarize this repo"}',
    "",
    "Options:",
    ...lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    "",
    "The options of pi, omp and xcsh are understood too; docs/cli.md lists every one.",
  ].join("\n");
}

const MODE_USAGES = [
  { usage: "--mode rpc [options]", summary: "Be steered by a program." },
  {
    usage: "-p [options] [@FILE ...] [MESSAGE ...]",
    summary: "Print one answer; text on stdin stands before MESSAGE.",
  },
] as const;

function usageLines(): string[] {
  const rows = [...MODE_USAGES, ...Object.values(SUB_COMMANDS)];
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return rows.map(({ usage, summary }) => `  tiller ${usage.padEnd(width)}  ${plain(summary)}`);
}

function invocation(name: string, row: OptionRow): string {
  const long = `--${name}${row.kind === "flag" ? "" : ` ${row.placeholder ?? "VALUE"}`}`;
  return row.short ? `${long}, -${row.short}` : long;
}

function plain(summary: string): string {
  return summary.replaceAll("`", "");
}
