import { SessionFileError } from "../session/store/file-errors.ts";
import { readSessionBytes } from "../session/store/whole-file.ts";

/** Throws for what is no file, in words for people: a pipe would keep us waiting. */
export function readWhole(path: string): Buffer {
  const bytes = readSessionBytes(path);
  if (!bytes) throw new SessionFileError("unreadable", `The session file ${path} does not exist`);
  return bytes;
}
