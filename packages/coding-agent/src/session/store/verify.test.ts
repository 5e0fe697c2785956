import { describe, expect, it } from "vitest";
import { verifyLines } from "./verify.ts";

const header = '{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}';
const entry = (id: string, parentId: string | null = null): string =>
  JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: "hi" } });

/** Problems as `line: why`. */
function told(text: string): { damage: string[]; oddities: string[] } {
  const { damage, oddities } = verifyLines(Buffer.from(text));
  const say = ({ line, why }: { line: number; why: string }): string => `${line}: ${why}`;
  return { damage: damage.map(say), oddities: oddities.map(say) };
}

describe("looking through a session file", () => {
  it.each([
    ["a file of ours", [header, entry("a"), entry("b", "a"), ""]],
    ["a last line without its end", [header, entry("a")]],
    ["empty lines", [header, "", entry("a"), "", ""]],
    ["a title before the header", ['{"type":"title","v":1,"title":"t"}', header, entry("a"), ""]],
    ["a parent that comes later", [header, entry("b", "a"), entry("a"), ""]],
    ["the first version, which had no ids", ['{"type":"session","id":"s"}', '{"type":"message"}', ""]],
    ["kinds nobody knows", [header, '{"type":"new_kind","id":"n","parentId":null}', ""]],
  ])("finds nothing wrong with %s", (_, lines) => {
    expect(told(lines.join("\n"))).toEqual({ damage: [], oddities: [] });
  });

  it.each([
    ["a torn last line", [header, entry("a"), '{"type":"mess'], "3: cut off at the end of the file"],
    ["zeros", [header, "\0\0\0\0", entry("a"), ""], "2: 4 of its 4 bytes are zero"],
    ["garbage", [header, "@@", ""], "2: Unexpected token"],
    ["damage that only shows at the end of a line", [header, `${entry("a").slice(0, -2)}"}`, ""], "2: "],
    ["what is no object", [header, "[1]", ""], '2: not an object with a "type"'],
    ["null", [header, "null", ""], '2: not an object with a "type"'],
    ["no header", [entry("a"), ""], "1: no session header"],
    ["nothing at all", [""], "1: no session header"],
  ])("finds %s", (_, lines, expected) => {
    const { damage } = told(lines.join("\n"));
    expect(damage).toHaveLength(1);
    expect(damage[0]).toContain(expected);
  });

  it.each([
    ["a parent that is nowhere", [header, entry("b", "gone"), ""], '2: its parent "gone" is not in the file'],
    ["an id that is there twice", [header, entry("a"), entry("a"), ""], '3: the id "a" is that of line 2 too'],
    ["an entry without an id", [header, '{"type":"message"}', ""], "2: an entry without an id"],
    ["two headers", [header, entry("a"), header, ""], "3: a second header"],
  ])("only wonders about %s", (_, lines, expected) => {
    expect(told(lines.join("\n"))).toEqual({ damage: [], oddities: [expected] });
  });

  it("tells where the bytes are", () => {
    const bytes = Buffer.from(`${header}\n@é@\n${entry("a")}\n`);
    const [{ start, end } = { start: 0, end: 0 }] = verifyLines(bytes).damage;
    expect(bytes.toString("utf8", start, end)).toBe("@é@");
  });
});
