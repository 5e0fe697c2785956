import { posix, win32 } from "node:path";

/** How a path is written, on whatever system: models write Windows paths for Git Bash, URLs, mentions and `~`. Pure. */

export interface PathSurroundings {
  cwd: string;
  home: string;
  platform: NodeJS.Platform;
}

/** Spaces that look like a space but are not one: models copy them from prose, and file names of screenshots have them. */
const UNICODE_SPACES = /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g;
const SINGLE_QUOTES = /[\u2018\u2019\u02bc]/g;
const DOUBLE_QUOTES = /[\u201c\u201d]/g;

/** The absolute path that the text means, letter by letter. */
export function parsePath(text: string, { cwd, home, platform }: PathSurroundings): string {
  const windows = platform === "win32";
  const path = expandHome(fromFileUrl(text, windows), home, windows);
  return windows ? win32.resolve(cwd, fromDriveFolder(path)) : posix.resolve(cwd, path);
}

/** Without the `@` of a mention, and with plain spaces. */
export function tidyPath(text: string): string {
  const plain = text.replace(UNICODE_SPACES, " ");
  return plain.startsWith("@") ? plain.slice(1) : plain;
}

/** Names that a person would read as the same: composed or not, with whatever space and quote. */
export function looseName(name: string): string {
  return name.normalize("NFC").replace(UNICODE_SPACES, " ").replace(SINGLE_QUOTES, "'").replace(DOUBLE_QUOTES, '"');
}

/** Whether a name has anything in it that looseName could see through. */
export function mayLookLikeAnother(path: string): boolean {
  return /[^!-~]|['"]/.test(path);
}

function fromFileUrl(text: string, windows: boolean): string {
  const rest = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(text)?.[1];
  if (rest === undefined) return text;
  const path = windows && /^\/[a-z]:/i.test(rest) ? rest.slice(1) : rest;
  try {
    return decodeURIComponent(path);
  } catch {
    // A percent sign that begins no code is a percent sign.
    return path;
  }
}

function expandHome(path: string, home: string, windows: boolean): string {
  if (path !== "~" && !path.startsWith("~/") && !(windows && path.startsWith("~\\"))) return path;
  return (windows ? win32 : posix).join(home, path.slice(1));
}

/** `/c/x` and `/cygdrive/c/x`, as the shells of Git and Cygwin write `C:\x`. */
function fromDriveFolder(path: string): string {
  const drive = /^\/(?:cygdrive\/)?([a-z])(?:\/(.*))?$/i.exec(path);
  return drive ? `${drive[1]!.toUpperCase()}:\\${drive[2] ?? ""}` : path;
}
