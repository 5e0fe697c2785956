import { describe, expect, it } from "vitest";
import { createKeyReader, createLineEditor } from "./line-editor.ts";

const keysOf = (...data: string[]) => {
  const read = createKeyReader();
  return data.flatMap((piece) => read(piece)).map((key) => (key.kind === "text" ? key.text : `<${key.kind}>`));
};

describe("keys", () => {
  const cases: [name: string, data: string[], keys: string[]][] = [
    ["text and enter", ["héllo\r"], ["héllo", "<enter>"]],
    ["what changes a line", ["a\u007f\u0017\u0015\b"], ["a", "<delete>", "<deleteWord>", "<clear>", "<delete>"]],
    ["what ends something", ["\u0003\u0004"], ["<interrupt>", "<end>"]],
    ["arrows of both kinds", ["\u001b[A\u001bOB"], ["<up>", "<down>"]],
    ["a sequence that is cut", ["\u001b", "[", "A"], ["<up>"]],
    ["sequences and keys that mean nothing here", ["\u001b[1;5C\u001bx\u0001\u001b[3~a"], ["a"]],
    ["what is pasted, line ends too", ["\u001b[200~a\r\nb\u0003\u001b[201~\r"], ["a\nb", "<enter>"]],
    ["what is pasted and cut", ["\u001b[200~a", "b\u001b[2", "01~c"], ["ab", "c"]],
  ];
  it.each(cases)("%s", (_, data, keys) => {
    expect(keysOf(...data)).toEqual(keys);
  });
});

describe("the line", () => {
  it("is written, changed and sent, and comes back", () => {
    const editor = createLineEditor();
    const type = (data: string) => createKeyReader()(data).map((key) => editor.apply(key));
    expect(type("one two\u0017three\u007f\u007f😀\u007f\r").at(-1)).toBe("one thr");
    expect(editor.text).toBe("");
    type("second\r\r");
    type("\u001b[A\u001b[A");
    expect(editor.text).toBe("one thr");
    type("\u001b[B");
    expect(editor.text).toBe("second");
    type("\u001b[B\u001b[B");
    expect(editor.text).toBe("");
    type("x\u0015");
    expect(editor.text).toBe("");
  });
});
