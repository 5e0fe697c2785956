import { describe, expect, test } from "vitest";
import { EventGrammar, type GrammarOptions } from "./event-grammar.ts";
import type { Frame } from "./frame.ts";

const ready: Frame = { type: "ready" };
const accepted = (id = "1", disposition = "started"): Frame => ({
  type: "response",
  command: "prompt",
  id,
  success: true,
  data: { disposition },
});
const bare = (type: string): Frame => ({ type });
const agentEnd = (roles: string[], willRetry = false): Frame => ({
  type: "agent_end",
  willRetry,
  messages: roles.map((role) => ({ role })),
});
const update = (event: Record<string, unknown>): Frame => ({ type: "message_update", assistantMessageEvent: event });
const message = (role: string, fields: Record<string, unknown> = {}): Frame[] => [
  { type: "message_start", message: { role, ...fields } },
  { type: "message_end", message: { role, ...fields } },
];
const text = (value: string): Frame[] => [
  update({ type: "text_start", contentIndex: 0 }),
  update({ type: "text_delta", contentIndex: 0, delta: value.slice(0, 1) }),
  update({ type: "text_delta", contentIndex: 0, delta: value.slice(1) }),
  update({ type: "text_end", contentIndex: 0, content: value }),
];
const call = (index: number, id: string, args: Record<string, unknown> = {}): Frame[] => {
  const toolCall = { type: "toolCall", id, name: "read", arguments: args };
  return [
    update({ type: "toolcall_start", contentIndex: index, id, toolName: "read" }),
    update({ type: "toolcall_delta", contentIndex: index, delta: JSON.stringify(args) }),
    update({ type: "toolcall_end", contentIndex: index, toolCall }),
  ];
};
/** An assistant message of the given updates. */
const assistant = (updates: Frame[], content: unknown[], stopReason = "stop"): Frame[] => {
  const failed = stopReason === "error" || stopReason === "aborted";
  return [
    { type: "message_start", message: { role: "assistant", content: [] } },
    update({ type: "start" }),
    ...updates,
    update({ type: failed ? "error" : "done", reason: stopReason }),
    { type: "message_end", message: { role: "assistant", content, stopReason } },
  ];
};
const hello = assistant(text("hello"), [{ type: "text", text: "hello" }]);
const toolCalls = (...ids: string[]): Frame[] =>
  assistant(
    ids.flatMap((id, index) => call(index, id)),
    ids.map((id) => ({ type: "toolCall", id, name: "read", arguments: {} })),
    "toolUse",
  );
const toolStart = (id: string): Frame => ({ type: "tool_execution_start", toolCallId: id, toolName: "read" });
const toolUpdate = (id: string): Frame => ({ type: "tool_execution_update", toolCallId: id, toolName: "read" });
const toolEnd = (id: string): Frame => ({
  type: "tool_execution_end",
  toolCallId: id,
  toolName: "read",
  isError: false,
});
const result = (id: string): Frame[] => message("toolResult", { toolCallId: id, isError: false });
const turnEnd = (...ids: string[]): Frame => ({ type: "turn_end", toolResults: ids.map((id) => ({ toolCallId: id })) });
const turn = (...frames: Frame[]): Frame[] => [bare("turn_start"), ...frames, turnEnd()];
const promptResult = (id = "1"): Frame => ({ type: "prompt_result", id, status: "completed" });
const settled = (id = "1"): Frame[] => [bare("agent_settled"), promptResult(id), bare("session_settled")];
const failedTurn = turn(...assistant([], [], "error"));
const plainRun = [bare("agent_start"), ...turn(...message("user"), ...hello), agentEnd(["user", "assistant"])];
const plain = [ready, accepted(), ...plainRun, ...settled()];
const toolRun = (...tools: Frame[]): Frame[] => [
  ready,
  accepted(),
  bare("agent_start"),
  bare("turn_start"),
  ...toolCalls("a", "b"),
  ...tools,
];

function complaint(frames: Frame[], options: GrammarOptions = {}): string | undefined {
  const grammar = new EventGrammar(options);
  for (const frame of frames) {
    const problem = grammar.check(frame);
    if (problem) return problem;
  }
  return grammar.finish();
}

/** The frames without the first one of that type. */
function without(frames: Frame[], type: string): Frame[] {
  const index = frames.findIndex((frame) => frame.type === type);
  return frames.filter((_, i) => i !== index);
}

describe("legal orders", () => {
  const legal: Record<string, Frame[]> = {
    "nothing but ready": [ready],
    "a plain answer": plain,
    "two prompts, the second accepted before the first has settled": [
      ready,
      accepted("1"),
      ...plainRun,
      accepted("2"),
      ...settled("1"),
      ...plainRun,
      ...settled("2"),
    ],
    "a queued prompt ends with the run that took it in": [
      ready,
      accepted("1"),
      bare("agent_start"),
      accepted("2", "queued"),
      ...turn(...message("user"), ...hello),
      ...turn(...message("user"), ...hello),
      agentEnd(["user", "assistant", "user", "assistant"]),
      bare("agent_settled"),
      promptResult("1"),
      promptResult("2"),
      bare("session_settled"),
    ],
    "two tool calls side by side": [
      ...toolRun(toolStart("a"), toolStart("b"), toolUpdate("a"), toolEnd("b"), ...result("b")),
      toolEnd("a"),
      ...result("a"),
      turnEnd("a", "b"),
      ...turn(...hello),
      agentEnd(["assistant", "toolResult", "toolResult", "assistant"]),
      ...settled(),
    ],
    "a retry that works": [
      ready,
      accepted(),
      bare("agent_start"),
      ...turn(...message("user"), ...assistant([], [], "error")),
      agentEnd(["user", "assistant"], true),
      bare("auto_retry_start"),
      bare("agent_start"),
      bare("turn_start"),
      ...hello,
      bare("auto_retry_end"),
      turnEnd(),
      agentEnd(["assistant"]),
      ...settled(),
    ],
    "a retry that is given up": [
      ready,
      accepted(),
      bare("agent_start"),
      ...failedTurn,
      agentEnd(["assistant"], true),
      bare("auto_retry_start"),
      bare("auto_retry_end"),
      ...settled(),
    ],
    "an overflow, compacted and tried again": [
      ready,
      accepted(),
      bare("agent_start"),
      ...failedTurn,
      agentEnd(["assistant"], true),
      bare("auto_compaction_start"),
      bare("compaction_start"),
      bare("compaction_end"),
      bare("auto_compaction_end"),
      bare("agent_start"),
      ...turn(...hello),
      agentEnd(["assistant"]),
      ...settled(),
    ],
    "an abort answered after the prompt's result": [
      ready,
      accepted(),
      bare("agent_start"),
      ...turn(...assistant(text("ab"), [{ type: "text", text: "ab" }], "aborted")),
      agentEnd(["assistant"]),
      bare("agent_settled"),
      promptResult(),
      { type: "response", command: "abort", success: true },
      bare("session_settled"),
    ],
    "a prompt that an extension command dealt with": [ready, accepted("1", "handled"), promptResult()],
    "a prompt that failed after it was accepted": [
      ready,
      accepted(),
      { type: "response", command: "prompt", id: "1", success: false, error: "no key" },
      promptResult(),
    ],
    "a custom message while idle": [ready, ...message("custom")],
  };
  test.each(Object.entries(legal))("%s", (_name, frames) => {
    expect(complaint(frames)).toBeUndefined();
  });

  test("a run that an extension's command has started, and that is over before the command", () => {
    const frames = [ready, accepted("1", "handled"), ...plainRun, bare("agent_settled"), bare("session_settled")];
    const rest = [promptResult(), bare("session_settled")];
    expect(complaint([...frames, ...rest], { runsWithoutPrompt: true })).toBeUndefined();
  });

  test("a background job: its result begins a run by itself, or is told as it is, and then the session is at rest", () => {
    const awaiting = (frames: Frame[]): Frame[] =>
      frames.map((frame) => (frame.type === "agent_end" ? { ...frame, awaitingAsyncWork: true } : frame));
    const first = [ready, accepted(), ...awaiting(plainRun), bare("agent_settled"), promptResult()];
    const own = [...plainRun, bare("agent_settled"), bare("session_settled")];
    expect(complaint([...first, ...own])).toBeUndefined();
    expect(complaint([...first, ...message("custom"), bare("session_settled")])).toBeUndefined();
    expect(complaint(first)).toBeUndefined();
    expect(complaint([...first, ...own, ...plainRun])).toMatch(/no prompt was accepted/);
  });

  test("the pi dialect: no ready, no prompt_result, no session_settled", () => {
    expect(complaint([accepted(), ...plainRun, bare("agent_settled")], { dialect: "pi" })).toBeUndefined();
  });
});

describe("illegal orders are named", () => {
  const illegal: [name: string, frames: Frame[], says: RegExp][] = [
    ["no ready", without(plain, "ready"), /first frame must be ready/],
    ["ready twice", [ready, ready], /second ready/],
    ["a run before the answer", without(plain, "response"), /no prompt was accepted/],
    ["no turn_start", without(plain, "turn_start"), /outside a turn/],
    ["no turn_end", without(plain, "turn_end"), /turn is still open/],
    ["no agent_end", without(plain, "agent_end"), /agent_end is missing/],
    ["no agent_settled", without(plain, "agent_settled"), /must follow agent_settled/],
    ["no prompt_result", without(plain, "prompt_result"), /prompt_result of "1" must come before/],
    ["no session_settled", without(plain, "session_settled"), /ended inside a run \(settling\)/],
    ["session_settled twice", [...plain, bare("session_settled")], /nothing happened/],
    ["prompt_result twice", [...plain.slice(0, -1), promptResult()], /has its result already/],
    [
      "the next run before the old one has settled",
      [...plain.slice(0, -1), accepted("2"), bare("agent_start")],
      /not settled/,
    ],
    ["a message outside a run", [ready, ...message("user")], /outside a run/],
    ["the user after the assistant", [...plain.slice(0, -5), ...message("user")], /after the assistant's/],
    ["no start", plain.filter((frame) => at(frame) !== "start"), /"text_start" before "start"/],
    ["no done", plain.filter((frame) => at(frame) !== "done"), /without "done" or "error"/],
    ["a delta without its start", plain.filter((frame) => at(frame) !== "text_start"), /block 0, which is not open/],
    ["a block left open", plain.filter((frame) => at(frame) !== "text_end"), /still open/],
    ["a lost delta", plain.filter((frame) => !isFirstDelta(frame)), /text_end says "hello", the deltas join to "ello"/],
    ["a wrong end of block", replaceContent(plain, "hullo"), /text_end says "hullo", the deltas join to "hello"/],
    [
      "agent_end with other messages",
      [...plain.slice(0, -4), agentEnd(["user"])],
      /the run told of \[user, assistant\]/,
    ],
    ["a retry nobody announced", [...plain.slice(0, -3), bare("auto_retry_start")], /willRetry:true/],
    [
      "a promise without a retry",
      [ready, accepted(), bare("agent_start"), ...failedTurn, agentEnd(["assistant"], true), bare("agent_settled")],
      /nothing was tried/,
    ],
    [
      "an abort answered too early",
      [...plain.slice(0, 5), { type: "response", command: "abort", success: true }],
      /abort was answered before/,
    ],
    ["a tool nobody called", toolRun(toolStart("z")), /no tool call z/],
    ["a tool end without start", toolRun(toolEnd("a")), /is waiting, must be running/],
    ["a tool started twice", toolRun(toolStart("a"), toolStart("a")), /is running, must be waiting/],
    ["a result before the end", toolRun(toolStart("a"), ...result("a")), /its end comes first/],
    [
      "a call without result",
      toolRun(toolStart("a"), toolEnd("a"), ...result("a"), turnEnd("a")),
      /tool call b .* no result/,
    ],
    [
      "results in another order",
      toolRun(
        toolStart("a"),
        toolStart("b"),
        toolEnd("b"),
        ...result("b"),
        toolEnd("a"),
        ...result("a"),
        turnEnd("b", "a"),
      ),
      /in the order of the message it is \[a, b\]/,
    ],
    [
      "seq standing still",
      [
        { ...ready, seq: 1 },
        { type: "notice", seq: 1 },
      ],
      /seq 1 after 1/,
    ],
  ];
  test.each(illegal)("%s", (_name, frames, says) => {
    expect(complaint(frames)).toMatch(says);
  });

  test("every single frame of a run is needed", () => {
    for (let i = 0; i < plain.length; i++) {
      const shorter = plain.filter((_, index) => index !== i);
      expect(complaint(shorter), `without frame ${i} (${plain[i]?.type})`).toBeTypeOf("string");
    }
  });
});

describe("commands and their answers", () => {
  const answer = (id: string | undefined, command = "get_state", success = true): Frame => ({
    type: "response",
    command,
    id,
    success,
  });
  const grammarAfter = (...sent: Frame[]): EventGrammar => {
    const grammar = new EventGrammar();
    grammar.check(ready);
    for (const command of sent) grammar.sent(command);
    return grammar;
  };

  test("a command nobody answers is named at the end", () => {
    expect(grammarAfter({ type: "get_state", id: "7" }).finish()).toMatch(/no response to .*"7"/);
  });

  test("a command may not be answered twice", () => {
    const grammar = grammarAfter({ type: "get_state", id: "7" });
    expect(grammar.check(answer("7"))).toBeUndefined();
    expect(grammar.check(answer("7"))).toMatch(/already answered/);
  });

  test("an unknown command is answered by name, without id", () => {
    const grammar = grammarAfter({ type: "dance", id: "7" });
    expect(grammar.check(answer(undefined, "dance", false))).toBeUndefined();
    expect(grammar.finish()).toBeUndefined();
  });

  test("answers to our own requests get no response, unless they cannot be used", () => {
    expect(grammarAfter({ type: "extension_ui_response", id: "7" }).finish()).toBeUndefined();
    const refusal = { type: "response", id: "7", command: "host_tool_result", success: false, error: "no content" };
    expect(grammarAfter({ type: "host_tool_result", id: "7" }).check(refusal)).toBeUndefined();
    expect(grammarAfter({ type: "host_tool_result", id: "7" }).check({ ...refusal, success: true })).toContain(
      "not asked",
    );
  });
});

function at(frame: Frame): unknown {
  return (frame.assistantMessageEvent as Frame | undefined)?.type;
}

function isFirstDelta(frame: Frame): boolean {
  return (frame.assistantMessageEvent as Frame | undefined)?.delta === "h";
}

function replaceContent(frames: Frame[], content: string): Frame[] {
  return frames.map((frame) =>
    at(frame) === "text_end" ? update({ type: "text_end", contentIndex: 0, content }) : frame,
  );
}
