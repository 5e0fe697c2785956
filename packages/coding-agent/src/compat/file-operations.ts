import { dirname } from "node:path";
import type { ToolResult } from "@tiller/protocol/tool";
import { throwIfAborted } from "../lib/abort.ts";
import { textSource } from "../tools/byte-sources.ts";
import { diffOfRegions } from "../tools/edit-diff.ts";
import { applyRegions, locateReplacements, type Replacement } from "../tools/edit-match.ts";
import { fileMutations } from "../tools/file-mutations.ts";
import { DEFAULT_LIMITS, MAX_BYTES } from "../tools/limits.ts";
import { toOriginalRegions, toPlainNewlines } from "../tools/line-endings.ts";
import { type PathContext, resolvePath } from "../tools/path.ts";
import { type ReadArgs, showWindow, wantedLines } from "../tools/read-text.ts";
import { readTextWindow } from "../tools/text-window.ts";
import { textResult, withNotices } from "../tools/tool.ts";
import { formatSize, truncateHead } from "../tools/truncate.ts";

/**
 * The file tools over somebody else's files: another machine, a container. What is asked of these files is only what the
 * operations say; everything about texts is as in the built-in tools.
 */

type Content = Buffer | Uint8Array | string;

export interface ReadOperations {
  readFile(path: string): Promise<Content>;
  access?(path: string): Promise<void>;
  detectImageMimeType?(path: string): Promise<string | null | undefined>;
}

export interface WriteOperations {
  writeFile(path: string, content: string): Promise<void>;
  mkdir?(folder: string): Promise<void>;
}

export interface EditOperations
  extends Pick<ReadOperations, "readFile" | "access">,
    Pick<WriteOperations, "writeFile"> {}

export interface LsOperations {
  exists(path: string): Promise<boolean> | boolean;
  stat(path: string): Promise<{ isDirectory(): boolean }> | { isDirectory(): boolean };
  readdir(path: string): Promise<string[]> | string[];
}

export interface FindOperations {
  exists(path: string): Promise<boolean> | boolean;
  glob(pattern: string, cwd: string, options: { ignore: string[]; limit: number }): Promise<string[]> | string[];
}

/** What a tool over operations does with its arguments. */
export type Over<Args> = (args: Args, signal: AbortSignal) => Promise<ToolResult>;

export function readOver(operations: ReadOperations, context: PathContext): Over<ReadArgs> {
  return async (args, signal) => {
    throwIfAborted(signal);
    const path = resolvePath(context, args.path);
    await operations.access?.(path);
    const mimeType = await operations.detectImageMimeType?.(path);
    const content = await operations.readFile(path);
    throwIfAborted(signal);
    if (mimeType) return imageResult(mimeType, content);
    const limits = { ...wantedLines(args), maxBytes: MAX_BYTES, maxCountedBytes: Number.POSITIVE_INFINITY };
    return showWindow(await readTextWindow(textSource(textOf(content)), limits, signal), args);
  };
}

function imageResult(mimeType: string, content: Content): ToolResult {
  return {
    content: [
      { type: "text", text: `Read image file [${mimeType}]` },
      { type: "image", data: Buffer.from(content as Uint8Array).toString("base64"), mimeType },
    ],
  };
}

function textOf(content: Content): string {
  return typeof content === "string" ? content : Buffer.from(content).toString("utf8");
}

export function writeOver(operations: WriteOperations, context: PathContext): Over<{ path: string; content: string }> {
  return async (args, signal) => {
    const path = resolvePath(context, args.path);
    return fileMutations.run(path, async () => {
      throwIfAborted(signal);
      await operations.mkdir?.(dirname(path));
      throwIfAborted(signal);
      await operations.writeFile(path, args.content);
      return textResult(`Successfully wrote ${args.content.length} bytes to ${args.path}`);
    });
  };
}

export interface EditArgs extends Partial<Replacement> {
  path: string;
  edits?: Replacement[];
}

const BOM = "\ufeff";

export function editOver(operations: EditOperations, context: PathContext): Over<EditArgs> {
  return async (args, signal) => {
    const edits = editsOf(args);
    const path = resolvePath(context, args.path);
    return fileMutations.run(path, async () => {
      throwIfAborted(signal);
      await operations.access?.(path);
      const whole = textOf(await operations.readFile(path));
      const bom = whole.startsWith(BOM) ? BOM : "";
      const original = whole.slice(bom.length);
      const plain = toPlainNewlines(original);
      const regions = locateReplacements(plain, edits, args.path);
      const changed = applyRegions(original, toOriginalRegions(original, regions));
      if (changed === original)
        throw new Error(`No changes made to ${args.path}. The replacement produced identical content.`);
      throwIfAborted(signal);
      await operations.writeFile(path, bom + changed);
      return textResult(
        `Successfully replaced ${edits.length} block(s) in ${args.path}.`,
        diffOfRegions(plain, regions),
      );
    });
  };
}

function editsOf({ edits = [], oldText, newText }: EditArgs): Replacement[] {
  const single = oldText !== undefined && newText !== undefined ? [{ oldText, newText }] : [];
  const all = [...edits, ...single].map((edit) => ({
    oldText: toPlainNewlines(edit.oldText),
    newText: toPlainNewlines(edit.newText),
  }));
  if (all.length > 0) return all;
  throw new Error("Edit tool input is invalid. edits must contain at least one replacement.");
}

export function lsOver(operations: LsOperations, context: PathContext): Over<{ path?: string; limit?: number }> {
  return async ({ path: shownPath = ".", limit = DEFAULT_LIMITS.ls }, signal) => {
    throwIfAborted(signal);
    const folder = resolvePath(context, shownPath);
    if (!(await operations.exists(folder))) throw new Error(`Path not found: ${shownPath}`);
    if (!(await operations.stat(folder)).isDirectory()) throw new Error(`Not a directory: ${shownPath}`);
    const names = (await operations.readdir(folder)).toSorted((a, b) => compare(a.toLowerCase(), b.toLowerCase()));
    if (names.length === 0) return textResult("(empty directory)");
    const shown: string[] = [];
    for (const name of names.slice(0, limit)) {
      throwIfAborted(signal);
      shown.push((await isFolder(operations, `${folder}/${name}`)) ? `${name}/` : name);
    }
    const isCut = names.length > limit;
    const notices = isCut ? [`${limit} entries limit reached. Use limit=${limit * 2} for more`] : [];
    return listed(shown, notices, isCut ? { entryLimitReached: limit } : {});
  };
}

/** What vanishes meanwhile keeps its bare name. */
async function isFolder(operations: LsOperations, path: string): Promise<boolean> {
  try {
    return (await operations.stat(path)).isDirectory();
  } catch {
    return false;
  }
}

export function findOver(
  operations: FindOperations,
  context: PathContext,
): Over<{ pattern: string; path?: string; limit?: number }> {
  return async ({ pattern, path: shownPath = ".", limit = DEFAULT_LIMITS.find }, signal) => {
    throwIfAborted(signal);
    const folder = resolvePath(context, shownPath);
    if (!(await operations.exists(folder))) throw new Error(`Path not found: ${shownPath}`);
    const found = await operations.glob(pattern, folder, { ignore: ["**/node_modules/**", "**/.git/**"], limit });
    throwIfAborted(signal);
    if (found.length === 0) return textResult("No files found matching pattern");
    const paths = found
      .slice(0, limit)
      .map((path) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path));
    const isCut = found.length >= limit;
    const notices = isCut ? [`${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern`] : [];
    return listed(paths, notices, isCut ? { resultLimitReached: limit } : {});
  };
}

function listed(lines: readonly string[], notices: string[], details: object): ToolResult {
  const truncation = truncateHead(lines.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
  if (truncation.truncated) notices.push(`${formatSize(MAX_BYTES)} limit reached`);
  const text = withNotices(truncation.content, notices);
  return textResult(text, { ...details, ...(truncation.truncated && { truncation }) });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
