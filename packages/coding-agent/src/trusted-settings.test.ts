import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { parseArgs } from "./args.ts";
import { trustedRun } from "./trusted-settings.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-trust-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, content: object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(content));
}

async function trust(...argv: string[]): Promise<string> {
  const parsed = parseArgs(["config", "--cwd", "project", ...argv], "tiller");
  if (parsed.kind !== "config") throw new Error(JSON.stringify(parsed));
  return (await trustedRun(parsed.run, { TILLER_DIR: join(root, "agent") }, root)).run.projectTrust;
}

it("of a project that nobody has decided about reaches to its texts", async () => {
  expect([await trust(), await trust("--approve"), await trust("--no-approve")]).toEqual(["text", "code", "none"]);
});

it("is remembered, but the command line has the last word", async () => {
  write("agent/trust.json", { [join(root, "project")]: true });
  expect([await trust(), await trust("-na")]).toEqual(["code", "none"]);
});

it.each([
  ["always", "code"],
  ["never", "none"],
  ["ask", "text"],
])("is for all projects what the user has said: %s", async (said, expected) => {
  write("agent/settings.json", { defaultProjectTrust: said });
  // A project does not decide about itself.
  write("project/.pi/settings.json", { defaultProjectTrust: "always" });
  expect(await trust()).toBe(expected);
});
