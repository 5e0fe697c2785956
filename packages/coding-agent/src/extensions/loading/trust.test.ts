import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { decisionAbout, isRemembered, rememberDecision, trustFile } from "./trust.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tiller-trust-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("nothing is remembered where nobody has decided, or the file is broken", () => {
  expect(decisionAbout(folder, "/project")).toBeUndefined();
  writeFileSync(trustFile(folder), "{");
  expect(decisionAbout(folder, "/project")).toBeUndefined();
});

test("a decision is found again, beside those about other projects, and may be another one later", () => {
  const agentDir = join(folder, "agent");
  rememberDecision(agentDir, "/a", true);
  rememberDecision(agentDir, "/b", false);
  expect([decisionAbout(agentDir, "/a"), decisionAbout(agentDir, "/b")]).toEqual([true, false]);
  rememberDecision(agentDir, "/a", false);
  expect(isRemembered(agentDir, "/a")).toBe(false);
  expect(JSON.parse(readFileSync(trustFile(agentDir), "utf8"))).toEqual({ "/a": false, "/b": false });
  expect(statSync(trustFile(agentDir)).mode & 0o777).toBe(0o600);
});

test("what was said under the real name of a folder does not stand against the new decision", () => {
  const link = join(folder, "link");
  symlinkSync(folder, link);
  writeFileSync(trustFile(folder), JSON.stringify({ [folder]: false }));
  rememberDecision(folder, link, true);
  expect(decisionAbout(folder, link)).toBe(true);
});

test("a file that cannot be read is left alone", () => {
  writeFileSync(trustFile(folder), "{");
  expect(() => rememberDecision(folder, "/a", true)).toThrow("the decision about /a is not remembered");
  expect(readFileSync(trustFile(folder), "utf8")).toBe("{");
});
