import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOOKS } from "../../packages/coding-agent/src/extensions/hooks.ts";
import { repoRoot } from "../support/rpc-process.ts";
import { parseTranscript } from "../support/transcript-parse.ts";

/** Nothing in the table of hooks is without an extension that listens to it, and none of those is without a story. */

const fixtures = join(repoRoot, "test/fixtures/extensions/hooks");
const stories = join(repoRoot, "test/transcripts/extensions");

const heardIn = (name: string): string[] =>
  [...readFileSync(join(fixtures, name), "utf8").matchAll(/\bon\("([\w.]+)"/g)].map((match) => String(match[1]));
const toldIn = (name: string): string[] => {
  const { extensions, source } = parseTranscript(name, readFileSync(join(stories, name), "utf8"));
  // A story that expects nothing proves nothing.
  return source.some((line) => /^<.*\w/.test(line)) ? extensions : [];
};

test("every hook has an extension that listens to it", () => {
  const heard = new Set(readdirSync(fixtures).flatMap(heardIn));
  expect(Object.keys(HOOKS).filter((hook) => !heard.has(hook))).toEqual([]);
});

test("every extension has a story, or a test of its own", () => {
  const told = new Set([...readdirSync(stories).flatMap(toldIn), "hooks/wire-tap.ts"]);
  expect(readdirSync(fixtures).filter((name) => !told.has(`hooks/${name}`))).toEqual([]);
});
