import type { AgentTool } from "@tiller/agent/types";
import type { Execute, ToolContext } from "./tool.ts";

/** The built-in tools. A tool's code is loaded when the tool is first called, so this table costs nothing at start. */

export interface ToolRow {
  name: string;
  /** Offered to the model when nobody chose otherwise. */
  defaultActive: boolean;
  concurrency: AgentTool["concurrency"];
  /** The setting without which there is no such tool: its name is then free for others. */
  needs?: "async.enabled";
  /** `never`: what the arguments are is known to the tool alone; they are checked against its parameters. */
  load(): Promise<(context: ToolContext) => Execute<never>>;
}

export const BUILTIN_TOOLS = [
  {
    name: "read",
    defaultActive: true,
    concurrency: "shared",
    load: async () => (await import("./read.ts")).createRead,
  },
  {
    name: "bash",
    defaultActive: true,
    concurrency: "exclusive",
    load: async () => (await import("./bash.ts")).createBash,
  },
  {
    name: "edit",
    defaultActive: true,
    concurrency: "exclusive",
    load: async () => (await import("./edit.ts")).createEdit,
  },
  {
    name: "write",
    defaultActive: true,
    concurrency: "exclusive",
    load: async () => (await import("./write.ts")).createWrite,
  },
  {
    name: "grep",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./grep.ts")).createGrep,
  },
  {
    name: "find",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./find.ts")).createFind,
  },
  {
    name: "ls",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./ls.ts")).createLs,
  },
  {
    name: "todo",
    defaultActive: false,
    concurrency: "exclusive",
    load: async () => (await import("./todo.ts")).createTodo,
  },
  {
    name: "task",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./task.ts")).createTask,
  },
  {
    name: "poll",
    defaultActive: false,
    concurrency: "shared",
    needs: "async.enabled",
    load: async () => (await import("./poll.ts")).createPoll,
  },
  {
    name: "cancel_job",
    defaultActive: false,
    concurrency: "exclusive",
    needs: "async.enabled",
    load: async () => (await import("./cancel-job.ts")).createCancelJob,
  },
] as const satisfies readonly ToolRow[];

export type BuiltinToolName = (typeof BUILTIN_TOOLS)[number]["name"];

export const TOOL_ROWS: ReadonlyMap<string, ToolRow> = new Map(BUILTIN_TOOLS.map((row) => [row.name, row]));

export function defaultToolNames(): BuiltinToolName[] {
  return BUILTIN_TOOLS.filter((row) => row.defaultActive).map((row) => row.name);
}

export function isBuiltinTool(name: string): name is BuiltinToolName {
  return TOOL_ROWS.has(name);
}

/** Names for several tools at once, for whoever chooses tools by name. */
export const TOOL_PRESETS = {
  /** What the model gets when nobody chose otherwise. */
  coding: defaultToolNames(),
  /** Looks, and changes nothing. */
  "read-only": ["read", "grep", "find", "ls"],
  all: BUILTIN_TOOLS.map((row) => row.name),
} as const satisfies Record<string, readonly BuiltinToolName[]>;

/** Presets become the tools they stand for; built-in names may be written in any case. Each name once, in order. */
export function expandToolNames(names: readonly string[]): string[] {
  const expanded = names.flatMap((name): readonly string[] => {
    const known = name.toLowerCase();
    if (isPreset(known)) return TOOL_PRESETS[known];
    return [isBuiltinTool(known) ? known : name];
  });
  return [...new Set(expanded)];
}

function isPreset(name: string): name is keyof typeof TOOL_PRESETS {
  return Object.hasOwn(TOOL_PRESETS, name);
}
