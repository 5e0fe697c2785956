import type { Dialect, DialectName } from "@tiller/protocol/dialects/dialect";
import { DIALECTS } from "@tiller/protocol/dialects/index";
import {
  APPROVAL_MODES,
  INTERRUPT_MODES,
  QUEUE_MODES,
  REDACT_MODES,
  RULE_INTERRUPT_MODES,
  THINKING_LEVELS,
  UPDATE_MODES,
} from "./choices.ts";

/**
 * Every setting. Types, defaults, checks and docs/settings.md come from this table; a dotted key stands for nested objects
 * in the file. Which option or variable beats a setting stands in the table of options and in the one of variables. The
 * start path has `settings-table.generated.ts` instead, the same without what is only for people.
 */

export type SettingType = "boolean" | "integer" | "number" | "string" | "choice" | "strings" | "map" | "any";

/** What the dialects start from, where the protocol already says it. */
function perDialect<T>(pick: (dialect: Dialect) => T): Record<DialectName, T> {
  const { union, pi, omp, xcsh } = DIALECTS;
  return { union: pick(union), pi: pick(pi), omp: pick(omp), xcsh: pick(xcsh) };
}

/** What is needed to read it. */
export interface SettingRule {
  type: SettingType;
  /** Absent: unset unless somebody sets it. */
  default?: unknown;
  /** Where a dialect starts from something else. */
  dialectDefaults?: Readonly<Partial<Record<DialectName, unknown>>>;
  /** The allowed ones of a choice. */
  values?: readonly string[];
  /** Other spellings of a value. */
  valueAliases?: Readonly<Record<string, string>>;
  /** The least a number may be; 0 unless it says otherwise. */
  min?: number;
  /** Old names of the key that are still read. */
  formerly?: readonly string[];
  /** RPC mode takes only the built-in default or the host's own `--set`: a user's habits must not change a host's workflow. */
  resetInRpc?: true;
  /** Why it counts in a project file only when the project is trusted. */
  needsTrust?: "can start programs" | "says where conversations are kept" | "is between the host and the agent";
  /** The lists of all files, the environment and the command line count together; else the strongest source counts alone. */
  addsUp?: true;
  /**
   * A project that is not trusted may only choose what is stricter. The values of a choice are ordered, the strictest first;
   * of numbers the smaller one is stricter, and 0 is no limit at all; yes is stricter than no.
   */
  stricterOnly?: true;
}

export interface SettingRow extends SettingRule {
  /** later: read and checked, but the capability behind it is not built yet. */
  status: "works" | "later";
  summary: string;
}

export const SETTINGS = {
  // Models
  defaultProvider: { type: "string", status: "works", summary: "Provider of the default model." },
  defaultModel: {
    type: "string",
    status: "works",
    summary: "Model to start with when the command line names none; beats the offline model.",
  },
  defaultThinkingLevel: {
    type: "choice",
    values: THINKING_LEVELS,
    valueAliases: { max: "xhigh" },
    default: DIALECTS.union.defaults.thinkingLevel,
    dialectDefaults: perDialect((dialect) => dialect.defaults.thinkingLevel),
    status: "works",
    summary: "How much the model thinks, clamped to what it can.",
  },
  enabledModels: {
    type: "strings",
    default: [],
    status: "works",
    summary: "The models that cycle_model goes through; `*`, `?` and `[...]` match. Empty: all usable ones.",
  },
  "offlineModel.enabled": {
    type: "boolean",
    default: true,
    status: "works",
    summary: "Fall back on the built-in offline model when nothing is configured.",
  },
  modelRoles: {
    type: "map",
    default: {},
    status: "works",
    summary:
      "Models for roles. `default`, as `provider/id` or `provider/id:LEVEL`, is the model to start with where neither defaultProvider nor defaultModel names one; the others, such as `smol` and `slow`, are not used yet.",
  },
  "thinkingBudgets.minimal": { type: "integer", status: "later", summary: "Tokens for thinking level minimal." },
  "thinkingBudgets.low": { type: "integer", status: "later", summary: "Tokens for thinking level low." },
  "thinkingBudgets.medium": { type: "integer", status: "later", summary: "Tokens for thinking level medium." },
  "thinkingBudgets.high": { type: "integer", status: "later", summary: "Tokens for thinking level high." },

  // The wire
  "updates.mode": {
    type: "choice",
    needsTrust: "is between the host and the agent",
    values: UPDATE_MODES,
    default: "snapshot",
    status: "works",
    summary: "What message_update carries: the message so far, or only the new piece.",
  },
  "input.maxLineBytes": {
    type: "integer",
    needsTrust: "is between the host and the agent",
    min: 1024,
    default: 256 * 1024 * 1024,
    status: "works",
    summary: "Longest line accepted on stdin. A longer one is answered with a parse error; reading goes on after it.",
  },
  "journal.maxBytes": {
    type: "integer",
    needsTrust: "is between the host and the agent",
    min: 0,
    default: 16 * 1024 * 1024,
    status: "works",
    summary:
      "How much of what a host was told is kept for each session, to be told again by subscribe; 0 keeps nothing.",
  },
  "rpc.emitTitle": {
    type: "boolean",
    needsTrust: "is between the host and the agent",
    default: DIALECTS.union.sendsTitle,
    dialectDefaults: perDialect((dialect) => dialect.sendsTitle),
    status: "works",
    summary: "Send setTitle requests to the host.",
  },

  // Queues
  steeringMode: {
    type: "choice",
    values: QUEUE_MODES,
    default: "one-at-a-time",
    formerly: ["queueMode"],
    status: "works",
    summary: "How many steering messages are delivered at once.",
  },
  followUpMode: {
    type: "choice",
    values: QUEUE_MODES,
    default: "one-at-a-time",
    status: "works",
    summary: "How many follow-up messages are delivered at once.",
  },
  interruptMode: {
    type: "choice",
    values: INTERRUPT_MODES,
    default: DIALECTS.union.defaults.interruptMode,
    dialectDefaults: perDialect((dialect) => dialect.defaults.interruptMode),
    status: "works",
    summary: "`immediate`: a steering message skips the tool calls that have not started. `wait`: they run first.",
  },

  // Approvals
  "approval.mode": {
    type: "choice",
    values: APPROVAL_MODES,
    valueAliases: { "always-ask": "always", yolo: "never" },
    default: "never",
    stricterOnly: true,
    status: "works",
    summary:
      "Who is asked before a tool runs, where no rule says otherwise. `always`: for every tool. `write`: for all but the built-in ones that only read. `never`: for none.",
  },
  "approval.allow": {
    type: "strings",
    default: [],
    addsUp: true,
    needsTrust: "can start programs",
    status: "works",
    summary: "[Rules](approvals.md) for calls that run unasked, such as `bash(git status)` or `write(src/**)`.",
  },
  "approval.ask": {
    type: "strings",
    default: [],
    addsUp: true,
    status: "works",
    summary: "[Rules](approvals.md) for calls that are asked, whatever is allowed.",
  },
  "approval.deny": {
    type: "strings",
    default: [],
    addsUp: true,
    status: "works",
    summary: "[Rules](approvals.md) for calls that never run.",
  },
  "approval.timeoutMs": {
    type: "integer",
    default: 0,
    status: "works",
    summary: "How long a question waits; then the call is denied. 0: until it is answered or the run is aborted.",
  },

  // Sessions
  sessionDir: {
    type: "string",
    needsTrust: "says where conversations are kept",
    status: "works",
    summary: "Folder for session files, instead of one folder per working folder under the agent folder.",
  },

  "session.fsync": {
    type: "choice",
    values: ["turn", "always", "never"],
    default: "turn",
    status: "works",
    summary:
      "When the session file is made safe from a loss of power: after each turn, each entry, or when the system likes.",
  },

  // Compaction
  "compaction.enabled": { type: "boolean", default: true, status: "works", summary: "Compact when the context fills." },
  "compaction.strategy": {
    type: "choice",
    values: ["context-full", "handoff", "off"],
    default: "context-full",
    status: "works",
    summary:
      "What to do when the context fills; `off` is the same as compaction.enabled false, `handoff` as context-full.",
  },
  "compaction.reserveTokens": {
    type: "integer",
    default: 16384,
    status: "works",
    summary: "Tokens of the context window that are kept free for the answer; at most half of the window counts.",
  },
  "compaction.keepRecentTokens": {
    type: "integer",
    default: 20000,
    status: "works",
    summary: "About this many tokens at the end stay as they are; at most half of the threshold counts.",
  },
  "compaction.thresholdPercent": {
    type: "integer",
    min: -1,
    default: -1,
    status: "works",
    summary: "Compact at this share of the window; -1: at the window less reserveTokens.",
  },
  "compaction.thresholdTokens": {
    type: "integer",
    min: -1,
    default: -1,
    status: "works",
    summary: "Compact at this many tokens; -1: not set.",
  },
  "compaction.autoContinue": {
    type: "boolean",
    default: false,
    dialectDefaults: { omp: true, xcsh: true },
    status: "works",
    summary: "Go on by itself after a compaction at the threshold. Off: only when messages are queued.",
  },
  "branchSummary.reserveTokens": {
    type: "integer",
    default: 16384,
    status: "works",
    summary: "Tokens kept free when a branch is summarised.",
  },

  // Retry
  "retry.enabled": { type: "boolean", default: true, status: "works", summary: "Try again after a passing failure." },
  "retry.maxRetries": { type: "integer", default: 3, status: "works", summary: "How often to try again." },
  "retry.baseDelayMs": {
    type: "integer",
    default: 2000,
    status: "works",
    summary: "Wait before the first new try; it doubles each time.",
  },
  "retry.provider.timeoutMs": {
    type: "integer",
    min: 1,
    default: 300_000,
    status: "works",
    summary: "Longest wait for the first byte of an answer; then it counts as stalled, which can be retried.",
  },
  "retry.provider.idleTimeoutMs": {
    type: "integer",
    min: 1,
    default: 120_000,
    status: "works",
    summary: "Longest silence within an answer; then it counts as stalled, which can be retried.",
  },
  cacheRetention: {
    type: "choice",
    values: ["none", "short", "long"],
    default: "short",
    status: "works",
    summary: "How long providers are asked to keep a prompt for the next request, where they can be asked.",
  },
  cacheWarming: {
    type: "choice",
    values: ["off", "idle"],
    default: "off",
    stricterOnly: true,
    status: "works",
    summary:
      "Whether a provider is asked once more, for next to no answer, shortly before it forgets the conversation, while nobody says anything (`idle`). Costs money.",
  },
  cacheWarmingTimes: {
    type: "integer",
    default: 3,
    stricterOnly: true,
    min: 1,
    status: "works",
    summary: "How often at most that is done between two runs.",
  },
  "retry.provider.maxRetries": { type: "integer", status: "later", summary: "Tries within one model call." },
  "retry.provider.maxRetryDelayMs": {
    type: "integer",
    default: 60000,
    formerly: ["retry.maxDelayMs"],
    status: "works",
    summary: "Longest wait a provider may ask for; beyond it the prompt fails.",
  },

  // Limits: 0 means none
  "limits.prompt.turns": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Model calls for one prompt.",
  },
  "limits.prompt.toolCalls": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Tool calls for one prompt.",
  },
  "limits.prompt.cost": {
    type: "number",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Dollars for one prompt.",
  },
  "limits.prompt.tokens": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Tokens for one prompt.",
  },
  "limits.prompt.wallTimeMs": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Milliseconds for one prompt.",
  },
  "limits.session.turns": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Model calls for the session.",
  },
  "limits.session.toolCalls": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Tool calls for the session.",
  },
  "limits.session.cost": {
    type: "number",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Dollars for the session.",
  },
  "limits.session.tokens": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Tokens for the session.",
  },
  "limits.session.wallTimeMs": {
    type: "integer",
    stricterOnly: true,
    default: 0,
    status: "works",
    summary: "Milliseconds for the session, from the start of the process.",
  },

  // Tools
  shellPath: {
    type: "string",
    needsTrust: "can start programs",
    status: "works",
    summary: "Shell for the bash tool and command.",
  },
  shellCommandPrefix: {
    type: "string",
    needsTrust: "can start programs",
    status: "works",
    summary: "Text put before every shell command.",
  },
  defaultTools: {
    type: "strings",
    needsTrust: "can start programs",
    status: "works",
    summary:
      "The tools that are active at the start beside those of extensions, presets too; `--tools` goes before it.",
  },
  "images.autoResize": { type: "boolean", default: true, status: "later", summary: "Shrink large images." },
  "images.blockImages": {
    type: "boolean",
    default: false,
    stricterOnly: true,
    status: "works",
    summary: "Send no images to models: a note stands in their place. The session keeps them.",
  },

  // Extensions, skills, templates
  packages: {
    type: "any",
    needsTrust: "can start programs",
    status: "works",
    summary: "Packages of extensions, skills and templates.",
  },
  extensions: {
    type: "strings",
    default: [],
    needsTrust: "can start programs",
    status: "works",
    summary: "Extensions to load.",
  },
  "extensionLimits.loadMs": {
    type: "integer",
    default: 10_000,
    min: 1,
    status: "works",
    summary: "How long an extension may take to load.",
  },
  "extensionLimits.hookMs": {
    type: "integer",
    default: 0,
    min: 0,
    status: "works",
    summary:
      "The longest time a handler of an extension may take, if that is less than its event allows; 0: what its event allows.",
  },
  "extensionLimits.stuckMs": {
    type: "integer",
    default: 10_000,
    min: 1,
    status: "works",
    summary: "How long an extension may compute without a pause before the process is ended.",
  },
  skills: { type: "any", status: "works", summary: "More folders with skills." },
  enableSkillCommands: {
    type: "boolean",
    default: true,
    formerly: ["skills.enableSkillCommands"],
    status: "works",
    summary: "Offer skills as commands.",
  },
  prompts: { type: "strings", default: [], status: "works", summary: "More folders with prompt templates." },
  defaultProjectTrust: {
    type: "choice",
    values: ["ask", "always", "never"],
    default: "ask",
    needsTrust: "can start programs",
    status: "works",
    summary:
      "What holds for projects nobody has decided about; without anybody to ask, `ask` lets in texts and no code.",
  },

  // Workflow: a host gets the built-in defaults
  "todo.enabled": {
    type: "boolean",
    default: true,
    resetInRpc: true,
    status: "works",
    summary: "Offer the todo tool.",
  },
  "todo.reminders": {
    type: "boolean",
    default: true,
    resetInRpc: true,
    status: "works",
    summary: "Remind the model of open todos when it stops.",
  },
  "todo.reminders.max": {
    type: "integer",
    default: 3,
    resetInRpc: true,
    status: "works",
    summary: "Reminders for one prompt.",
  },
  "todo.eager": {
    type: "boolean",
    default: false,
    resetInRpc: true,
    status: "works",
    summary: "Ask a model that has the tool `todo` to write a plan before it begins.",
  },
  "tasks.todoClearDelay": {
    type: "integer",
    min: -1,
    default: 60,
    resetInRpc: true,
    status: "works",
    summary: "Seconds until finished todos are cleared; -1: never.",
  },
  "ttsr.enabled": {
    type: "boolean",
    default: true,
    stricterOnly: true,
    status: "works",
    summary: "Look for stream rules and obey them.",
  },
  "ttsr.contextMode": {
    type: "choice",
    values: ["discard", "keep"],
    default: "discard",
    status: "works",
    summary: "What becomes of an answer that a stream rule has interrupted: the model sees it again, or not.",
  },
  "ttsr.interruptMode": {
    type: "choice",
    values: RULE_INTERRUPT_MODES,
    default: "always",
    status: "works",
    summary: "Where a match of a stream rule interrupts the answer; elsewhere the model is told after it.",
  },
  "ttsr.repeatMode": {
    type: "choice",
    values: ["once", "after-gap"],
    default: "once",
    status: "works",
    summary: "How often a stream rule may trigger: once in a session, or again after `ttsr.repeatGap`.",
  },
  "ttsr.repeatGap": {
    type: "integer",
    min: 1,
    default: 10,
    status: "works",
    summary: "Messages until a stream rule may trigger again.",
  },
  "task.isolation.mode": {
    type: "string",
    default: "none",
    resetInRpc: true,
    status: "later",
    summary: "How sub-agents are kept apart.",
  },
  "task.isolation.merge": {
    type: "string",
    default: "patch",
    resetInRpc: true,
    status: "later",
    summary: "How their work comes back.",
  },
  "task.isolation.commits": {
    type: "string",
    default: "generic",
    resetInRpc: true,
    status: "later",
    summary: "What their commits are called.",
  },
  "task.eager": {
    type: "boolean",
    default: false,
    resetInRpc: true,
    status: "works",
    summary: "Ask the model to hand out work.",
  },
  "task.maxConcurrency": {
    type: "integer",
    min: 1,
    default: 8,
    resetInRpc: true,
    status: "works",
    summary: "Sub-agents at the same time.",
  },
  "task.maxRecursionDepth": {
    type: "integer",
    min: -1,
    default: 2,
    resetInRpc: true,
    status: "works",
    summary: "How deep sub-agents may start others; -1: no limit.",
  },
  "task.disabledAgents": {
    type: "strings",
    default: [],
    resetInRpc: true,
    status: "works",
    summary: "Sub-agents that are not offered.",
  },
  "task.agentModelOverrides": {
    type: "map",
    default: {},
    resetInRpc: true,
    status: "works",
    summary: "Models for single sub-agents.",
  },
  "async.enabled": {
    type: "boolean",
    default: false,
    resetInRpc: true,
    status: "works",
    summary: "Commands of the model may run in the background.",
  },
  "async.maxJobs": {
    type: "integer",
    min: 1,
    default: 100,
    resetInRpc: true,
    status: "works",
    summary: "Background jobs that may run at the same time.",
  },

  // Export
  "export.redact.mode": {
    type: "choice",
    values: REDACT_MODES,
    default: "all",
    stricterOnly: true,
    status: "works",
    summary:
      "What exported pages do not tell. `all`: keys, and where the home folder is (`~`). `keys`: only keys, those that are known here and what looks like one. `none`: they tell everything.",
  },
  "export.redact.patterns": {
    type: "strings",
    default: [],
    addsUp: true,
    status: "works",
    summary:
      "More texts that exported pages do not tell. One `*` in each stands for a run of letters, digits and `_.~+/=-`.",
  },
} as const satisfies Record<string, SettingRow>;

export type SettingKey = keyof typeof SETTINGS;

/** The table with its rows seen alike. */
export const SETTING_ROWS: Readonly<Record<string, SettingRow>> = SETTINGS;

type TypeOf<Row> = Row extends { type: "boolean" }
  ? boolean
  : Row extends { type: "integer" | "number" }
    ? number
    : Row extends { type: "choice"; values: readonly (infer V)[] }
      ? V
      : Row extends { type: "string" }
        ? string
        : Row extends { type: "strings" }
          ? readonly string[]
          : Row extends { type: "map" }
            ? Readonly<Record<string, unknown>>
            : unknown;

/** What `settings.get(key)` gives: never undefined where the row has a default. */
export type SettingValue<K extends SettingKey> = (typeof SETTINGS)[K] extends { default: unknown }
  ? TypeOf<(typeof SETTINGS)[K]>
  : TypeOf<(typeof SETTINGS)[K]> | undefined;
