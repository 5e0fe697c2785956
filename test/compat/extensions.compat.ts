import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import type { Check, Kind } from "./check.ts";
import { EXAMPLES } from "./examples/index.ts";
import { type Load, withExtension } from "./host.ts";
import { PACKAGES } from "./packages.ts";

/** Extensions that others wrote, with the real program. Where they are installed is said by the script that starts this. */

interface Place {
  /** One version of pi, with its examples copied beside what they depend on. */
  examples: { title: string; folder: string }[];
  packages: string | undefined;
}

export interface Result {
  group: string;
  name: string;
  kind: Kind;
  says: string;
  passed: boolean;
}

const place: Place = JSON.parse(process.env.COMPAT_PLACE ?? '{"examples":[]}');
const results: Result[] = [];

function one(group: string, name: string, given: { check: Check | undefined; load: Load; path: string }): void {
  const { check, load, path } = given;
  test(name, { timeout: 60_000 }, async () => {
    if (!check) throw new Error(`no check for ${name}: add one to test/compat`);
    const result: Result = { group, name, kind: check.kind, says: check.says, passed: false };
    results.push(result);
    const { run } = check;
    if (run) await withExtension(load, check.options ?? {}, (host) => run(host, path));
    result.passed = true;
  });
}

for (const { title, folder } of place.examples) {
  describe(title, () => {
    const names = readdirSync(folder).filter((name) => name !== "README.md");
    for (const name of names) {
      const path = join(folder, name);
      one(title, name, { check: EXAMPLES[name], load: { args: ["-e", path] }, path: entryOf(path) });
    }
  });
}

const entryOf = (path: string): string => (existsSync(join(path, "index.ts")) ? join(path, "index.ts") : path);

const { packages } = place;
if (packages !== undefined) {
  describe("packages", () => {
    for (const [name, check] of Object.entries(PACKAGES)) {
      const path = join(packages, "node_modules", name.slice(0, name.lastIndexOf("@")));
      one("packages", name, { check, load: { settings: { packages: [path] } }, path });
    }
  });
}

afterAll(() => {
  if (process.env.COMPAT_RESULTS) writeFileSync(process.env.COMPAT_RESULTS, JSON.stringify(results, null, 2));
});
