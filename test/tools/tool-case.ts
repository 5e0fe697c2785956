import { execFileSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * One call of a tool as data: the files that are there, the arguments, and what comes of it. The files in `cases/` hold
 * nothing else; they are also the documentation of what the tools do in every corner.
 */
export interface ToolCase {
  name: string;
  /** By path. A path that ends with a slash is an empty folder. */
  files?: Record<string, CaseFile>;
  args: Record<string, unknown>;
  /** Arguments that a model sends although the tool's parameters do not have them. */
  unchecked?: boolean;
  expect: {
    /** The text of the result, exactly or as a regular expression. `$ROOT` is the folder of the case, here and in `args`. */
    text?: string;
    textMatches?: string;
    /** The tool fails, with this text. */
    error?: string;
    errorMatches?: string;
    /** What is in `details`, at least. Without it there must be none. */
    details?: Record<string, unknown>;
    /** The media types of the images in the result. */
    images?: string[];
    /** What is different afterwards; null for a file that is gone. Everything else must be as it was. */
    filesAfter?: Record<string, CaseFile | null>;
  };
}

export type CaseFile =
  | string
  | {
      text?: string;
      base64?: string;
      /** A text so many times. */
      repeat?: [text: string, times: number];
      /** Octal. */
      mode?: string;
      /** Where a symbolic link points. */
      link?: string;
      /** Another name of a file that stands before it in the list. */
      hardLink?: string;
      /** A pipe. */
      fifo?: true;
      /** The size of a file that is one hole. */
      sparse?: number;
    };

export interface CaseFolder {
  root: string;
  remove(): void;
}

export function createCaseFolder(files: ToolCase["files"] = {}): CaseFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-case-")));
  for (const [path, file] of Object.entries(files)) {
    const whole = join(root, path);
    mkdirSync(path.endsWith("/") ? whole : dirname(whole), { recursive: true });
    if (!path.endsWith("/")) plant(root, whole, typeof file === "string" ? { text: file } : file);
  }
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

function plant(root: string, path: string, file: Exclude<CaseFile, string>): void {
  if (file.link !== undefined) symlinkSync(file.link.replaceAll("$ROOT", root), path);
  else if (file.hardLink !== undefined) linkSync(join(root, file.hardLink), path);
  else if (file.fifo) execFileSync("mkfifo", [path]);
  else writeFileSync(path, bytesOf(file));
  if (file.sparse !== undefined) truncateSync(path, file.sparse);
  if (file.mode !== undefined) chmodSync(path, Number.parseInt(file.mode, 8));
}

export function bytesOf(file: CaseFile): Buffer {
  if (typeof file === "string") return Buffer.from(file);
  if (file.base64 !== undefined) return Buffer.from(file.base64, "base64");
  return Buffer.from(file.repeat ? file.repeat[0].repeat(file.repeat[1]) : (file.text ?? ""));
}

/** Everything in a folder in a form that can be compared: content (a hole counts as its size), mode, and where links point. */
export function snapshot(folder: string, below = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(join(folder, below)).sort()) {
    const path = below + name;
    const stats = lstatSync(join(folder, path));
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) found[path] = `link to ${readlinkSync(join(folder, path))}`;
    else if (stats.isFIFO()) found[path] = "pipe";
    else if (stats.isDirectory()) Object.assign(found, { [`${path}/`]: "folder" }, snapshot(folder, `${path}/`));
    else if (stats.size > 2 ** 28) found[path] = `${mode} ${stats.size} bytes`;
    else found[path] = `${mode} ${readFileSync(join(folder, path), "latin1")}`;
  }
  return found;
}
