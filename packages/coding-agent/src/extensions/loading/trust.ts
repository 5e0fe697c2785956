import { join } from "node:path";
import { readJsonFile } from "../../config/json-file.ts";
import { realPath } from "./files.ts";

/** Decisions about projects that somebody has taken before: `{ "/abs/project": true }`. */
export function trustFile(agentDir: string): string {
  return join(agentDir, "trust.json");
}

/** A file that is missing or broken remembers nothing: in doubt no code is run. */
export function isRemembered(agentDir: string, project: string): boolean {
  const { object: decisions } = readJsonFile(trustFile(agentDir));
  if (!decisions) return false;
  // Somebody who has refused under one name has not agreed under the other.
  const said = [project, realPath(project)]
    .filter((path) => Object.hasOwn(decisions, path))
    .map((path) => decisions[path]);
  return said.length > 0 && said.every((decision) => decision === true);
}
