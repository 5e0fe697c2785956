import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { isSilentOverflow } from "./silent-overflow.ts";
import { assistant, model, usage, user } from "./test-entries.ts";

describe("an overflow that the provider does not report", () => {
  const rows: [story: string, message: AgentMessage, is: boolean][] = [
    ["more than the window", assistant("ok", { usage: usage(600, 5, 401) }), true],
    ["as much as the window", assistant("ok", { usage: usage(600, 500, 400) }), false],
    ["of another model", assistant("ok", { model: "other", usage: usage(2000) }), false],
    ["of an answer that failed anyhow", assistant("", { stopReason: "error", usage: usage(2000) }), false],
    ["no answer at all", user("hi"), false],
  ];
  for (const [story, message, is] of rows) it(story, () => expect(isSilentOverflow([message], model)).toBe(is));
  it("is not seen without a window", () => {
    expect(isSilentOverflow([assistant("", { usage: usage(9) })], { ...model, contextWindow: 0 })).toBe(false);
  });
});
