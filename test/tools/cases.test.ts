import { readdirSync, readFileSync, rmSync } from "node:fs";
import { checkArguments } from "@tiller/agent/check-arguments";
import type { ToolResult } from "@tiller/protocol/tool";
import { afterAll, describe, expect, it } from "vitest";
import { killAllProcesses } from "../../packages/coding-agent/src/exec/run-process.ts";
import { systemClock } from "../../packages/coding-agent/src/lib/clock.ts";
import { createTools } from "../../packages/coding-agent/src/tools/create-tools.ts";
import { findRipgrep } from "../../packages/coding-agent/src/tools/grep-rg.ts";
import { bytesOf, createCaseFolder, snapshot, type ToolCase } from "./tool-case.ts";

/** Plays the cases in `cases/` against the real tools, each in a folder of its own. */

const FOLDER = new URL("cases/", import.meta.url);
/** How many cases a tool must have at least. */
const ENOUGH: Readonly<Record<string, number>> = {
  read: 25,
  edit: 25,
  write: 15,
  bash: 15,
  grep: 15,
  find: 15,
  ls: 15,
};

afterAll(() => killAllProcesses());

const usualPath = process.env.PATH ?? "";
/** grep is played with every engine that is here: all must give the same. */
const ENGINES: Readonly<Record<string, readonly [name: string, path: string][]>> = {
  grep: [
    [" (our own search)", "/nowhere"],
    ...((await findRipgrep(process.env)) ? [[" (ripgrep)", usualPath] as [string, string]] : []),
  ],
};

for (const file of readdirSync(FOLDER).sort()) {
  const tool = file.replace(/\.json$/, "");
  const cases = JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as ToolCase[];
  describe(tool, () => {
    it("has enough cases, each with a name of its own", () => {
      expect(cases.length).toBeGreaterThanOrEqual(ENOUGH[tool] ?? 1);
      expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    });
    for (const [engine, path] of ENGINES[tool] ?? [["", usualPath]]) {
      it.each(cases.map((one) => [one.name + engine, one] as const))("%s", async (_, one) => play(tool, one, path));
    }
  });
}

it("every tool has its file of cases", () => {
  expect(readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ""))).toEqual(Object.keys(ENOUGH).sort());
});

async function play(tool: string, one: ToolCase, path: string): Promise<void> {
  const folder = createCaseFolder(one.files);
  const inFolder = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("$ROOT", folder.root)) as T;
  try {
    const before = snapshot(folder.root);
    const outcome = await call(tool, inFolder(one.args), folder.root, path, one.unchecked ?? false);
    removeOutput(outcome);
    checkOutcome(outcome, inFolder(one.expect));
    expect(snapshot(folder.root)).toEqual(withChanges(before, one.expect.filesAfter ?? {}));
  } finally {
    folder.remove();
  }
}

/** A large output leaves a file behind, which is its purpose. */
function removeOutput(outcome: ToolResult | Error): void {
  const path = outcome instanceof Error ? undefined : (outcome.details as { fullOutputPath?: string })?.fullOutputPath;
  if (path) rmSync(path);
}

async function call(
  name: string,
  args: Record<string, unknown>,
  cwd: string,
  path: string,
  unchecked: boolean,
): Promise<ToolResult | Error> {
  const [tool] = createTools({
    names: [name],
    cwd,
    env: { PATH: path, HOME: cwd, LANG: "C.UTF-8" },
    clock: systemClock,
  });
  const checked = unchecked ? { args } : checkArguments(tool!, args);
  if ("error" in checked) return new Error(checked.error);
  const { signal } = new AbortController();
  try {
    return await tool!.execute({ toolCallId: "call_1", args: checked.args, signal, onUpdate: () => undefined });
  } catch (error) {
    return error as Error;
  }
}

function checkOutcome(outcome: ToolResult | Error, expected: ToolCase["expect"]): void {
  if (outcome instanceof Error) {
    expect(outcome.message).toMatch(wholeText(expected.error, expected.errorMatches));
    return;
  }
  const texts = outcome.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = outcome.content.flatMap((block) => (block.type === "image" ? [block.mimeType] : []));
  expect(texts.join("\n")).toMatch(wholeText(expected.text, expected.textMatches));
  expect(images).toEqual(expected.images ?? []);
  if (expected.details) expect(outcome.details).toMatchObject(expected.details);
  else expect(outcome).not.toHaveProperty("details");
}

/** A text that is expected exactly is a pattern that nothing else matches; none expected is one that nothing matches. */
function wholeText(text: string | undefined, pattern: string | undefined): RegExp {
  if (text !== undefined) return new RegExp(`^${text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`);
  return pattern === undefined ? /(?!)/ : new RegExp(pattern);
}

function withChanges(before: Record<string, string>, changes: NonNullable<ToolCase["expect"]["filesAfter"]>) {
  const after = { ...before };
  for (const [path, file] of Object.entries(changes)) {
    if (file === null) {
      delete after[path];
    } else if (path.endsWith("/")) {
      after[path] = "folder";
    } else {
      const mode = (typeof file === "object" && file.mode) || before[path]?.split(" ")[0] || NEW_FILE_MODE;
      after[path] = `${mode} ${bytesOf(file).toString("latin1")}`;
    }
  }
  return after;
}

const NEW_FILE_MODE = (0o666 & ~process.umask()).toString(8);
