import type { AgentRun } from "@tiller/agent/agent-loop";
import type { AgentPorts, RunOutcome } from "@tiller/agent/types";
import { ProviderError } from "@tiller/ai/errors";
import type { UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { describe, expect, it } from "vitest";
import { createEventPipeline } from "./event-pipeline.ts";
import type { SessionEvent } from "./session-event.ts";
import { createSessionRun } from "./session-run.ts";

const prompt: UserMessage = { role: "user", content: "go", timestamp: 0 };
const model = { provider: "p", id: "m" } as Model;

function session(runAgent: (run: AgentRun) => Promise<RunOutcome>) {
  const events: (SessionEvent & { promptId?: string })[] = [];
  const pipeline = createEventPipeline(() => undefined);
  pipeline.subscribe((event, promptId) => {
    events.push({ ...event, promptId });
    return undefined;
  });
  let prompts = 0;
  const run = createSessionRun({
    pipeline,
    ids: { uuid: () => "", short: () => "", count: (prefix) => `${prefix}-${++prompts}` },
    machinery: async () => ({ runAgent, ports: {} as AgentPorts }),
    model: () => model,
  });
  return { run, events, types: () => events.map((event) => event.type) };
}

/** An agent that says it has begun and then does what the test wants. */
const agent =
  (then: (run: AgentRun) => Promise<Partial<RunOutcome>>) =>
  async (run: AgentRun): Promise<RunOutcome> => {
    run.emit({ type: "agent_start" });
    return { stopReason: "stop", messages: [], ...(await then(run)) };
  };

const untilAborted = (run: AgentRun): Promise<Partial<RunOutcome>> =>
  new Promise((resolve) => {
    const stop = () => resolve({ stopReason: "aborted" });
    if (run.signal.aborted) stop();
    else run.signal.addEventListener("abort", stop);
  });

describe("the run procedure", () => {
  it("ends every prompt in the same order, with one result that carries its id", async () => {
    const { run, events } = session(agent(async () => ({})));
    await run.accept(prompt, "req_1").job();
    expect(events).toMatchObject([
      { type: "agent_start", promptId: "prompt-1" },
      { type: "agent_end", willRetry: false },
      { type: "agent_settled", aborted: false },
      { type: "prompt_result", id: "req_1", status: "completed", promptId: "prompt-1" },
      { type: "session_settled" },
    ]);
  });

  it("is streaming from the acceptance on, before the job has started", async () => {
    const { run } = session(agent(async () => ({})));
    const accepted = run.accept(prompt, undefined);
    expect([run.isStreaming, run.isSettled]).toEqual([true, false]);
    await accepted.job();
    expect([run.isStreaming, run.isSettled]).toEqual([false, true]);
  });

  it("does not stream any more once agent_end is told, and a prompt accepted then waits for the old one's last frames", async () => {
    const { run, types } = session(agent(async () => ({})));
    const first = run.accept(prompt, "1").job();
    while (run.isStreaming) await Promise.resolve();
    expect(types().at(-1)).toBe("agent_end");
    const second = run.accept(prompt, "2").job();
    await Promise.all([first, second]);
    expect(types().slice(2, 6)).toEqual(["agent_settled", "prompt_result", "session_settled", "agent_start"]);
  });

  it("abort resolves after the last event, and the result says aborted", async () => {
    const { run, events } = session(agent(untilAborted));
    const job = run.accept(prompt, "1").job();
    await run.abort();
    expect(events.at(-1)?.type).toBe("session_settled");
    expect(events.find((event) => event.type === "prompt_result")).toMatchObject({ status: "aborted" });
    await job;
  });

  it("abort while nothing runs resolves at once and says nothing", async () => {
    const { run, events } = session(agent(async () => ({})));
    await run.abort();
    expect(events).toEqual([]);
  });

  it("tells the provider's error in the result", async () => {
    const error = new ProviderError("overloaded", "try later", { status: 529 });
    const { run, events } = session(agent(async () => ({ stopReason: "error", error })));
    await run.accept(prompt, "1").job();
    expect(events.find((event) => event.type === "prompt_result")).toMatchObject({
      status: "error",
      error: { message: "try later", provider: "p", model: "m", httpStatus: 529, retryable: true },
    });
  });

  it("still ends the prompt when the loop itself breaks, and rejects so that the host gets a second answer", async () => {
    const { run, types, events } = session(
      agent(async () => {
        throw new Error("a bug");
      }),
    );
    await expect(run.accept(prompt, "1").job()).rejects.toThrow("a bug");
    expect(types()).toEqual(["agent_start", "agent_end", "agent_settled", "prompt_result", "session_settled"]);
    expect(events[3]).toMatchObject({ status: "error", error: { message: "a bug" } });
    expect(run.isSettled).toBe(true);
  });
});
