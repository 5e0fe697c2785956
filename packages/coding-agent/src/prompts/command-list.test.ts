import { expect, test } from "vitest";
import { availableCommands, type CommandSources, commandItems } from "./command-list.ts";

const sources: CommandSources = {
  extensions: [{ name: "greet", source: "extension", path: "/e/greet.ts" }],
  templates: [
    {
      name: "fix",
      description: "Fix tests",
      argumentHint: "FILE",
      path: "/w/.pi/prompts/fix.md",
      source: "project",
      sourceInfo: {
        path: "/w/.pi/prompts/fix.md",
        source: "local",
        scope: "project",
        origin: "top-level",
        baseDir: "/w/.pi/prompts",
      },
    },
  ],
  skills: [
    {
      name: "web",
      description: "Search",
      path: "/x/web/SKILL.md",
      source: "path",
      sourceInfo: { path: "/x/web/SKILL.md", source: "cli", scope: "temporary", origin: "top-level", baseDir: "/x" },
    },
  ],
};

test("get_commands: extensions, templates, skills, in the shapes of older and newer clients", () => {
  expect(commandItems(sources)).toEqual([
    { name: "greet", source: "extension", path: "/e/greet.ts" },
    {
      name: "fix",
      description: "Fix tests",
      source: "prompt",
      location: "project",
      path: "/w/.pi/prompts/fix.md",
      sourceInfo: {
        path: "/w/.pi/prompts/fix.md",
        source: "local",
        scope: "project",
        origin: "top-level",
        baseDir: "/w/.pi/prompts",
      },
    },
    {
      name: "skill:web",
      description: "Search",
      source: "skill",
      location: "path",
      path: "/x/web/SKILL.md",
      sourceInfo: { path: "/x/web/SKILL.md", source: "cli", scope: "temporary", origin: "top-level", baseDir: "/x" },
    },
  ]);
});

test("get_available_commands: the same, with what to write after the name", () => {
  expect(availableCommands(sources)).toEqual([
    { name: "greet", description: undefined, source: "extension" },
    { name: "fix", description: "Fix tests", input: { hint: "FILE" }, source: "prompt" },
    { name: "skill:web", description: "Search", source: "skill" },
  ]);
});

test("a template that an extension's command hides is not listed: a prompt could not call it", () => {
  const hidden = { ...sources, extensions: [{ name: "fix", source: "extension" as const }] };
  expect(commandItems(hidden).map(({ name }) => name)).toEqual(["fix", "skill:web"]);
  expect(availableCommands(hidden).map(({ name, source }) => `${name} ${source}`)).toEqual([
    "fix extension",
    "skill:web skill",
  ]);
});
