import { OPTION_ROWS, type OptionRow, SUB_COMMANDS, type SubCommand, type SubCommandRow } from "./cli-options.ts";

/** What `tiller --help` prints: how to start, then the options that do something. docs/cli.md has all of them. */
export function helpText(version: string): string {
  const works = Object.keys(OPTION_ROWS).filter((name) => OPTION_ROWS[name]?.status === "works");
  return [
    `tiller ${version}: a headless coding agent. Your program starts it and steers it over stdin and stdout.`,
    "",
    ...usageLines(),
    "",
    'In RPC mode write one JSON object per line, e.g. {"id":"1","type":"prompt","message":"Summarize this repo"}',
    "",
    "Options:",
    ...optionLines(works),
    "",
    "The options of pi, omp and xcsh are understood too; docs/cli.md lists every one.",
  ].join("\n");
}

/** What `tiller COMMAND --help` prints. */
export function subCommandHelp(command: SubCommand): string {
  const { usage, summary, uses, options, failure }: SubCommandRow = SUB_COMMANDS[command];
  const own = Object.keys(OPTION_ROWS).filter((name) => OPTION_ROWS[name]?.commands?.includes(command));
  const shown = [...own, ...options];
  return [
    ...(uses ?? [usage]).map((use) => `tiller ${use}`),
    "",
    plain(summary),
    ...(shown.length === 0 ? [] : ["", "Options:", ...optionLines(shown)]),
    ...(failure === undefined ? [] : ["", `Exit code: 0; 1 when ${failure}; 2 when it is called wrongly.`]),
    "",
    "tiller --help lists everything.",
  ].join("\n");
}

function optionLines(names: readonly string[]): string[] {
  const lines = names.flatMap((name) => {
    const row = OPTION_ROWS[name];
    return row ? [[invocation(name, row), plain(row.summary)] as const] : [];
  });
  const width = Math.max(...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
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
  // Links are for docs/cli.md.
  return summary.replaceAll("`", "").replace(/\[([^\]]+)\]\([^)]*\)/g, "$1");
}
