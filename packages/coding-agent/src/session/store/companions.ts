import { readdirSync } from "node:fs";
import { basename, dirname } from "node:path";
import { UNFINISHED_END } from "./whole-file.ts";

/**
 * The files that lie beside a session file, under its name and an end. They hold what was said in it, so they go where it
 * goes: whoever puts another one there adds a row. What we keep of a session in other folders has a name for it there: its
 * lock (`session-lock.ts`), its journal (`journal-file.ts`), the conversations of its sub-agents (`sub-agent-files.ts`).
 */
const ENDS: readonly RegExp[] = [
  // Bytes that could not be read, see `salvage.ts`.
  /^\.damaged$/,
  // The same, where something that is not ours had that name.
  /^\.damaged-[0-9a-f]{16}$/,
  // A whole new file that a crash has kept from its place.
  UNFINISHED_END,
];

/** What those that are there have behind the name of the session. */
export function companionEnds(sessionPath: string): string[] {
  const name = basename(sessionPath);
  return readdirSync(dirname(sessionPath))
    .filter((other) => other.startsWith(name))
    .map((other) => other.slice(name.length))
    .filter((end) => ENDS.some((pattern) => pattern.test(end)));
}
