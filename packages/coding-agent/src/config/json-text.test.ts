import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonMistake, parseJsonText, stripJsonComments } from "./json-text.ts";

describe("blanking out comments and trailing commas", () => {
  const cases: [string, string, string][] = [
    ["plain JSON", '{"a": [1, 2]}', '{"a": [1, 2]}'],
    ["a line comment", "1 // one\n", "1       \n"],
    ["a line comment before CR LF", "1 // one\r\n2", "1       \r\n2"],
    ["a block comment over lines", "[/* a\n b */1]", "[    \n     1]"],
    ["a trailing comma in a list", "[1, ]", "[1  ]"],
    ["a trailing comma before a comment", "[1, // last\n]", "[1         \n]"],
    ["a comma that is needed, before a comment", "[1, /* x */ 2]", "[1,         2]"],
    ["two slashes in a text", '{"u": "http://x/*y*/"}', '{"u": "http://x/*y*/"}'],
    ["an escaped quote in a text", '["\\"// no", 1,]', '["\\"// no", 1 ]'],
    ["a comma and bracket in a text", '[",]", 1]', '[",]", 1]'],
    ["a block comment without end", "[1] /* oh", "[1] /* oh"],
    ["a text without end", '["// a', '["// a'],
  ];
  it.each(cases)("handles %s", (_, given, expected) => {
    expect(stripJsonComments(given)).toBe(expected);
  });

  it("never moves a character or a line, whatever the text", () => {
    const piece = fc.constantFrom(
      '"',
      "\\",
      "/",
      "*",
      "//",
      "/*",
      "*/",
      ",",
      "]",
      "}",
      "[",
      "\n",
      "\r\n",
      "a",
      " ",
      "\u2028",
      "😀",
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join("")),
        (text) => {
          const stripped = stripJsonComments(text);
          expect(stripped.length).toBe(text.length);
          for (let i = 0; i < text.length; i++) if (stripped[i] !== " ") expect(stripped[i]).toBe(text[i]);
          expect(stripped.match(/[\r\n]/g)).toEqual(text.match(/[\r\n]/g));
        },
      ),
    );
  });

  it("leaves every JSON document as it is", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(stripJsonComments(text)).toBe(text);
      }),
    );
  });

  it("gives the same value with comments between all tokens and commas before all closing brackets", () => {
    const comment = fc.constantFrom(" ", "// c\n", '/* , ] } " */', "/**/", '// "x": 1,\r\n', "/* a\n * b */");
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(comment, { minLength: 1 }), (value, comments) => {
        expect(parseJsonText(commented(value, comments))).toMatchObject({
          ok: true,
          value: JSON.parse(JSON.stringify(value)),
        });
      }),
    );
  });
});

/** Writes a value as JSON with the given comments, in turn, wherever one may stand. */
function commented(value: unknown, comments: string[]): string {
  let used = 0;
  const gap = (): string => comments[used++ % comments.length] ?? "";
  const write = (v: unknown): string => {
    if (typeof v !== "object" || v === null) return gap() + JSON.stringify(v) + gap();
    const isList = Array.isArray(v);
    const items = isList
      ? v.map(write)
      : Object.entries(v).map(([k, x]) => `${gap()}${JSON.stringify(k)}${gap()}:${write(x)}`);
    const inside = items.length === 0 ? gap() : `${items.join(",")},${gap()}`;
    return `${gap()}${isList ? "[" : "{"}${inside}${isList ? "]" : "}"}${gap()}`;
  };
  return write(value);
}

describe("telling where a text stops being JSON", () => {
  const cases: [string, string, number, string][] = [
    ["a missing comma", '{\n "a": 1\n "b": 2\n}', 3, 'expected "," or "}"'],
    ["a missing colon", '{"a" 1}', 1, 'expected ":"'],
    ["a key without quotes", "{\n a: 1}", 2, "expected a key in double quotes"],
    ["a word without quotes", '{"a":\n yes}', 2, "expected a value"],
    ["single quotes", "['a']", 1, "expected a value"],
    ["a missing bracket at the end", '{"a": [1,\n2]', 2, 'the file ends where "," or "}" should stand'],
    ["the wrong bracket", "[1,\n2}", 2, 'expected "," or "]"'],
    ["a text over two lines", '{"a":\n"x\ny"}', 2, "this text is not closed or wrongly escaped"],
    ["a bad escape", '["\\x"]', 1, "this text is not closed or wrongly escaped"],
    ["two documents", "{}\n{}", 2, "expected the end of the file"],
    ["a mistake after a comment of three lines", "/*\n\n*/ {]", 3, "expected a key in double quotes"],
    ["a comma too many", "[1,,2]", 1, "expected a value"],
    ["a block comment without end", "{}\n/* oh", 2, "expected the end of the file"],
    ["a number with a leading zero", "[01]", 1, 'expected "," or "]"'],
  ];
  it.each(cases)("finds %s", (_, text, line, reason) => {
    expect(parseJsonText(text)).toMatchObject({ ok: false, line, reason });
  });

  it("never repeats what the file says, for it may be a key", () => {
    const parsed = parseJsonText('{"anthropic": {"key": "sk-secret" "type": sk-other}}');
    expect(JSON.stringify(parsed)).not.toContain("sk-");
  });

  it("agrees with the engine on what JSON is", () => {
    const nearly = fc.tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", "x", '"', "\\", "0", "\n", "-", "e"));
    fc.assert(
      fc.property(nearly, ([json, at, piece]) => {
        const cut = at % (json.length + 1);
        const text = json.slice(0, cut) + piece + json.slice(cut + 1);
        expect(findJsonMistake(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 500 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("reading a text", () => {
  it.each([
    ["", undefined],
    ["  \n", undefined],
    ["// nothing yet\n/* really */", undefined],
    ['\uFEFF{"a": 1}', { a: 1 }],
    ['\uFEFF{"a": 1,}', { a: 1 }],
    ["null", null],
  ])("%j is %j", (text, value) => {
    const { locate: _, ...read } = parseJsonText(text) as Extract<ReturnType<typeof parseJsonText>, { ok: true }>;
    expect(read).toEqual({ ok: true, value });
  });
});

describe("the place of a thing", () => {
  const TEXT = `{
  // the first comment
  "providers": { "mine": {
      "models": [ "a", /* here, too */ {"id": "m1",
        "a,b}": [1, [2, {"deep": -1.5e3}], "x"],
      }, ],
  } },
  "twice": 1, "twice": {"in": true}
}`;
  const cases: [path: (string | number)[], line: number, column: number][] = [
    [[], 1, 1],
    [["providers"], 3, 3],
    [["providers", "mine"], 3, 18],
    [["providers", "mine", "models"], 4, 7],
    [["providers", "mine", "models", 0], 4, 19],
    [["providers", "mine", "models", 1], 4, 40],
    [["providers", "mine", "models", 1, "id"], 4, 41],
    [["providers", "mine", "models", 1, "a,b}", 1, 1, "deep"], 5, 26],
    [["providers", "mine", "models", 1, "a,b}", 2], 5, 44],
    // The last one counts, as for the parser.
    [["twice", "in"], 8, 25],
    // What is not there is looked for where it should stand.
    [["providers", "mine", "models", 1, "api"], 4, 40],
    [["providers", "mine", "models", 7, "id"], 4, 7],
    [["providers", "mine", "models", "id"], 4, 7],
    [["nothing", "at", "all"], 1, 1],
  ];
  it.each(cases)("%j is at %i:%i", (path, line, column) => {
    const parsed = parseJsonText(TEXT);
    expect(parsed.ok && parsed.locate(path)).toEqual({ line, column });
  });

  it("is found for every member of any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 2), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        const parsed = parseJsonText(text);
        if (!parsed.ok) throw new Error("not read");
        const lines = text.split("\n");
        for (const { path, shown } of membersOf(value, [])) {
          const { line, column } = parsed.locate(path);
          expect(lines[line - 1]?.slice(column - 1).startsWith(shown)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Every path of a value with what stands at its place: the key, or the beginning of the item. */
function membersOf(value: unknown, path: (string | number)[]): { path: (string | number)[]; shown: string }[] {
  if (typeof value !== "object" || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => {
    const member = (value as Record<string | number, unknown>)[key];
    const shown = JSON.stringify(typeof key === "string" ? key : member).slice(
      0,
      typeof key === "string" ? undefined : 1,
    );
    return [{ path: [...path, key], shown }, ...membersOf(member, [...path, key])];
  });
}
