import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { APPROVAL_MODES, THINKING_LEVELS, UPDATE_MODES } from "./config/choices.ts";
import type { SettingKey } from "./config/settings-schema.ts";

/**
 * Every option of the command line: ours and those of pi, omp and xcsh, old and new. Parsing, types, help and docs/cli.md
 * come from this table. The start path has `options-table.generated.ts` instead, the same without what is only for people.
 */

export type OptionSystem = "tiller" | "pi" | "omp" | "xcsh";

/**
 * works: does what it says. accepted: changes nothing here, and nothing is lost by that. later: its capability is not
 * built yet, so giving it is an error; a host must never believe it has taken effect.
 */
export type OptionStatus = "works" | "accepted" | "later";

/** What is needed to read it. */
export interface OptionRule {
  short?: string;
  /** flag: no value. value: one, the last wins. optional: with or without. repeatable: one each time. list: comma-separated. */
  kind: "flag" | "value" | "optional" | "repeatable" | "list";
  /** What the value is called in help. */
  placeholder?: string;
  values?: readonly string[];
  /** Values other systems know whose capability is not built yet. */
  laterValues?: readonly string[];
  /** A value that is none of them is passed over with a warning, as other systems do; else it is an error. */
  isForgiving?: true;
  /** Other spellings of a value. */
  valueAliases?: Readonly<Record<string, string>>;
  /** The setting it stands for; a `--no-...` flag turns it off. */
  setting?: SettingKey;
  /** Only these sub-commands take it. */
  commands?: readonly SubCommand[];
  /** Told on stderr when the option is given: what a host could wrongly expect of it. */
  warning?: string;
}

export interface OptionRow extends OptionRule {
  systems: readonly OptionSystem[];
  status: OptionStatus;
  summary: string;
}

export interface SubCommandRow {
  usage: string;
  summary: string;
  /** What it can be told to do, where that is several things. */
  uses?: readonly string[];
  /** Which of the options that are not its own count. */
  options: readonly string[];
  /** What an exit code of 1 means. */
  failure?: string;
}

/** Words that may stand first, instead of a mode: they are for people. */
export const SUB_COMMANDS = {
  chat: {
    usage: "chat [options] [MESSAGE]",
    summary: "Talk to the agent in this terminal, line by line; the options are those of RPC mode.",
    options: ["model", "continue", "resume", "cwd", "approval-mode", "extension"],
  },
  models: {
    usage: "models [TEXT]",
    summary: "List the models that can be used, also those of servers on this machine.",
    options: ["offline", "cwd", "set"],
  },
  doctor: {
    usage: "doctor",
    summary: "Check keys, files and servers, and say what to do.",
    options: ["model", "provider", "offline", "cwd", "set"],
    failure: "there is a problem",
  },
  sessions: {
    usage: "sessions [list|show|verify|repair]",
    summary: "List the sessions of this project, look into one, check the files or mend one.",
    uses: ["sessions list [TEXT]", "sessions show PATH|ID", "sessions verify [PATH|ID ...]", "sessions repair PATH|ID"],
    options: ["session-dir", "cwd"],
    failure: "a file is damaged, or is not found",
  },
  config: {
    usage: "config [KEY]",
    summary: "Show every setting, or one, with its value and where it comes from, and what is wrong in the files.",
    options: ["set", "cwd", "dialect", "approve", "no-approve"],
    failure: "a file or a variable has a mistake in it",
  },
  schema: {
    usage: "schema [rpc|session|settings]",
    summary: "Print the JSON Schema of this version: of the frames, a line of a session file, or settings.json.",
    options: [],
  },
  replay: {
    usage: "replay DIR",
    summary: "Play a recording back without a host and tell whether every frame is the same.",
    options: [],
    failure: "a frame is another one",
  },
  transcript: {
    usage: "transcript run [FILE ...]",
    summary: "Play golden transcripts against an agent and tell which hold; without FILE, those of this version.",
    options: [],
    failure: "one does not hold",
  },
  export: {
    usage: "export FILE|ID [--out PATH]",
    summary: "Turn a session file into a page that shows it: one HTML file that needs nothing else.",
    options: ["session-dir", "cwd", "set"],
    failure: "there is no such session, or the page cannot be written",
  },
} as const satisfies Record<string, SubCommandRow>;
export type SubCommand = keyof typeof SUB_COMMANDS;

const DIALECT_NAMES = ["union", "pi", "omp", "xcsh"] as const satisfies readonly DialectName[];

const OURS = ["tiller"] as const;
const ALL = ["pi", "omp", "xcsh"] as const;
const PI = ["pi"] as const;
const OMP = ["omp", "xcsh"] as const;

/** How the process talks. */
export type ModeName = "rpc" | "text" | "json";

const ROLE_WARNING = "models for other roles than the main one are not used yet";

export const OPTIONS = {
  // How the process talks
  mode: {
    kind: "value",
    placeholder: "MODE",
    values: ["rpc", "rpc-ui", "text", "json"],
    laterValues: ["acp"],
    systems: ALL,
    status: "works",
    summary:
      "`rpc`: commands on stdin, frames on stdout. `rpc-ui`: the same, and every tool call is asked, as with `--approval-mode always`, unless the command line says otherwise. `text`: as `--print`. `json`: the same, but every event on stdout as a line of JSON, behind the header of the session.",
  },
  print: {
    short: "p",
    kind: "flag",
    systems: ALL,
    status: "works",
    summary:
      "Take the prompts from the command line (and stdin, `@file`), one after the other; print the last answer and exit.",
  },
  dialect: {
    kind: "value",
    placeholder: "NAME",
    values: DIALECT_NAMES,
    systems: OURS,
    status: "works",
    summary: "Wire flavour. Without it the name of the link decides (`pi`, `omp`, `xcsh`), else `union`.",
  },
  updates: {
    kind: "value",
    placeholder: "MODE",
    values: UPDATE_MODES,
    setting: "updates.mode",
    systems: OURS,
    status: "works",
    summary: "`snapshot`: message_update carries the message so far. `delta`: only the new piece; output stays linear.",
  },
  "finish-on-eof": {
    kind: "flag",
    systems: OURS,
    status: "works",
    summary: "When stdin closes, let running and queued prompts finish instead of aborting them.",
  },
  cwd: { kind: "value", placeholder: "DIR", systems: ["omp"], status: "works", summary: "Work in this folder." },
  set: {
    kind: "repeatable",
    placeholder: "KEY=VALUE",
    systems: OURS,
    status: "works",
    summary: "Set one setting for this process, for example `--set retry.maxRetries=5`. Beats files and environment.",
  },
  help: { short: "h", kind: "flag", systems: ALL, status: "works", summary: "Show the options and exit." },
  version: { short: "v", kind: "flag", systems: ALL, status: "works", summary: "Show the version and exit." },

  // Models
  provider: {
    kind: "value",
    placeholder: "NAME",
    systems: ALL,
    status: "works",
    summary: "Provider of the model named by `--model`.",
  },
  model: {
    kind: "value",
    placeholder: "MODEL",
    systems: ALL,
    status: "works",
    summary: "Model to start with: an id, `provider/id` or a part of the name, with `:LEVEL` for thinking.",
  },
  models: {
    kind: "list",
    placeholder: "A,B",
    setting: "enabledModels",
    systems: ALL,
    status: "works",
    summary: "The models that cycle_model goes through; `*`, `?` and `[...]` match.",
  },
  "api-key": {
    kind: "value",
    placeholder: "KEY",
    systems: ALL,
    status: "works",
    summary: "Key for the provider of the chosen model, for this process only.",
  },
  thinking: {
    kind: "value",
    placeholder: "LEVEL",
    values: THINKING_LEVELS,
    isForgiving: true,
    valueAliases: { max: "xhigh" },
    setting: "defaultThinkingLevel",
    systems: ALL,
    status: "works",
    summary:
      "How much the model thinks, clamped to what it can. `max` is taken as `xhigh`; any other word is passed over with a warning.",
  },
  script: {
    kind: "value",
    placeholder: "FILE",
    systems: OURS,
    status: "works",
    summary: "Play the turns of this file instead of asking a model.",
  },
  record: {
    kind: "value",
    placeholder: "DIR",
    systems: OURS,
    status: "works",
    summary: "Write down everything that comes and goes into this new folder, so that it can be played back.",
  },
  replay: {
    kind: "value",
    placeholder: "DIR",
    systems: OURS,
    status: "works",
    summary:
      "Play this recording back: models and tools answer as recorded, and a host that does otherwise is told where.",
  },
  "max-turns": {
    kind: "value",
    placeholder: "N",
    setting: "limits.prompt.turns",
    systems: OURS,
    status: "works",
    summary: "End a prompt cleanly after this many model calls.",
  },
  "max-tool-calls": {
    kind: "value",
    placeholder: "N",
    setting: "limits.prompt.toolCalls",
    systems: OURS,
    status: "works",
    summary: "End a prompt cleanly after this many tool calls.",
  },
  "max-cost": {
    kind: "value",
    placeholder: "DOLLARS",
    setting: "limits.prompt.cost",
    systems: OURS,
    status: "works",
    summary: "End a prompt cleanly when it has cost this much.",
  },
  "max-tokens": {
    kind: "value",
    placeholder: "N",
    setting: "limits.prompt.tokens",
    systems: OURS,
    status: "works",
    summary: "End a prompt cleanly after this many tokens, input and output together.",
  },
  "max-time": {
    kind: "value",
    placeholder: "MS",
    setting: "limits.prompt.wallTimeMs",
    systems: OURS,
    status: "works",
    summary: "End a prompt cleanly after this many milliseconds.",
  },
  "no-offline-model": {
    kind: "flag",
    setting: "offlineModel.enabled",
    systems: OURS,
    status: "works",
    summary: "With nothing configured have no model at all, instead of the built-in offline one.",
  },
  smol: {
    kind: "value",
    placeholder: "MODEL",
    systems: OMP,
    status: "accepted",
    summary: "Model for small jobs.",
    warning: ROLE_WARNING,
  },
  slow: {
    kind: "value",
    placeholder: "MODEL",
    systems: OMP,
    status: "accepted",
    summary: "Model for hard jobs.",
    warning: ROLE_WARNING,
  },
  plan: {
    kind: "value",
    placeholder: "MODEL",
    systems: OMP,
    status: "accepted",
    summary: "Model for planning.",
    warning: ROLE_WARNING,
  },
  "provider-session-id": {
    kind: "value",
    placeholder: "ID",
    systems: OMP,
    status: "accepted",
    summary: "Id under which a provider may keep its cache; no provider here needs one.",
  },
  "list-models": {
    kind: "optional",
    placeholder: "TEXT",
    systems: ALL,
    status: "works",
    summary: "List the models that can be used, or those whose name holds TEXT, and exit.",
  },

  all: {
    kind: "flag",
    commands: ["models", "sessions"],
    systems: OURS,
    status: "works",
    summary: "With `tiller models`: list models without a key too. With `tiller sessions`: those of every project.",
  },
  json: {
    kind: "flag",
    commands: ["doctor", "sessions", "config", "transcript", "export"],
    systems: OURS,
    status: "works",
    summary:
      "With `tiller doctor`, `tiller sessions`, `tiller config`, `tiller transcript` and `tiller export`: what they tell, as JSON.",
  },
  agent: {
    kind: "value",
    placeholder: "COMMAND",
    commands: ["transcript"],
    systems: OURS,
    status: "works",
    summary: "With `tiller transcript run`: the agent to play against, with its arguments; this program unless told.",
  },

  // System prompt
  "system-prompt": {
    kind: "value",
    placeholder: "TEXT",
    systems: ALL,
    status: "works",
    summary: "System prompt instead of the built-in one: the text or the path of a file.",
  },
  "append-system-prompt": {
    kind: "repeatable",
    placeholder: "TEXT",
    systems: ALL,
    status: "works",
    summary: "Text or path of a file to add after the system prompt.",
  },
  "no-context-files": {
    short: "nc",
    kind: "flag",
    systems: PI,
    status: "works",
    summary: "Do not load AGENTS.md and the like.",
  },
  "no-rules": { kind: "flag", systems: OMP, status: "works", summary: "Do not load stream rules." },

  // Sessions
  "no-session": { kind: "flag", systems: ALL, status: "works", summary: "Write no session file." },
  "session-dir": {
    kind: "value",
    placeholder: "DIR",
    setting: "sessionDir",
    systems: ALL,
    status: "works",
    summary: "Write session files directly into this folder.",
  },
  continue: {
    short: "c",
    kind: "flag",
    systems: ALL,
    status: "works",
    summary: "Go on with the latest session of this project, or start one.",
  },
  resume: {
    short: "r",
    kind: "optional",
    placeholder: "PATH|ID",
    systems: ALL,
    status: "works",
    summary: "Go on with this session; without a value, as `--continue`.",
  },
  session: {
    kind: "value",
    placeholder: "PATH|ID",
    systems: ALL,
    status: "works",
    summary: "Open the session with this id, or the beginning of one, or this file; a file that is missing is started.",
  },
  "session-id": {
    kind: "value",
    placeholder: "ID",
    systems: PI,
    status: "works",
    summary: "Id for the new session; if this project has a session with it, that one is opened.",
  },
  name: {
    short: "n",
    kind: "value",
    placeholder: "NAME",
    systems: PI,
    status: "works",
    summary: "Name for the session.",
  },
  fork: {
    kind: "value",
    placeholder: "PATH|ID",
    systems: ALL,
    status: "works",
    summary: "Start with a copy of this session, which itself stays as it is.",
  },
  export: {
    kind: "value",
    placeholder: "FILE",
    systems: ALL,
    status: "works",
    summary:
      "As `tiller export FILE`: turn a session file into a page and exit. A word behind it is the path of the page.",
  },
  out: {
    kind: "value",
    placeholder: "PATH",
    commands: ["export"],
    systems: OURS,
    status: "works",
    summary: "Where the page goes; without it `tiller-session-NAME.html` in the working folder.",
  },
  "no-redact": {
    kind: "flag",
    commands: ["export"],
    systems: OURS,
    status: "works",
    summary: "Leave keys and the path of the home folder in the page.",
  },

  // Tools and what they may do
  tools: {
    short: "t",
    kind: "list",
    placeholder: "A,B",
    systems: ALL,
    status: "works",
    summary: "Exactly these tools, no others; also the presets read-only, coding and all.",
  },
  "exclude-tools": {
    short: "xt",
    kind: "list",
    placeholder: "A,B",
    systems: PI,
    status: "works",
    summary: "All tools that would be active but these.",
  },
  "no-tools": {
    short: "nt",
    kind: "flag",
    systems: ALL,
    status: "works",
    summary: "No tools, or only those of `--tools`.",
  },
  "no-builtin-tools": {
    short: "nbt",
    kind: "flag",
    systems: PI,
    status: "works",
    summary: "No built-in tools; tools of the host and of extensions stay.",
  },
  approve: {
    short: "a",
    kind: "flag",
    systems: PI,
    status: "works",
    summary: "Trust the project: its extensions are loaded, and settings in its folder that name programs count too.",
  },
  "no-approve": {
    short: "na",
    kind: "flag",
    systems: PI,
    status: "works",
    summary: "Distrust the project: nothing in its folder is read as configuration.",
  },
  "approval-mode": {
    kind: "value",
    placeholder: "MODE",
    values: APPROVAL_MODES,
    valueAliases: { "always-ask": "always", yolo: "never" },
    setting: "approval.mode",
    systems: ["tiller", "omp"],
    status: "works",
    summary:
      "Ask before a tool runs: `always`, for `write` only those that may change something, or `never`. [Rules](approvals.md) hold in any case.",
  },

  // Extensions, skills, templates
  extension: {
    short: "e",
    kind: "repeatable",
    placeholder: "PATH",
    systems: ALL,
    status: "works",
    summary: "Load this extension, or those in this folder.",
  },
  hook: {
    kind: "repeatable",
    placeholder: "PATH",
    systems: OMP,
    status: "works",
    summary: "Load this extension (old name).",
  },
  "plugin-dir": {
    kind: "repeatable",
    placeholder: "DIR",
    systems: OMP,
    status: "works",
    summary: "Load the plugins of this folder.",
  },
  "no-extensions": {
    short: "ne",
    kind: "flag",
    systems: ALL,
    status: "works",
    summary: "Load no extensions but those that --extension names.",
  },
  skill: {
    kind: "repeatable",
    placeholder: "PATH",
    systems: PI,
    status: "works",
    summary: "Load this skill, or those in this folder.",
  },
  skills: {
    kind: "list",
    placeholder: "A,B",
    systems: OMP,
    status: "works",
    summary: "Only the skills that match.",
  },
  "no-skills": {
    short: "ns",
    kind: "flag",
    systems: ALL,
    status: "works",
    summary: "Find no skills; those named with --skill still count.",
  },
  "prompt-template": {
    kind: "repeatable",
    placeholder: "PATH",
    systems: PI,
    status: "works",
    summary: "Load this prompt template, or those in this folder.",
  },
  "no-prompt-templates": {
    short: "np",
    kind: "flag",
    systems: PI,
    status: "works",
    summary: "Find no prompt templates; those named with --prompt-template still count.",
  },
  "no-mcp": {
    kind: "flag",
    systems: PI,
    status: "works",
    summary: "Start no [MCP servers](mcp.md), neither those of `mcp.json` nor those of extensions.",
  },

  // Things of a terminal or of a service that a headless agent does not have
  "no-title": {
    kind: "flag",
    systems: OMP,
    status: "accepted",
    summary: "Make up no session title; none is ever made up.",
  },
  offline: {
    kind: "flag",
    systems: PI,
    status: "works",
    summary:
      "No server is asked for its models, neither in RPC mode nor by `tiller models` and `tiller doctor`. Model calls are not held back.",
  },
  verbose: { kind: "flag", systems: PI, status: "accepted", summary: "Say more at the start." },
  theme: { kind: "repeatable", placeholder: "PATH", systems: PI, status: "accepted", summary: "Colours." },
  "no-themes": { kind: "flag", systems: PI, status: "accepted", summary: "Find no colour themes." },
  "use-theme": { kind: "value", placeholder: "NAME", systems: PI, status: "accepted", summary: "Colours by name." },
  "tui-mode": { kind: "value", placeholder: "MODE", systems: PI, status: "accepted", summary: "How to draw." },
  "no-lsp": { kind: "flag", systems: OMP, status: "accepted", summary: "No language servers; none are started." },
  "no-pty": { kind: "flag", systems: OMP, status: "accepted", summary: "No pseudo terminal; none is used." },
  "allow-home": {
    kind: "flag",
    systems: OMP,
    status: "accepted",
    summary: "Work in the home folder; that is always allowed.",
  },
} as const satisfies Record<string, OptionRow>;

export type OptionName = keyof typeof OPTIONS;

/** The table with its rows seen alike. */
export const OPTION_ROWS: Readonly<Record<string, OptionRow>> = OPTIONS;

type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type OneOf<Row> = Row extends { values: readonly (infer V)[] } ? V : string;
type ValueOf<Row extends OptionRow> = Row["kind"] extends "flag"
  ? boolean
  : Row["kind"] extends "value"
    ? OneOf<Row>
    : Row["kind"] extends "optional"
      ? string | true
      : string[];

/** The options that were given: `--no-session` is `noSession`. Options that were not given are absent. */
export type CliOptions = { -readonly [Name in OptionName as Camel<Name>]?: ValueOf<(typeof OPTIONS)[Name]> };
