import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";

/** What stands around the program in a check: repositories, and programs that are not installed everywhere. */

const GIT_IDENTITY = {
  GIT_AUTHOR_NAME: "Somebody",
  GIT_AUTHOR_EMAIL: "somebody@example.com",
  GIT_COMMITTER_NAME: "Somebody",
  GIT_COMMITTER_EMAIL: "somebody@example.com",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
};
export const gitEnv: Record<string, string> = GIT_IDENTITY;

/** A repository with one commit; what follows in the script is done to it. */
export const repository = (more = ""): string => `
  git init --quiet --initial-branch main .
  printf 'one\\n' > notes.txt
  printf '.pi\\n.tiller\\n' > .gitignore
  git add . && git commit --quiet -m first
  ${more}`;

/** Runs a shell script in an empty folder and gives the files it leaves. */
export function preparedFiles(script: string | undefined): Record<string, Uint8Array> {
  if (script === undefined) return {};
  const folder = mkdtempSync(join(tmpdir(), "tiller-compat-prepare-"));
  try {
    const env = { PATH: process.env.PATH, HOME: folder, ...GIT_IDENTITY };
    const result = spawnSync("sh", ["-ec", script], { cwd: folder, env, encoding: "utf8", timeout: 20_000 });
    if (result.status !== 0) throw new Error(`preparing the working folder failed: ${result.stderr}`);
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const paths = entries.map((entry) => join(entry.parentPath ?? entry.path, entry.name));
    return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A folder of shell scripts, and the PATH that begins with it. */
export function programFolder(programs: Record<string, string>): { path: string; remove(): void } {
  const path = process.env.PATH ?? "";
  if (Object.keys(programs).length === 0) return { path, remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), "tiller-compat-bin-"));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return {
    path: `${folder}${delimiter}${path}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Shell output in a folder, for looking at what an extension left. */
export function shell(cwd: string, command: string): string {
  const env = { PATH: process.env.PATH, HOME: cwd, ...GIT_IDENTITY };
  return spawnSync("sh", ["-c", command], { cwd, env, encoding: "utf8", timeout: 20_000 }).stdout.trim();
}
