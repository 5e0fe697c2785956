import { readFile, writeFile } from "node:fs/promises";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { diffOfRegions } from "./edit-diff.ts";
import { applyRegions, locateReplacements, type Replacement } from "./edit-match.ts";
import { fileMutations } from "./file-mutations.ts";
import { toOriginalRegions, toPlainNewlines } from "./line-endings.ts";
import { requireRegularFile, resolveExistingPath } from "./path.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

interface EditArgs extends Partial<Replacement> {
  path: string;
  /** Some models send the list as a JSON text, or a single edit in the top level. */
  edits?: Replacement[] | string;
}

const BOM = "\ufeff";

export function createEdit(context: ToolContext): Execute<EditArgs> {
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const edits = editsOf(args);
    const path = await resolveExistingPath(context, args.path);
    return fileMutations.run(path, () => editFile(path, args.path, edits, signal));
  };
}

async function editFile(
  path: string,
  shownPath: string,
  edits: readonly Replacement[],
  signal: AbortSignal,
): Promise<ToolResult> {
  throwIfAborted(signal);
  await requireRegularFile(path, shownPath);
  const whole = await readWholeText(path, shownPath);
  const bom = whole.startsWith(BOM) ? BOM : "";
  const original = whole.slice(bom.length);
  const plain = toPlainNewlines(original);
  const regions = locateReplacements(plain, edits.map(withPlainNewlines), shownPath);
  const changed = applyRegions(original, toOriginalRegions(original, regions));
  if (changed === original) {
    throw new Error(
      `No changes made to ${shownPath}. The replacement produced identical content. Make newText differ from oldText.`,
    );
  }
  // Once the writing has begun it is finished: half a file would be worse than a late stop.
  throwIfAborted(signal);
  await writeFile(path, bom + changed);
  return textResult(`Successfully replaced ${edits.length} block(s) in ${shownPath}.`, diffOfRegions(plain, regions));
}

async function readWholeText(path: string, shownPath: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code ? `Error code: ${error.code}` : error.message;
    throw new Error(`Could not edit file: ${shownPath}. ${reason}.`, { cause: error });
  });
  const text = bytes.toString("utf8");
  if (!Buffer.from(text).equals(bytes)) {
    throw new Error(`Could not edit file: ${shownPath}. It is not UTF-8 text; use bash to change it.`);
  }
  return text;
}

function withPlainNewlines({ oldText, newText }: Replacement): Replacement {
  return { oldText: toPlainNewlines(oldText), newText: toPlainNewlines(newText) };
}

function editsOf({ edits, oldText, newText }: EditArgs): Replacement[] {
  const list = typeof edits === "string" ? parseList(edits) : (edits ?? []);
  if (oldText !== undefined && newText !== undefined) return [...list, { oldText, newText }];
  if (list.length > 0) return list;
  throw new Error("Edit tool input is invalid. edits must contain at least one replacement.");
}

function parseList(text: string): Replacement[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value) && value.every(isReplacement)) return value;
  } catch (error) {
    throw new Error(`Edit tool input is invalid. edits is a text but not JSON: ${String(error)}`, { cause: error });
  }
  throw new Error("Edit tool input is invalid. edits must be a list of {oldText, newText}.");
}

function isReplacement(value: unknown): value is Replacement {
  const candidate = value as Partial<Replacement> | null;
  return typeof candidate?.oldText === "string" && typeof candidate.newText === "string";
}
