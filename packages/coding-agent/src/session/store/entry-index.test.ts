import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../../test/support/part-of.ts";
import { type EntryIndex, findId, idAt, idsIn, indexEntries, KINDS, ROLES } from "./entry-index.ts";

const indexOf = (text: string): EntryIndex & { bytes: Buffer } => {
  const bytes = Buffer.from(text);
  return { bytes, ...indexEntries(bytes) };
};

const line = (id: string, parentId: string | null | undefined, role = "user"): string =>
  JSON.stringify({
    type: "message",
    id,
    parentId,
    timestamp: "2026-01-01T00:00:00.000Z",
    message: { role, content: `from ${id}`, timestamp: 1 },
  });

/** What the index says, in words. */
interface Told {
  header: string | undefined;
  entries: { id: string; parent: number; kind: string; role: string; text: string }[];
  damage: string[];
}

function told(bytes: Buffer): Told {
  const index = indexEntries(bytes);
  const text = ({ start, end }: { start: number; end: number }) => bytes.toString("utf8", start, end);
  return {
    header: index.header && text(index.header),
    entries: index.starts.map((start, at) => ({
      id: idAt(bytes, index, at),
      parent: index.parents[at]!,
      kind: KINDS[index.kinds[at]!]!,
      role: ROLES[index.roles[at]!]!,
      text: text({ start, end: index.ends[at]! }),
    })),
    damage: index.damage.map(text),
  };
}

/** The same by parsing every line. */
function naively(text: string): Told {
  const read: Told = { header: undefined, entries: [], damage: [] };
  const parentIds: unknown[] = [];
  for (const lineText of text.split("\n")) {
    const value = parsed(lineText);
    if (lineText.trim() === "") continue;
    if (typeof value?.type !== "string") read.damage.push(lineText);
    else if (value.type === "session") read.header ??= lineText;
    else if (typeof value.id === "string") {
      const kind = KINDS.find((known) => known === value.type) ?? "";
      const { role } = (value.type === "message" ? value.message : {}) as { role?: string };
      read.entries.push({ id: value.id, parent: -1, kind, role: ROLES.find((r) => r === role) ?? "", text: lineText });
      parentIds.push(value.parentId);
    }
  }
  linkNaively(read.entries, parentIds);
  return read;
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return undefined;
  }
}

/** The nearest one before, else the last one behind that does not make a circle. */
function linkNaively(entries: Told["entries"], parentIds: readonly unknown[]): void {
  const ids = entries.map(({ id }) => id);
  const isBelow = (at: number, top: number): boolean => at >= 0 && (at === top || isBelow(entries[at]!.parent, top));
  const before = (at: number): number => ids.lastIndexOf(parentIds[at] as string, at - 1);
  for (const [at, entry] of entries.entries()) if (at > 0) entry.parent = before(at);
  for (const [at, entry] of entries.entries()) {
    const behind = ids.lastIndexOf(parentIds[at] as string);
    if (entry.parent < 0 && behind >= 0 && !isBelow(behind, at)) entry.parent = behind;
  }
}

describe("the index of a session file", () => {
  it("of nothing is empty", () => {
    expect(told(Buffer.alloc(0))).toEqual({ header: undefined, entries: [], damage: [] });
  });

  it("knows the lines as we write them, and where the message stands", () => {
    const header = '{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}';
    const index = indexOf(`${header}\n${line("aaaaaaaa", null)}\n${line("bbbbbbbb", "aaaaaaaa", "assistant")}\n`);
    expect(index.header).toEqual({ start: 0, end: header.length });
    expect(index.parents).toEqual([-1, 0]);
    expect(index.oddIds.size).toBe(0);
    const messages = index.messageStarts.map((start, at) => index.bytes.toString("utf8", start, index.ends[at]! - 1));
    expect(messages.map((json) => JSON.parse(json).content)).toEqual(["from aaaaaaaa", "from bbbbbbbb"]);
  });

  const parents: [story: string, lines: string[], parents: number[]][] = [
    ["a chain", [line("aaaaaaaa", null), line("bbbbbbbb", "aaaaaaaa"), line("cccccccc", "bbbbbbbb")], [-1, 0, 1]],
    ["branches", [line("aaaaaaaa", null), line("bbbbbbbb", "aaaaaaaa"), line("cccccccc", "aaaaaaaa")], [-1, 0, 0]],
    ["two roots", [line("aaaaaaaa", null), line("bbbbbbbb", null)], [-1, -1]],
    ["no parent given", [line("aaaaaaaa", null), line("bbbbbbbb", undefined)], [-1, -1]],
    ["a parent that is nowhere", [line("aaaaaaaa", null), line("bbbbbbbb", "zzzzzzzz")], [-1, -1]],
    ["a parent that comes later", [line("aaaaaaaa", "bbbbbbbb"), line("bbbbbbbb", null)], [1, -1]],
    ["its own parent", [line("aaaaaaaa", "aaaaaaaa")], [-1]],
    ["a circle", [line("aaaaaaaa", "bbbbbbbb"), line("bbbbbbbb", "aaaaaaaa")], [-1, 0]],
    [
      "a circle of three, and one below it",
      [line("a", "c"), line("b", "a"), line("c", "b"), line("d", "c")],
      [-1, 0, 1, 2],
    ],
    ["the same id twice", [line("a", null), line("b", "a"), line("a", "b"), line("c", "a")], [-1, 0, 1, 2]],
    ["ids of different lengths", [line("a", null), line("ab", "a"), line("abc", "a"), line("x", "ab")], [-1, 0, 0, 1]],
    ["ids that are not ASCII", [line("äö", null), line("bbbbbbbb", null), line("cccccccc", "äö")], [-1, -1, 0]],
    ["of eight bytes", [line("ääää", null), line("öööö", "ääää"), line("üüüü", "ääää")], [-1, 0, 0]],
    [
      "ids with escapes",
      [line('a"b', null), line("a\\u0041", 'a"b'), line("x", 'a"b'), line("y", "a\\u0041")],
      [-1, 0, 0, 1],
    ],
    [
      "of eight bytes, with a parent of eight",
      [line("aaaaaaaa", null), line('"123456', "aaaaaaaa"), line("cccccccc", '"123456'), line("123456\\", "aaaaaaaa")],
      [-1, 0, 1, 0],
    ],
    ["of eight bytes", [line('"123456', null), line("bbbbbbbb", '"123456'), line("c", '"123456')], [-1, 0, 0]],
  ];
  for (const [story, lines, expected] of parents) {
    it(`links ${story}`, () => {
      expect(indexOf(lines.map((text) => `${text}\n`).join("")).parents).toEqual(expected);
      expect(told(Buffer.from(lines.join("\n")))).toEqual(naively(lines.join("\n")));
    });
  }

  const damaged: [story: string, text: string, damage: string[]][] = [
    ["text", `hello\n${line("a", null)}\n`, ["hello"]],
    ["half a line at the end", `${line("a", null)}\n{"type":"mess`, ['{"type":"mess']],
    [
      "half a line that ends like a whole one",
      `${line("aaaaaaaa", null).slice(0, -1)}`,
      [line("aaaaaaaa", null).slice(0, -1)],
    ],
    ["zeros", `\0\0\0\n${line("a", null)}\n`, ["\0\0\0"]],
    ["two lines in one", `${line("a", null)} ${line("b", "a")}\n`, []],
    ["a value that is no object", `7\nnull\n[1]\n"x"\n{"type":7}\n`, ["7", "null", "[1]", '"x"', '{"type":7}']],
    ["blank lines, which are none", `\n \n\r\n\t\n${line("a", null)}\n\n`, []],
  ];
  for (const [story, text, expected] of damaged) {
    it(`finds damage: ${story}`, () => expect(told(Buffer.from(text)).damage).toEqual(expected));
  }

  it("takes the first header, and leaves lines in peace that have a type and no id", () => {
    const text =
      '{"type":"title","v":1}\n{"type":"session","id":"1"}\n{"type":"session","id":"2"}\n{"type":"message"}\n';
    expect(told(Buffer.from(text))).toEqual({ header: '{"type":"session","id":"1"}', entries: [], damage: [] });
  });

  it("does not take what stands inside a message for a part of the line", () => {
    const inner = JSON.stringify({ type: "message", id: "inner", parentId: "x", message: { role: "user" } });
    const text = JSON.stringify({
      type: "custom",
      id: "outer",
      parentId: null,
      timestamp: "",
      data: inner,
      role: "user",
    });
    expect(told(Buffer.from(`${text}\n`)).entries).toMatchObject([{ id: "outer", kind: "custom", role: "" }]);
  });

  it("links a very long file whose every entry goes back to the first one, and one in the order of its end", () => {
    const ids = Array.from({ length: 5000 }, (_, n) => String(n).padStart(8, "0"));
    const star = ids.map((id, n) => line(id, n === 0 ? null : ids[0]!)).join("\n");
    expect(new Set(indexOf(`${star}\n`).parents.slice(1))).toEqual(new Set([0]));
    const backwards = ids.map((id, n) => line(id, ids[n + 1] ?? null)).join("\n");
    expect(indexOf(`${backwards}\n`).parents).toEqual(ids.map((_, n) => (n + 1 < ids.length ? n + 1 : -1)));
  });
});

const anyId = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("00000001", "00000002", "0000000a", "abcdefab", "1234567", "123456789") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("x", "ää", "ääää", "e2e2e2e2-7777-4444-8888-aaaaaaaaaaaa", 'a"b', "a\\bcdefg"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 10 }) },
);

const anyEntry = fc.record({
  type: fc.oneof(
    { weight: 3, arbitrary: fc.constant("message") },
    fc.constantFrom(...KINDS.slice(1), "mode_change", "session"),
  ),
  id: fc.oneof({ weight: 20, arbitrary: anyId as fc.Arbitrary<unknown> }, fc.constantFrom(undefined, 7)),
  parentId: fc.oneof({ weight: 5, arbitrary: anyId as fc.Arbitrary<unknown> }, fc.constantFrom(null, undefined, 5)),
  timestamp: fc.constantFrom("2026-01-01T00:00:00.000Z", "", "x", undefined),
  message: fc.record({
    // Those of others share no first letter with ours, on which the quick look relies.
    role: fc.constantFrom(...ROLES.slice(1), "hookMessage", "developer", "system", ""),
    content: fc.oneof(fc.string(), fc.constant("x".repeat(60))),
  }),
});

/** How a line is laid out: as we do it, with spaces, in another order, with fields behind the message. */
const layouts: ((entry: Record<string, unknown>) => string)[] = [
  (entry) => JSON.stringify(entry),
  (entry) => JSON.stringify(entry),
  (entry) => JSON.stringify(entry),
  (entry) => JSON.stringify(entry, null, 1).replaceAll("\n", ""),
  (entry) => ` ${JSON.stringify(entry)} `,
  (entry) => `${JSON.stringify(entry)}\r`,
  (entry) => JSON.stringify(Object.fromEntries(Object.entries(entry).reverse())),
  (entry) => JSON.stringify({ ...entry, more: { a: [1] } }),
  (entry) => JSON.stringify({ before: 1, ...entry }),
];

const anyLine = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(anyEntry, fc.constantFrom(...layouts)).map(([entry, layout]) => layout(entry)) },
  fc.constantFrom("", " ", "\r", "garbage", "{}", "null", "[]", '{"type":"title","title":"x"}'),
);

describe("the ids of a session file", () => {
  const odd = '{"id":"odd","type":"label"}';
  const usual = ["a", "bbbbbbb", "cccccccc", "ccccccccc", "dddddddddd"].map(
    (id) => `{"type":"label","id":"${id}","parentId":null}`,
  );
  const bytes = Buffer.from(`${[odd, ...usual].join("\n")}\n`);
  const ids = idsIn(bytes, indexEntries(bytes));

  it.each(["a", "bbbbbbb", "cccccccc", "ccccccccc", "dddddddddd", "odd"])("have %s", (id) =>
    expect(ids.has(id)).toBe(true),
  );

  const others = ["", "b", "bbbbbb", "ccccccc", "cccccccccc", "dddddddd", "d", "é", '{"type":"', "__proto__"];
  const withTheirEnds = ['a","parentId', 'cccccccc","parentId', 'odd","type'];
  it.each([...others, ...withTheirEnds])("do not have what only begins like one: %j", (id) => {
    expect(ids.has(id)).toBe(false);
    expect(findId(bytes, indexEntries(bytes), id)).toBe(-1);
  });
});

describe("any file", () => {
  it("is read as by parsing every line", () => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 14 }), fc.boolean(), (lines, isEnded) => {
        const text = lines.join("\n") + (isEnded ? "\n" : "");
        expect(told(Buffer.from(text))).toEqual(naively(text));
      }),
      { numRuns: tries(3000) },
    );
  });
});
