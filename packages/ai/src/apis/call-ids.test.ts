import type { LlmMessage } from "@tiller/protocol/message";
import { expect, test, vi } from "vitest";
import { answer } from "../testing.ts";
import { type CallIdRules, createCallNames, renameCalls } from "./call-ids.ts";

/** One answer for each list of ids, each call with its result. */
function conversation(...rounds: string[][]): LlmMessage[] {
  return rounds.flatMap((ids) => [
    answer(ids.map((id) => ({ type: "toolCall" as const, id, name: "ls", arguments: {} }))),
    ...ids.map(
      (toolCallId): LlmMessage => ({
        role: "toolResult",
        toolCallId,
        toolName: "ls",
        content: [],
        isError: false,
        timestamp: 1,
      }),
    ),
  ]);
}

function idsOf(messages: readonly LlmMessage[]): { calls: string[]; results: string[] } {
  const calls = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      : [],
  );
  return { calls, results: messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : [])) };
}

const PLAIN: CallIdRules = { forbidden: /[^a-zA-Z0-9_-]/, longest: 64 };
const NINE: CallIdRules = { forbidden: /[^a-zA-Z0-9]/g, longest: 9, shortest: 9 };
const WITH_ITEMS: CallIdRules = { ...PLAIN, withItemIds: true };
const long = "x".repeat(70);

test.each<[story: string, rules: CallIdRules | undefined, rounds: string[][], expected: string[]]>([
  ["valid ids are left alone", PLAIN, [["toolu_01A", "call-2"]], ["toolu_01A", "call-2"]],
  ["forbidden characters are replaced", PLAIN, [["functions.ls:0"]], ["functions_ls_0"]],
  ["two ids in one: the one of the call is enough", PLAIN, [["call_abc|fc_def"]], ["call_abc"]],
  ["the one of the call is missing", PLAIN, [["|fc_def"]], ["fc_def"]],
  ["two calls in the same item", PLAIN, [["call_abc|fc_1", "call_abc|fc_2"]], ["call_abc", "call_abc_2"]],
  ["who comes first keeps the id, also a valid one", PLAIN, [["a_b", "a b"]], ["a_b", "a_b_2"]],
  ["so that what was sent does not change later on", PLAIN, [["a|1"], ["a|2"], ["a"]], ["a", "a_2", "a_3"]],
  ["the same id in one answer", PLAIN, [["x", "x", "x"]], ["x", "x_2", "x_3"]],
  ["the same id in two answers", PLAIN, [["call_0"], ["call_0"]], ["call_0", "call_0_2"]],
  ["a number that is taken already", PLAIN, [["x", "x_2", "x"]], ["x", "x_2", "x_3"]],
  ["empty ids get one", PLAIN, [["", ""], [""]], ["call", "call_2", "call_3"]],
  ["only a bar", PLAIN, [["|"]], ["call"]],
  [
    "without rules only what is empty or repeats changes",
    undefined,
    [["a|b", "", "a|b", "é ü"]],
    ["a|b", "call", "a_2", "é ü"],
  ],
  ["the id of an item stays beside that of its call", WITH_ITEMS, [["a b|fc_1", "c|fc 2"]], ["a_b|fc_1", "c|fc 2"]],
  ["but not with a call that gets a number", WITH_ITEMS, [["a|fc_1"], ["a|fc_1"]], ["a|fc_1", "a_2"]],
  ["without rules two parts count as one call", undefined, [["a|b", "a|c"]], ["a|b", "a_2"]],
])("%s", (_story, rules, rounds, expected) => {
  const renamed = idsOf(renameCalls(conversation(...rounds), rules));
  expect(renamed).toEqual({ calls: expected, results: expected });
});

test("long ids are cut, and stay apart though they begin alike", () => {
  const { calls, results } = idsOf(renameCalls(conversation([`${long}1`, `${long}2`, long.slice(0, 64)]), PLAIN));
  expect(calls.map((id) => id.length)).toEqual([64, 64, 64]);
  expect(new Set(calls).size).toBe(3);
  expect(calls[2]).toBe(long.slice(0, 64));
  expect(results).toEqual(calls);
});

test("a long id is cut to the same one in every request", () => {
  const first = idsOf(renameCalls(conversation([`${long}1`]), PLAIN)).calls;
  const later = idsOf(renameCalls(conversation([`${long}1`], [`${long}2`], ["y"]), PLAIN)).calls;
  expect(later[0]).toBe(first[0]);
});

test("an API that wants exactly nine letters or digits gets them", () => {
  const ids = ["abcdefgh1", "a", "a", "", "call_abc|fc_def", "call_1234567", "call_1234568", "_________"];
  const { calls, results } = idsOf(renameCalls(conversation(ids), NINE));
  expect(calls[0]).toBe("abcdefgh1");
  for (const id of calls) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
  expect(new Set(calls).size).toBe(ids.length);
  expect(results).toEqual(calls);
});

test("what needs no change is the same object", () => {
  const messages = conversation(["a"], ["b"]);
  expect(renameCalls(messages, PLAIN).map((message, i) => message === messages[i])).toEqual([true, true, true, true]);
});

test("thousands of equal ids are numbered in one go, not each from the beginning", () => {
  const history = conversation(Array.from({ length: 1000 }, () => "x"));
  const looks = vi.spyOn(Set.prototype, "has");
  const { calls } = idsOf(renameCalls(history, PLAIN));
  const count = looks.mock.calls.length;
  looks.mockRestore();
  expect(new Set(calls).size).toBe(1000);
  expect(calls.at(-1)).toBe("x_1000");
  expect(count).toBeLessThan(10_000);
});

test("ids that are taken back are given out again, settled ones are not", () => {
  const names = createCallNames(PLAIN);
  const give = (...ids: string[]): string[] => idsOf(names.rename(conversation(ids))).calls;
  expect(give("x", "x")).toEqual(["x", "x_2"]);
  names.settle(names.given);
  expect(give("x", "y z", "y z")).toEqual(["x_3", "y_z", "y_z_2"]);
  names.settle(1);
  names.takeBack();
  expect(names.given).toBe(0);
  expect(give("y z", "x", "x")).toEqual(["y_z", "x_4", "x_5"]);
});
