import { isUtf8 } from "node:buffer";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { diffOfRegions } from "./edit-diff.ts";
import { applyRegions, locateReplacements, type Replacement } from "./edit-match.ts";
import { fileMutations, findInTurn } from "./file-mutations.ts";
import { toOriginalRegions, toPlainNewlines } from "./line-endings.ts";
import { openRegularFile, resolveExistingPath } from "./path.ts";
import { type FileState, hasChanged, realPath, saveFile } from "./save-file.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";
import { formatSize } from "./truncate.ts";

interface EditArgs extends Partial<Replacement> {
  path: string;
  /** Some models send the list as a JSON text, or a single edit in the top level. */
  edits?: Replacement[] | string;
}

const BOM = "\ufeff";
/** The text and what becomes of it are both in memory. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;

export function createEdit(context: ToolContext): Execute<EditArgs> {
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const edits = editsOf(args);
    const uri = context.uris?.(args.path);
    if (uri) throw new Error((await import("./host-uri.ts")).editRefusal(uri));
    const path = await findInTurn(() => resolveExistingPath(context, args.path));
    return fileMutations.run(realPath(path), () => editFile(path, args.path, edits, signal));
  };
}

async function editFile(
  path: string,
  shownPath: string,
  edits: readonly Replacement[],
  signal: AbortSignal,
): Promise<ToolResult> {
  throwIfAborted(signal);
  const { text: whole, state } = await readWholeText(path, shownPath);
  const bom = whole.startsWith(BOM) ? BOM : "";
  const original = whole.slice(bom.length);
  const plain = toPlainNewlines(original);
  const regions = locateReplacements(plain, edits.map(asInFile), shownPath);
  const changed = applyRegions(original, toOriginalRegions(original, regions));
  if (changed === original) {
    throw new Error(
      `No changes made to ${shownPath}. The replacement produced identical content. Make newText differ from oldText.`,
    );
  }
  // Once the writing has begun it is finished: half a file would be worse than a late stop.
  throwIfAborted(signal);
  await requireUnchanged(path, shownPath, state);
  await saveFile(path, bom + changed).catch((error) => refuse(shownPath, error));
  return textResult(`Successfully replaced ${edits.length} block(s) in ${shownPath}.`, diffOfRegions(plain, regions));
}

async function readWholeText(path: string, shownPath: string): Promise<{ text: string; state: FileState }> {
  const file = await openRegularFile(path, shownPath).catch((error) => refuse(shownPath, error));
  try {
    const state = await file.stat();
    if (state.size > MAX_FILE_BYTES) {
      const sizes = `${formatSize(state.size)} is more than ${formatSize(MAX_FILE_BYTES)}`;
      throw new Error(`Could not edit file: ${shownPath}. ${sizes}; use bash (sed) to change it.`);
    }
    const bytes = await file.readFile().catch((error) => refuse(shownPath, error));
    if (!isUtf8(bytes)) {
      throw new Error(`Could not edit file: ${shownPath}. It is not UTF-8 text; use bash to change it.`);
    }
    return { text: bytes.toString("utf8"), state };
  } finally {
    await file.close();
  }
}

/** Somebody else may write the file in the same moment; what they wrote is not to be lost. */
async function requireUnchanged(path: string, shownPath: string, before: FileState): Promise<void> {
  if (!(await hasChanged(path, before).catch((error) => refuse(shownPath, error)))) return;
  throw new Error(`Could not edit file: ${shownPath}. Another program changed it meanwhile; read it again.`);
}

/** An error of the system in the words of this tool; our own are left as they are. */
function refuse(shownPath: string, error: NodeJS.ErrnoException): never {
  if (!error.code) throw error;
  throw new Error(`Could not edit file: ${shownPath}. Error code: ${error.code}.`, { cause: error });
}

/** The mark in front of a file is no part of its text, and lines are looked for whatever their ending. */
function asInFile({ oldText, newText }: Replacement): Replacement {
  const clean = (text: string) => toPlainNewlines(text.startsWith(BOM) ? text.slice(BOM.length) : text);
  return { oldText: clean(oldText), newText: clean(newText) };
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
    if (isReplacement(value)) return [value];
  } catch (error) {
    throw new Error(`Edit tool input is invalid. edits is a text but not JSON: ${String(error)}`, { cause: error });
  }
  throw new Error("Edit tool input is invalid. edits must be a list of {oldText, newText}.");
}

function isReplacement(value: unknown): value is Replacement {
  const candidate = value as Partial<Replacement> | null;
  return typeof candidate?.oldText === "string" && typeof candidate.newText === "string";
}
