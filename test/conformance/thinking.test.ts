import { describe, expect, it } from "vitest";
import { at } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

const start = useRpc({ env: { ANTHROPIC_API_KEY: "test" } });
const withModel = (model: string): RpcProcess => start({ args: ["--model", model, "--no-session"] });
const levelOf = async (rpc: RpcProcess): Promise<unknown> => (await stateOf(rpc)).thinkingLevel;
const cycle = async (rpc: RpcProcess): Promise<unknown> => (await rpc.call({ type: "cycle_thinking_level" })).data;

describe("set_thinking_level", () => {
  proves("pi.thinking.set", "sets the level, tells the change once and answers without data", async () => {
    const rpc = withModel("claude-sonnet-4-5");
    expect(await levelOf(rpc)).toBe("medium");
    const response = await rpc.call({ id: "t", type: "set_thinking_level", level: "high" });
    expect(response).toEqual({ id: "t", type: "response", command: "set_thinking_level", success: true });
    expect(await levelOf(rpc)).toBe("high");
    await rpc.call({ type: "set_thinking_level", level: "high" });
    expect(ofType(rpc.frames, "thinking_level_changed")).toEqual([
      { type: "thinking_level_changed", level: "high", seq: expect.any(Number) },
    ]);
  });

  proves("pi.thinking.levels", "knows six levels and names them when it is given another", async () => {
    const rpc = withModel("claude-opus-5");
    const { data } = await rpc.call({ type: "get_available_thinking_levels" });
    expect(data).toEqual({ levels: ["off", "minimal", "low", "medium", "high", "xhigh"] });
    const refused = await rpc.call({ id: "t", type: "set_thinking_level", level: "enormous" });
    expect(refused).toMatchObject({ id: "t", command: "set_thinking_level", success: false });
    expect(refused.error).toMatch(/level.*off.*minimal.*low.*medium.*high.*xhigh.*enormous/s);
    expect(await levelOf(rpc)).toBe("medium");
  });

  proves("pi.thinking.xhigh", "gives xhigh to a model that has it and high to one that has not", async () => {
    const has = withModel("claude-opus-5");
    await has.call({ type: "set_thinking_level", level: "xhigh" });
    expect(await levelOf(has)).toBe("xhigh");
    const hasNot = withModel("claude-sonnet-4-5");
    await hasNot.call({ type: "set_thinking_level", level: "xhigh" });
    expect(await levelOf(hasNot)).toBe("high");
    expect((await hasNot.call({ type: "get_available_thinking_levels" })).data).toEqual({
      levels: ["off", "minimal", "low", "medium", "high"],
    });
  });

  it("is off for a model that cannot think, whatever was asked for", async () => {
    const rpc = withModel("offline/scout");
    await rpc.call({ type: "set_thinking_level", level: "high" });
    expect(await levelOf(rpc)).toBe("off");
    expect(ofType(rpc.frames, "thinking_level_changed")).toEqual([]);
  });
});

describe("cycle_thinking_level", () => {
  proves("pi.thinking.cycle", "goes up level by level and from the highest to the lowest", async () => {
    const rpc = withModel("claude-sonnet-4-5:low");
    const first = await rpc.call({ id: "c", type: "cycle_thinking_level" });
    expect(first).toEqual({
      id: "c",
      type: "response",
      command: "cycle_thinking_level",
      success: true,
      data: { level: "medium" },
    });
    expect(await levelOf(rpc)).toBe("medium");
    const rest = [await cycle(rpc), await cycle(rpc), await cycle(rpc)];
    expect(rest).toEqual([{ level: "high" }, { level: "off" }, { level: "minimal" }]);
    expect(ofType(rpc.frames, "thinking_level_changed").map((frame) => at(frame, "level"))).toEqual([
      ...["medium", "high", "off", "minimal"],
    ]);
  });

  proves("pi.thinking.cycle", "passes over a level the model does not have, and takes xhigh in", async () => {
    const rpc = withModel("claude-opus-5-5:high");
    expect([await cycle(rpc), await cycle(rpc)]).toEqual([{ level: "xhigh" }, { level: "minimal" }]);
  });

  proves("pi.thinking.cycle-unsupported", "answers null for a model that cannot think", async () => {
    const rpc = withModel("offline/scout");
    expect(await rpc.call({ id: "c", type: "cycle_thinking_level" })).toEqual({
      id: "c",
      type: "response",
      command: "cycle_thinking_level",
      success: true,
      data: null,
    });
    expect(await levelOf(rpc)).toBe("off");
  });
});
