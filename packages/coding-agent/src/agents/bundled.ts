import type { AgentDefinition } from "./agent.ts";

/** The agents that are there without any file. A file of the same name takes the place of one. */

const REPORT =
  "Nobody reads along, and nobody can answer questions. Your last message is all that comes back to whoever gave you the task: make it complete on its own, with paths and line numbers where they matter, and say plainly what you could not find out or do.";

/** For a task that names no agent. */
export const GENERAL_AGENT = "task";

export const BUNDLED_AGENTS: readonly AgentDefinition[] = [
  {
    name: GENERAL_AGENT,
    description: "Does one piece of work from beginning to end, with the tools you have yourself",
    source: "bundled",
    models: [],
    prompt: `You are a coding agent that works on one task for another agent.\nDo exactly what the task says and check the result. Do not begin anything else.\n${REPORT}`,
  },
  {
    name: "explore",
    description: "Looks things up in the files and changes nothing",
    source: "bundled",
    tools: ["read", "grep", "find", "ls"],
    models: [],
    prompt: `You find things out in a code base for another agent, and change nothing.\nSearch broadly first, then read what matters. Quote the few lines that prove what you say.\n${REPORT}`,
  },
  {
    name: "review",
    description: "Reads a change, or a part of the code, and tells what is wrong with it",
    source: "bundled",
    tools: ["read", "grep", "find", "ls", "bash"],
    models: [],
    prompt: `You review code for another agent, and change nothing; use the shell only to look, for example at differences.\nReport what is wrong or will break, the worst first, each with its place and the reason. Leave out matters of taste. If nothing is wrong, say so.\n${REPORT}`,
  },
];

/** One that the arguments of a tool call describe. */
export function inlineAgent(instructions: string, tools: readonly string[] | undefined): AgentDefinition {
  const prompt = `${instructions.trim()}\n\n${REPORT}`;
  return { name: "inline", description: "", source: "inline", ...(tools && { tools }), models: [], prompt };
}
