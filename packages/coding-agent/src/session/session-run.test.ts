import { ProviderError } from "@tiller/ai/errors";
import type { AssistantMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import type { JobResults } from "./job-results.ts";
import { agent, failing, message, overloaded, session, tick, untilAborted } from "./session-run-fixture.ts";
import { noSpending } from "./usage-tally.ts";

describe("the run procedure", () => {
  it("ends every prompt in the same order, with one result that carries its id", async () => {
    const { accept, events } = session(agent(async () => ({})));
    await accept("req_1")();
    expect(events).toMatchObject([
      { type: "agent_start", place: { promptId: "prompt-1" } },
      { type: "agent_end", willRetry: false },
      { type: "agent_settled", aborted: false },
      { type: "prompt_result", id: "req_1", status: "completed", place: { promptId: "prompt-1" } },
      { type: "session_settled" },
    ]);
  });

  it("is streaming from the acceptance on, before the job has started", async () => {
    const { accept, run } = session(agent(async () => ({})));
    const job = accept();
    expect([run.isStreaming, run.isSettled]).toEqual([true, false]);
    await job();
    expect([run.isStreaming, run.isSettled]).toEqual([false, true]);
  });

  it("is followed by a rest when it has ended well, which ends with the next prompt or an abort", async () => {
    const rest: string[] = [];
    const outcomes = [{}, failing(overloaded)];
    const parts = { rest: { begin: () => void rest.push("begin"), end: () => void rest.push("end") } };
    const { accept, run, events } = session(
      agent(async () => outcomes.shift() ?? {}),
      parts,
    );
    await accept()();
    expect(rest.splice(0)).toEqual(["end", "begin"]);
    // Everything was told before it began.
    expect(events.at(-1)?.type).toBe("session_settled");
    await accept()();
    expect(rest.splice(0)).toEqual(["end"]);
    const [first, second] = [accept(), accept()];
    await Promise.all([first(), second()]);
    expect(rest.splice(0)).toEqual(["end", "end", "begin"]);
    await run.abort();
    expect(rest).toEqual(["end"]);
  });

  it("is undecided as long as somebody may take the prompt, and settles nothing while another one is dealt with", async () => {
    const { run, types, handled } = session(agent(async () => ({})));
    let decide = (_message: undefined): void => undefined;
    const looked = new Promise<undefined>((resolve) => (decide = resolve));
    const over = run.accept(() => looked, { promptId: "prompt-1", commandId: "a" }, {})();
    await tick();
    expect([run.isStreaming, run.isUndecided]).toEqual([true, true]);
    handled.isAny = true;
    decide(undefined);
    await over;
    expect([run.isStreaming, run.isUndecided]).toEqual([false, false]);
    expect(types()).toEqual(["agent_settled", "prompt_result"]);
  });

  it("lets a prompt that comes right after agent_end wait for the old one's last frames", async () => {
    const { accept, run, types } = session(agent(async () => ({})));
    const first = accept("1")();
    while (run.isStreaming) await Promise.resolve();
    expect(types().at(-1)).toBe("agent_end");
    const second = accept("2")();
    await Promise.all([first, second]);
    expect(types().slice(2, 6)).toEqual(["agent_settled", "prompt_result", "session_settled", "agent_start"]);
  });

  it("abort resolves after the last event, and the result says aborted and why", async () => {
    const { accept, run, events, result } = session(agent(untilAborted));
    const job = accept("1")();
    await run.abort("the host is gone");
    expect(events.at(-1)?.type).toBe("session_settled");
    expect(result()).toMatchObject({ status: "aborted", error: { message: "the host is gone", retryable: false } });
    await job;
  });

  it("abort while nothing runs resolves at once and says nothing", async () => {
    const { run, events } = session(agent(async () => ({})));
    await run.abort();
    expect(events).toEqual([]);
  });

  it("tells the provider's error in the result", async () => {
    const { accept, result } = session(agent(async () => failing(overloaded)));
    await accept("1")();
    expect(result()).toMatchObject({
      status: "error",
      error: { message: "try later", provider: "p", model: "m", kind: "overloaded", httpStatus: 529, retryable: true },
    });
  });

  it("still ends the prompt when the loop itself breaks, and rejects so that the host gets a second answer", async () => {
    const broken = agent(async () => {
      throw new Error("a bug");
    });
    const { accept, run, types, result } = session(broken);
    await expect(accept("1")()).rejects.toThrow("a bug");
    expect(types()).toEqual(["agent_start", "agent_end", "agent_settled", "prompt_result", "session_settled"]);
    expect(result()).toMatchObject({ status: "error", error: { message: "a bug" } });
    expect(run.isSettled).toBe(true);
  });
});

describe("work that goes on beside the runs", () => {
  const jobsOf = (isPending: boolean, delivered: string[] = []): JobResults => ({
    isPending,
    isEmpty: true,
    take: () => [],
    deliver: () => delivered.push("deliver"),
    leave: async () => undefined,
    left: () => undefined,
  });

  it("is awaited: the prompt ends, the session is not at rest, and then results are looked for", async () => {
    const delivered: string[] = [];
    const { accept, events, types } = session(
      agent(async () => ({})),
      { jobs: jobsOf(true, delivered) },
    );
    await accept("1")();
    expect(events.slice(1)).toMatchObject([
      { type: "agent_end", willRetry: false, awaitingAsyncWork: true },
      { type: "agent_settled" },
      { type: "prompt_result", status: "completed", sessionSettled: false },
    ]);
    expect([types().includes("session_settled"), delivered]).toEqual([false, ["deliver"]]);
  });

  it("is not mentioned when there is none", async () => {
    const { accept, events } = session(
      agent(async () => ({})),
      { jobs: jobsOf(false) },
    );
    await accept("1")();
    expect(events[1]).not.toHaveProperty("awaitingAsyncWork");
    expect(events.at(-1)?.type).toBe("session_settled");
  });

  it("begins a run without a message and without a result for anybody", async () => {
    const prompts: unknown[] = [];
    const { run, types } = session(
      agent(async (begun) => {
        prompts.push(begun.prompts, begun.ports.results);
        return {};
      }),
      { jobs: jobsOf(false) },
    );
    await run.accept("results", { promptId: "own", commandId: undefined, isOwn: true }, {})();
    expect(types()).toEqual(["agent_start", "agent_end", "agent_settled", "session_settled"]);
    expect(prompts[0]).toEqual([]);
    expect(prompts[1]).toMatchObject({ isEmpty: true });
  });

  it.each<[how: string, then: Parameters<typeof agent>[0], isGood: boolean]>([
    ["stopped by itself", async () => ({}), true],
    ["an error", async () => failing(overloaded), false],
    ["an abort", async () => ({ stopReason: "aborted" }), false],
    ["a bug", async () => Promise.reject(new Error("a bug")), false],
  ])("knows whether a run ended well: %s", async (_how, then, isGood) => {
    const { accept, run } = session(agent(then));
    expect(run.endedWell).toBe(true);
    await accept()().catch(() => undefined);
    expect(run.endedWell).toBe(isGood);
  });
});

describe("retries", () => {
  const retry = { maxRetries: 2, baseDelayMs: 200, maxDelayMs: 60_000 };
  const good = {
    role: "assistant",
    content: [],
    stopReason: "stop",
    usage: noSpending().usage,
  } as unknown as AssistantMessage;

  /** Fails as often as it is told, then answers. */
  const flaky = (failures: number, error = overloaded) => {
    let calls = 0;
    return agent(async (run) => {
      if (calls++ < failures) return failing(error);
      run.emit({ type: "message_end", message: good });
      return {};
    });
  };

  it("waits, tries again and tells the end of it as soon as there is a good answer", async () => {
    const s = session(flaky(1), { retry });
    const job = s.accept("1")();
    await tick();
    expect(s.delays()).toEqual([200]);
    expect(s.run.retry).toEqual({ attempt: 1, until: 200 });
    expect(s.run.isStreaming).toBe(true);
    s.ring();
    await job;
    expect(s.types()).toEqual([
      "agent_start",
      "agent_end",
      "auto_retry_start",
      "agent_start",
      "message_end",
      "auto_retry_end",
      "agent_end",
      "agent_settled",
      "prompt_result",
      "session_settled",
    ]);
    expect(s.events[1]).toMatchObject({ willRetry: true });
    expect(s.events[2]).toMatchObject({ attempt: 1, maxAttempts: 2, delayMs: 200, errorMessage: "try later" });
    expect(s.events[5]).toMatchObject({ success: true, attempt: 1 });
    expect(s.result()).toMatchObject({ status: "completed" });
  });

  it("doubles the delay, then gives up with the last error", async () => {
    const s = session(flaky(9), { retry });
    const job = s.accept("1")();
    await tick();
    s.ring();
    await tick();
    expect(s.delays()).toEqual([400]);
    s.ring();
    await job;
    expect(s.events.filter((e) => e.type === "auto_retry_end")).toMatchObject([
      { success: false, attempt: 2, finalError: "try later" },
    ]);
    expect(s.result()).toMatchObject({ status: "error", error: { message: "try later" } });
  });

  it("is ended by abort during the delay", async () => {
    const s = session(flaky(9), { retry });
    const job = s.accept("1")();
    await tick();
    await s.run.abort();
    await job;
    expect(s.types().slice(3)).toEqual([
      "auto_retry_end",
      "agent_end",
      "agent_settled",
      "prompt_result",
      "session_settled",
    ]);
    expect(s.events[3]).toMatchObject({ success: false, finalError: "Retry cancelled" });
    expect(s.result()).toMatchObject({ status: "aborted" });
    expect(s.delays()).toEqual([]);
  });

  it("is ended by abort_retry during the delay, with the error that led to it", async () => {
    const s = session(flaky(9), { retry });
    const job = s.accept("1")();
    await tick();
    await s.run.abortRetry();
    await job;
    expect(s.result()).toMatchObject({ status: "error", error: { message: "try later" } });
  });

  it("does not retry what does not pass, nor when the provider wants a longer pause than we make", async () => {
    for (const error of [
      new ProviderError("auth", "wrong key", { status: 401 }),
      new ProviderError("rate_limit", "come back tomorrow", { retryAfterMs: 86_400_000 }),
    ]) {
      const s = session(flaky(1, error), { retry });
      await s.accept("1")();
      expect(s.types()).not.toContain("auto_retry_start");
      expect(s.result()).toMatchObject({ status: "error" });
    }
  });

  it("waits as long as the provider asks", async () => {
    const s = session(flaky(1, new ProviderError("rate_limit", "slow down", { retryAfterMs: 5000 })), { retry });
    const job = s.accept("1")();
    await tick();
    expect(s.delays()).toEqual([5000]);
    s.ring();
    await job;
  });
});

describe("limits", () => {
  it("the time limit ends a prompt and the result names it", async () => {
    const s = session(agent(untilAborted));
    const job = s.accept("1", { wallTimeMs: 1000 })();
    await tick();
    expect(s.delays()).toEqual([800, 1000]);
    s.ring();
    expect(s.events.at(-1)).toMatchObject({ type: "notice", source: "limits" });
    s.ring();
    await job;
    expect(s.result()).toMatchObject({
      status: "aborted",
      error: { message: "Stopped: the limit of 1 seconds for this prompt is reached" },
      limit: { scope: "prompt", limit: "wallTimeMs", used: 1000, max: 1000 },
    });
  });

  it("warns once at 80 % and then gives the loop the reason to stop", async () => {
    const reasons: (string | undefined)[] = [];
    const s = session(
      agent(async (run) => {
        for (let i = 0; i < 6; i++) reasons.push(run.ports.countToolCall());
        return { limit: run.ports.limit() };
      }),
    );
    await s.accept("1", { toolCalls: 5 })();
    const text = "the limit of 5 tool calls for this prompt is reached";
    expect(reasons).toEqual([undefined, undefined, undefined, undefined, undefined, text]);
    expect(s.events.filter((e) => e.type === "notice")).toMatchObject([
      {
        level: "warning",
        source: "limits",
        message: "4 tool calls of the 5 tool calls allowed for this prompt are used",
      },
    ]);
    expect(s.result()).toMatchObject({ status: "aborted", toolCalls: 5, limit: { limit: "toolCalls" } });
  });
});

describe("queued prompts", () => {
  it("end with the run that delivered them, each with its own result", async () => {
    const s = session(
      agent(async (run) => {
        expect(run.ports.queue.take("followUp")).toHaveLength(1);
        return {};
      }),
    );
    s.queue.add("followUp", message, { promptId: "prompt-q", commandId: "2" });
    await s.accept("1")();
    expect(s.events.filter((e) => e.type === "prompt_result")).toMatchObject([
      { id: "1", status: "completed", place: { promptId: "prompt-1" }, sessionSettled: true },
      { id: "2", status: "completed", place: { promptId: "prompt-q" } },
    ]);
  });

  it("that were not delivered stay in the queue, and the session is not settled", async () => {
    const s = session(agent(async () => failing(overloaded)));
    s.queue.add("followUp", message, { promptId: "prompt-q", commandId: "2" });
    await s.accept("1")();
    expect(s.queue.count).toBe(1);
    expect(s.events.filter((e) => e.type === "prompt_result")).toMatchObject([{ id: "1", sessionSettled: false }]);
  });
});

describe("the last word before a run is over", () => {
  const added = { ...message, content: "more" };
  /** Wants to go on the first times it is asked. */
  const wanting = (times: number) => {
    const asked: string[] = [];
    const beforeSettle: NonNullable<Parameters<typeof session>[1]>["beforeSettle"] = async ({ messages, aborted }) => {
      asked.push(`${messages.length}${aborted ? " aborted" : ""}`);
      return asked.length <= times ? { messages: [added], continue: true } : { messages: [], continue: false };
    };
    return { asked, beforeSettle };
  };

  it("makes it go on: the end that was told promises more, and there is one result", async () => {
    const { asked, beforeSettle } = wanting(2);
    const begun: unknown[] = [];
    const { accept, events, marks } = session(
      agent(async ({ prompts }) => {
        begun.push(prompts);
        return { messages: [{ role: "assistant" } as AssistantMessage] };
      }),
      { beforeSettle },
    );
    await accept("1")();
    const ends = events.flatMap((event) =>
      event.type === "agent_end" ? [`${event.willRetry} ${event.messages.length}`] : [],
    );
    expect(ends).toEqual(["true 1", "true 1", "false 1"]);
    expect(begun).toEqual([[message], [added], [added]]);
    expect(asked).toEqual(["1", "1", "1"]);
    expect(events.filter(({ type }) => type === "prompt_result")).toHaveLength(1);
    expect(marks).toEqual([]);
  });

  it("may only add something: it is told when the end of the run has been told", async () => {
    const { accept, types } = session(
      agent(async () => ({})),
      {
        beforeSettle: async () => ({ messages: [added], continue: false }),
      },
    );
    await accept()();
    expect(types().slice(0, 4)).toEqual(["agent_start", "agent_end", "message_start", "message_end"]);
  });

  it("comes after what was added at the end of the last turn", async () => {
    const left = { ...message, content: "left" };
    const begun: unknown[] = [];
    const { beforeSettle } = wanting(1);
    const { accept, events } = session(
      agent(async ({ prompts }) => {
        begun.push(prompts);
        return { lastWords: [left] };
      }),
      { beforeSettle },
    );
    await accept()();
    expect(begun).toEqual([[message], [left, added]]);
    expect(events.filter(({ type }) => type === "message_end")).toMatchObject([{ message: left }]);
  });

  it("is heard, but not followed, after an abort", async () => {
    const { asked, beforeSettle } = wanting(1);
    const { accept, run, types } = session(agent(untilAborted), { beforeSettle });
    const job = accept()();
    await run.abort();
    await job;
    expect([asked, types().filter((type) => type === "agent_start").length]).toEqual([["0 aborted"], 1]);
  });

  it("is not followed beyond a limit", async () => {
    const { beforeSettle } = wanting(9);
    const answer = {
      role: "assistant",
      stopReason: "stop",
      content: [],
      usage: noSpending().usage,
    } as unknown as AssistantMessage;
    const { accept, types } = session(
      agent(async ({ emit }) => {
        emit({ type: "message_end", message: answer });
        return { messages: [answer] };
      }),
      { beforeSettle },
    );
    await accept("1", { turns: 3 })();
    expect(types().filter((type) => type === "agent_start")).toHaveLength(3);
  });

  it("also counts when nothing more is tried after a failure", async () => {
    const { asked, beforeSettle } = wanting(1);
    let attempts = 0;
    const { accept, result } = session(
      agent(async () => (++attempts === 1 ? failing(overloaded) : {})),
      { beforeSettle },
    );
    await accept("1")();
    expect([attempts, asked, result()?.status]).toEqual([2, ["0", "0"], "completed"]);
  });
});
