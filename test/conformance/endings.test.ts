import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { ended, ofType, stateOf } from "./looking.ts";

/** How a prompt ends, which frames belong to it, and what may come next (decisions 2 to 4, 12). */

const start = useRpc({ args: ["--no-session"] });
/** For stories of one failure: nothing is tried again. */
const ONCE = ["--no-session", "--set", "retry.enabled=false"];
const PROMPT_EVENTS = /^(agent_|turn_|message_|tool_execution_|prompt_result|session_settled)/;

describe("the frames of a run", () => {
  it("carry the promptId of their prompt, whatever id the host gave it", async () => {
    const rpc = start({ script: ['toolCall bash {"command":"echo hi"}', 'text "one"', 'text "two"'] });
    const first = await rpc.prompt("first", { id: "same" });
    const second = await rpc.prompt("second", { id: "same" });
    for (const [promptId, { frames }] of Object.entries({ "prompt-1": first, "prompt-2": second })) {
      const events = frames.filter(({ type }) => PROMPT_EVENTS.test(String(type)));
      expect(events.length).toBeGreaterThan(10);
      expect(new Set(events.map((frame) => frame.promptId))).toEqual(new Set([promptId]));
    }
  });

  it("have a seq that counts every event of the process without a gap", async () => {
    const rpc = start({ script: ['text "one"', 'text "two" chunk 1 pace 1'] });
    await rpc.prompt("first");
    await rpc.call({ type: "set_thinking_level", level: "low" });
    await rpc.prompt("second");
    const events = rpc.frames.filter(({ type }) => type !== "ready" && type !== "response");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(rpc.frames.filter(({ type }) => type === "response").every((frame) => !("seq" in frame))).toBe(true);
    expect(ofType(rpc.frames, "thinking_level_changed")[0]).not.toHaveProperty("promptId");
  });

  it("end with agent_end, agent_settled, prompt_result and session_settled, in this order", async () => {
    const { frames } = await start({ script: ['text "hi"'] }).prompt("hi", { id: 7 });
    expect(frames.slice(-4)).toEqual([
      {
        type: "agent_end",
        messages: expect.any(Array),
        willRetry: false,
        promptId: "prompt-1",
        turnIndex: 0,
        seq: expect.any(Number),
      },
      { type: "agent_settled", aborted: false, promptId: "prompt-1", seq: expect.any(Number) },
      {
        type: "prompt_result",
        id: 7,
        status: "completed",
        agentInvoked: true,
        sessionSettled: true,
        usage: ended(frames, "assistant").usage,
        turns: 1,
        toolCalls: 0,
        durationMs: expect.any(Number),
        promptId: "prompt-1",
        seq: expect.any(Number),
      },
      { type: "session_settled", promptId: "prompt-1", seq: expect.any(Number) },
    ]);
  });
});

describe("prompt_result", () => {
  it("has no id when the prompt had none", async () => {
    const rpc = start({ script: ['text "hi"'] });
    rpc.send({ type: "prompt", message: "hi" });
    const result = await rpc.waitFor("prompt_result");
    expect(result).not.toHaveProperty("id");
    expect(result).toMatchObject({ status: "completed", promptId: "prompt-1" });
  });

  it.each([
    ['error 401 "who are you?"', { message: "who are you?", httpStatus: 401, retryable: false }],
    ['error 529 "busy"', { message: "busy", httpStatus: 529, retryable: true }],
    ['error overflow "too long"', { message: "too long", retryable: false }],
    ['text "half" + cut', { retryable: true }],
  ])("after %s names the failure so that a program can act on it", async (line, error) => {
    const { result } = await start({ script: [line], args: ONCE }).prompt("go", { id: "p" });
    expect(result).toMatchObject({
      id: "p",
      status: "error",
      agentInvoked: true,
      error: { provider: "script", model: "script", ...error },
    });
  });

  it("says aborted after an abort, and once only", async () => {
    const rpc = start({ script: ["hang"] });
    await rpc.call({ id: "p", type: "prompt", message: "go" });
    await Promise.all([rpc.call({ type: "abort" }), rpc.call({ type: "abort" })]);
    expect(ofType(rpc.frames, "prompt_result")).toMatchObject([
      { id: "p", status: "aborted", error: { message: "Request was aborted", retryable: false } },
    ]);
  });

  it("says offline:true when the offline model answered, and a notice says so before", async () => {
    const rpc = start();
    const { result } = await rpc.prompt("hello", { id: "p" });
    expect(result).toMatchObject({ id: "p", status: "completed", offline: true });
    expect(ofType(rpc.frames, "notice")).toEqual([
      { type: "notice", level: "warning", message: expect.stringMatching(/offline model/), seq: 1 },
    ]);
    expect(rpc.stderr).toMatch(/offline model/);
  });

  it("tells of the model that answered, also when another one was chosen before the end", async () => {
    const models =
      '{"providers":{"acme":{"baseUrl":"http://127.0.0.1:9","auth":"none","api":"anthropic-messages","models":[{"id":"m"}]}}}';
    const other = { type: "set_model", provider: "acme", modelId: "m" };
    const failing = start({ script: ['delay 100 + error 401 "no"'], agentFiles: { "models.json": models } });
    await failing.call({ type: "prompt", message: "go" });
    await failing.waitFor("message_update");
    await failing.call(other);
    expect(await failing.waitFor("prompt_result")).toMatchObject({
      error: { message: "no", provider: "script", model: "script" },
    });

    const args = [...ONCE, "--model", "offline/scout"];
    const partly = start({ args, agentFiles: { "models.json": models } });
    await partly.call({ type: "prompt", message: "run until [ -e go ]; do sleep 0.02; done" });
    await partly.waitFor("tool_execution_start");
    await partly.call(other);
    writeFileSync(join(partly.sandbox.cwd, "go"), "");
    expect(await partly.waitFor("prompt_result")).toMatchObject({
      offline: true,
      error: { provider: "acme", model: "m" },
    });
  });

  it("says nothing of the kind for another model, and a chosen offline model needs no notice", async () => {
    const { result, frames } = await start({ script: ['text "hi"'] }).prompt("hi");
    expect(result).not.toHaveProperty("offline");
    expect(ofType(frames, "notice")).toEqual([]);
    const chosen = start({ args: ["--no-session", "--model", "offline/scout"] });
    expect((await chosen.prompt("hello")).result).toMatchObject({ offline: true });
    expect(ofType(chosen.frames, "notice")).toEqual([]);
  });
});

describe("the next prompt", () => {
  it("is accepted as soon as agent_end is read, and starts after the last frame of the run before", async () => {
    const rounds = 5;
    const rpc = start({ script: Array.from({ length: rounds }, (_, round) => `text "answer ${round}"`) });
    for (let round = 0; round < rounds; round++) {
      const since = rpc.mark();
      rpc.send({ id: round, type: "prompt", message: "go" });
      const response = await rpc.waitFor(({ type, id }) => type === "response" && id === round, { since });
      expect(response.success).toBe(true);
      await rpc.waitFor("agent_end", { since });
    }
    const last = await rpc.waitFor(({ type, id }) => type === "prompt_result" && id === rounds - 1);
    await rpc.waitFor("session_settled", { since: rpc.frames.indexOf(last) });
    const one = ["agent_start", "agent_end", "agent_settled", "prompt_result", "session_settled"];
    expect(rpc.types().filter((type) => one.includes(type))).toEqual(Array(rounds).fill(one).flat());
    expect(ofType(rpc.frames, "prompt_result").map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
  });

  it("is refused while one runs, without an event and without ending it", async () => {
    const rpc = start({ script: ['text "on" + delay 150 + text " it"'] });
    rpc.send(
      '{"id":"1","type":"prompt","message":"a"}\n{"id":"2","type":"prompt","message":"b"}\n{"id":"3","type":"get_state"}\n',
    );
    await rpc.waitFor("session_settled");
    const answers = ofType(rpc.frames, "response").map(({ id, success }) => [id, success]);
    expect(answers).toEqual([
      ["1", true],
      ["2", false],
      ["3", true],
    ]);
    expect(ofType(rpc.frames, "prompt_result")).toMatchObject([{ id: "1", status: "completed" }]);
    expect((await stateOf(rpc)).messageCount).toBe(2);
  });

  it("is answered before the first event of its run, also the very first time", async () => {
    const rpc = start({ script: ['text "hi"'] });
    await rpc.prompt("hi");
    const types = rpc.types();
    expect(types.indexOf("response")).toBeLessThan(types.indexOf("agent_start"));
    const first = rpc.frames.find(({ type }) => type === "response") as Frame;
    expect(at(first, "data")).toEqual({ disposition: "started" });
  });
});
