import { openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { FILES_LIST, HEAD_FILE, type Head, LOG_FILE } from "./format.ts";

/** The files of a recording while it is made. Only their owner may read them. */
export interface LogWriter {
  line(value: object): void;
  file(value: object): void;
}

const OWNER_ONLY = 0o600;

/** `onFailure` is called once; nothing is written after that. Throws when the first file cannot be made. */
export function createLogWriter(
  folder: string,
  head: Head,
  redact: (text: string) => string,
  onFailure: (error: Error) => void,
): LogWriter {
  const open = (name: string): number => openSync(join(folder, name), "wx", OWNER_ONLY);
  writeSync(open(HEAD_FILE), `${redact(JSON.stringify(head, undefined, 2))}\n`);
  const [log, files] = [open(LOG_FILE), open(FILES_LIST)];
  let isBroken = false;
  const append = (file: number, value: object): void => {
    if (isBroken) return;
    try {
      writeWhole(file, `${redact(JSON.stringify(value))}\n`);
    } catch (error) {
      isBroken = true;
      onFailure(error as Error);
    }
  };
  return { line: (value) => append(log, value), file: (value) => append(files, value) };
}

/** A disk that is nearly full takes a part. */
function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
