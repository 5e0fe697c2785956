import type { AgentTool } from "@tiller/agent/types";
import type { ToolContext, ToolDefinition } from "./tool.ts";

/** The built-in tools. A tool's code is loaded when the tool is wanted, so this table costs nothing at start. */

interface ToolRow {
  name: string;
  /** Offered to the model when nobody chose otherwise. */
  defaultActive: boolean;
  concurrency: AgentTool["concurrency"];
  load(): Promise<(context: ToolContext) => ToolDefinition>;
}

export const BUILTIN_TOOLS = [
  {
    name: "read",
    defaultActive: true,
    concurrency: "shared",
    load: async () => (await import("./read.ts")).createReadTool,
  },
  {
    name: "bash",
    defaultActive: true,
    concurrency: "exclusive",
    load: async () => (await import("./bash.ts")).createBashTool,
  },
  {
    name: "edit",
    defaultActive: true,
    concurrency: "exclusive",
    load: async () => (await import("./edit.ts")).createEditTool,
  },
  {
    name: "write",
    defaultActive: true,
    concurrency: "exclusive",
    load: async () => (await import("./write.ts")).createWriteTool,
  },
  {
    name: "grep",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./grep.ts")).createGrepTool,
  },
  {
    name: "find",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./find.ts")).createFindTool,
  },
  {
    name: "ls",
    defaultActive: false,
    concurrency: "shared",
    load: async () => (await import("./ls.ts")).createLsTool,
  },
] as const satisfies readonly ToolRow[];

export type BuiltinToolName = (typeof BUILTIN_TOOLS)[number]["name"];

const ROWS = new Map<string, ToolRow>(BUILTIN_TOOLS.map((row) => [row.name, row]));

export function defaultToolNames(): BuiltinToolName[] {
  return BUILTIN_TOOLS.filter((row) => row.defaultActive).map((row) => row.name);
}

export function isBuiltinTool(name: string): name is BuiltinToolName {
  return ROWS.has(name);
}

/** Loads and creates the named tools, in the order of the names, each once. Throws on a name that is not built in. */
export async function createTools(options: ToolContext & { names: readonly string[] }): Promise<AgentTool[]> {
  const { names, ...context } = options;
  return Promise.all([...new Set(names)].map((name) => createTool(name, context)));
}

async function createTool(name: string, context: ToolContext): Promise<AgentTool> {
  const row = ROWS.get(name);
  if (!row) throw new Error(`Unknown tool "${name}". Built-in tools: ${[...ROWS.keys()].join(", ")}`);
  const create = await row.load();
  return { ...create(context), name: row.name, concurrency: row.concurrency };
}
