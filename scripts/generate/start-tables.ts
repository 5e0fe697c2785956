import { OPTION_ROWS, SUB_COMMANDS } from "../../packages/coding-agent/src/cli-options.ts";
import { VARIABLES } from "../../packages/coding-agent/src/config/env.ts";
import { SETTING_ROWS } from "../../packages/coding-agent/src/config/settings-schema.ts";

/** The tables of settings and options as the start path needs them: without what is only for people. Pure: text out. */

const NOTE = "// Written by `npm run generate` from the tables in packages/coding-agent/src. Do not edit.";

export function renderSettingsTable(): string {
  const rules = Object.entries(SETTING_ROWS).map(([key, { status: _status, summary: _summary, ...rule }]) =>
    line(key, rule),
  );
  const settings = Object.entries(VARIABLES).flatMap(([name, { setting }]) => (setting ? [line(name, setting)] : []));
  return `${NOTE}
import type { SettingKey, SettingRule } from "./settings-schema.ts";

export const SETTING_RULES: Readonly<Record<string, SettingRule>> = {
${rules.join("\n")}
};

/** The environment variables that stand for settings. */
export const VARIABLE_SETTINGS: Readonly<Record<string, SettingKey>> = {
${settings.join("\n")}
};
`;
}

export function renderOptionsTable(): string {
  const rows = Object.entries(OPTION_ROWS);
  const rules = rows.map(([name, { short: _short, systems: _systems, status, summary, ...rule }]) =>
    line(name, { ...rule, ...(status === "later" && { later: summary }) }),
  );
  const shorts = rows.flatMap(([name, { short }]) => (short ? [line(`-${short}`, name)] : []));
  return `${NOTE}
import type { OptionRule, SubCommand } from "./cli-options.ts";

export interface StartOption extends OptionRule {
  /** What is not built yet; absent when the option may be given. */
  later?: string;
}

export const OPTION_RULES: Readonly<Record<string, StartOption>> = {
${rules.join("\n")}
};

export const SHORT_OPTIONS: Readonly<Record<string, string>> = {
${shorts.join("\n")}
};

export const SUB_COMMAND_NAMES: readonly SubCommand[] = ${JSON.stringify(Object.keys(SUB_COMMANDS))};
`;
}

function line(key: string, value: unknown): string {
  return `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`;
}
