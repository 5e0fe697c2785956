import { join } from "node:path";
import { readJsonFile } from "../../config/json-file.ts";
import { writePrivateFile } from "../../lib/private-file.ts";
import { realPath } from "./files.ts";

/** Decisions about projects that somebody has taken before: `{ "/abs/project": true }`. */
export function trustFile(agentDir: string): string {
  return join(agentDir, "trust.json");
}

export function isRemembered(agentDir: string, project: string): boolean {
  return decisionAbout(agentDir, project) === true;
}

/** What somebody has decided before. A file that is missing or broken remembers nothing: in doubt no code is run. */
export function decisionAbout(agentDir: string, project: string): boolean | undefined {
  const { object: decisions } = readJsonFile(trustFile(agentDir));
  if (!decisions) return undefined;
  // Somebody who has refused under one name has not agreed under the other.
  const said = [project, realPath(project)]
    .filter((path) => Object.hasOwn(decisions, path))
    .map((path) => decisions[path]);
  return said.length === 0 ? undefined : said.every((decision) => decision === true);
}

/** Throws when it cannot be written; a file that cannot be read is left alone. */
export function rememberDecision(agentDir: string, project: string, isTrusted: boolean): void {
  const path = trustFile(agentDir);
  const { object: decisions, problem } = readJsonFile(path);
  if (problem !== undefined) throw new Error(`the decision about ${project} is not remembered: ${problem}`);
  const known = Object.fromEntries(Object.entries(decisions ?? {}).filter(([name]) => name !== realPath(project)));
  writePrivateFile(path, `${JSON.stringify({ ...known, [project]: isTrusted }, undefined, 2)}\n`);
}
