import { readGlob } from "./glob.ts";
import type { Part, Scope } from "./rule.ts";

/** Where a rule looks, as people write it: `text, thinking, tool:edit(*.ts)`. Pure. */

/** What is said when a rule does not say it: thoughts are nobody's business unless somebody asks for them. */
export const USUAL_SCOPES: readonly Scope[] = [{ part: "text" }, { part: "tool" }];

/** Throws a SyntaxError that names the part that is none. */
export function readScopes(written: readonly string[]): Scope[] {
  return written.flatMap(splitAtCommas).map(readScope);
}

/** Commas within brackets belong to a glob. */
function splitAtCommas(text: string): string[] {
  const parts = text.match(/(?:\([^)]*\)?|[^,(])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const SCOPE = /^(?<part>text|thinking|tool|toolcall)(?::\s*(?<tool>[^\s():]+))?\s*(?:\(\s*(?<glob>[^)]+?)\s*\))?$/;

function readScope(written: string): Scope {
  const { part, tool, glob } = SCOPE.exec(written)?.groups ?? {};
  const isProse = part === "text" || part === "thinking";
  if (part === undefined || (isProse && (tool ?? glob) !== undefined)) {
    throw new SyntaxError(`"${written}" is none of text, thinking, tool, tool:NAME and tool:NAME(GLOB)`);
  }
  const named: Part = isProse ? part : "tool";
  return { part: named, ...(tool !== undefined && { tool }), ...(glob !== undefined && { glob: readGlob(glob) }) };
}
