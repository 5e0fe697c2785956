import { describe, expect, test } from "vitest";
import { calledCommand, commandsOf } from "./commands.ts";
import { type Extension, newExtension } from "./extension.ts";

const handler = (): void => undefined;
function extensionWith(path: string, ...names: string[]): Extension {
  const extension = newExtension({ path, source: "cli", scope: "temporary", origin: "top-level" });
  for (const name of names) extension.commands.set(name, { handler, description: `${name} of ${path}` });
  return extension;
}
const listed = (...extensions: Extension[]): string[] =>
  commandsOf(extensions).map(({ name, extension, definition }) => {
    expect(definition.description).toContain(extension.source.path);
    return `${name} ${extension.source.path}`;
  });

describe("the names under which commands can be called", () => {
  const cases: [name: string, extensions: Extension[], expected: string[]][] = [
    ["none", [extensionWith("/a")], []],
    [
      "in the order of extensions and of registering",
      [extensionWith("/a", "z", "b"), extensionWith("/b", "a")],
      ["z /a", "b /a", "a /b"],
    ],
    [
      "of the same name all get a number",
      [extensionWith("/a", "review", "deploy"), extensionWith("/b", "review"), extensionWith("/c", "review")],
      ["review:1 /a", "deploy /a", "review:2 /b", "review:3 /c"],
    ],
  ];
  test.each(cases)("%s", (_name, extensions, expected) => {
    expect(listed(...extensions)).toEqual(expected);
  });
});

describe("what a text calls", () => {
  const commands = commandsOf([extensionWith("/a", "go", "review"), extensionWith("/b", "review")]);
  const cases: [text: string, expected: [name: string, args: string] | undefined][] = [
    ["/go", ["go", ""]],
    ["/go ", ["go", ""]],
    ["/go  north by  west ", ["go", " north by  west "]],
    ["/go\nnorth", ["go", "north"]],
    ["/review:2 all", ["review:2", "all"]],
    ["/review all", undefined],
    ["/gone", undefined],
    ["/", undefined],
    ["go", undefined],
    [" /go", undefined],
    ["", undefined],
  ];
  test.each(cases)("%j", (text, expected) => {
    const called = calledCommand(text, commands);
    expect(called && [called.command.name, called.args]).toEqual(expected);
  });
});
