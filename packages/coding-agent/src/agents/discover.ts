import { join } from "node:path";
import { readMarkdownFile } from "../prompts/frontmatter.ts";
import { fewProblems, listFolder, placesOf, type ResourceRequest, usualFolders } from "../prompts/places.ts";
import { type AgentDefinition, readAgent } from "./agent.ts";
import { BUNDLED_AGENTS } from "./bundled.ts";

/** Finds the agents that files describe, and adds those that are bundled. Never throws. */

const FOLDERS = usualFolders("agents");

const MOST_AGENTS = 200;

export type AgentRequest = Omit<ResourceRequest, "named" | "onlyNamed">;

export async function findAgents(
  request: AgentRequest,
): Promise<{ agents: ReadonlyMap<string, AgentDefinition>; problems: string[] }> {
  const agents = new Map<string, AgentDefinition>();
  const problems: string[] = [];
  for (const place of placesOf({ ...request, named: [] }, FOLDERS)) {
    const { entries = [], problem } = listFolder(place.path);
    if (problem !== undefined) problems.push(problem);
    for (const { name, kind } of entries) {
      if (kind !== "file" || !/^[^.].*\.md$/i.test(name)) continue;
      const path = join(place.path, name);
      const markdown = await readMarkdownFile(path, problems);
      if (!markdown) continue;
      const found = readAgent(path, markdown, place);
      problems.push(...found.problems);
      if (found.agent) add(found.agent, agents, problems);
    }
  }
  for (const agent of BUNDLED_AGENTS) if (!agents.has(agent.name)) agents.set(agent.name, agent);
  return { agents, problems: fewProblems(problems) };
}

/** The project's come before the user's: the first of a name counts. */
function add(agent: AgentDefinition, agents: Map<string, AgentDefinition>, problems: string[]): void {
  const { name, path } = agent;
  const first = agents.get(name);
  if (first) problems.push(`${path}: there is an agent "${name}" already, in ${first.path}; that one counts`);
  else if (agents.size >= MOST_AGENTS) problems.push(`${path}: left out, there are more than ${MOST_AGENTS} agents`);
  else agents.set(name, agent);
}
