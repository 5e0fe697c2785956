import type { AgentMessage, AssistantMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { RESULT_MESSAGE } from "./jobs.ts";
import { ASKING, fromLeaf, interruptedResult, interruption, recordedChoice } from "./restore.ts";
import type { EntryLog } from "./store/entry-log.ts";
import { assistant, bash, loadedLog, messageEntry, type PlainEntry, plain, user } from "./store/test-sessions.ts";

type Item = AgentMessage | ({ type: string } & Record<string, unknown>);

/** Items in a row, each the child of the one before. */
function chain(...items: Item[]): { log: EntryLog; path: number[] } {
  const lines: PlainEntry[] = items.map((item, at) => {
    const parent = at === 0 ? null : `e${at - 1}`;
    return "type" in item ? plain(`e${at}`, parent, item) : messageEntry(`e${at}`, parent, item);
  });
  return { log: loadedLog(lines), path: [...lines.keys()] };
}

const modelChange = (provider: string, modelId: string, more: object = {}) => ({
  type: "model_change",
  provider,
  modelId,
  ...more,
});
const level = (thinkingLevel?: string | null) => ({ type: "thinking_level_change", thinkingLevel });

describe("what a session says about model and thinking level", () => {
  const answered = assistant("x", { provider: "q", model: "answerer" });
  const cases: [story: string, items: Item[], choice: object][] = [
    ["nothing", [], {}],
    ["nothing, by a user", [user("hi")], {}],
    [
      "the model that was chosen",
      [modelChange("p", "m"), level("low")],
      { model: { provider: "p", id: "m" }, thinkingLevel: "low" },
    ],
    [
      "the last ones",
      [modelChange("p", "m"), level("low"), level("high"), modelChange("p", "n")],
      { model: { provider: "p", id: "n" }, thinkingLevel: "high" },
    ],
    [
      "the model that answered",
      [modelChange("p", "m"), user("hi"), answered],
      { model: { provider: "q", id: "answerer" } },
    ],
    [
      "the model that was chosen after the last answer",
      [answered, modelChange("p", "m")],
      { model: { provider: "p", id: "m" } },
    ],
    [
      "not the model of a side job",
      [modelChange("p", "m"), modelChange("p", "small", { role: "smol" })],
      { model: { provider: "p", id: "m" } },
    ],
    ["the main model by its role", [modelChange("p", "m", { role: "default" })], { model: { provider: "p", id: "m" } }],
    [
      "the model in the spelling of others",
      [{ type: "model_change", model: "or/meta/llama" }],
      { model: { provider: "or", id: "meta/llama" } },
    ],
    ["no model where it is not named", [{ type: "model_change" }], {}],
    ["no level where it is null", [level("low"), level(null)], { thinkingLevel: "low" }],
    [
      "what stands before a compaction, too",
      [level("low"), modelChange("p", "m"), { type: "compaction", summary: "", firstKeptEntryId: "", tokensBefore: 0 }],
      { model: { provider: "p", id: "m" }, thinkingLevel: "low" },
    ],
  ];
  for (const [story, items, choice] of cases) {
    it(story, () => {
      const { log, path } = chain(...items);
      expect(recordedChoice(log, path)).toEqual(choice);
    });
  }

  it("is what stands on the path, not on other branches", () => {
    const log = loadedLog([
      plain("a", null, modelChange("p", "one")),
      plain("b", "a", modelChange("p", "two")),
      messageEntry("c", "a", user("hi")),
    ]);
    expect(recordedChoice(log, [0, 2])).toEqual({ model: { provider: "p", id: "one" } });
  });

  it("is found without parsing the messages of a long conversation", () => {
    const { log, path } = chain(
      level("low"),
      ...Array.from({ length: 50 }, (_, n) => [user(`${n}`), assistant("x")]).flat(),
    );
    const parsed: number[] = [];
    const watched: EntryLog = Object.create(log, {
      entry: {
        value: (at: number) => {
          parsed.push(at);
          return log.entry(at);
        },
      },
    });
    recordedChoice(watched, path);
    expect(parsed).toEqual([100, 0]);
  });
});

const calls = (...ids: string[]): AssistantMessage["content"] =>
  ids.map((id) => ({ type: "toolCall", id, name: `tool ${id}`, arguments: {} }));
const asking = (...ids: string[]) => assistant("", { content: calls(...ids), stopReason: "toolUse" });
const result = (toolCallId: string): AgentMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "x",
  content: [],
  isError: false,
  timestamp: 1,
});
const ended = (customType: string) => ({ type: "custom", customType, data: {} });
const compaction = { type: "compaction", summary: "", firstKeptEntryId: "", tokensBefore: 0 };
const note = { type: "custom_message", customType: "x", content: "note", display: true };
const jobResult = { ...note, customType: RESULT_MESSAGE };

describe("a run that was cut off", () => {
  const cases: [story: string, items: Item[], open: string[] | undefined][] = [
    ["is none in an empty session", [], undefined],
    ["is none after an answer", [user("hi"), assistant("ho")], undefined],
    ["is one after a prompt without an answer", [user("hi")], []],
    ["is one after a prompt behind an answer", [user("hi"), assistant("ho"), user("more")], []],
    ["is one with calls that got no result", [user("hi"), asking("1", "2")], ["1", "2"]],
    ["is one with some calls that got no result", [user("hi"), asking("1", "2", "3"), result("2")], ["1", "3"]],
    [
      "is one whose calls are all answered, and the model was not asked again",
      [user("hi"), asking("1"), result("1")],
      [],
    ],
    ["is none after an answer that failed", [user("hi"), assistant("", { stopReason: "error" })], undefined],
    ["is none after an answer that was aborted", [user("hi"), assistant("", { stopReason: "aborted" })], undefined],
    [
      "is none after an aborted answer with calls",
      [user("hi"), assistant("", { stopReason: "aborted", content: calls("1") })],
      undefined,
    ],
    [
      "is none after an answer that was cut by its length",
      [user("hi"), assistant("x", { stopReason: "length" })],
      undefined,
    ],
    [
      "is one when results follow an answer that failed, and nothing after them",
      [user("hi"), assistant("", { stopReason: "error", content: calls("1", "2") }), result("1")],
      ["2"],
    ],
    [
      "is none when its end was written down",
      [user("hi"), asking("1"), result("1"), ended("tiller.run_end")],
      undefined,
    ],
    ["is none where a prompt was given up", [user("hi"), ended("tiller.run_end")], undefined],
    ["is none where somebody went", [user("hi"), assistant("ho"), user("x"), ended("tiller.leaf")], undefined],
    [
      "is none where somebody went who left a summary, also at an answer with calls",
      [user("hi"), asking("1"), { type: "branch_summary", fromId: "e1", summary: "left" }],
      undefined,
    ],
    ["is one behind the end of another", [user("hi"), ended("tiller.run_end"), user("again")], []],
    ["is one although other data follows", [user("hi"), ended("bookmark"), level("low")], []],
    ["is one although a shell command follows", [user("hi"), asking("1"), bash("ls")], ["1"]],
    ["is none when a shell command follows an answer", [user("hi"), assistant("ho"), bash("ls")], undefined],
    ["is none when there are only shell commands", [bash("ls")], undefined],
    ["is none when a compaction follows an answer", [user("hi"), assistant("ho"), compaction], undefined],
    ["is one although a compaction follows", [user("hi"), asking("1"), result("1"), compaction], []],
    ["is none when a note follows an answer", [user("hi"), assistant("ho"), note], undefined],
    ...[...ASKING].flatMap((customType): [string, Item[], string[] | undefined][] => {
      const asks = { ...note, customType };
      return [
        [`is one when ${customType} follows an answer`, [user("hi"), assistant("ho"), asks], []],
        [`is one when ${customType} follows the end of another`, [user("hi"), ended("tiller.run_end"), asks], []],
        [`is one when ${customType} is the first thing said`, [asks], []],
        [`is none when ${customType} was answered`, [user("hi"), asks, assistant("ho")], undefined],
        [
          `is none when nothing shall follow ${customType}`,
          [assistant("ho"), asks, ended("tiller.run_end")],
          undefined,
        ],
      ];
    }),
    ["keeps its open calls when a job ended meanwhile", [asking("1", "2"), result("1"), jobResult], ["2"]],
    [
      "is none after an answer whose content is a text, as others write it",
      [user("hi"), { ...assistant("x"), content: "text" } as never],
      undefined,
    ],
    [
      "is none after an answer without content",
      [user("hi"), { ...assistant("x"), content: undefined } as never],
      undefined,
    ],
  ];
  for (const [story, items, open] of cases) {
    it(story, () => {
      const { log, path } = chain(...items);
      expect(interruption(log, path)?.openCalls.map(({ id }) => id)).toEqual(open);
    });
  }

  it("tells the model that nobody knows how far its call came", () => {
    const { log, path } = chain(user("hi"), asking("1"));
    const [call] = interruption(log, path)?.openCalls ?? [];
    expect(call).toEqual({ id: "1", name: "tool 1" });
    expect(interruptedResult(call!, 7)).toMatchObject({
      role: "toolResult",
      toolCallId: "1",
      toolName: "tool 1",
      isError: true,
      timestamp: 7,
      content: [{ type: "text", text: expect.stringMatching(/^Interrupted: /) }],
    });
  });
});

it("entries from the leaf back come one by one, without those that cannot be read", () => {
  const broken = JSON.stringify(messageEntry("bbbbbbbb", "a", user("XX"))).replace("XX", "\u0001");
  const log = loadedLog([messageEntry("a", null, user("a")), broken, messageEntry("c", "bbbbbbbb", user("c"))]);
  expect([...fromLeaf(log, 2)].map(({ id }) => id)).toEqual(["c", "a"]);
  expect([...fromLeaf(log, -1)]).toEqual([]);
});
