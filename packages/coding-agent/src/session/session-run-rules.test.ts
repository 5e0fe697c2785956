import { ProviderError } from "@tiller/ai/errors";
import type { AgentMessage, AssistantMessage, CustomMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import type { RunRules } from "./run-options.ts";
import { agent, failing, message, overloaded, session, tick } from "./session-run-fixture.ts";
import { noSpending } from "./usage-tally.ts";

const answer = (stopReason: AssistantMessage["stopReason"]): AgentMessage =>
  ({ role: "assistant", content: [], stopReason, usage: noSpending().usage }) as unknown as AgentMessage;
const reminder = { role: "custom", customType: "ttsr-injection" } as CustomMessage;
const interrupted = {
  stopReason: "aborted" as const,
  interrupted: true as const,
  error: new ProviderError("aborted", "a rule"),
  messages: [message, answer("aborted")],
};

/** Rules that have something against the answer as often as it is said. */
function objecting(discards: boolean): RunRules & { left: number } {
  return {
    left: 0,
    discards,
    get hasObjections() {
      return this.left > 0;
    },
    takeReminder() {
      return this.left-- > 0 ? reminder : undefined;
    },
  };
}

/** A session whose first answers are interrupted. */
function ruled(times: number, { discards = true } = {}) {
  const rules = objecting(discards);
  const begun: (readonly AgentMessage[])[] = [];
  let calls = 0;
  const desk = session(
    agent(async ({ prompts, emit }) => {
      begun.push(prompts);
      const isInterrupted = calls++ < times;
      emit({ type: "message_end", message: answer(isInterrupted ? "aborted" : "stop") as AssistantMessage });
      rules.left = isInterrupted ? 1 : 0;
      return isInterrupted ? interrupted : { messages: [answer("stop")] };
    }),
    { rules },
  );
  return { ...desk, rules, begun };
}

describe("a stream rule ends an answer", () => {
  it("the run goes on with the reminder by itself, and the prompt ends once", async () => {
    const { accept, types, events, result, begun, leftOut } = ruled(2);
    await accept("1")();
    expect(begun).toEqual([[message], [reminder], [reminder]]);
    expect(leftOut).toEqual([interrupted.messages[1], interrupted.messages[1]]);
    expect(types().filter((type) => type !== "message_end")).toEqual([
      ...["agent_start", "agent_end", "agent_start", "agent_end", "agent_start", "agent_end"],
      ...["agent_settled", "prompt_result", "session_settled"],
    ]);
    expect(events.filter(({ type }) => type === "agent_end")).toMatchObject([
      { willRetry: true },
      { willRetry: true },
      { willRetry: false },
    ]);
    expect(result()).toMatchObject({ status: "completed", turns: 3 });
  });

  it("what was interrupted stays when it shall be kept", async () => {
    const { accept, leftOut, result } = ruled(1, { discards: false });
    await accept("1")();
    expect(leftOut).toEqual([]);
    expect(result()).toMatchObject({ status: "completed" });
  });

  it("a limit of the prompt holds: it ends there", async () => {
    const { accept, result, begun } = ruled(9);
    await accept("1", { turns: 2 })();
    expect(begun).toHaveLength(2);
    expect(result()).toMatchObject({ status: "aborted", limit: { limit: "turns" } });
  });

  it("an abort at that moment wins", async () => {
    const rules = objecting(true);
    const { accept, run, result, types } = session(
      agent(async ({ signal }) => {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        rules.left = 1;
        return interrupted;
      }),
      { rules },
    );
    const job = accept("1")();
    await tick();
    await run.abort();
    await job;
    expect(types()).toEqual(["agent_start", "agent_end", "agent_settled", "prompt_result", "session_settled"]);
    expect(result()).toMatchObject({ status: "aborted" });
  });

  it("a retry that was answered has succeeded, although the answer was interrupted; the next failure counts from one", async () => {
    const rules = objecting(true);
    const outcomes = [failing(overloaded), interrupted, failing(overloaded), {}];
    let calls = 0;
    const { accept, events, ring, result } = session(
      agent(async () => {
        const outcome = outcomes[calls++]!;
        rules.left = outcome === interrupted ? 1 : 0;
        return outcome;
      }),
      { rules, retry: { maxRetries: 1, baseDelayMs: 10, maxDelayMs: 1000 } },
    );
    const job = accept("1")();
    for (let i = 0; i < 6; i++) {
      await tick();
      ring();
    }
    await job;
    expect(events.filter(({ type }) => type.startsWith("auto_retry"))).toMatchObject([
      { type: "auto_retry_start", attempt: 1 },
      { type: "auto_retry_end", success: true },
      { type: "auto_retry_start", attempt: 1 },
      { type: "auto_retry_end" },
    ]);
    expect(result()).toMatchObject({ status: "completed" });
  });
});

describe("a stream rule has something to say about an answer that it let pass", () => {
  const noting = (limits = {}) => {
    const rules = objecting(true);
    const begun: (readonly AgentMessage[])[] = [];
    const desk = session(
      agent(async ({ prompts, emit }) => {
        begun.push(prompts);
        emit({ type: "message_end", message: answer("stop") as AssistantMessage });
        rules.left = begun.length === 1 ? 1 : 0;
        return { messages: [answer("stop")] };
      }),
      { rules },
    );
    return { ...desk, begun, go: () => desk.accept("1", limits)() };
  };

  it("the run goes on, and the answer stays", async () => {
    const { go, begun, leftOut, result } = noting();
    await go();
    expect(begun).toEqual([[message], [reminder]]);
    expect(leftOut).toEqual([]);
    expect(result()).toMatchObject({ status: "completed" });
  });

  it("not beyond a limit: who is done on the last turn is done", async () => {
    const { go, begun, result } = noting({ turns: 1 });
    await go();
    expect(begun).toHaveLength(1);
    expect(result()).toMatchObject({ status: "completed" });
  });
});
