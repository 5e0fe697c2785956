import { describe, expect, it } from "vitest";
import { createScreen, type Screen } from "./screen.ts";

/** What a terminal would show, with the little that the screen asks of it. */
function shownBy(act: (screen: Screen) => void, isTerminal = true): string {
  let text = "";
  const write = (piece: string): void => {
    const [before = "", ...rest] = piece.split("\r\u001b[K");
    text += before;
    for (const part of rest) text = text.slice(0, text.lastIndexOf("\n") + 1) + part;
  };
  act(createScreen({ write, mark: "> ", isTerminal }));
  return text;
}

describe("the screen", () => {
  const cases: [name: string, act: (screen: Screen) => void, shown: string][] = [
    [
      "text flows, lines stand alone",
      (s) => [s.flow("a"), s.flow("b"), s.lines(["c", "d"]), s.flow("e"), s.lines([])],
      "ab\nc\nd\ne\n",
    ],
    ["the line stands below", (s) => [s.flow("a"), s.edit("")], "a\n> "],
    ["and is written", (s) => [s.edit(""), s.edit("h"), s.edit("hi"), s.sent(), s.flow("yes")], "> hi\nyes"],
    ["what is said meanwhile stands above an empty line", (s) => [s.edit(""), s.lines(["note"])], "note\n> "],
    [
      "and waits for one that is begun",
      (s) => [s.flow("a"), s.edit("h"), s.flow("b"), s.lines(["c"]), s.edit("hi")],
      "a\n> hi",
    ],
    ["until it is sent", (s) => [s.edit("h"), s.flow("b"), s.lines(["c"]), s.sent()], "> h\nb\nc\n"],
    ["or empty again", (s) => [s.edit("h"), s.lines(["c"]), s.edit("")], "c\n> "],
    ["the line goes when nothing can be written", (s) => [s.flow("a\n"), s.edit("h"), s.edit(undefined)], "a\n"],
    ["of several lines the last is shown", (s) => [s.edit("a\nb")], "> b"],
  ];
  it.each(cases)("%s", (_, act, shown) => {
    expect(shownBy(act)).toBe(shown);
  });

  it("without a terminal there is no line", () => {
    expect(shownBy((s) => [s.edit(""), s.flow("a"), s.edit("x"), s.lines(["b"])], false)).toBe("a\nb\n");
  });
});
