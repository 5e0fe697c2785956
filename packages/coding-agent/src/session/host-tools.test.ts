import { expect, test } from "vitest";
import { createHostTools, readDefinitions } from "./host-tools.ts";

const parameters = { type: "object", properties: {} };
const good = { name: "open_ticket", description: "Opens a ticket", parameters };
const taken = (name: string): boolean => name === "read" || name === "web_search";

test.each<[story: string, given: unknown[], refused: string]>([
  ["no name", [{ ...good, name: undefined }], "Host tool at index 0 must provide a non-empty name"],
  ["a blank name", [good, { ...good, name: "  " }], "Host tool at index 1 must provide a non-empty name"],
  ["no object at all", [null], "Host tool at index 0 must provide a non-empty name"],
  ["no description", [{ ...good, description: " " }], 'Host tool "open_ticket" must provide a non-empty description'],
  ["no schema", [{ ...good, parameters: undefined }], 'Host tool "open_ticket" must provide a JSON Schema object'],
  ["a list as schema", [{ ...good, parameters: [] }], 'Host tool "open_ticket" must provide a JSON Schema object'],
  ["the same name twice", [good, { ...good, name: " open_ticket" }], "RPC host tool names must be unique"],
  ["a name that is taken", [{ ...good, name: "read" }], 'RPC host tool "read" conflicts with an existing tool'],
  [
    "parameters that are a list",
    [{ ...good, parameters: { type: "array" } }],
    '"parameters" of host tool "open_ticket" must have the type "object", or none, got "array"',
  ],
  [
    "parameters that may also be nothing",
    [{ ...good, parameters: { type: ["object", "null"] } }],
    '"parameters" of host tool "open_ticket" must have the type "object", or none, got ["object","null"]',
  ],
  [
    "two names that are one for models",
    [good, { ...good, name: "a.b" }, { ...good, name: "a b" }],
    'Host tool "a b" is "a_b" for models, as is the tool "a.b": use a name of letters, digits, "_" and "-", at most 64 of them',
  ],
  [
    "a name that is another's for models",
    [
      { ...good, name: "open ticket" },
      { ...good, name: "open_ticket" },
    ],
    'Host tool "open ticket" is "open_ticket" for models, as is the tool "open_ticket": use a name of letters, digits, "_" and "-", at most 64 of them',
  ],
  [
    "a name that is a taken one for models",
    [
      { ...good, name: "read_it" },
      { ...good, name: "web.search" },
    ],
    'Host tool "web.search" is "web_search" for models, as is the tool "web_search": use a name of letters, digits, "_" and "-", at most 64 of them',
  ],
  [
    "no time at all",
    [{ ...good, timeoutMs: 0 }],
    '"timeoutMs" of host tool "open_ticket" must be a number of milliseconds above 0, got 0',
  ],
  ["no text as label", [{ ...good, label: 5 }], '"label" of host tool "open_ticket" must be a string, got 5'],
  [
    "hidden in other words",
    [{ ...good, hidden: "yes" }],
    '"hidden" of host tool "open_ticket" must be true or false, got "yes"',
  ],
])("is refused: %s", (_story, given, refused) => {
  expect(readDefinitions(given, taken)).toEqual({ refused });
});

test("names and texts are trimmed, the label is the name when there is none, hidden only when it says so", () => {
  const given = [
    { ...good, name: " a ", description: " b ", label: " L " },
    { ...good, name: "c", label: null, hidden: null, timeoutMs: null },
    { ...good, name: "d", hidden: true, timeoutMs: 5 },
    { ...good, name: "names as they are: 日本", parameters: {} },
  ];
  expect(readDefinitions(given, taken)).toMatchObject([
    { name: "a", description: "b", label: "L", hidden: false },
    { name: "c", label: "c", hidden: false },
    { name: "d", hidden: true, timeoutMs: 5 },
    { name: "names as they are: 日本" },
  ]);
});

test("all are replaced at once; what is refused leaves those that were there", async () => {
  const added: string[][] = [];
  const tools = createHostTools({ isTaken: taken, onAdded: (names) => added.push([...names]) });
  const run = async ({ toolName }: { toolName: string }) => ({ content: [{ type: "text" as const, text: toolName }] });
  expect(tools.set([good, { ...good, name: "quiet", hidden: true }], run)).toEqual({
    toolNames: ["open_ticket", "quiet"],
  });
  expect([tools.visible(), tools.tool("quiet")?.name]).toEqual([["open_ticket"], "quiet"]);
  expect(tools.set([{ ...good, name: "read" }], run)).toHaveProperty("refused");
  expect(tools.visible()).toEqual(["open_ticket"]);
  expect(tools.set([good, { ...good, name: "close_ticket" }], run)).toHaveProperty("toolNames");
  expect(added).toEqual([["open_ticket"], ["close_ticket"]]);
  const call = { toolCallId: "c", args: {}, signal: new AbortController().signal, onUpdate: () => undefined };
  expect(await tools.tool("close_ticket")?.execute(call)).toEqual({
    content: [{ type: "text", text: "close_ticket" }],
  });
  expect(tools.set([], run)).toEqual({ toolNames: [] });
  expect([tools.visible(), tools.tool("open_ticket")]).toEqual([[], undefined]);
});
