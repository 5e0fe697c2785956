import { statSync } from "node:fs";
import type { RunArgs } from "../args.ts";
import { agentFolder, type Env, resolvePath } from "../config/paths.ts";
import { type FileReader, knownKey } from "../config/settings-file.ts";
import { log } from "../lib/log.ts";
import { nearNames } from "../lib/near-name.ts";
import { type ConfigReport, configReport, type ReportedSetting } from "./report.ts";
import { reportText, settingText } from "./report-text.ts";

/** `tiller config [KEY]`: every setting with its value and where that comes from. */

export interface ConfigInputs {
  /** What stood behind the command: nothing, a key, or the beginning of several. */
  words: readonly string[];
  run: RunArgs;
  /** Where there is a file that needs it. */
  readYaml?: FileReader;
  env: Env;
  cwd: string;
}

export interface Outcome {
  /** 1: a file has a mistake in it. 2: asked for something that is not there. */
  code: 0 | 1 | 2;
  out?: string;
  errors: readonly string[];
}

/** Resolves to the exit code. */
export function runConfig(inputs: ConfigInputs & { print(text: string): void }): number {
  const { code, out, errors } = configOutcome(inputs);
  if (out !== undefined) inputs.print(out);
  for (const line of errors) log(line, "");
  return code;
}

export function configOutcome({ words: [asked], run, readYaml, env, cwd: here }: ConfigInputs): Outcome {
  const { options, dialect, projectTrust, settings: flags, warnings } = run;
  const cwd = options.cwd === undefined ? here : resolvePath(options.cwd, here, env);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) {
    return { code: 2, errors: [`Error: --cwd "${cwd}" is not a folder`] };
  }
  const agentDir = agentFolder(env, cwd);
  const report = configReport({ dialect: dialect.name, agentDir, cwd, projectTrust, env, flags, readYaml });
  const shown = settingsFor(report, asked);
  if (shown.length === 0) return { code: 2, errors: [unknownText(report, asked ?? "")] };
  const [only] = shown;
  const isOne = only !== undefined && only.key === knownKey(asked ?? "");
  const out = options.json
    ? JSON.stringify({ ...report, settings: shown }, undefined, 2)
    : isOne
      ? settingText(only, report)
      : reportText(report, shown);
  return { code: report.ok ? 0 : 1, out, errors: warnings };
}

/** One key, by its name of today or an old one; or all that begin with it. */
function settingsFor({ settings }: ConfigReport, asked: string | undefined): ReportedSetting[] {
  if (asked === undefined) return settings;
  const key = knownKey(asked);
  return settings.filter((setting) => (key ? setting.key === key : setting.key.startsWith(`${asked}.`)));
}

const MOST_SUGGESTIONS = 5;

/** What the same command of other programs takes in front of a key. */
const VERBS = ["get", "set", "unset", "list", "show", "edit"];
const USAGE =
  "write `tiller config` for all, `tiller config KEY` for one, and --set KEY=VALUE or settings.json to change it";

function unknownText({ settings }: ConfigReport, asked: string): string {
  const near = nearNames(
    asked,
    settings.map(({ key }) => key),
  ).slice(0, MOST_SUGGESTIONS);
  const hint = VERBS.includes(asked)
    ? USAGE
    : near.length > 0
      ? `did you mean ${near.join(", ")}?`
      : "`tiller config` lists all";
  return `Error: there is no setting "${asked}"; ${hint}`;
}
