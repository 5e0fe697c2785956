import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Frame } from "./frame.ts";
import { applyMutation, frameKind, type Mutation, mutateFromEnv, parseMutation } from "./mutate.ts";

const state: Frame = {
  type: "response",
  id: "1",
  command: "get_state",
  success: true,
  data: { model: null, count: 3 },
};
const failure: Frame = {
  type: "response",
  id: "2",
  command: "set_model",
  success: false,
  error: "Model not found: a/b",
};
const delta: Frame = {
  type: "message_update",
  message: { role: "assistant" },
  assistantMessageEvent: { type: "text_delta" },
};

describe("kinds of frames", () => {
  const cases: [Frame, string][] = [
    [state, "response:get_state"],
    [failure, "failure:set_model"],
    [delta, "message_update:text_delta"],
    [{ type: "message_end", message: { role: "user" } }, "message_end:user"],
    [{ type: "turn_end", message: { role: "assistant" } }, "turn_end"],
    [{ type: "agent_start" }, "agent_start"],
  ];
  for (const [frame, kind] of cases) {
    it(kind, () => expect(frameKind(frame)).toBe(kind));
  }
});

describe("damaging a frame", () => {
  const drop = (frame: string, field: string): Mutation => ({ frame, field, op: "drop" });
  const change = (frame: string, field: string): Mutation => ({ frame, field, op: "change" });

  it("drops a field, also one further down", () => {
    expect(applyMutation(state, drop("response:get_state", "id"))).not.toHaveProperty("id");
    expect(applyMutation(state, drop("response:get_state", "data.model"))).toEqual({ ...state, data: { count: 3 } });
    expect(state).toHaveProperty("data.model");
  });

  it("changes a value into another of the same type", () => {
    const frame = {
      type: "x",
      text: "a",
      count: 1,
      flag: true,
      list: [1, 2],
      empty: [],
      object: { a: 1 },
      bare: {},
      nil: null,
    };
    const values = Object.keys(frame).map((field) => applyMutation(frame, change("x", field))[field]);
    expect(values).toEqual(["x~", "a~", 2, false, [2], ["mutated"], {}, { mutated: true }, "mutated"]);
  });

  it("concerns all increments when only message_update is named", () => {
    expect(applyMutation(delta, drop("message_update", "message"))).not.toHaveProperty("message");
    expect(applyMutation(delta, drop("message_update:text_end", "message"))).toBe(delta);
  });

  it("leaves other frames and absent fields alone", () => {
    expect(applyMutation(failure, drop("response:set_model", "error"))).toBe(failure);
    expect(applyMutation(state, drop("response:get_state", "data.retry.attempt"))).toBe(state);
    expect(applyMutation(state, drop("response:get_state", "data.model.id"))).toBe(state);
  });
});

describe("the mutation of the environment", () => {
  it("is none by default", () => {
    expect(mutateFromEnv({})(state)).toBe(state);
  });

  it("is applied to each frame and leaves a mark when it happened", () => {
    const folder = mkdtempSync(join(tmpdir(), "tiller-mutate-"));
    const hit = join(folder, "hit");
    const mutate = mutateFromEnv({
      TILLER_MUTATE: '{"frame":"failure","field":"error","op":"drop"}',
      TILLER_MUTATE_HIT: hit,
    });
    expect(mutate(state)).toBe(state);
    expect(mutate(failure)).not.toHaveProperty("error");
    expect(readFileSync(hit, "utf8")).toBe("failure:set_model");
    rmSync(folder, { recursive: true });
  });

  it("is refused when it is not understood", () => {
    expect(() => parseMutation('{"frame":"x","field":"y","op":"burn"}')).toThrow(/expected/);
  });
});
