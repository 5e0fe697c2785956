import { existsSync } from "node:fs";
import { expectedText, shownValue } from "../config/setting-value.ts";
import type { SettingOrigin } from "../config/settings.ts";
import { SETTING_ROWS } from "../config/settings-schema.ts";
import { oneLine } from "../lib/visible.ts";
import type { ConfigReport, ReportedSetting } from "./report.ts";

/** Plain lines for a terminal: no colours, nothing to interpret. */

/** The files, a table of these settings, and what is wrong. */
export function reportText({ files, problems }: ConfigReport, shown: readonly ReportedSetting[]): string {
  const lines = files.map(
    ({ scope, path }) => `${scope.padEnd("project".length)}  ${path}${existsSync(path) ? "" : " (not there)"}`,
  );
  return [...lines, "", ...settingsTable(shown), ...problemLines(problems)].join("\n");
}

/** All of them, whatever was asked for: they are why the exit code is what it is. */
function problemLines(problems: ConfigReport["problems"]): string[] {
  const lines = problems.map(({ level, message }) => `${level === "error" ? "x" : "!"}  ${oneLine(message)}`);
  return lines.length > 0 ? ["", ...lines] : [];
}

function settingsTable(settings: readonly ReportedSetting[]): string[] {
  const rows = settings.map((setting) => [setting.key, valueText(setting), sourceText(setting)] as const);
  const widest = (column: 0 | 1): number => Math.max(...rows.map((row) => row[column].length));
  const [keys, values] = [widest(0), widest(1)];
  return rows.map(([key, value, source]) => `${key.padEnd(keys)}  ${value.padEnd(values)}  ${source}`);
}

/** All about one setting. */
export function settingText(setting: ReportedSetting, { problems }: ConfigReport): string {
  const row = SETTING_ROWS[setting.key]!;
  const lines = [
    `${setting.key} = ${valueText(setting)}`,
    `  from       ${sourceText(setting)}`,
    `  expected   ${expectedText(row)}`,
    `  default    ${row.default === undefined ? "unset" : shownValue(row.default)}`,
    `  about      ${setting.summary.replaceAll("`", "")}`,
  ];
  if (row.formerly) lines.push(`  formerly   ${row.formerly.join(", ")}`);
  if (row.needsTrust) lines.push("  trust      in a project file it counts only with --approve");
  if (row.resetInRpc)
    lines.push("  RPC mode   only --set changes it, so that a user's habits do not change a host's workflow");
  if (row.status === "later") lines.push("  note       read and checked, but nothing uses it yet");
  return [...lines, ...problemLines(problems)].join("\n");
}

function valueText({ value }: { value?: unknown }): string {
  return value === undefined ? "unset" : oneLine(shownValue(value));
}

function sourceText({ source, outsideRpc, status }: ReportedSetting): string {
  const remarks = [originText(source)];
  if (outsideRpc) {
    remarks.push(`RPC mode does not take ${valueText(outsideRpc)} from ${originText(outsideRpc.source)}`);
  }
  if (status === "later" && source.kind !== "default") remarks.push("not used yet");
  return remarks.join("; ");
}

function originText({ kind, name, line }: SettingOrigin): string {
  if (kind === "dialect") return `dialect ${name}`;
  if (kind === "environment") return `environment ${name}`;
  if (kind === "user" || kind === "project") return `${kind} file ${name}${line === undefined ? "" : `:${line}`}`;
  return kind;
}
