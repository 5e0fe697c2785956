import { oneLine as inOneLine, visible } from "../lib/visible.ts";
import type { CallFacts } from "./judge.ts";

/** What a person is asked, in words that the call cannot make up. Pure. */

export const APPROVE = "Approve";
export const DENY = "Deny";
export const ALWAYS = "Always approve";
export const CHOICES = [APPROVE, DENY, ALWAYS] as const;

/** Who makes the call, when it is not the main agent: `id` as in `get_subagents`, and the name of its definition. */
export interface SubAgentName {
  id: string;
  agent: string;
}

/** Longer texts are cut, and it is said how much is missing; a command never is. */
const LONGEST = 4000;

/** `Allow tool: NAME`, then one line for each detail. A command stands last, so that whatever is in it is the command's. */
export function questionFor(
  { tool, paths, command }: Pick<CallFacts, "tool" | "paths" | "command">,
  args: Readonly<Record<string, unknown>>,
  why: string | undefined,
  subAgent?: SubAgentName,
): string {
  const lines = [`Allow tool: ${oneLine(tool)}`];
  if (subAgent) lines.push(`Sub-agent: ${oneLine(subAgent.id)} (${oneLine(subAgent.agent)})`);
  if (why !== undefined) lines.push(`Reason: ${oneLine(why)}`);
  for (const { shown, named, real } of paths) {
    lines.push(`Path: ${oneLine(shown)}`);
    if (real !== named) lines.push(`Really: ${oneLine(real)}`);
  }
  const told = new Set([...(paths.length > 0 ? ["path"] : []), ...(command ? ["command"] : [])]);
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !told.has(name)));
  if (Object.keys(rest).length > 0) lines.push(`Arguments: ${cut(oneLine(JSON.stringify(rest)))}`);
  if (command) lines.push(`Command: ${visible(command.text, UNSEEN)}`);
  return lines.join("\n");
}

function cut(text: string): string {
  const left = text.length - LONGEST;
  return left > 0 ? `${text.slice(0, LONGEST)}… (${left} more characters)` : text;
}

function oneLine(text: string): string {
  return inOneLine(text, UNSEEN);
}

/** More than steers a terminal: also what hides, and what looks like a space and is none. Every character counts here. */
const UNSEEN = /(?! )[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800]/gu;
