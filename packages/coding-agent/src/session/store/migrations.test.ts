import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BLOB_MARK, type Line, migrate, normalise, OWN_ROLES } from "./migrations.ts";

const FIXTURES = join(fileURLToPath(import.meta.url), "../../../../../../test/fixtures/sessions");
const BLOB = "blob:sha256:9f86";

function read(path: string): { header: Line; entries: Line[] } {
  const lines = readFileSync(join(FIXTURES, path), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): Line => JSON.parse(line))
    .filter(({ type }) => type !== "title");
  return { header: lines[0] as Line, entries: lines.slice(1) };
}

function counting(): () => string {
  let n = 0;
  return () => `id-${++n}`;
}

const message = (role: string, fields: object = {}): Line => ({
  type: "message",
  id: "e",
  message: { role, ...fields },
});
const ids = (entries: readonly Line[]) => entries.map(({ id, parentId }) => [id, parentId]);

describe("a file of version 1", () => {
  const { header, entries } = read("old/v1.jsonl");
  const result = migrate(header, entries, counting());

  it("becomes a chain of version 3 and keeps what its header said", () => {
    expect(result.header).toEqual({ ...header, version: 3 });
    expect(result.changed).toBe(true);
    expect(ids(result.entries)).toEqual(entries.map((_, at) => [`id-${at + 1}`, at === 0 ? null : `id-${at}`]));
  });

  it("finds the first kept line of a compaction, counted from the header", () => {
    const compaction = result.entries.find(({ type }) => type === "compaction");
    expect(compaction).toMatchObject({ firstKeptEntryId: "id-7", tokensBefore: 900 });
    expect(compaction).not.toHaveProperty("firstKeptEntryIndex");
    expect(result.entries[6]).toMatchObject({ id: "id-7", message: { content: [{ text: "And then?" }] } });
  });

  it("gives the model what pi gives it after its own migration", () => {
    const expected = JSON.parse(readFileSync(join(FIXTURES, "old/v1.expected.json"), "utf8"));
    const kept = [result.entries[6], ...result.entries.slice(8)].map((entry) => entry?.message);
    expect(kept).toEqual(expected.messages.slice(1));
  });

  it.each([0, -1, 99])("keeps nothing before a compaction that names the line %i, which no entry has", (index) => {
    const compaction = { type: "compaction", firstKeptEntryIndex: index };
    const migrated = migrate({ type: "session" }, [{ type: "custom" }, compaction, { type: "custom" }], counting());
    expect(migrated.entries[1]).toMatchObject({ id: "id-2", firstKeptEntryId: "id-2" });
  });

  it("keeps ids that are there, and never gives one twice", () => {
    const given = [
      { type: "custom", id: "id-1" },
      { type: "custom" },
      { type: "custom", id: "id-1" },
      { type: "custom" },
    ];
    const found = migrate({ type: "session" }, given, counting()).entries.map(({ id }) => id);
    expect(found[0]).toBe("id-1");
    expect(new Set(found).size).toBe(4);
  });
});

describe("a file of version 2", () => {
  const { header, entries } = read("old/v2.jsonl");
  const result = migrate(header, entries, () => "never");

  it("keeps its tree and renames hook messages", () => {
    expect(ids(result.entries)).toEqual(ids(entries));
    const expected = JSON.parse(readFileSync(join(FIXTURES, "old/v2.expected.json"), "utf8"));
    expect(result.entries.map((entry) => entry.message)).toEqual(expected.messages);
    expect(result.header.version).toBe(3);
  });
});

it.each([3, 4, 99])("a file of version %i is left as it is", (version) => {
  const header = { type: "session", version };
  const entries = [message("hookMessage"), { type: "compaction", firstKeptEntryIndex: 1 }];
  const result = migrate(header, entries, counting());
  expect(result.changed).toBe(false);
  expect(result.header).toBe(header);
  expect(result.entries).toBe(entries);
});

describe("whatever an old file holds", () => {
  const role = fc.constantFrom("user", "assistant", "hookMessage", "custom", "telepathy");
  const entry: fc.Arbitrary<Line> = fc.record(
    {
      type: fc.constantFrom("message", "compaction", "custom", "label", "hologram"),
      id: fc.constantFrom("a", "b", "", 7),
      message: fc.oneof(fc.record({ role, content: fc.string() }), fc.jsonValue()),
      firstKeptEntryIndex: fc.oneof(fc.integer({ min: -2, max: 9 }), fc.string()),
      extra: fc.jsonValue(),
    },
    { requiredKeys: ["type"] },
  );
  const header: fc.Arbitrary<Line> = fc.record(
    { type: fc.constant("session"), version: fc.oneof(fc.integer({ min: -1, max: 5 }), fc.string()), cwd: fc.string() },
    { requiredKeys: ["type"] },
  );

  it("migrating twice is migrating once", () => {
    fc.assert(
      fc.property(header, fc.array(entry), (head, entries) => {
        const once = migrate(head, entries, counting());
        const twice = migrate(once.header, once.entries, () => "again");
        expect(twice).toEqual({ ...once, changed: false });
      }),
    );
  });

  it("nothing is lost but what the migration is about", () => {
    const about = new Set(["id", "parentId", "firstKeptEntryIndex", "message"]);
    fc.assert(
      fc.property(header, fc.array(entry), (head, entries) => {
        const result = migrate(head, entries, counting());
        expect(result.header).toMatchObject({ ...head, version: result.header.version });
        expect(result.entries).toHaveLength(entries.length);
        for (const [at, old] of entries.entries()) {
          const kept = Object.entries(old).filter(([key]) => !about.has(key));
          expect(result.entries[at]).toMatchObject(Object.fromEntries(kept));
        }
      }),
    );
  });

  it("normalising twice is normalising once, and no message is left that is not ours", () => {
    fc.assert(
      fc.property(entry, (old) => {
        const once = normalise(old);
        expect(normalise(once)).toEqual(once);
        if (once.type === "message") expect(OWN_ROLES).toContain((once.message as Line).role);
      }),
    );
  });
});

describe("normalise", () => {
  const model = { provider: "openrouter", modelId: "meta/llama-4" };
  const cases: [what: string, entry: Line, view: Line][] = [
    [
      "splits a model at the first slash",
      { type: "model_change", model: "openrouter/meta/llama-4", role: "default" },
      { type: "model_change", model: "openrouter/meta/llama-4", role: "default", ...model },
    ],
    [
      "takes a model without a slash as the id alone",
      { type: "model_change", model: "llama" },
      { type: "model_change", model: "llama", provider: "", modelId: "llama" },
    ],
    [
      "believes the fields before the joined spelling",
      { type: "model_change", model: "a/b", ...model },
      { type: "model_change", model: "a/b", ...model },
    ],
    [
      "takes the level null for no level",
      { type: "thinking_level_change", thinkingLevel: null, configured: null },
      { type: "thinking_level_change", configured: null },
    ],
    [
      "knows fromExtension as fromHook",
      { type: "compaction", summary: "s", tokensBefore: 1, fromExtension: true, shortSummary: "s" },
      { type: "compaction", summary: "s", tokensBefore: 1, fromExtension: true, shortSummary: "s", fromHook: true },
    ],
    [
      "also of a branch summary, and does not overrule",
      { type: "branch_summary", summary: "s", fromExtension: true, fromHook: false },
      { type: "branch_summary", summary: "s", fromExtension: true, fromHook: false },
    ],
    [
      "takes hook messages for custom ones",
      message("hookMessage", { customType: "x", content: "c", display: true }),
      message("custom", { customType: "x", content: "c", display: true }),
    ],
    [
      "takes developer messages for custom ones that nobody is shown",
      message("developer", { content: "c", attribution: "agent" }),
      message("custom", { customType: "developer", content: "c", display: false, attribution: "agent" }),
    ],
    [
      "takes Python for a shell command that ran it, kept out of the context when it was",
      message("pythonExecution", { code: "print(1)", output: "1\n", excludeFromContext: true }),
      message("bashExecution", {
        command: "python <<'PYTHON'\nprint(1)\nPYTHON",
        code: "print(1)",
        output: "1\n",
        excludeFromContext: true,
      }),
    ],
    [
      "puts mentioned files into words and pictures",
      message("fileMention", {
        files: [
          { path: "a.txt", content: "A" },
          { path: "b.log", content: "", skippedReason: "tooLarge" },
          { path: "c.png", image: { type: "image", data: "QQ==", mimeType: "image/png" } },
        ],
      }),
      message("custom", {
        customType: "fileMention",
        display: true,
        content: [
          {
            type: "text",
            text: '<file path="a.txt">\nA\n</file>\n<file path="b.log">\n(left out: tooLarge)\n</file>\n<file path="c.png">\n\n</file>',
          },
          { type: "image", data: "QQ==", mimeType: "image/png" },
        ],
        files: expect.any(Array) as unknown,
      }),
    ],
    [
      "takes a message of an unknown role for data",
      message("system", { content: "You are" }),
      { type: "custom", customType: "message.system", id: "e", message: { role: "system", content: "You are" } },
    ],
    ["takes a message without a message for data", { type: "message" }, { type: "custom", customType: "message." }],
  ];

  it.each(cases)("%s", (_what, entry, view) => {
    expect(normalise(entry)).toEqual(view);
  });

  const image = { type: "image", data: BLOB, mimeType: "image/png" };
  const holders: [string, Line, (line: Line) => unknown][] = [
    ["a message", message("toolResult", { content: [image] }), (line) => (line.message as Line).content],
    ["a custom message", { type: "custom_message", content: [image] }, (line) => line.content],
    [
      "a mentioned file",
      message("fileMention", { files: [{ path: "c", image }] }),
      (line) => ((line.message as Line).content as unknown[]).slice(1),
    ],
  ];

  it.each(holders)("reads the picture of %s that is kept beside the file", (_what, entry, content) => {
    const read = (hash: string) => (hash === "9f86" ? "QQ==" : undefined);
    expect(content(normalise(entry, read))).toEqual([{ ...image, data: "QQ==" }]);
  });

  it.each(holders)("says so when the picture of %s is lost", (_what, entry, content) => {
    expect(content(normalise(entry))).toEqual([
      { ...image, type: "text", text: `[An image was here; it is kept outside the session file as ${BLOB}]` },
    ]);
  });
});

/** All fixtures, so that a new one cannot be forgotten. */
const files = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));

describe.each(files)("every entry of %s", (path) => {
  const { entries } = read(path);

  it("keeps all its fields but those that change their meaning, and its place in the tree", () => {
    for (const entry of entries) {
      const view = normalise(entry);
      const { type: _t, message: _m, content: _c, thinkingLevel: _l, ...rest } = entry;
      expect(view).toMatchObject(rest);
    }
  });

  it("is the same object when it is a message of ours without pictures elsewhere", () => {
    for (const entry of entries) {
      const isOurs = entry.type === "message" && OWN_ROLES.has(String((entry.message as Line).role));
      if (isOurs && !JSON.stringify(entry).includes(BLOB_MARK)) expect(normalise(entry)).toBe(entry);
    }
  });
});

it("the files of pi 0.73.1 need no change at all", () => {
  const own = files.filter((path) => path.startsWith("pi-0.73.1"));
  expect(own.length).toBeGreaterThan(3);
  for (const path of own) for (const entry of read(path).entries) expect(normalise(entry)).toBe(entry);
});
