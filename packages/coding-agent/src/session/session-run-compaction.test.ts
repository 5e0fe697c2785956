import type { AgentRun } from "@tiller/agent/agent-loop";
import type { RunOutcome } from "@tiller/agent/types";
import { ProviderError } from "@tiller/ai/errors";
import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import type { AutomaticOutcome } from "./compaction/compactor.ts";
import { assistant, read, result, usage, user } from "./compaction/test-entries.ts";
import type { SessionEvent } from "./session-event.ts";
import { agent, failing, message, overloaded, session, tick } from "./session-run-fixture.ts";

const tooLong = new ProviderError("overflow", "prompt is too long");
const answer = assistant("ok", { usage: usage(10) });
const silent = assistant("cut off", { usage: usage(5000) });
const done: Partial<RunOutcome> = { messages: [answer] };
const failed = (error = tooLong): Partial<RunOutcome> => ({
  ...failing(error),
  messages: [message, assistant("", { stopReason: "error" })],
});

/** An agent that plays one outcome after the other, and a compaction that does what the test says. */
function story(outcomes: Partial<RunOutcome>[], changes: Partial<ReturnType<typeof plan>> = {}) {
  const given = { ...plan(), ...changes };
  const seen: (readonly AgentMessage[])[] = [];
  const next = agent(async (run: AgentRun) => {
    seen.push(run.prompts);
    if (run.signal.aborted) return { stopReason: "aborted", messages: [] };
    const outcome = outcomes[Math.min(seen.length, outcomes.length) - 1]!;
    if (given.countsTurns) run.emit({ type: "message_end", message: answer });
    return outcome;
  });
  const s = session(next, {
    retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 10 },
    compaction: (emit) => ({
      isOn: given.isOn,
      isDue: () => given.due.shift() ?? false,
      autoContinue: given.autoContinue,
      isCompacting: true,
      settled: () => given.manual,
      async automatic(reason, willRetry, signal) {
        emit({ type: "compaction_start", reason });
        const outcome = signal.aborted ? "aborted" : await given.compact(signal);
        const aborted = outcome === "aborted";
        emit({ type: "compaction_end", reason, aborted, willRetry: willRetry && outcome === "done" });
        return outcome;
      },
      tellSecondOverflow: () =>
        emit({ type: "compaction_end", reason: "overflow", aborted: false, willRetry: false, errorMessage: "again" }),
    }),
  });
  return { ...s, seen, order: () => s.events.map(short) };
}

function plan() {
  return {
    isOn: true,
    /** What is said about the threshold, each time it is asked: first before the prompt, then after each answer. */
    due: [] as boolean[],
    autoContinue: false,
    countsTurns: false,
    manual: Promise.resolve(),
    compact: async (_signal: AbortSignal): Promise<AutomaticOutcome> => "done",
  };
}

function short(event: SessionEvent): string {
  if (event.type === "agent_end") return event.willRetry ? "agent_end, more to come" : "agent_end";
  if (event.type === "compaction_start") return `compacting: ${event.reason}`;
  if (event.type === "compaction_end") return event.aborted ? "compaction aborted" : "compacted";
  if (event.type === "prompt_result") return `result: ${event.status}`;
  return event.type;
}

const ENDED = ["agent_settled", "result: completed", "session_settled"];
const untilAborted = (signal: AbortSignal): Promise<AutomaticOutcome> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve("aborted")));

describe("after an answer over the threshold", () => {
  it("the run is over, then it is compacted, then all is settled", async () => {
    const s = story([done], { due: [false, true] });
    await s.accept("1")();
    expect(s.order()).toEqual(["agent_start", "agent_end", "compacting: threshold", "compacted", ...ENDED]);
  });

  it("a new prompt is accepted during the compaction, and begins after it", async () => {
    let finish = (_outcome: AutomaticOutcome): void => undefined;
    const compact = () => new Promise<AutomaticOutcome>((resolve) => (finish = resolve));
    const s = story([done], { due: [false, true], compact });
    const first = s.accept("1")();
    await tick();
    expect([s.run.isStreaming, s.run.isSettled]).toEqual([false, false]);
    const second = s.accept("2")();
    expect(s.run.isStreaming).toBe(true);
    await tick();
    finish("done");
    await Promise.all([first, second]);
    expect(s.order()).toEqual([
      "agent_start",
      "agent_end",
      "compacting: threshold",
      "compacted",
      ...ENDED,
      "agent_start",
      "agent_end",
      ...ENDED,
    ]);
  });

  it("abort ends the compaction and every prompt that was accepted, also the one that waits for it", async () => {
    const s = story([done], { due: [false, true], compact: untilAborted });
    const jobs = [s.accept("1")()];
    await tick();
    jobs.push(s.accept("2")());
    await s.run.abort();
    await Promise.all(jobs);
    expect(s.order().slice(2)).toEqual([
      "compacting: threshold",
      "compaction aborted",
      "agent_settled",
      "result: aborted",
      "session_settled",
      "agent_start",
      "agent_end",
      "agent_settled",
      "result: aborted",
      "session_settled",
    ]);
  });

  it("messages that wait are delivered after it, and the run does not end before", async () => {
    const s = story([done], { due: [false, true] });
    s.queue.add("followUp", user("next"), { promptId: "prompt-q", commandId: "2" });
    await s.accept("1")();
    expect(s.order().filter((type) => type !== "queue_update")).toEqual([
      "agent_start",
      "agent_end, more to come",
      "compacting: threshold",
      "compacted",
      "agent_start",
      "agent_end",
      "agent_settled",
      "result: completed",
      "result: completed",
      "session_settled",
    ]);
    expect(s.seen).toEqual([[message], [user("next")]]);
    expect(s.queue.isEmpty).toBe(true);
  });

  it("steering that waits is left to the loop", async () => {
    const s = story([done], { due: [false, true] });
    s.queue.add("steering", user("other way"));
    await s.accept("1")();
    expect(s.seen).toEqual([[message], []]);
  });

  it("a compaction that fails loses no message that waits, and does not go on for nothing", async () => {
    const compact = async (): Promise<AutomaticOutcome> => "failed";
    const queued = story([done], { due: [false, true], compact });
    queued.queue.add("followUp", user("next"));
    await queued.accept("1")();
    expect(queued.seen).toHaveLength(2);
    const idle = story([done], { due: [false, true], compact, autoContinue: true });
    await idle.accept("1")();
    expect(idle.order().slice(1)).toEqual([
      "agent_end, more to come",
      "compacting: threshold",
      "compacted",
      "agent_end",
      ...ENDED,
    ]);
    expect(idle.events[4]).toMatchObject({ type: "agent_end", messages: [] });
  });

  it("goes on by itself when it is told to, with a note that is no user's message", async () => {
    const s = story([done], { due: [false, true], autoContinue: true });
    await s.accept("1")();
    expect(s.order()).toEqual([
      "agent_start",
      "agent_end, more to come",
      "compacting: threshold",
      "compacted",
      "agent_start",
      "agent_end",
      ...ENDED,
    ]);
    expect(s.seen[1]).toMatchObject([{ role: "custom", customType: "auto-continue", display: false }]);
  });

  it("goes on by itself again only when something was done meanwhile", async () => {
    const worked = { messages: [assistant("", {}, [read("1")]), result("1", "x"), answer] };
    const s = story([done, worked, done, done], { due: [false, true, true, true], autoContinue: true });
    await s.accept("1")();
    expect(s.seen).toHaveLength(3);
    expect(s.order().slice(-6)).toEqual(["agent_end", "compacting: threshold", "compacted", ...ENDED]);
  });

  it("does not go on when the limits of the prompt are reached", async () => {
    const s = story([done], { due: [false, true], autoContinue: true, countsTurns: true });
    await s.accept("1", { turns: 1 })();
    expect(s.seen).toHaveLength(1);
    expect(s.order().slice(2)).toEqual(["agent_end", "compacting: threshold", "compacted", ...ENDED]);
  });

  it("nothing happens while compaction is off", async () => {
    const s = story([done], { due: [true, true], isOn: false });
    await s.accept("1")();
    expect(s.order()).toEqual(["agent_start", "agent_end", ...ENDED]);
  });
});

describe("a conversation that is already over the threshold", () => {
  it("is compacted before the prompt's first event, and the prompt is reserved meanwhile", async () => {
    const s = story([done], { due: [true] });
    const job = s.accept("1")();
    expect(s.run.isStreaming).toBe(true);
    await job;
    expect(s.order()).toEqual(["compacting: threshold", "compacted", "agent_start", "agent_end", ...ENDED]);
  });

  it("lets the prompt begin also when the compaction fails", async () => {
    const s = story([done], { due: [true], compact: async () => "failed" });
    await s.accept("1")();
    expect(s.seen).toEqual([[message]]);
  });

  it("ends the prompt when it is aborted", async () => {
    const s = story([done], { due: [true], compact: untilAborted });
    const job = s.accept("1")();
    await tick();
    await s.run.abort();
    await job;
    expect(s.order()).toEqual([
      "compacting: threshold",
      "compaction aborted",
      "agent_start",
      "agent_end",
      "agent_settled",
      "result: aborted",
      "session_settled",
    ]);
  });
});

describe("an overflow", () => {
  const RECOVERED = [
    "agent_start",
    "agent_end, more to come",
    "compacting: overflow",
    "compacted",
    "agent_start",
    "agent_end",
  ];

  it("is compacted, and the run goes on without the answer that failed", async () => {
    const s = story([failed(), done]);
    await s.accept("1")();
    expect(s.order()).toEqual([...RECOVERED, ...ENDED]);
    expect(s.leftOut).toMatchObject([{ role: "assistant", stopReason: "error" }]);
    expect(s.seen).toEqual([[message], []]);
    expect(s.events[3]).toMatchObject({ willRetry: true });
    expect(s.marks).toEqual([]);
  });

  it("is one too when only the usage tells it", async () => {
    const s = story([{ messages: [message, silentOf("p", "m")] }, done]);
    await s.accept("1")();
    expect(s.order()).toEqual([...RECOVERED, ...ENDED]);
  });

  it("is streaming all the time", async () => {
    let streaming: boolean | undefined;
    const s = story([failed(), done], {
      compact: async () => {
        streaming = s.run.isStreaming;
        return "done";
      },
    });
    await s.accept("1")();
    expect(streaming).toBe(true);
  });

  it("that comes again is reported, by an end without a start, and the prompt fails", async () => {
    const s = story([failed()]);
    await s.accept("1")();
    expect(s.order()).toEqual([...RECOVERED, "compacted", "agent_settled", "result: error", "session_settled"]);
    expect(s.events[6]).toMatchObject({ type: "compaction_end", errorMessage: "again" });
    expect(s.result()).toMatchObject({ error: { message: "prompt is too long", kind: "overflow" } });
  });

  it("that comes again, told by the usage only, leaves the answer as it is", async () => {
    const s = story([{ messages: [silentOf("p", "m")] }]);
    await s.accept("1")();
    expect(s.order()).toEqual([...RECOVERED, "compacted", ...ENDED]);
    expect(s.leftOut).toHaveLength(1);
  });

  it.each(["failed", "skipped"] as const)(
    "that cannot be mended (%s) ends the prompt with its error",
    async (outcome) => {
      const s = story([failed()], { compact: async () => outcome });
      await s.accept("1")();
      expect(s.order().slice(1)).toEqual([
        "agent_end, more to come",
        "compacting: overflow",
        "compacted",
        "agent_end",
        "agent_settled",
        "result: error",
        "session_settled",
      ]);
      expect(s.result()).toMatchObject({ error: { message: "prompt is too long", kind: "overflow" } });
      expect(s.marks).toEqual(["error before 4"]);
    },
  );

  it.each([
    ["failed", ""],
    ["skipped", ", and there is no earlier exchange that a summary could replace"],
  ] as const)(
    "told by the usage only, that cannot be mended (%s), is an error too: its answer is not kept",
    async (made, why) => {
      const s = story([{ messages: [silentOf("p", "m")] }], { compact: async () => made });
      await s.accept("1")();
      const message = `The conversation is larger than the 1000 tokens of p/m: the answer was made from a part of it and is not kept${why}. Choose a model with a larger window (set_model), go back before the message (fork), or begin anew (new_session)`;
      expect(s.result()).toMatchObject({ status: "error", error: { kind: "overflow", message } });
    },
  );

  it("is ended by abort during the compaction", async () => {
    const s = story([failed()], { compact: untilAborted });
    const job = s.accept("1")();
    await tick();
    await s.run.abort("enough");
    await job;
    expect(s.order().slice(1)).toEqual([
      "agent_end, more to come",
      "compacting: overflow",
      "compaction aborted",
      "agent_end",
      "agent_settled",
      "result: aborted",
      "session_settled",
    ]);
    expect(s.result()).toMatchObject({ error: { message: "enough" } });
    expect(s.marks).toEqual(["aborted before 4"]);
  });

  it("after a retry ends the retry first", async () => {
    const s = story([failing(new ProviderError("overloaded", "later")), failed(), done]);
    const job = s.accept("1")();
    await tick();
    s.ring();
    await job;
    expect(s.order().slice(1, 7)).toEqual([
      "agent_end, more to come",
      "auto_retry_start",
      "agent_start",
      "auto_retry_end",
      "agent_end, more to come",
      "compacting: overflow",
    ]);
  });

  it("while compaction is off is an error like any other", async () => {
    const s = story([failed()], { isOn: false });
    await s.accept("1")();
    expect(s.order()).toEqual(["agent_start", "agent_end", "agent_settled", "result: error", "session_settled"]);
  });
});

describe("a compaction that the host asked for", () => {
  it("is waited for by the prompt that comes after it", async () => {
    let finish = (): void => undefined;
    const s = story([done], { manual: new Promise<void>((resolve) => (finish = resolve)) });
    const job = s.accept("1")();
    await tick();
    expect([s.order(), s.run.isStreaming]).toEqual([[], true]);
    finish();
    await job;
    expect(s.order()).toEqual(["agent_start", "agent_end", ...ENDED]);
  });

  it("is not waited for by a prompt that is aborted: it may be waiting for the prompt", async () => {
    const s = story([done], { manual: new Promise<void>(() => undefined) });
    const job = s.accept("1")();
    await tick();
    await s.run.abort();
    await job;
    expect(s.result()).toMatchObject({ status: "aborted" });
  });
});

describe("the mark of a run that ends without an answer", () => {
  const rows: [story: string, outcome: Partial<RunOutcome>, marks: string[]][] = [
    ["an answer: none", done, []],
    ["an answer that failed: none", failed(new ProviderError("auth", "no key")), []],
    ["a limit after tool results", { limit: "enough", messages: [answer, result("1", "x")] }, ["aborted before 1"]],
    ["an abort during tools", { stopReason: "aborted", messages: [answer, result("1", "x")] }, ["aborted before 1"]],
    [
      "an error with results for the calls that were not made",
      { ...failing(new ProviderError("auth", "no key")), messages: [answer, result("1", "x")] },
      ["error before 1"],
    ],
  ];
  for (const [name, outcome, marks] of rows) {
    it(name, async () => {
      const s = story([outcome]);
      await s.accept("1")();
      expect(s.marks).toEqual(marks);
    });
  }

  it("is made when the loop breaks", async () => {
    const s = session(
      agent(async () => {
        throw new Error("a bug");
      }),
    );
    await expect(s.accept("1")()).rejects.toThrow("a bug");
    expect(s.marks).toEqual(["error before 1"]);
  });

  it("is made when a retry is given up by an abort: the answer that failed is not in the conversation", async () => {
    const s = story([failing(new ProviderError("overloaded", "later"))]);
    const job = s.accept("1")();
    await tick();
    await s.run.abort();
    await job;
    expect(s.marks).toEqual(["aborted before 4"]);
  });
});

it("what a summary costs is part of what the prompt has spent", async () => {
  const s = story([done], {
    due: [false, true],
    compact: async () => {
      s.run.spend(usage(70, 7));
      return "done";
    },
  });
  await s.accept("1")();
  expect(s.result()).toMatchObject({ usage: { input: 70, output: 7 }, turns: 0 });
});

function silentOf(provider: string, model: string) {
  return { ...silent, provider, model };
}

describe("an abort that comes while others think about an answer that failed", () => {
  it.each([
    ["too long", tooLong],
    ["overloaded", overloaded],
  ])("(%s) is the end: nothing more is promised", async (_what, error) => {
    let abort = (): unknown => undefined;
    const s = session(
      agent(async () => {
        void abort();
        return failed(error);
      }),
      {
        retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 10 },
        compaction: () => ({
          isOn: true,
          isDue: () => false,
          autoContinue: false,
          isCompacting: false,
          settled: async () => undefined,
          // As the real one: who is aborted before it begins tells nothing.
          automatic: async () => "aborted",
          tellSecondOverflow: () => undefined,
        }),
      },
    );
    abort = () => s.run.abort();
    await s.accept("1")();
    const ended = ["agent_start", "agent_end", "agent_settled", "result: aborted", "session_settled"];
    expect(s.events.map(short)).toEqual(ended);
  });

  it("does not hide an error that is final", async () => {
    const final = new ProviderError("bad_request", "no", { status: 400 });
    let abort = (): unknown => undefined;
    const s = session(
      agent(async () => {
        void abort();
        return failed(final);
      }),
    );
    abort = () => s.run.abort();
    await s.accept("1")();
    expect(s.result()).toMatchObject({ status: "error", error: { message: "no" } });
  });
});
