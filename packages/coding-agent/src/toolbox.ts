import type { AgentTool } from "@tiller/agent/types";
import type { Model } from "@tiller/protocol/model";
import { type ActiveTools, createActiveTools } from "./active-tools.ts";
import type { CliOptions } from "./cli-options.ts";

/** Tools that are not built in. One of the name of a built-in tool takes its place. */
export interface OtherTools {
  /** In their order. */
  names(): readonly string[];
  tool(name: string): AgentTool | undefined;
}

export interface Toolbox {
  readonly active: ActiveTools;
  readonly others: OtherTools;
  /** What this model is offered; `builtIn` makes those that nobody has replaced. */
  toolsFor(model: Model, builtIn: (name: string) => AgentTool): AgentTool[];
}

export function createToolbox(options: CliOptions, others: OtherTools = NONE): Toolbox {
  const active = createActiveTools(options, others.names);
  return {
    active,
    others,
    toolsFor: (model, builtIn) => active.names(model).map((name) => others.tool(name) ?? builtIn(name)),
  };
}

const NONE: OtherTools = { names: () => [], tool: () => undefined };
