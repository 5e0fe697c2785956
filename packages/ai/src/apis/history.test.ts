import type { LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import { answer, testModel } from "../testing.ts";
import { prepareHistory } from "./history.ts";

const model = testModel();
const user = (text: string): LlmMessage => ({ role: "user", content: text, timestamp: 1 });
const call = (id: string) => ({ type: "toolCall" as const, id, name: "read", arguments: {} });
const result = (toolCallId: string, text = "ok"): ToolResultMessage => ({
  role: "toolResult",
  toolCallId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 2,
});
const roles = (messages: readonly LlmMessage[]) => messages.map((message) => message.role);

test("failed, aborted and empty answers are left out, with the results of their tools", () => {
  const history = prepareHistory(
    [
      user("a"),
      answer([call("x")], { stopReason: "aborted" }),
      result("x"),
      answer([{ type: "text", text: "half" }], { stopReason: "error" }),
      answer([]),
      user("b"),
    ],
    model,
  );
  expect(history).toEqual([user("a"), user("b")]);
});

test.each([model, testModel({ id: "another" })])(
  "blocks that only another program knows are left out, $id",
  (reader) => {
    const weather = { type: "weather", sun: true } as never;
    const text = { type: "text" as const, text: "a" };
    const told = [
      { ...user("a"), content: [weather, text] },
      answer([weather, call("x")]),
      result("x"),
      answer([weather]),
    ];
    const odd = { ...result("x"), content: [weather, text] };
    const history = prepareHistory([...told.with(2, odd), { ...user(""), content: [weather] }] as LlmMessage[], reader);
    expect(history).toEqual([{ ...user("a"), content: [text] }, answer([call("x")]), result("x", "a")]);
  },
);

test("a call without a result gets one that says so, before anything else is said", () => {
  const history = prepareHistory([answer([call("x"), call("y")]), result("y"), user("go on")], model);
  expect(roles(history)).toEqual(["assistant", "toolResult", "toolResult", "user"]);
  expect(history[1]).toMatchObject({
    toolCallId: "x",
    isError: true,
    content: [{ type: "text", text: "No result provided" }],
  });
  expect(history[2]).toEqual(result("y"));
});

test("results follow their call in its order, even when a message came between them", () => {
  const history = prepareHistory([answer([call("x"), call("y")]), user("wait"), result("y"), result("x")], model);
  expect(history.slice(1)).toEqual([result("x"), result("y"), user("wait")]);
});

test("an id that comes again belongs to the nearest call, and is told apart from the first", () => {
  const history = prepareHistory([answer([call("x")]), result("x", "1"), answer([call("x")]), result("x", "2")], model);
  const again = answer([call("x_2")]);
  expect(history).toEqual([answer([call("x")]), result("x", "1"), again, result("x_2", "2")]);
});

test.each([
  ["where they are expected", ["x", "y", "z"], ["ok x", "ok y", "ok z"]],
  ["in another order behind the first one", ["x", "z", "y"], ["ok x", "ok y", "ok z"]],
  ["with one missing in the middle", ["x", "z"], ["ok x", "No result provided", "ok z"]],
  ["with one twice", ["x", "x", "y", "z"], ["ok x", "ok y", "ok z"]],
  ["with a stranger in front", ["w", "x", "y", "z"], ["ok x", "ok y", "ok z"]],
])("results are found %s", (_, found, expected) => {
  const asked = answer([call("x"), call("y"), call("z")]);
  const history = prepareHistory([asked, ...found.map((id) => result(id, `ok ${id}`)), user("go on")], model);
  const texts = history.slice(1, -1).map(({ content }) => (content[0] as { text: string }).text);
  expect(texts).toEqual(expected);
});

test("calls of one answer with the same id get their results in turn", () => {
  const history = prepareHistory([answer([call(""), call(""), call("")]), result("", "1"), result("", "2")], model);
  expect(history.slice(1)).toMatchObject([
    { toolCallId: "call", content: [{ text: "1" }] },
    { toolCallId: "call_2", content: [{ text: "2" }] },
    { toolCallId: "call_3", isError: true },
  ]);
});

test("a result of a failed answer is not taken for one of an earlier call", () => {
  const failed = answer([call("x")], { stopReason: "error" });
  const history = prepareHistory([answer([call("x")]), failed, result("x", "of the failed one")], model);
  expect(history[1]).toMatchObject({ isError: true, content: [{ text: "No result provided" }] });
});

test("messages with nothing in them are left out", () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const blank = { type: "text" as const, text: " \n" };
  const seen: LlmMessage = { role: "user", content: [blank, image], timestamp: 1 };
  const history: LlmMessage[] = [
    user(""),
    user(" "),
    { role: "user", content: [], timestamp: 1 },
    { role: "user", content: [blank], timestamp: 1 },
    seen,
    answer([blank]),
    answer([{ type: "thinking", thinking: "" }]),
    answer([blank, { type: "text", text: "Hi" }]),
  ];
  expect(prepareHistory(history, model)).toEqual([seen, answer([{ type: "text", text: "Hi" }])]);
});

test("a conversation that begins with an answer gets a beginning where the API wants one", () => {
  const history = [result("gone"), answer([{ type: "text", text: "Hi" }])];
  expect(roles(prepareHistory(history, model))).toEqual(["assistant"]);
  expect(roles(prepareHistory(history, model, { startsWithUser: true }))).toEqual(["user", "assistant"]);
  expect(prepareHistory([], model, { startsWithUser: true })).toEqual([]);
});

test("thinking goes back only to the model that signed it; of others the words remain", () => {
  const thought = { type: "thinking" as const, thinking: "Hm", thinkingSignature: "s" };
  const silent = { type: "thinking" as const, thinking: "", thinkingSignature: "s" };
  const hidden = {
    type: "thinking" as const,
    thinking: "[Reasoning redacted]",
    thinkingSignature: "d",
    redacted: true,
  };
  const unsigned = { type: "thinking" as const, thinking: "Ah" };
  const text = { type: "text" as const, text: "Hi" };
  const content = [thought, silent, hidden, unsigned, text];
  const own = prepareHistory([answer(content)], model)[0];
  expect(own?.content).toEqual([thought, silent, hidden, { type: "text", text: "Ah" }, text]);
  expect(prepareHistory([answer(content, { responseModel: "alias" })], model)[0]?.content).toEqual(own?.content);
  for (const other of [{ model: "other" }, { provider: "other" }, { api: "other" }]) {
    const foreign = prepareHistory([answer(content, other)], model)[0];
    expect(foreign?.content).toEqual([{ type: "text", text: "Hm" }, { type: "text", text: "Ah" }, text]);
  }
});

test("signatures on text and calls go back to their author only", () => {
  const signed = { type: "text" as const, text: "Hi", textSignature: "t" };
  const empty = { type: "text" as const, text: "", textSignature: "last" };
  const used = { ...call("x"), thoughtSignature: "c" };
  expect(prepareHistory([answer([signed, empty, used]), result("x")], model)[0]).toEqual(answer([signed, empty, used]));
  const foreign = prepareHistory([answer([signed, empty, used], { model: "other" }), result("x")], model)[0];
  expect(foreign?.content).toEqual([{ type: "text", text: "Hi" }, call("x")]);
});

test.each([
  ["text", [{ type: "text", text: "Ah" }]],
  ["keep", [{ type: "thinking", thinking: "Ah" }]],
  ["drop", []],
] as const)("unsigned thoughts of the model itself: %s", (unsignedThinking, expected) => {
  const content = [
    { type: "thinking" as const, thinking: "Ah" },
    { type: "thinking" as const, thinking: "", redacted: true },
    { type: "text" as const, text: "Hi" },
  ];
  const prepared = prepareHistory([answer(content)], model, { unsignedThinking })[0];
  expect(prepared?.content).toEqual([...expected, { type: "text", text: "Hi" }]);
  const foreign = prepareHistory([answer(content, { model: "other" })], model, { unsignedThinking })[0];
  expect(foreign?.content).toEqual([
    { type: "text", text: "Ah" },
    { type: "text", text: "Hi" },
  ]);
});

test("a model that reads only text is told where images were", () => {
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  const text = { type: "text" as const, text: "look" };
  const messages: LlmMessage[] = [
    { role: "user", content: [text, image, image], timestamp: 1 },
    answer([call("x")]),
    { ...result("x"), content: [image] },
  ];
  expect(prepareHistory(messages, model)).toEqual(messages);
  const note = { type: "text", text: "(image left out: this model reads only text)" };
  const plain = prepareHistory(messages, testModel({ input: ["text"] }));
  expect(plain[0]?.content).toEqual([text, note]);
  expect(plain[2]?.content).toEqual([note]);
});

test.each<[story: string, name: string, sent: string]>([
  ["nothing", "", "unknown"],
  ["a name as from another API", "functions.read", "functions_read"],
  ["blanks", "read the file", "read_the_file"],
  ["other letters", "lesen✓", "lesen_"],
  ["a digit first", "2read", "_2read"],
  ["too long", "r".repeat(70), "r".repeat(64)],
  ["a plain name", "read-all_2", "read-all_2"],
])("the name of a tool that a model made up is sent so that every API takes it: %s", (_story, name, sent) => {
  const made = { ...call("x"), name };
  const history = prepareHistory([user("a"), answer([made]), { ...result("x"), toolName: name }], model);
  expect(history.slice(1)).toMatchObject([{ content: [{ name: sent }] }, { toolName: sent }]);
  expect(prepareHistory(history, model)).toEqual(history);
});

test("a call that nobody answered, and a result under another name, carry the name of the call", () => {
  const history = prepareHistory(
    [answer([{ ...call("x"), name: "a.b" }, call("y")]), { ...result("y"), toolName: "z" }],
    model,
  );
  expect(history.slice(1)).toMatchObject([{ toolName: "a_b" }, { toolName: "read" }]);
});

test("the tools of the request keep their names, whatever they are", () => {
  const odd = "server.tool with blanks";
  const stored = [answer([{ ...call("x"), name: odd }]), { ...result("x"), toolName: odd }];
  expect(prepareHistory(stored, model, { tools: [{ name: odd }] })).toEqual(stored);
});
