import fc from "fast-check";
import { expect, it } from "vitest";
import { anyText } from "../../../../test/support/any-text.ts";
import { createArgumentReader } from "./argument-reader.ts";

function read(json: string): { text: string; paths: readonly string[] } {
  const reader = createArgumentReader();
  let text = "";
  for (let at = 0; at < json.length; at++) {
    const unit = reader.take(json.charCodeAt(at));
    if (unit >= 0) text += String.fromCharCode(unit);
  }
  return { text, paths: reader.paths };
}

it("resolves what is escaped, and nothing else", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 20 }), fc.boolean(), (content, ascii) => {
      const json = JSON.stringify({ n: [1, true], content });
      const escaped = ascii
        ? json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
        : json;
      expect(read(escaped).text).toBe(`{"n":[1,true],"content":"${content}"}`);
    }),
    { numRuns: Number(process.env.TILLER_PROPERTY_RUNS ?? 100), seed: Number(process.env.TILLER_SEED ?? 7) },
  );
});

it.each<[json: string, paths: string[]]>([
  ['{"path":"a.ts"}', ["a.ts"]],
  ['{ "file_path" : "a\\"b" , "x": {"filePath":"c"}}', ['a"b', "c"]],
  ['{"content":"path","b":"c"}', []],
  ['{"content":"\\"path\\":\\"no\\""}', []],
  ['{"path":["a"],"path":null}', []],
  ['["path","a"]', []],
  ['{"path_of_all":"a","pat\\u0068":"b"}', ["b"]],
  ['{"path":"unclosed', []],
  ['"path":"\\uZZZZ"', ["\0"]],
])("finds the paths in %s", (json, paths) => expect(read(json).paths).toEqual(paths));

it("keeps no more of them than anybody needs", () => {
  const { paths } = read(`[${'{"path":"a"},'.repeat(2000)}{"path":"${"b".repeat(9000)}"}]`);
  expect(paths).toHaveLength(1000);
  expect(read(`{"path":"${"b".repeat(9000)}"}`).paths[0]).toHaveLength(4096);
});
