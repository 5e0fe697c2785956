import type { StreamEvent } from "@tiller/protocol/stream-event";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../test/support/part-of.ts";
import { createMatcher } from "./matcher.ts";
import type { LoadedRule } from "./rule.ts";
import { readRule } from "./rule-file.ts";

const source = (name: string) =>
  ({ provider: "native", providerName: "native", path: `/p/.omp/rules/${name}.md`, level: "project" }) as const;

async function ruleOf(name: string, header: string): Promise<LoadedRule> {
  const { rule, problems } = await readRule(`---\n${header}\n---\nNo.\n`, source(name));
  expect(problems).toEqual([]);
  return rule!;
}

type Block = { text: string } | { thinking: string } | { tool: string; args: string };

/** The events of an answer, its texts cut where the lengths say. */
function eventsOf(blocks: readonly Block[], lengths: readonly number[] = []): StreamEvent[] {
  let cut = 0;
  return blocks.flatMap((block, contentIndex): StreamEvent[] => {
    const [kind, words] =
      "text" in block
        ? ["text", block.text]
        : "thinking" in block
          ? ["thinking", block.thinking]
          : ["toolcall", block.args];
    const pieces: string[] = [];
    for (let at = 0; at < words.length; ) {
      const length = lengths.length > 0 ? lengths[cut++ % lengths.length]! : words.length;
      pieces.push(words.slice(at, at + length));
      at += length;
    }
    const named = "tool" in block ? { id: "c", toolName: block.tool } : {};
    return [
      { type: `${kind}_start`, contentIndex, ...named },
      ...pieces.map((delta) => ({ type: `${kind}_delta`, contentIndex, delta })),
      { type: `${kind}_end`, contentIndex, content: words },
    ] as StreamEvent[];
  });
}

/** Names of the rules that matched, each time with what they matched in; the first of `stops` ends it. */
function play(rules: readonly LoadedRule[], events: readonly StreamEvent[], stops: readonly string[] = []): string[] {
  const told: string[] = [];
  const matcher = createMatcher("/p", () => told.push("spent"));
  const look = matcher.watch(rules, (found, part) => {
    told.push(`${found.map(({ rule }) => rule.name).join("+")} in ${part}`);
    return found.some(({ rule }) => stops.includes(rule.name));
  });
  for (const event of [...events, { type: "complete" } as const]) if (look(event)) return [...told, "stop"];
  return told;
}

describe("a text in which every character leads to a new state", () => {
  it("is looked at until that takes too long, in one piece and in many, and that is told once", async () => {
    const counting = Array.from({ length: 12 }, (_, i) => ruleOf(`far-${i}`, `condition: 'a[ab]{395}x${i}'`));
    const rules = [await ruleOf("near", "condition: needle"), ...(await Promise.all(counting))];
    let seed = 7;
    const toss = (): string => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return (seed >>> 16) & 1 ? "a" : "b";
    };
    const text = `needle ${Array.from({ length: 100_000 }, toss).join("")} needle`;
    const blocks = [{ text }, { text: "needle" }];
    for (const lengths of [[], [20]]) expect(play(rules, eventsOf(blocks, lengths))).toEqual(["near in text", "spent"]);
  });
});

describe("where a rule looks", () => {
  const args = (path: string, content: string) => JSON.stringify({ path, content });
  it.each<[header: string, blocks: Block[], found: string[]]>([
    ["condition: foo", [{ text: "a foo" }], ["r in text"]],
    ["condition: foo", [{ thinking: "a foo" }], []],
    ["condition: foo", [{ tool: "bash", args: '{"command":"foo"}' }], ["r in tool"]],
    ["condition: foo\nscope: thinking", [{ text: "foo" }, { thinking: "foo" }], ["r in thinking"]],
    ["condition: foo\nscope: text, thinking", [{ thinking: "foo" }, { text: "foo" }], ["r in thinking"]],
    ["condition: foo\nscope: toolcall", [{ text: "foo" }, { tool: "x", args: "foo" }], ["r in tool"]],
    [
      "condition: foo\nscope: tool:edit",
      [
        { tool: "bash", args: "foo" },
        { tool: "edit", args: "foo" },
      ],
      ["r in tool"],
    ],
    ["condition: foo\nscope: tool:edit(*.ts)", [{ tool: "edit", args: args("a.js", "foo") }], []],
    ["condition: foo\nscope: tool:edit(*.ts)", [{ tool: "edit", args: args("src/a.ts", "foo") }], ["r in tool"]],
    [
      "condition: foo\nscope: tool:edit(*.ts)",
      [{ tool: "edit", args: '{"content":"foo","path":"a.ts"}' }],
      ["r in tool"],
    ],
    ["condition: foo\nscope: tool:edit(src/*.ts)", [{ tool: "edit", args: args("/p/src/a.ts", "foo") }], ["r in tool"]],
    ["condition: foo\nscope: 'tool(*.{ts,js}), text'", [{ tool: "any", args: args("a.js", "foo") }], ["r in tool"]],
    ["condition: foo\nglobs: '*.ts'", [{ tool: "edit", args: args("a.js", "foo") }, { text: "foo" }], ["r in text"]],
    ["condition: foo\nglobs: ['*.ts', '*.js']", [{ tool: "edit", args: args("a.js", "foo") }], ["r in tool"]],
    ["condition: foo\nglobs: '*.ts'", [{ tool: "bash", args: '{"command":"foo"}' }], []],
    ["condition: *.rs", [{ text: "a.rs" }, { tool: "read", args: args("a.rs", "") }], []],
    ["condition: *.rs", [{ tool: "write", args: args("a.rs", "x") }], ["r in tool"]],
    ["condition: src/**/*.rs", [{ tool: "edit", args: args("src/b/a.rs", "x") }], ["r in tool"]],
    // Strings are matched as the tool will get them.
    ["condition: 'import \"a\"\\nx'", [{ tool: "write", args: args("a", 'import "a"\nx') }], ["r in tool"]],
    // Each block is a text of its own.
    ["condition: foobar", [{ text: "foo" }, { text: "bar" }], []],
    ["condition: ^bar$", [{ text: "foo" }, { text: "bar" }], ["r in text"]],
    ["condition: [foo, bar]", [{ text: "bar foo" }], ["r in text"]],
    ["condition: 😀", [{ text: "a 😀" }], ["r in text"]],
  ])("%s", async (header, blocks, found) => {
    const rule = await ruleOf("r", header);
    for (const lengths of [[], [1], [2, 3]]) expect(play([rule], eventsOf(blocks, lengths))).toEqual(found);
  });
});

it("tells rules that match with the same character together, and the first that stops ends it", async () => {
  const rules = [
    await ruleOf("a", "condition: oo"),
    await ruleOf("b", "condition: foo"),
    await ruleOf("c", "condition: bar"),
  ];
  const events = eventsOf([{ text: "foo bar foo" }]);
  expect(play(rules, events)).toEqual(["a+b in text", "c in text"]);
  expect(play(rules, events, ["b"])).toEqual(["a+b in text", "stop"]);
  expect(play(rules, events, ["c"])).toEqual(["a+b in text", "c in text", "stop"]);
});

it("finds at the end what was never closed", async () => {
  const rule = await ruleOf("r", "condition: foo$");
  expect(play([rule], eventsOf([{ text: "foo" }]).slice(0, -1), ["r"])).toEqual(["r in text", "stop"]);
});

it("looks at all blocks that grow at once", async () => {
  const rule = await ruleOf("r", "condition: foo\nscope: tool:edit(*.ts)");
  const [one = [], other = []] = ["a.ts", "a.js"].map((path, index) =>
    eventsOf([{ tool: "edit", args: JSON.stringify({ path, content: "foo" }) }], [2]).map((event) => {
      return { ...event, contentIndex: index } as StreamEvent;
    }),
  );
  const mixed = one.flatMap((event, at) => [other[at] ?? [], event].flat());
  expect(play([rule], mixed)).toEqual(["r in tool"]);
});

it("how a text is cut makes no difference to which rule fires", async () => {
  const rules = await Promise.all(
    [
      "condition: ab+c",
      "condition: (?i)\\bcat\\b",
      "condition: 'x.y'\nscope: thinking, text",
      "condition: a$",
      "condition: '\"'\nscope: tool:edit(*.ts)",
      "condition: *.js",
      "condition: (a|b)+\\n\nscope: tool",
      "condition: 😀.",
    ].map((header, at) => ruleOf(`r${at}`, header)),
  );
  const words = fc
    .array(fc.constantFrom("a", "b", "c", "abc", "cat", "x", "y", " ", "\n", '"', "\\", "😀", "é", "\ud83d"), {
      maxLength: 20,
    })
    .map((parts) => parts.join(""));
  const call = fc.record({ path: fc.constantFrom("a.ts", "b/a.js", "c"), content: words }).chain((args) =>
    fc.record({
      tool: fc.constantFrom("edit", "write", "bash"),
      args: fc.constantFrom(JSON.stringify(args), JSON.stringify({ content: args.content, path: args.path })),
    }),
  );
  const blocks = fc.array(fc.oneof(fc.record({ text: words }), fc.record({ thinking: words }), call), { maxLength: 4 });
  const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 8 });
  const stops = fc.subarray(rules.map(({ rule }) => rule.name));
  fc.assert(
    fc.property(blocks, lengths, stops, (answer, cuts, stop) => {
      expect(play(rules, eventsOf(answer, cuts), stop)).toEqual(play(rules, eventsOf(answer), stop));
    }),
    { numRuns: Number(process.env.TILLER_PROPERTY_RUNS ?? tries(300)), seed: Number(process.env.TILLER_SEED ?? 7) },
  );
});

it("gets through 50 KB of what is hard for others, in pieces", async () => {
  const rule = await ruleOf("r", "condition: (a+)+$");
  const events = eventsOf([{ text: `${"a".repeat(50_000)}b` }], [5]);
  expect(play([rule], events)).toEqual([]);
  expect(play([rule], eventsOf([{ text: "a".repeat(50_000) }], [5]))).toEqual(["r in text"]);
});
