import type { Dialect } from "@tiller/protocol/dialects/dialect";
import { DIALECTS, dialectForProgram } from "@tiller/protocol/dialects/index";
import type { CliOptions, ModeName, SubCommand } from "./cli-options.ts";
import { checkSettingText } from "./config/setting-value.ts";
import type { ProjectTrust, SettingOverrides } from "./config/settings.ts";
import type { SettingKey } from "./config/settings-schema.ts";
import { SETTING_RULES } from "./config/settings-table.generated.ts";
import { modeOf, optionKey } from "./given-options.ts";
import { editDistance, nearNames } from "./lib/near-name.ts";
import { OPTION_RULES, SHORT_OPTIONS, type StartOption, SUB_COMMAND_NAMES } from "./options-table.generated.ts";

/** What the command line asks for. Reading it touches nothing: whoever calls prints and exits. */
export type ParsedArgs =
  | { kind: "run"; run: RunArgs }
  | { kind: SubCommand; run: RunArgs; words: string[] }
  | { kind: "help"; command?: SubCommand }
  | { kind: "version" }
  | { kind: "error"; message: string; exitCode: 1 | 2 };

export interface RunArgs {
  options: CliOptions;
  dialect: Dialect;
  mode: ModeName;
  /** What is no option: prompts, outside RPC mode. */
  prompts: string[];
  /** The paths of `@file`, for the first prompt; none in RPC mode. */
  files: string[];
  /** The options that are settings, for the top layer of `loadSettings`. */
  settings: SettingOverrides;
  projectTrust: ProjectTrust;
  /** For stderr, one line each. */
  warnings: string[];
  /** Options that only an extension may know. */
  unknown: UnknownOption[];
}

export interface UnknownOption {
  /** With its dashes. */
  option: string;
  /** Behind an equals sign. */
  attached?: string;
  /** The word that follows, which is its value if it takes one; otherwise it is a prompt. */
  following?: string;
}

/** What was found while walking over the arguments. */
interface Walk {
  options: Record<string, unknown>;
  settings: Record<string, unknown>;
  warnings: string[];
  errors: string[];
  unknown: UnknownOption[];
  files: string[];
  /** What is neither an option nor the value of one. */
  words: string[];
}

export function parseArgs(argv: readonly string[], programName: string): ParsedArgs {
  const walk = walkOver(argv);
  const options = walk.options as CliOptions;
  if (options.help) return { kind: "help", command: subCommand(argv, options) };
  if (options.version) return { kind: "version" };

  const dialect = options.dialect ? DIALECTS[options.dialect] : dialectForProgram(programName);
  const command = options.export === undefined ? subCommand(argv, options) : "export";
  const refusal = refusalOf(walk, options, dialect, command);
  if (refusal) return refusal;
  // Who wants dialogs wants to be asked.
  if (options.mode === "rpc-ui") walk.settings["approval.mode"] ??= "always";
  const run: RunArgs = {
    options,
    dialect,
    mode: modeOf(options) ?? "rpc",
    prompts: walk.words.filter((word) => word.trim() !== "" && word !== "-"),
    files: walk.files.map((file) => file.slice(1)),
    settings: walk.settings as SettingOverrides,
    projectTrust: projectTrust(options, dialect),
    warnings: walk.warnings,
    unknown: walk.unknown,
  };
  if (command === undefined) return { kind: "run", run };
  // `--export FILE` is the sub-command in the words of other systems.
  const words = options.export === undefined ? walk.words.slice(1) : [options.export, ...walk.words];
  return { kind: command, run, words };
}

/** Only in the first place: anywhere else, and with a mode, such a word is a prompt as in other systems. */
function subCommand(argv: readonly string[], options: CliOptions): SubCommand | undefined {
  if (modeOf(options) !== undefined) return undefined;
  return SUB_COMMAND_NAMES.find((name) => name === argv[0]);
}

/** Why the process must not start, if so. Unknown options are only a warning in some dialects. */
function refusalOf(
  walk: Walk,
  options: CliOptions,
  dialect: Dialect,
  command: SubCommand | undefined,
): ParsedArgs | undefined {
  const errors = [...walk.errors];
  // Extensions bring long options only, and those that run nothing load none. A chat starts an agent, which does.
  const canLoad = command === undefined || command === "chat";
  const isHopeless = ({ option }: UnknownOption): boolean => !canLoad || !option.startsWith("--");
  for (const { option } of walk.unknown.filter(isHopeless)) {
    if (dialect.unknownFlag === "warning") walk.warnings.push(unknownText(option, dialect));
    else errors.push(unknownText(option, dialect));
  }
  walk.unknown = walk.unknown.filter((unknown) => !isHopeless(unknown));
  for (const name of Object.keys(OPTION_RULES)) {
    const { commands } = OPTION_RULES[name]!;
    if (!commands || !Object.hasOwn(options, optionKey(name))) continue;
    if (!(command && commands.includes(command))) {
      const places = commands.map((place) => `\`tiller ${place}\``);
      errors.push(`Error: --${name} is for ${places.join(", ").replace(/, (?!.*, )/, " and ")}`);
    }
  }
  if (command === "doctor" && walk.words.length > 1) {
    errors.push(`Error: \`tiller doctor\` takes no "${walk.words[1]}"; it looks at everything`);
  }
  if (command === "config" && walk.words.length > 2) {
    errors.push(`Error: \`tiller config\` takes one KEY, but there is "${walk.words[2]}" too`);
  }
  if (command === "schema" && walk.words.length > 2) {
    errors.push(`Error: \`tiller schema\` takes one name, but there is "${walk.words[2]}" too`);
  }
  if (options.record !== undefined && options.replay !== undefined) {
    errors.push("Error: --record and --replay exclude each other");
  }
  const taped = options.record === undefined ? "replay" : "record";
  if (options[taped] !== undefined && modeOf(options) !== "rpc") errors.push(`Error: --${taped} is for --mode rpc`);
  if (options.approve && options.noApprove) errors.push("Error: --approve and --no-approve exclude each other");
  if (errors.length > 0) {
    // What only an extension could know is told with the rest.
    return { kind: "error", message: [...errors, ...unknownErrors(walk, dialect)].join("\n"), exitCode: 2 };
  }
  const mode = modeOf(options);
  if (mode === undefined && options.listModels === undefined && command === undefined) {
    const text = `there is no interactive mode; start with --mode rpc, or -p MESSAGE (--help lists all)${subCommandHint(walk)}`;
    return { kind: "error", message: [...unknownErrors(walk, dialect), `Error: ${text}`].join("\n"), exitCode: 2 };
  }
  if (walk.files.length > 0 && mode !== "text" && mode !== "json")
    return failed("@file arguments are not supported in RPC mode", 1);
  if (options.apiKey !== undefined && (options.model ?? options.models ?? options.provider) === undefined) {
    return failed("--api-key requires a model to be specified via --model, --provider/--model, or --models", 1);
  }
  return undefined;
}

function unknownErrors({ unknown }: Walk, dialect: Dialect): string[] {
  return dialect.unknownFlag === "error" ? unknown.map(({ option }) => unknownText(option, dialect)) : [];
}

export function unknownText(option: string, { unknownFlag }: Dialect): string {
  return unknownFlag === "warning"
    ? `Warning: Unknown option ignored: ${option}`
    : `Error: Unknown option: ${option} (${optionHint(option)}--help lists all)`;
}

/** `--no-sesion` */
function optionHint(option: string): string {
  const word = option.slice(2);
  if (word.length > LONGEST_OPTION) return "";
  const allowed = Math.floor(word.length / 4);
  const meant = Object.keys(OPTION_RULES).find((name) => editDistance(word, name) <= allowed);
  return meant === undefined ? "" : `did you mean --${meant}? `;
}

/** Comparing is work that grows with the square. */
const LONGEST_OPTION = 64;

/** `tiller mdels`: who wrote a word instead of a mode may have meant a sub-command. */
function subCommandHint({ words: [word = ""] }: Walk): string {
  if (word === "") return "";
  const names = SUB_COMMAND_NAMES;
  const meant = names.find((name) => editDistance(word.toLowerCase(), name) <= 1);
  if (meant) return `; did you mean \`tiller ${meant}\`?`;
  return `; "${word}" is no sub-command, those are: ${names.join(", ")}`;
}

function failed(reason: string, exitCode: 1 | 2): ParsedArgs {
  return { kind: "error", message: `Error: ${reason}`, exitCode };
}

function walkOver(argv: readonly string[]): Walk {
  const walk: Walk = { options: {}, settings: {}, warnings: [], errors: [], unknown: [], files: [], words: [] };
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i]!;
    if (arg === "--") {
      walk.words.push(...argv.slice(i + 1));
      break;
    }
    if (!isOptionLike(arg)) {
      // Anything else that stands alone is prompt text, which RPC mode takes from stdin only.
      (arg.startsWith("@") ? walk.files : walk.words).push(arg);
      continue;
    }
    const { name, attached } = splitOption(arg);
    const row = name === undefined ? undefined : OPTION_RULES[name];
    if (name === undefined || row === undefined) {
      walk.unknown.push(unknownOption(arg, argv[i + 1]));
      continue;
    }
    const following = argv[i + 1];
    if (row.kind === "flag") takeFlag(walk, name, attached);
    else if (attached !== undefined) takeValue(walk, name, row, attached);
    else if (following !== undefined && mayBeValue(row, following)) {
      i++;
      takeValue(walk, name, row, following);
    } else if (row.kind === "optional") walk.options[optionKey(name)] = true;
    else if (row.later === undefined)
      walk.errors.push(`Error: --${name} needs a value: --${name}=${row.placeholder ?? "VALUE"}`);
    note(walk, name, row);
  }
  return walk;
}

function unknownOption(arg: string, next: string | undefined): UnknownOption {
  const equals = arg.indexOf("=");
  const option = equals < 0 ? arg : arg.slice(0, equals);
  if (equals >= 0) return { option, attached: arg.slice(equals + 1) };
  return next === undefined || isOptionLike(next) || next.startsWith("@") ? { option } : { option, following: next };
}

/** A lone `-` is no option, nor is a sentence that begins with one. */
function isOptionLike(arg: string): boolean {
  return /^-[^\s=]+(=|$)/.test(arg);
}

function splitOption(arg: string): { name: string | undefined; attached: string | undefined } {
  if (!arg.startsWith("--")) return { name: SHORT_OPTIONS[arg], attached: undefined };
  const equals = arg.indexOf("=");
  const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
  return {
    name: Object.hasOwn(OPTION_RULES, name) ? name : undefined,
    attached: equals < 0 ? undefined : arg.slice(equals + 1),
  };
}

/** A value may begin with a dash, like a Markdown list in a system prompt, unless it is an option we know. */
function mayBeValue(row: StartOption, arg: string): boolean {
  if (row.kind === "optional") return !isOptionLike(arg) && !arg.startsWith("@");
  return arg !== "--" && (!isOptionLike(arg) || splitOption(arg).name === undefined);
}

function takeFlag(walk: Walk, name: string, attached: string | undefined): void {
  if (attached === undefined) walk.options[optionKey(name)] = true;
  else walk.errors.push(`Error: --${name} takes no value, but has "${attached}"`);
}

function takeValue(walk: Walk, name: string, row: StartOption, given: string): void {
  const value = row.valueAliases && Object.hasOwn(row.valueAliases, given) ? row.valueAliases[given]! : given;
  const key = optionKey(name);
  if (row.laterValues?.includes(value)) {
    walk.errors.push(`Error: --${name} ${value} is not built yet; built are: ${(row.values ?? []).join(", ")}`);
  } else if (row.values && !row.values.includes(value)) {
    const choices = row.values.join(", ");
    if (row.isForgiving) walk.warnings.push(`Warning: --${name} is "${given}" and is ignored; use one of: ${choices}`);
    else walk.errors.push(`Error: --${name} cannot be "${given}"; use one of: ${choices}`);
  } else if (row.kind === "list") {
    const parts = value.split(",").map((part) => part.trim());
    walk.options[key] = [...listSoFar(walk, key), ...parts.filter((part) => part !== "")];
  } else if (row.kind === "repeatable") {
    walk.options[key] = [...listSoFar(walk, key), value];
    if (name === "set") takeSetting(walk, value);
  } else walk.options[key] = value;
}

function listSoFar(walk: Walk, key: string): string[] {
  return (walk.options[key] as string[] | undefined) ?? [];
}

/** `--set KEY=VALUE` */
function takeSetting(walk: Walk, text: string): void {
  const equals = text.indexOf("=");
  const key = equals < 0 ? text : text.slice(0, equals);
  const row = Object.hasOwn(SETTING_RULES, key) ? SETTING_RULES[key] : undefined;
  if (equals < 0) walk.errors.push(`Error: --set "${text}" has no value: --set KEY=VALUE`);
  else if (row === undefined) walk.errors.push(`Error: --set "${key}": there is no such setting${settingHint(key)}`);
  else {
    const checked = checkSettingText(row, text.slice(equals + 1));
    if (checked.ok) walk.settings[key] = checked.value;
    else walk.errors.push(`Error: --set ${key} cannot be "${text.slice(equals + 1)}"; expected ${checked.expected}`);
  }
}

function settingHint(key: string): string {
  const [near] = nearNames(key, Object.keys(SETTING_RULES));
  return near === undefined ? " (`tiller config` lists all)" : `; did you mean ${near}?`;
}

/** An option that stands for a setting: its value must fit there. */
function takeOptionSetting(walk: Walk, name: string, key: SettingKey): void {
  const value = walk.options[optionKey(name)];
  const row = SETTING_RULES[key];
  if (value === true) walk.settings[key] = !name.startsWith("no-");
  else if (typeof value !== "string" || !row) walk.settings[key] = value;
  else {
    const checked = checkSettingText(row, value);
    if (checked.ok) walk.settings[key] = checked.value;
    else walk.errors.push(`Error: --${name} cannot be "${value}"; expected ${checked.expected}`);
  }
}

/** What giving this option means beyond its value: a setting, a refusal, a warning. */
function note(walk: Walk, name: string, row: StartOption): void {
  if (row.setting) takeOptionSetting(walk, name, row.setting);
  if (row.later !== undefined) {
    walk.errors.push(`Error: --${name} is not built yet (${row.later.replace(/\.$/, "")}); leave it out`);
  } else if (row.warning) walk.warnings.push(`Warning: --${name}: ${row.warning}`);
}

/** Without anybody to ask, a project may bring text; programs only when the host says so, or as pi does in its dialect. */
function projectTrust(options: CliOptions, dialect: Dialect): ProjectTrust {
  if (options.noApprove) return "none";
  return options.approve || dialect.trustsProjects ? "code" : "text";
}
