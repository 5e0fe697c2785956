import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder for one test, with a home, an agent folder and a project in it. */
export interface TestTree {
  root: string;
  home: string;
  agentDir: string;
  /** The project's top. */
  cwd: string;
  env: { HOME: string };
  /** Paths from the root. */
  write(files: Readonly<Record<string, string | Buffer>>): void;
  link(from: string, to: string): void;
  at(path: string): string;
  /** A sentence with the root taken out of it. */
  short(text: string): string;
  remove(): void;
}

export function createTestTree(): TestTree {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-resources-")));
  const at = (path: string): string => join(root, path);
  for (const folder of ["home/agent", "project"]) mkdirSync(at(folder), { recursive: true });
  return {
    root,
    home: at("home"),
    agentDir: at("home/agent"),
    cwd: at("project"),
    env: { HOME: at("home") },
    at,
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(at(path)), { recursive: true });
        writeFileSync(at(path), text);
      }
    },
    link(from, to) {
      mkdirSync(dirname(at(from)), { recursive: true });
      symlinkSync(to, at(from));
    },
    short: (text) => text.replaceAll(`${root}/`, ""),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** Everything that could be taken for something else, to make texts of. */
export const ODD_PIECES: readonly string[] = [
  ...["a", "b1", "'", '"', "\\", "$", "$1", "$@", "$ARGUMENTS", "@:2", "{", "}", "[1:2]", " ", "\n", "\t", "---\n"],
  ...["\u00e9", "\u{1f642}", "\ud800", "\u2028", "\u00a0", "\0", "\r\n", "`", "/"],
];
