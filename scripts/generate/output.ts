import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes files that changed, or names them when only checking. Returns the exit code. */
export function writeOrCheck(files: ReadonlyMap<string, string>, options: { check: boolean }): number {
  const stale = [...files].filter(([path, text]) => current(path) !== text);
  if (options.check) {
    for (const [path] of stale) process.stderr.write(`${path} is not up to date: run "npm run generate"\n`);
    return stale.length === 0 ? 0 : 1;
  }
  for (const [path, text] of stale) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    process.stdout.write(`wrote ${path}\n`);
  }
  return 0;
}

function current(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
