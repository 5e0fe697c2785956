import { describe, expect, it } from "vitest";
import type { ClientEvent } from "../client/events.ts";
import { modelName } from "./commands.ts";
import { describeArguments, render, renderEnd, renderTodos } from "./render.ts";
import { brief, createStyle, harmless } from "./style.ts";

const plain = createStyle(false);
const shown = (event: object) => render(event as ClientEvent, plain);
const update = (assistantMessageEvent: object) => ({ type: "message_update", assistantMessageEvent });
const text = (words: string) => ({ content: [{ type: "text", text: words }] });
const ended = (result: object, isError = false, toolName = "bash") => ({
  type: "tool_execution_end",
  toolName,
  result,
  isError,
});

describe("what a person sees of an event", () => {
  const cases: [name: string, event: object, shown: object][] = [
    ["text", update({ type: "text_delta", delta: "a\nb" }), { flow: "a\nb" }],
    ["thinking", update({ type: "thinking_delta", delta: "hm" }), { flow: "hm" }],
    ["the end of a block", update({ type: "text_end" }), { lines: [] }],
    ["the beginning of a block", update({ type: "text_start" }), {}],
    [
      "a tool call",
      { type: "tool_execution_start", toolName: "bash", args: { command: "ls -l" } },
      { lines: ["* bash ls -l"] },
    ],
    ["a short result", ended(text("ok\n")), { lines: ["  ok"] }],
    ["a long result", ended(text("a\nb\nc")), { lines: ["  a ... (3 lines)"] }],
    ["an empty result", ended(text("")), { lines: ["  done"] }],
    ["an image", ended({ content: [{ type: "image" }] }), { lines: ["  [image]"] }],
    ["a failure", ended(text("no such\nfile"), true), { lines: ["  failed: no such file"] }],
    ["output of the shell", { type: "bash_execution_update", delta: "x" }, { flow: "x" }],
    [
      "a retry",
      { type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 1500, errorMessage: "529" },
      { lines: ["~ trying again in 2 s, 1 of 3: 529"] },
    ],
    ["a compaction", { type: "compaction_start" }, { lines: ["~ making room in the conversation ..."] }],
    ["a failed one", { type: "compaction_end", errorMessage: "no" }, { lines: ["~ no"] }],
    ["a rule", { type: "ttsr_triggered", rules: [{ name: "no-any" }] }, { lines: ["~ corrected by no-any"] }],
    [
      "a reminder",
      { type: "todo_reminder", todos: [1], attempt: 1, maxAttempts: 3 },
      { lines: ["~ 1 open task(s), reminder 1 of 3"] },
    ],
    ["a notice", { type: "notice", level: "warning", message: "look" }, { lines: ["! look"] }],
    [
      "a notice of an extension",
      { type: "extension_ui_request", method: "notify", message: "hi" },
      { lines: ["! hi"] },
    ],
    [
      "an error of one",
      { type: "extension_error", extensionPath: "/e.ts", error: "broke" },
      { lines: ["! /e.ts: broke"] },
    ],
    ["what nobody needs to see", { type: "turn_start" }, {}],
    ["what nobody knows", { type: "of_tomorrow" }, {}],
  ];
  it.each(cases)("%s", (_, event, expected) => {
    expect(shown(event)).toEqual(expected);
  });

  it("the plan, where a tool has changed it", () => {
    const tasks = (["pending", "in_progress", "completed", "abandoned"] as const).map((status) => ({
      id: status,
      content: status,
      status,
    }));
    const phases = [{ id: "p", name: "Build", tasks }];
    const lines = ["  Build", "  [ ] pending", "  [>] in_progress", "  [x] completed", "  [-] abandoned"];
    expect(renderTodos(phases, plain)).toEqual(lines);
    expect(shown(ended({ ...text("done"), details: { phases } }, false, "todo"))).toEqual({ lines });
  });

  it("how a prompt ended, if not well", () => {
    const end = (fields: object) => renderEnd({ status: "completed", agentInvoked: true, text: "", ...fields }, plain);
    expect(end({})).toEqual([]);
    expect(end({ status: "aborted" })).toEqual(["(aborted)"]);
    expect(end({ status: "error", error: { message: "no key" } })).toEqual(["error: no key"]);
    expect(end({ status: "error" })).toEqual(["error: the prompt failed"]);
    expect(end({ limit: { scope: "prompt", limit: "turns", used: 3, max: 3 } })).toEqual([
      "(ended by its limit of turns: 3)",
    ]);
  });
});

describe("texts", () => {
  it("cannot steer the terminal", () => {
    expect(harmless("a\u001b[31mb\u001b]0;title\u0007c\r\n\td\u009b2Je\u001b[?1049h")).toBe("ab]0;titlec\n\td2Je");
    expect(shown(update({ type: "text_delta", delta: "\u001b[2Jx" }))).toEqual({ flow: "x" });
    const rules = [{ name: "no\u001b[2J\u202e-any" }];
    expect(shown({ type: "ttsr_triggered", rules } as never)).toEqual({ lines: ["~ corrected by no-any"] });
    expect(modelName({ provider: "p", id: "m\u001b]0;x\u0007" })).toBe("p/m]0;x");
    expect(harmless("user\u202egnp.exe\u2066\u2028 👩\u200d🚀")).toBe("usergnp.exe 👩\u200d🚀");
  });

  it("are cut to one line", () => {
    expect(brief("a \n b", 10)).toBe("a b");
    expect(brief("abcdefghij", 8)).toBe("abcde...");
  });

  it("say of a call what matters most", () => {
    expect(describeArguments({ limit: 3, path: "src" })).toBe("src");
    expect(describeArguments({ limit: 3 })).toBe('{"limit":3}');
    expect(describeArguments({})).toBe("");
  });

  it("are coloured only where that is wanted", () => {
    expect(createStyle(true).red("x")).toBe("\u001b[31mx\u001b[0m");
    expect(createStyle(true).red("")).toBe("");
    expect(plain.red("x")).toBe("x");
  });
});
