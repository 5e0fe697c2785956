import { readFileSync, rmSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callResult, readTools, toolName } from "./tools.ts";

const free = (): boolean => false;

describe("names", () => {
  test.each([
    ["deck", "hail", "mcp__deck__hail"],
    ["my server", "a.b/c", "mcp__my_server__a_b_c"],
    ["é", "ü", "mcp______"],
  ])("%s, %s", (server, tool, name) => expect(toolName(server, tool, free)).toBe(name));

  test("one that is taken gets a number", () => {
    const taken = new Set(["mcp__a__b", "mcp__a__b_2"]);
    expect(toolName("a", "b", (name) => taken.has(name))).toBe("mcp__a__b_3");
  });

  test("long ones are cut, and stay different", () => {
    const long = "x".repeat(80);
    expect(toolName("a", `${long}1`, free)).not.toBe(toolName("a", `${long}2`, free));
  });

  test("every provider takes them, and none comes twice", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string({ maxLength: 90 })), { maxLength: 20 }), (all) => {
        const used = new Set<string>();
        for (const [server, tool] of all) used.add(toolName(server, tool, (name) => used.has(name)));
        expect([...used].filter((name) => !/^[A-Za-z0-9_-]{1,64}$/.test(name))).toEqual([]);
        expect(used.size).toBe(all.length);
      }),
    );
  });
});

test("a list: what cannot be used is left out and told", () => {
  const inputSchema = { type: "object", properties: { a: { type: "string" } } };
  const { tools, problems } = readTools([
    { name: "good", title: "Good", description: "It is", inputSchema, annotations: { readOnlyHint: true } },
    { name: "bare", inputSchema: {} },
    { name: "good", description: "once more", inputSchema },
    { name: "typo", inputSchema: { type: "object", properties: { a: { type: "strnig" } } } },
    { name: "array", inputSchema: { type: "array" } },
    { name: "none" },
    { description: "nameless" },
    "text",
  ]);
  expect(tools).toEqual([
    { name: "good", title: "Good", description: "It is", parameters: inputSchema, isReader: true },
    { name: "bare", description: "", parameters: { type: "object", properties: {} }, isReader: false },
  ]);
  expect(problems).toEqual([
    'its tool "typo" is left out: its inputSchema cannot be used: a has the type "strnig"',
    'its tool "array" is left out: its inputSchema cannot be used: "type" is "array"',
    'its tool "none" is left out: its inputSchema cannot be used: there is none',
    "a tool without a name is left out",
    "a tool without a name is left out",
  ]);
});

test("a list that is too long, of tools that are too large or too deep: the others count, and not all is told", () => {
  const inputSchema = { type: "object" };
  const deep = JSON.parse(`${'{"properties":{"a":'.repeat(20_000)}{}${"}}".repeat(20_000)}`);
  const strange = [
    { name: "n".repeat(300), inputSchema },
    { name: "wordy", description: "x".repeat(100_000), inputSchema },
    { name: "deep", inputSchema: deep },
    { name: "list", inputSchema: { ...inputSchema, examples: JSON.parse("[".repeat(20_000) + "]".repeat(20_000)) } },
    { name: "good", inputSchema },
  ];
  const { tools, problems } = readTools([...strange, ...Array.from({ length: 20_000 }, () => ({ name: "bad" }))]);
  expect(tools.map(({ name }) => name)).toEqual(["good"]);
  expect(problems.slice(0, 6).map((problem) => problem.replace(/n{256}/, "nn"))).toEqual([
    "it has more than 1000 tools: the others are left out",
    'its tool "nn" is left out: its name has more than 256 characters',
    'its tool "wordy" is left out: what it says of itself has 100097 characters, and at most 100000 are possible',
    'its tool "deep" is left out: its inputSchema cannot be used: it is more than 200 levels deep',
    'its tool "list" is left out: its inputSchema cannot be used: it is more than 200 levels deep',
    'its tool "bad" is left out: its inputSchema cannot be used: there is none',
  ]);
  expect(problems.slice(10)).toEqual(["990 more of its tools are left out"]);
});

describe("results", () => {
  const data = Buffer.from("image").toString("base64");
  const said = (answer: Record<string, unknown>) =>
    callResult(answer).content.map((block) => (block.type === "text" ? block.text : block.mimeType));

  test.each<[string, Record<string, unknown>, string[]]>([
    [
      "texts",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      ["a", "b"],
    ],
    ["an image", { content: [{ type: "image", data, mimeType: "image/png" }] }, ["image/png"]],
    [
      "an image of another kind",
      { content: [{ type: "image", data, mimeType: "image/tiff" }] },
      ['[Image left out: "mimeType" is "image/tiff", it must be one of image/png, image/jpeg, image/gif, image/webp]'],
    ],
    ["a sound", { content: [{ type: "audio", data, mimeType: "audio/wav" }] }, ["[Audio left out: audio/wav]"]],
    [
      "a link",
      { content: [{ type: "resource_link", uri: "file:///a", name: "a", description: "An a" }] },
      ["[Resource a: file:///a] An a"],
    ],
    [
      "a resource",
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "in it" } }] },
      ["[Resource file:///a]\nin it"],
    ],
    [
      "bytes",
      { content: [{ type: "resource", resource: { uri: "file:///a", blob: data, mimeType: "x/y" } }] },
      ["[Resource file:///a left out: x/y is no text]"],
    ],
    [
      "what nobody knows",
      { content: [{ type: "hologram" }, 5, { type: "text" }] },
      [
        '[Something of the type "hologram" is left out]',
        "[Something of the type undefined is left out]",
        '[Something of the type "text" is left out]',
      ],
    ],
    [
      "what every object has",
      { content: [{ type: "constructor", text: "x" }, { type: "toString" }, { type: "__proto__" }] },
      ["constructor", "toString", "__proto__"].map((type) => `[Something of the type "${type}" is left out]`),
    ],
    ["only a structure", { structuredContent: { knots: 5 } }, ['{\n  "knots": 5\n}']],
    ["both", { content: [{ type: "text", text: "5 knots" }], structuredContent: { knots: 5 } }, ["5 knots"]],
    ["nothing", {}, ["(no output)"]],
  ])("%s", (_what, answer, texts) => expect(said(answer)).toEqual(texts));

  test("a structure is kept beside the text; a failure is one", () => {
    const answer = { content: [{ type: "text", text: "x" }], structuredContent: { knots: 5 }, isError: true };
    expect(callResult(answer)).toMatchObject({ details: { structuredContent: { knots: 5 } }, isError: true });
  });

  test("a question back is a failure", () => {
    expect(() => callResult({ resultType: "input_required" })).toThrow("wants to ask a person");
  });

  test.each([
    ["lines", "a line\n".repeat(5000)],
    ["one line", "é".repeat(100_000)],
    ["a short line and one that is too long", `{\n${"é".repeat(100_000)}\n}`],
  ])("an output of %s that is too long is cut; the whole of it is in a file", (_what, whole) => {
    const [text = ""] = said({ content: [{ type: "text", text: whole }] });
    const path = /Full output: (\S+)\]$/.exec(text)?.[1] ?? "";
    expect(Buffer.byteLength(text)).toBeLessThan(52 * 1024);
    expect(text.length).toBeGreaterThan(10_000);
    expect(text).not.toContain("\uFFFD");
    expect(readFileSync(path, "utf8")).toBe(whole);
    rmSync(path);
  });
});
