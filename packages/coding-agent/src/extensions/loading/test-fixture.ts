import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder for one test: `project` is the working folder, `agent` the user's. */
export interface TestFolder {
  root: string;
  at(path: string): string;
  /** Paths from the root. */
  write(files: Readonly<Record<string, string>>): void;
  link(from: string, to: string): void;
  /** With the root taken out of it. */
  short(text: string): string;
  remove(): void;
}

export function createTestFolder(): TestFolder {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-loading-")));
  const at = (path: string): string => join(root, path);
  const inFolder = (path: string): string => {
    mkdirSync(dirname(at(path)), { recursive: true });
    return at(path);
  };
  return {
    root,
    at,
    write(files) {
      for (const [path, text] of Object.entries(files)) writeFileSync(inFolder(path), text);
    },
    link: (from, to) => symlinkSync(at(to), inFolder(from)),
    short: (text) => text.replaceAll(`${root}/`, ""),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
