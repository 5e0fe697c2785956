import type { AgentTool } from "@tiller/agent/types";

export interface SystemPromptParts {
  /** Replaces the text about who the model is and how it works. */
  base?: string;
  /** Put after it. */
  append: readonly string[];
  tools: readonly Pick<AgentTool, "name" | "description">[];
  cwd: string;
  /** YYYY-MM-DD */
  date: string;
}

const BASE = `You are a coding agent. A program runs you on behalf of a person who wants work done in a folder on their machine.
Look before you change: read the files that matter, then act with the tools you have, and check the result.
Do what was asked, no more. Say briefly what you did and what you found; show file paths when you name files.
When something cannot be done, say so plainly and say why.`;

/** What the model is told before the conversation. Pure: the same parts always give the same text, so that caches hold. */
export function buildSystemPrompt({ base, append, tools, cwd, date }: SystemPromptParts): string {
  const parts = [base ?? BASE];
  if (base === undefined && tools.length > 0) {
    parts.push(`Your tools:\n${tools.map((tool) => `- ${tool.name}: ${firstSentence(tool.description)}`).join("\n")}`);
  }
  parts.push(...append);
  parts.push(`Current date: ${date}\nCurrent working directory: ${cwd}`);
  return parts.join("\n\n");
}

function firstSentence(text: string): string {
  const end = text.search(/[.!?](\s|$)/);
  return end < 0 ? text : text.slice(0, end + 1);
}
