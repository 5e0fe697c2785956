import { join } from "node:path";
import { writePrivateFile } from "../lib/private-file.ts";
import { readJsonFile } from "./json-file.ts";

/**
 * Writes one login into auth.json, or takes it out. What else stands in there stays as it is now, not as it was when the process
 * began: others may have written meanwhile. A file that cannot be read is left alone.
 */
export function keepLogin(
  agentDir: string,
  provider: string,
  login: Readonly<Record<string, unknown>> | undefined,
): void {
  const path = join(agentDir, "auth.json");
  const { object, problem } = readJsonFile(path);
  if (problem !== undefined) throw new Error(`The login of "${provider}" was not kept: ${problem}`);
  const { [provider]: _, ...others } = object ?? {};
  const entries = login ? { ...others, [provider]: login } : others;
  writePrivateFile(path, `${JSON.stringify(entries, undefined, 2)}\n`);
}
