import type { AgentTool } from "@tiller/agent/types";
import type { Model } from "@tiller/protocol/model";
import { type ActiveTools, createActiveTools } from "./active-tools.ts";
import type { CliOptions } from "./cli-options.ts";
import { isBuiltinTool } from "./tools/index.ts";

/** Tools that are not built in. One of the name of a built-in tool takes its place. */
export interface OtherTools {
  /** In their order. */
  names(): readonly string[];
  tool(name: string): AgentTool | undefined;
}

/** Tools of the host. What the command line says about tools does not concern them: the host says it when it lends them. */
export interface LentTools {
  names(): readonly string[];
  /** Those that are offered without being asked for. */
  visible(): readonly string[];
  tool(name: string): AgentTool | undefined;
}

/** Every tool there is, and which of them a model is offered. */
export interface Toolbox {
  readonly active: ActiveTools;
  /** One that is not built in. */
  other(name: string): AgentTool | undefined;
  /** What this model is offered; `builtIn` makes those that nobody has replaced. */
  toolsFor(model: Model, builtIn: (name: string) => AgentTool): AgentTool[];
  lend(tools: LentTools): void;
  /** The names of those that the host lends. */
  lent(): readonly string[];
  /** There is a built-in tool of this name here. */
  hasBuiltIn(name: string): boolean;
  /** The host cannot lend a tool of this name: there is another one. */
  isTaken(name: string): boolean;
}

/** The built-in tools as this session has them. */
export interface BuiltIn {
  /** Active at the start beside those that always are. */
  usual: readonly string[];
  /** What a setting has put in the place of all that are active at the start. */
  chosen?: readonly string[];
  /** Switched off by a setting: they are not there. */
  missing: readonly string[];
}

export function createToolbox(
  options: CliOptions,
  others: OtherTools = NONE,
  { usual, chosen, missing }: BuiltIn = ALL_BUILT_IN,
): Toolbox {
  const hasBuiltIn = (name: string): boolean => isBuiltinTool(name) && !missing.includes(name);
  let lent: LentTools | undefined;
  const other = (name: string): AgentTool | undefined => others.tool(name) ?? lent?.tool(name);
  const active = createActiveTools(options, {
    usual,
    chosen,
    added: others.names,
    lent: () => lent?.visible() ?? [],
    exists: (name) => hasBuiltIn(name) || other(name) !== undefined,
  });
  return {
    active,
    other,
    toolsFor: (model, builtIn) => active.names(model).map((name) => other(name) ?? builtIn(name)),
    hasBuiltIn,
    isTaken: (name) => hasBuiltIn(name) || others.tool(name) !== undefined,
    lend(tools) {
      lent = tools;
    },
    lent: () => lent?.names() ?? [],
  };
}

/** Of the same name the first counts. */
export function joinTools(first: OtherTools | undefined, second: OtherTools): OtherTools {
  if (!first) return second;
  return {
    names: () => [...new Set([...first.names(), ...second.names()])],
    tool: (name) => first.tool(name) ?? second.tool(name),
  };
}

const ALL_BUILT_IN: BuiltIn = { usual: [], missing: [] };
const NONE: OtherTools = { names: () => [], tool: () => undefined };
