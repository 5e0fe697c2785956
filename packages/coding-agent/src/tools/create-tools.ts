import type { AgentTool, ToolInvocation } from "@tiller/agent/types";
import { isBuiltinTool, TOOL_ROWS } from "./index.ts";
import { specOf } from "./specs.ts";
import type { Execute, ToolContext } from "./tool.ts";

/** The named built-in tools, in the order of the names, each once. Throws on a name that is not built in. */
export function createTools({ names, ...context }: ToolContext & { names: readonly string[] }): AgentTool[] {
  return [...new Set(names)].map((name) => createTool(name, context));
}

function createTool(name: string, context: ToolContext): AgentTool {
  const row = TOOL_ROWS.get(name);
  if (!row || !isBuiltinTool(name)) {
    throw new Error(`Unknown tool "${name}". Built-in tools: ${[...TOOL_ROWS.keys()].join(", ")}`);
  }
  let loaded: Promise<Execute<never>> | undefined;
  return {
    ...specOf(name, context.jobs !== undefined),
    name,
    concurrency: row.concurrency,
    async execute(call) {
      loaded ??= row.load().then((create) => create(context));
      return (await loaded)(call as ToolInvocation<never>);
    },
  };
}
