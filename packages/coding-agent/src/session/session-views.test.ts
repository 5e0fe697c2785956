import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tries } from "../../../../test/support/part-of.ts";
import { createSessionViews, type Pieces, type SessionViews } from "./session-views.ts";
import type { NewEntry, SessionStore } from "./store/session-store.ts";
import {
  assistant,
  bash,
  loadedLog,
  messageEntry,
  naiveContext,
  naivePath,
  naiveTree,
  type PlainEntry,
  plain,
  storeOf,
  user,
} from "./store/test-sessions.ts";

/** As a reader gets it: a Buffer is only good until the next piece. */
function textOf(pieces: Pieces | { refused: string }): string {
  if ("refused" in pieces) throw new Error(pieces.refused);
  const parts: Buffer[] = [];
  for (const piece of pieces) parts.push(Buffer.from(piece as string));
  return Buffer.concat(parts).toString("utf8");
}
const dataOf = (pieces: Pieces | { refused: string }) => JSON.parse(textOf(pieces));

function views(lines: readonly (object | string)[]): { store: SessionStore; views: SessionViews } {
  const store = storeOf(loadedLog(lines));
  return { store, views: createSessionViews(store) };
}

interface Page {
  messages: unknown[];
  totalMessages: number;
  nextCursor?: string;
}
const pageOf = (given: SessionViews, request: { cursor?: string; limit?: number }): Page =>
  dataOf(given.messagesPage(request));

function allPages(given: SessionViews, limit?: number): Page[] {
  const pages = [pageOf(given, { limit })];
  for (let cursor = pages[0]?.nextCursor; cursor !== undefined; cursor = pages.at(-1)?.nextCursor) {
    pages.push(pageOf(given, { limit, cursor }));
  }
  return pages;
}

const chain = (length: number, text = (at: number) => `text ${at}`): PlainEntry[] =>
  Array.from({ length }, (_, at) => messageEntry(`id-${at}`, at === 0 ? null : `id-${at - 1}`, user(text(at))));

describe("what hosts see of an empty session", () => {
  const { views: empty } = views([]);
  it("is nothing", () => {
    expect(textOf(empty.messages())).toBe('{"messages":[]}');
    expect(textOf(empty.entries(undefined))).toBe('{"entries":[],"leafId":null}');
    expect(textOf(empty.tree())).toBe('{"tree":[],"leafId":null}');
    expect(pageOf(empty, {})).toEqual({ messages: [], totalMessages: 0 });
  });
});

describe("the entries", () => {
  const lines = chain(3);
  const { store, views: subject } = views(lines);
  it("are all of the file, or those behind one that is known", () => {
    expect(dataOf(subject.entries(undefined))).toEqual({ entries: lines, leafId: "id-2" });
    expect(dataOf(subject.entries("id-0"))).toEqual({ entries: lines.slice(1), leafId: "id-2" });
    expect(dataOf(subject.entries("id-2"))).toEqual({ entries: [], leafId: "id-2" });
    expect(subject.entries("nobody")).toEqual({ refused: "Entry not found: nobody" });
  });

  it("are those that were there when they were asked for", () => {
    const entries = subject.entries(undefined);
    const messages = subject.messages();
    const tree = subject.tree();
    store.appendMessage(assistant("later"));
    expect(dataOf(entries as Pieces).entries).toEqual(lines);
    expect(dataOf(messages).messages).toHaveLength(3);
    expect(dataOf(tree)).toEqual({ tree: naiveTree(lines), leafId: "id-2" });
    expect(dataOf(subject.entries("id-2")).entries).toMatchObject([{ message: assistant("later") }]);
  });
});

describe("bytes that must not go out as they are", () => {
  const separated = messageEntry("aaaaaaaa", null, user("a\u2028b\u2029c"));
  const broken = JSON.stringify(messageEntry("bbbbbbbb", "aaaaaaaa", user("XX"))).replace("XX", "\u0001");
  const deep = JSON.stringify(messageEntry("dddddddd", "bbbbbbbb", user("XX"))).replace(
    '"XX"',
    `"x","more":${"[".repeat(100_000)}${"]".repeat(100_000)}`,
  );
  const last = messageEntry("cccccccc", "dddddddd", assistant("fine"));
  const { views: subject } = views([separated, broken, deep, last]);

  it("are escaped, or left out of the conversation and the entries and named in the tree; what is too deep is a note", () => {
    const noted = { content: "x", more: { leftOut: expect.stringContaining("500 levels") } };
    const messages = [separated.message, expect.objectContaining(noted), last.message];
    expect(dataOf(subject.messages())).toEqual({ messages });
    expect(dataOf(subject.entries(undefined)).entries).toMatchObject([separated, { message: noted }, last]);
    expect(pageOf(subject, {}).messages).toEqual(messages);
    expect(dataOf(subject.tree()).tree).toMatchObject([
      { entry: separated, children: [{ entry: { id: "bbbbbbbb" }, children: [{ entry: { id: "dddddddd" } }] }] },
    ]);
    for (const pieces of [subject.messages(), subject.entries(undefined), subject.tree(), subject.messagesPage({})]) {
      expect(textOf(pieces)).not.toMatch(/[\u2028\u2029\n]/);
    }
  });
});

describe("the tree", () => {
  it("has branches, roots and labels", () => {
    const lines = [
      messageEntry("a", null, user("a")),
      messageEntry("b", "a", user("b")),
      messageEntry("c", "a", user("c")),
      plain("l", "c", { type: "label", targetId: "b", label: 'say "\u2028"' }),
      messageEntry("r", null, user("r")),
    ];
    const { views: subject } = views(lines);
    expect(dataOf(subject.tree())).toEqual({ tree: naiveTree(lines), leafId: "r" });
  });

  it("may be as deep as a conversation is long", () => {
    const { views: subject } = views(chain(20_000));
    const text = textOf(subject.tree());
    let node = JSON.parse(text).tree[0];
    let depth = 0;
    for (; node; node = node.children[0]) expect(node.entry.id).toBe(`id-${depth++}`);
    expect(depth).toBe(20_000);
    expect(dataOf(subject.messages()).messages).toHaveLength(20_000);
  });
});

describe("pages of messages", () => {
  const limits: [limit: unknown, isFine: boolean][] = [
    [1, true],
    [256, true],
    [undefined, true],
    [0, false],
    [257, false],
    [-1, false],
    [1.5, false],
  ];
  for (const [limit, isFine] of limits) {
    it(`of ${limit} are ${isFine ? "given" : "refused"}`, () => {
      const answer = views(chain(1)).views.messagesPage({ limit: limit as number });
      if (isFine) expect(dataOf(answer).messages).toHaveLength(1);
      else expect(answer).toEqual({ refused: "RPC message page limit must be between 1 and 256" });
    });
  }

  it("visit every message once, in order, a hundred at a time unless another number is asked for", () => {
    const { views: subject } = views(chain(250));
    expect(allPages(subject).map(({ messages }) => messages.length)).toEqual([100, 100, 50]);
    const pages = allPages(subject, 7);
    expect(pages.flatMap(({ messages }) => messages)).toEqual(chain(250).map(({ message }) => message));
    expect(new Set(pages.map(({ totalMessages }) => totalMessages))).toEqual(new Set([250]));
    expect(pages.slice(0, -1).every(({ messages }) => messages.length === 7)).toBe(true);
  });

  it("hold 768 KB at most, or one message that is larger", () => {
    const { views: subject } = views(chain(6, (at) => "x".repeat(at === 2 ? 900_000 : 300_000)));
    const pages = allPages(subject);
    expect(pages.map(({ messages }) => messages.length)).toEqual([2, 1, 2, 1]);
    expect(pages.flatMap(({ messages }) => messages)).toHaveLength(6);
  });

  it("do not count what cannot be read against the limit, and come to an end behind it", () => {
    const broken = (id: string, parent: string) =>
      JSON.stringify(messageEntry(id, parent, user("XX"))).replace("XX", "\u0001");
    const { views: subject } = views([...chain(2), broken("xxxxxxxx", "id-1"), broken("yyyyyyyy", "xxxxxxxx")]);
    expect(allPages(subject, 1).flatMap(({ messages }) => messages)).toHaveLength(2);
  });

  const changes: [what: string, change: (store: SessionStore) => void][] = [
    ["a message is added", (store) => store.appendMessage(user("more"))],
    ["a label is added", (store) => void store.append({ type: "label", targetId: "id-0", label: "x" })],
    ["the leaf moves", (store) => store.moveTo(1)],
    [
      "another session is opened",
      (store) => void store.replace({ log: loadedLog(chain(3)).under({ ...store.log.header, id: "s2" }) }),
    ],
  ];
  for (const [what, change] of changes) {
    it(`are stale after ${what}`, () => {
      const { store, views: subject } = views(chain(3));
      const cursor = pageOf(subject, { limit: 1 }).nextCursor;
      expect(pageOf(subject, { limit: 1, cursor }).messages).toEqual([user("text 1")]);
      change(store);
      expect(subject.messagesPage({ cursor })).toEqual({ refused: "RPC message cursor is stale" });
    });
  }

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  for (const cursor of [
    "",
    "rubbish",
    "!!!",
    encode({ version: 2 }),
    encode(null),
    encode([]),
    encode({ version: 1, offset: -1 }),
    encode({ version: 1, offset: "1" }),
  ]) {
    it(`refuse the cursor "${cursor}"`, () => {
      expect(views(chain(3)).views.messagesPage({ cursor })).toEqual({ refused: "Invalid RPC message cursor" });
    });
  }
});

it("messages of any length come out whole, also where they just fit into what is sent at a time", () => {
  for (let length = 4900; length < 5200; length++) {
    const two = chain(2, (at) => "x".repeat(at === 0 ? 1000 : length));
    expect(dataOf(views(two).views.messages()).messages).toEqual(two.map(({ message }) => message));
  }
  const large = chain(5, (at) => "x".repeat(at % 2 === 0 ? 300_000 : 10));
  expect(dataOf(views(large).views.entries(undefined)).entries).toEqual(large);
});

/** Any session: some of it from a file, laid out like this or like that, the rest added since. */
const anyText = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\u2028", '"\\', "x".repeat(3000), "\ud800"));
const fields = fc.oneof(
  { weight: 4, arbitrary: anyText.map((text) => ({ type: "message", message: user(text) })) },
  { weight: 3, arbitrary: anyText.map((text) => ({ type: "message", message: assistant(text) })) },
  fc.constant({ type: "message", message: bash("ls") }),
  anyText.map((text) => ({ type: "custom_message", customType: "x", content: text, display: true })),
  anyText.map((summary) => ({ type: "branch_summary", summary, fromId: "root" })),
  fc.nat({ max: 20 }).map((n) => ({ type: "label", targetId: `e${n % 5}`, label: `label ${n}` })),
  fc.nat({ max: 20 }).map((n) => ({ type: "compaction", summary: "s", firstKeptEntryId: `e${n}`, tokensBefore: 1 })),
  fc.constant({ type: "mode_change", mode: "plan" }),
);
const layout = fc.constantFrom<(entry: PlainEntry) => string>(
  (entry) => JSON.stringify(entry),
  (entry) => ` ${JSON.stringify(entry)}`,
  ({ type, id, ...rest }) => JSON.stringify({ id, ...rest, type }),
);
const anySession = fc.record({
  lines: fc.array(fc.tuple(fields, fc.nat({ max: 4 }), layout), { maxLength: 15 }),
  added: fc.array(fields, { maxLength: 5 }),
});

describe("any session", () => {
  it("looks as if every line had been parsed and written by JSON.stringify", () => {
    fc.assert(
      fc.property(anySession, ({ lines, added }) => {
        const entries: PlainEntry[] = [];
        const texts = lines.map(([given, back, lay], at) => {
          const entry = plain(`e${at}`, entries[at - 1 - back]?.id ?? entries[at - 1]?.id ?? null, given);
          entries.push(entry);
          return lay(entry);
        });
        const { store, views: subject } = views(texts);
        for (const given of added) {
          const parentId = store.leafId;
          entries.push(plain(store.append(given as NewEntry), parentId, given));
        }
        const shown = naiveContext(naivePath(entries, store.leafId));
        const wire = (value: unknown) => JSON.parse(JSON.stringify(value));
        expect(dataOf(subject.messages())).toEqual(wire({ messages: shown }));
        expect(dataOf(subject.entries(undefined))).toEqual(wire({ entries, leafId: store.leafId }));
        expect(dataOf(subject.tree())).toEqual(wire({ tree: naiveTree(entries), leafId: store.leafId }));
        expect(allPages(subject, 3).flatMap(({ messages }) => messages)).toEqual(wire(shown));
        const all = [subject.messages(), subject.entries(undefined), subject.tree(), subject.messagesPage({})];
        for (const pieces of all) expect(textOf(pieces)).not.toMatch(/[\u2028\u2029\n]/);
      }),
      { numRuns: tries(250) },
    );
  });
});
