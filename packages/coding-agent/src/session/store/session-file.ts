import { closeSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../lib/make-folder.ts";

/** The only writer of session files: one `write` per line, so that a crash can tear at most the last one. */
export interface SessionFile {
  readonly path: string;
  append(entry: object): void;
  close(): void;
}

/** Creates the folder and the file when the first line comes. */
export function createSessionFile(path: string): SessionFile {
  let fd: number | undefined;
  return {
    path,
    append(entry) {
      if (fd === undefined) {
        makeFolder(dirname(path));
        fd = openSync(path, "a", 0o600);
      }
      const line = Buffer.from(`${JSON.stringify(entry)}\n`, "utf8");
      let written = 0;
      while (written < line.length) written += writeSync(fd, line, written);
    },
    close() {
      if (fd === undefined) return;
      closeSync(fd);
      fd = undefined;
    },
  };
}
