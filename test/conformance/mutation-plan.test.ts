import { COMMANDS } from "@tiller/protocol/commands/index";
import type { CommandRow, EventRow } from "@tiller/protocol/define";
import { EVENTS } from "@tiller/protocol/events";
import { describe, expect, it } from "vitest";
import { planMutations, sampleMutations } from "../../scripts/mutation/plan.ts";
import { ACCEPTED_SURVIVORS } from "../../scripts/mutation/survivors.ts";

const plan = planMutations();
const has = (frame: string, field: string) =>
  plan.filter((each) => each.frame === frame && each.field === field).length;

describe("the plan of the mutation run", () => {
  it("damages each field twice: dropped and changed", () => {
    expect(has("response:get_state", "data.model")).toBe(2);
    expect(has("response:cycle_model", "data.isScoped")).toBe(2);
    expect(has("agent_end", "messages")).toBe(2);
    expect(has("message_update:text_delta", "assistantMessageEvent.delta")).toBe(2);
    expect(has("message_end:assistant", "message.stopReason")).toBe(2);
    expect(has("failure:parse", "error")).toBe(2);
  });

  it("has every command and event that works, and leaves out what is not built yet", () => {
    const rows = [
      ...Object.values<CommandRow>(COMMANDS).map(({ type, opens }) => ({ frame: `response:${type}`, opens })),
      ...Object.values<EventRow>(EVENTS).map(({ type, opens }) => ({ frame: type, opens })),
    ];
    const planned = new Set(plan.map(({ frame }) => frame));
    const wrong = rows.filter(({ frame, opens }) => planned.has(frame) !== (opens === undefined));
    expect(wrong).toEqual([]);
    expect([...planned]).toEqual(expect.arrayContaining(["response:steer", "response:abort_retry", "queue_update"]));
  });

  it("damages the place of an event where it has one", () => {
    const places = (frame: string) => ["promptId", "turnIndex", "messageId"].filter((field) => has(frame, field) === 2);
    expect(places("message_update")).toEqual(["promptId", "turnIndex", "messageId"]);
    expect(places("tool_execution_end")).toEqual(["promptId", "turnIndex"]);
    expect(places("auto_retry_start")).toEqual(["promptId", "turnIndex"]);
    expect(places("prompt_result")).toEqual(["promptId"]);
    expect(places("auto_compaction_end")).toEqual(["promptId"]);
    expect(places("compaction_end")).toEqual([]);
    expect(places("queue_update")).toEqual([]);
  });

  it("accepts only survivors that are in the plan, each with a reason", () => {
    const strangers = ACCEPTED_SURVIVORS.filter(({ frame, field }) => has(frame, field) === 0);
    expect(strangers).toEqual([]);
    expect(ACCEPTED_SURVIVORS.filter(({ reason }) => reason === "")).toEqual([]);
  });

  it("samples the same mutations for the same seed, each at most once", () => {
    const sample = sampleMutations(plan, 20, 1);
    expect(new Set(sample).size).toBe(20);
    expect(sampleMutations(plan, 20, 1)).toEqual(sample);
    expect(sampleMutations(plan, 20, 2)).not.toEqual(sample);
  });
});
