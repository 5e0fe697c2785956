import type { AgentDefinition } from "./agent.ts";

/** Which tools a sub-agent gets. Pure. */

/** Names under which files of other programs know our tools, in small letters. */
const ALIASES: Readonly<Record<string, string>> = {
  glob: "find",
  multiedit: "edit",
  search: "grep",
  agent: "task",
};

/** What belongs to the main agent alone: the plan that the person sees. */
const MAIN_ONLY = new Set(["todo"]);

export interface ToolChoice {
  /** Those of whoever starts it. */
  own: readonly string[];
  /** It may be given, because whoever starts it has it or could have it. */
  mayHave(name: string): boolean;
  /** It may start others itself. */
  mayDelegate: boolean;
}

/** In their order, and those that were asked for and cannot be given. */
export function toolsOf(
  { tools }: Pick<AgentDefinition, "tools">,
  { own, mayHave, mayDelegate }: ToolChoice,
): { names: string[]; refused: string[] } {
  const isFor = (name: string): boolean => !MAIN_ONLY.has(name) && (mayDelegate || name !== "task");
  if (!tools) return { names: own.filter(isFor), refused: [] };
  const wanted = tools.includes("*") ? [...own, ...tools.filter((name) => name !== "*")] : tools;
  const known = [...new Set(wanted.map((name) => (mayHave(name) ? name : ourName(name))))];
  return {
    names: known.filter((name) => isFor(name) && mayHave(name)),
    refused: known.filter((name) => !mayHave(name)),
  };
}

function ourName(name: string): string {
  const small = name.toLowerCase();
  return Object.hasOwn(ALIASES, small) ? ALIASES[small]! : small;
}
