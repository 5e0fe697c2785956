import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indexEntries } from "./entry-index.ts";
import type { ByteRange, LoadedEntries } from "./entry-log.ts";
import { loadEntries, soundnessOf } from "./loaded-entries.ts";
import { assistant, fileOf, messageEntry, plain, user } from "./test-sessions.ts";

function load(lines: readonly (object | string)[], readBlob?: (sha256: string) => string | undefined): LoadedEntries {
  const bytes = fileOf(lines);
  return loadEntries({ bytes, index: indexEntries(bytes), isWholeFile: true, readBlob });
}

const text = (range: ByteRange | undefined): string | undefined =>
  range?.bytes.toString("utf8", range.start, range.end);

describe("entries that were loaded", () => {
  const lines = [
    messageEntry("aaaaaaaa", null, user("hi")),
    messageEntry("bbbbbbbb", "aaaaaaaa", assistant("ho")),
    plain("cccccccc", "bbbbbbbb", { type: "label", targetId: "aaaaaaaa", label: "x" }),
    plain("dddddddd", "aaaaaaaa", { type: "mode_change", mode: "plan" }),
  ];
  const loaded = load(lines);

  it("tell what they are without being parsed", () => {
    const all = lines.map((_, at) => [loaded.id(at), loaded.parent(at), loaded.kind(at), loaded.role(at)]);
    expect(all).toEqual([
      ["aaaaaaaa", -1, "message", "user"],
      ["bbbbbbbb", 0, "message", "assistant"],
      ["cccccccc", 1, "label", ""],
      ["dddddddd", 0, "", ""],
    ]);
  });

  it("are the bytes of their lines, and the bytes of their messages", () => {
    for (const [at, line] of lines.entries()) {
      expect(String(loaded.line(at))).toBe(JSON.stringify(line));
      expect(text(loaded.rawEntry(at))).toBe(JSON.stringify(line));
      expect(text(loaded.rawMessage(at))).toBe(line.type === "message" ? JSON.stringify(line.message) : undefined);
    }
  });

  it("are objects when they are parsed", () => {
    expect(lines.map((_, at) => loaded.parse(at))).toEqual(lines);
  });

  it("give back the whole file, also when its last line has no end", () => {
    expect(String(loaded.file)).toBe(String(fileOf(lines)).trimEnd());
    const bytes = Buffer.from('{"type":"session","id":"s"}');
    expect(String(loadEntries({ bytes, index: indexEntries(bytes), isWholeFile: true }).file)).toBe(String(bytes));
    expect(loadEntries({ bytes, index: indexEntries(bytes), isWholeFile: false }).file).toBeUndefined();
  });

  it("give back their lines, and those alone", () => {
    const mixed = load([lines[0]!, "", '{"type":"title"}', lines[1]!, lines[2]!]);
    const given = [...mixed.lines()].map(String).join("\n").split("\n");
    expect(given).toEqual([lines[0]!, lines[1]!, lines[2]!].map((line) => JSON.stringify(line)));
  });
});

describe("an entry whose bytes cannot be sent as they are", () => {
  const cases: [story: string, line: string, entry: boolean, message: boolean, parsed: boolean][] = [
    ["is whole", JSON.stringify(messageEntry("aaaaaaaa", null, user("fine"))), true, true, true],
    ["has U+2028 in it", JSON.stringify(messageEntry("aaaaaaaa", null, user("a\u2028b"))), false, false, true],
    [
      "has a field behind its message",
      JSON.stringify({ ...messageEntry("aaaaaaaa", null, user("fine")), more: {} }),
      true,
      false,
      true,
    ],
    [
      "is damaged in the middle",
      JSON.stringify(messageEntry("aaaaaaaa", null, user("XX"))).replace("XX", "\u0001"),
      false,
      false,
      false,
    ],
    ["has garbage behind it", `${JSON.stringify(messageEntry("aaaaaaaa", null, user("fine")))}}`, false, false, false],
    [
      "is nested too deep",
      JSON.stringify(messageEntry("aaaaaaaa", null, user("XX"))).replace(
        '"XX"',
        `${"[".repeat(600)}${"]".repeat(600)}`,
      ),
      false,
      false,
      true,
    ],
    [
      "has its message at another place",
      JSON.stringify({ message: user("hi"), ...plain("a", null, { type: "message" }) }),
      true,
      false,
      true,
    ],
  ];
  for (const [story, line, entry, message, parsed] of cases) {
    it(`it ${story}`, () => {
      const loaded = load([line]);
      for (const _again of [1, 2]) {
        expect(loaded.rawEntry(0) !== undefined).toBe(entry);
        expect(loaded.rawMessage(0) !== undefined).toBe(message);
        expect(loaded.parse(0) !== null).toBe(parsed);
      }
    });
  }

  it("has bytes in it that are no UTF-8, and others in the file have none", () => {
    const lines = [messageEntry("aaaaaaaa", null, user("XX")), messageEntry("bbbbbbbb", "aaaaaaaa", user("fine"))];
    const bytes = fileOf(lines);
    bytes[bytes.indexOf("XX")] = 0xff;
    const loaded = loadEntries({ bytes, index: indexEntries(bytes), isWholeFile: true });
    expect([loaded.rawEntry(0), loaded.rawMessage(0)]).toEqual([undefined, undefined]);
    expect(loaded.parse(0)).toMatchObject({ message: { content: "\ufffdX" } });
    expect(text(loaded.rawMessage(1))).toBe(JSON.stringify(user("fine")));
  });

  it("has an image that is kept elsewhere: it is parsed, and the image is put in", () => {
    const image = { type: "image" as const, mimeType: "image/png", data: "blob:sha256:abc" };
    const lines = [
      messageEntry("aaaaaaaa", null, { role: "user", content: [image], timestamp: 1 }),
      messageEntry("bbbbbbbb", "aaaaaaaa", user("none")),
    ];
    const loaded = load(lines, (sha256) => `data of ${sha256}`);
    expect(loaded.rawMessage(0)).toBeUndefined();
    expect(text(loaded.rawMessage(1))).toBe(JSON.stringify(user("none")));
    expect(loaded.parse(0)).toMatchObject({ message: { content: [{ data: "data of abc" }] } });
  });

  it("has a role of another program: it is what it means to us", () => {
    const loaded = load([
      plain("a", null, { type: "message", message: { role: "developer", content: "be brief", timestamp: 1 } }),
      plain("b", "a", { type: "message", message: { role: "system", content: "prompt", timestamp: 1 } }),
    ]);
    expect([loaded.kind(0), loaded.kind(1)]).toEqual(["message", "custom"]);
    expect(loaded.parse(0)).toMatchObject({ message: { role: "custom" } });
  });
});

describe("a message that is parsed alone", () => {
  const usual = (message: unknown): string => JSON.stringify(messageEntry("aaaaaaaa", null, message as never));
  const text = (json: string): string => usual(user("XX")).replace('"XX"', json);
  const deep = `${"[".repeat(4000)}${"]".repeat(4000)}`;
  const lines: [story: string, line: string, isAlone: boolean][] = [
    ["is whole", text('"fine"'), true],
    ["has escapes, U+2028 and half a character in it", text('"\\u00e9\\n\u2028\\ud83d"'), true],
    ["has fields that every object has", usual(user("a")).replace('"content"', '"__proto__":{"a":1},"content"'), true],
    ["has a field twice", usual(user("a")).replace('"content"', '"content":"b","content"'), true],
    ["is nested too deep", text(deep), true],
    ["has no content", text("7"), true],
    ["has an image that is kept elsewhere", text('[{"type":"image","mimeType":"i","data":"blob:sha256:abc"}]'), true],
    ["is of another program", usual({ role: "developer", content: "be brief", timestamp: 1 }), true],
    ["is none to us", usual({ role: "system", content: "prompt", timestamp: 1 }), false],
    ["has a role that only begins like one of ours", usual({ role: "umpire", content: "out", timestamp: 1 }), false],
    ["has a field behind it", usual(user("a")).replace(/}$/, ',"more":{}}'), false],
    ["is there twice", usual(user("a")).replace(/}$/, ',"message":{"role":"user","content":"b"}}'), false],
    ["has a carriage return behind it", `${usual(user("a"))}\r`, false],
    ["has a byte order mark before it", `\ufeff${usual(user("a"))}`, false],
    ["is damaged", text('"\u0001"'), false],
    ["has garbage behind it", `${usual(user("a"))}}`, false],
  ];
  it.each(lines)("%s: it is what the entry has, or is left to it", (_, line, isAlone) => {
    const before = messageEntry("00000000", null, user("before"));
    const loaded = load([before, line], (sha256) => `data of ${sha256}`);
    const alone = loaded.length < 2 ? undefined : loaded.parseMessage(1);
    expect(alone !== undefined).toBe(isAlone);
    if (!alone) return;
    const whole = loaded.parse(1);
    expect(whole).toMatchObject({ type: "message", message: alone });
    expect(loaded.parse(1, alone)).toEqual(whole);
  });
});

it("an entry or a role that is called like something every object has is nothing special", () => {
  const lines = ["toString", "constructor", "__proto__"].flatMap((name) => [
    plain(`a-${name}`, null, { type: name }),
    plain(`b-${name}`, null, { type: "message", message: { role: name, content: "" } }),
  ]);
  const loaded = load(lines);
  for (const [at, line] of lines.entries()) {
    const expected = line.type === "message" ? { type: "custom", message: line.message } : line;
    expect(loaded.parse(at)).toMatchObject(expected);
  }
});

describe("finding an id among them", () => {
  const rows = [
    JSON.stringify(messageEntry("aaaaaaaa", null, user('"id":"inner", "bbbbbbbb"'))),
    ` ${JSON.stringify(messageEntry("odd", null, user("")))}`,
    JSON.stringify(messageEntry("aaaaaaa", null, user(""))),
    JSON.stringify(messageEntry("odd", null, user(""))),
    JSON.stringify(messageEntry("ä", null, user(""))),
    JSON.stringify(messageEntry('q"q', "bbbbbbbb", user(""))),
    JSON.stringify(plain("label", null, { type: "label", targetId: "target" })),
  ];
  const cases: [id: string, position: number][] = [
    ...([
      ["aaaaaaaa", 0],
      ["aaaaaaa", 2],
      ["odd", 3],
      ["ä", 4],
      ['q"q', 5],
      ["label", 6],
    ] as [string, number][]),
    ...["aaaa", "aaaaaaaaa", "", "zz", "inner", "bbbbbbbb", "target", "s1", "message"].map((id): [string, number] => [
      id,
      -1,
    ]),
  ];
  for (const [id, position] of cases) {
    it(`${JSON.stringify(id)} gives ${position}`, () => expect(load(rows).find(id)).toBe(position));
  }

  it("gives the last of several, however they are laid out", () => {
    const [usual, odd] = [
      JSON.stringify(messageEntry("a", null, user(""))),
      ` ${JSON.stringify(messageEntry("a", null, user("")))}`,
    ];
    expect(load([usual, odd]).find("a")).toBe(1);
    expect(load([odd, usual]).find("a")).toBe(1);
    expect(load([odd, usual, odd, usual, usual]).find("a")).toBe(4);
  });
});

describe("a part of them", () => {
  it("is a chain of those that were named, in that order, as they stand in the file", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([0, 1, 2, 3, 4, 5]),
        fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
        (positions, odd) => {
          const lines = odd.map((isOdd, at) => {
            const json = JSON.stringify(messageEntry(`id-${at}`, at === 0 ? null : "id-0", user(`text ${at}`)));
            return isOdd ? ` ${json}` : json;
          });
          const part = load(lines).part(positions);
          expect(part.length).toBe(positions.length);
          expect(positions.map((_, at) => part.id(at))).toEqual(positions.map((at) => `id-${at}`));
          expect(positions.map((_, at) => part.parent(at))).toEqual(positions.map((_, at) => at - 1));
          expect(positions.map((_, at) => String(part.line(at)))).toEqual(positions.map((at) => lines[at]));
          expect([...part.lines()].map(String).join("\n")).toBe(positions.map((at) => lines[at]).join("\n"));
          for (const at of odd.keys()) expect(part.find(`id-${at}`)).toBe(positions.indexOf(at));
          expect(part.file).toBeUndefined();
        },
      ),
    );
  });
});

describe("a line that is looked at to its end", () => {
  const time = "2026-01-01T00:00:00.000Z";
  const line = (id: string, timestamp: string, rest: string): string =>
    `{"type":"message","id":"${id}","parentId":"00000000","timestamp":"${timestamp}","message":{"role":"user","content":"hello, this is long enough"}${rest}}`;
  const cases: [story: string, text: string, soundness: number][] = [
    ["is whole, and so is its message", line("00000001", time, ""), 3],
    ["is whole, with something behind its message", line("00000001", time, ',"more":1'), 1],
    ["is broken inside its message", line("00000001", time, "").replace("hello", '"ello'), 0],
    ["is broken behind its message", line("00000001", time, ',"more"'), 0],
    ["is broken in its time by a quote", line("00000001", time.replace("T", '"'), ""), 0],
    ["is broken in its time by a control character", line("00000001", time.replace("T", "\u0001"), ""), 0],
    ["is broken in its id by a control character", line("0000\u00010001", time, ""), 0],
    ["is broken in its time by a backslash", line("00000001", time.replace("T", "\\"), ""), 0],
    ["cannot be sent on with a line break of Unicode in its id", line("0000\u2028", time, ""), 0],
    ["is whole, but to be sent only as a whole, with other letters in its id", line("0000\u00e4\u00e4", time, ""), 1],
    ["is whole with an escape in its time", line("00000001", `${time.slice(0, 22)}\\n`, ""), 1],
  ];
  it.each(cases)("%s", (_story, text, soundness) => {
    const bytes = Buffer.from(`${text}\n`);
    const index = indexEntries(bytes);
    const found = index.starts.length === 0 ? 0 : soundnessOf(bytes, index, 0);
    expect(found).toBe(soundness);
  });
});
