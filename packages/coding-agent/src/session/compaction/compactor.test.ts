import { ProviderError } from "@tiller/ai/errors";
import type { AgentMessage } from "@tiller/protocol/message";
import { beforeEach, describe, expect, it } from "vitest";
import type { SessionEvent } from "../session-event.ts";
import type { NewEntry } from "../store/session-store.ts";
import { createCompactor } from "./compactor.ts";
import type { CompactionSettings } from "./policy.ts";
import type { AskModel } from "./summarize.ts";
import { assistant, branch, compaction, model, read, result, settings, tokens, usage, user } from "./test-entries.ts";

type Answer = string | ProviderError;

function session(items: (AgentMessage | NewEntry | string)[], ...answers: Answer[]) {
  const path = branch(...items);
  const events: SessionEvent[] = [];
  const asked: string[] = [];
  const state = {
    settings: settings as CompactionSettings,
    model: { ...model },
    hang: false,
    meanwhile: (): void => undefined,
  };
  const ask: AskModel = async ({ messages: [message] }) => {
    asked.push(JSON.stringify(message!.content));
    state.meanwhile();
    if (state.hang) await new Promise(() => undefined);
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? "notes";
    return answer instanceof ProviderError ? { error: answer } : { text: answer, usage: usage(10, 5) };
  };
  const compactor = createCompactor({
    fromLeaf: path.fromLeaf,
    append: path.append,
    ask,
    emit: (event) => void events.push(event),
    settings: () => state.settings,
    model: () => state.model,
  });
  const never = new AbortController().signal;
  return {
    ...path,
    compactor,
    events,
    asked,
    state,
    types: () => events.map(({ type }) => type),
    automatic: (reason: "threshold" | "overflow" = "threshold", signal = never) =>
      compactor.automatic(reason, reason === "overflow", signal, { promptId: "prompt-1" }),
    notices: () => events.filter((event) => event.type === "notice"),
  };
}

const exchange = (size = 50) => [user(tokens(size)), assistant(tokens(size), { usage: usage(size * 10) })];
const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

describe("compact, when the host asks for it", () => {
  it("writes the summary, tells it, and gives it back", async () => {
    const s = session([...exchange(), "low", ...exchange(), ...exchange()], "## Goal\nnotes");
    const outcome = await s.compactor.manual();
    const expected = {
      summary: "## Goal\nnotes",
      firstKeptEntryId: "e6",
      tokensBefore: 500,
      details: { readFiles: [], modifiedFiles: [] },
      estimatedTokensAfter: 104,
      usage: usage(10, 5),
    };
    expect(outcome).toEqual({ result: expected });
    expect(s.events).toEqual([
      { type: "compaction_start", reason: "manual" },
      { type: "compaction_end", reason: "manual", result: expected, aborted: false, willRetry: false },
    ]);
    expect(s.entries.at(-1)).toMatchObject({
      type: "compaction",
      summary: "## Goal\nnotes",
      firstKeptEntryId: "e6",
      tokensBefore: 500,
      details: { readFiles: [], modifiedFiles: [] },
      usage: usage(10, 5),
    });
  });

  it("keeps the last exchange of a short conversation", async () => {
    const s = session([...exchange(2), ...exchange(2)]);
    expect(await s.compactor.manual()).toMatchObject({ result: { firstKeptEntryId: "e3" } });
  });

  it("summarises a single exchange whole, and the first kept entry exists all the same", async () => {
    const s = session([user("hi"), assistant("hello")], "A summary that is longer than what it replaces");
    expect(await s.compactor.manual()).toMatchObject({ result: { firstKeptEntryId: "e3" } });
    expect(s.entries.slice(2)).toMatchObject([
      { type: "custom", customType: "tiller.cut", id: "e3" },
      { type: "compaction", firstKeptEntryId: "e3" },
    ]);
  });

  it("keeps what was added while the summary was being made", async () => {
    const s = session([user("hi"), assistant("hello")]);
    s.state.meanwhile = () => void s.add(user("said meanwhile"));
    expect(await s.compactor.manual()).toMatchObject({ result: { firstKeptEntryId: "e3" } });
    expect(s.entries.slice(2)).toMatchObject([{ type: "message", id: "e3" }, { type: "compaction" }]);
  });

  it("tells the model what to pay attention to", async () => {
    const s = session(exchange());
    await s.compactor.manual("file names");
    expect(s.asked[0]).toContain("Additional focus: file names");
  });

  it("lists the files, also those of the compaction before", async () => {
    const s = session([
      user("go"),
      assistant("", {}, [read("1", "new.ts")]),
      result("1", "x"),
      assistant("done"),
      compaction("e1", "old notes\n\n<read-files>\nold.ts\n</read-files>", {
        readFiles: ["old.ts"],
        modifiedFiles: [],
      }),
      ...exchange(),
    ]);
    expect(await s.compactor.manual()).toMatchObject({
      result: {
        summary: "notes\n\n<read-files>\nold.ts\nnew.ts\n</read-files>",
        details: { readFiles: ["old.ts", "new.ts"], modifiedFiles: [] },
      },
    });
    expect(s.asked[0]).toContain("old notes");
    expect(s.asked[0]).not.toContain("read-files");
  });

  it("summarises the beginning of a turn that is cut in two apart", async () => {
    const turn = [user("go"), assistant(tokens(60), {}, [read("1")]), result("1", "x"), assistant(tokens(120))];
    const s = session([...exchange(), ...turn], "history", "prefix");
    expect(await s.compactor.manual()).toMatchObject({
      result: {
        summary: "history\n\n---\n\n**Turn Context (split turn):**\n\nprefix\n\n<read-files>\na.ts\n</read-files>",
        usage: { input: 20, output: 10 },
      },
    });
    const only = session(turn, "prefix");
    expect(await only.compactor.manual()).toMatchObject({
      result: { summary: expect.stringMatching(/^No prior history\.\n\n---\n\n\*\*Turn Context/) },
    });
    const again = session([...exchange(), compaction("gone", "old notes"), ...turn], "prefix");
    expect(await again.compactor.manual()).toMatchObject({
      result: { summary: expect.stringMatching(/^old notes\n\n---/) },
    });
  });

  const refusals: [story: string, items: (AgentMessage | NewEntry | string)[], answer: Answer, text: string][] = [
    ["an empty session", ["low"], "x", "Nothing to compact (session too small)"],
    ["a question without an answer", [user("hi")], "x", "Nothing to compact (session too small)"],
    [
      "a question without an answer that is larger than the window",
      [user(tokens(3000)), user("and this?")],
      "x",
      "Nothing to compact (session too small): nothing in it has an answer yet, and one message alone (about 3000 tokens) is larger than the 1000 tokens of p/m; choose a model with a larger window (set_model), go back before that message (fork), or begin anew (new_session)",
    ],
    ["twice in a row", [...exchange(), compaction("e1")], "x", "Already compacted"],
    ["twice in a row, with settings between", [...exchange(), compaction("e1"), "low"], "x", "Already compacted"],
    ["a summariser that fails", exchange(9), new ProviderError("auth", "no key"), "Summarization failed: no key"],
    ["an empty summary", exchange(9), "", "Summarization failed: the model gave an empty summary"],
    [
      "a summariser that fails at the beginning of a turn",
      [user("go"), assistant(tokens(5)), assistant(tokens(120))],
      new ProviderError("server", "500"),
      "Turn prefix summarization failed: 500",
    ],
  ];
  for (const [story, items, answer, text] of refusals) {
    it(`is refused: ${story}`, async () => {
      const s = session(items, answer);
      const before = s.entries.length;
      expect(await s.compactor.manual()).toEqual({ refused: text });
      expect(s.entries).toHaveLength(before);
      expect(s.events.at(-1)).toEqual({
        type: "compaction_end",
        reason: "manual",
        aborted: false,
        willRetry: false,
        errorMessage: `Compaction failed: ${text}`,
      });
    });
  }

  it("is cancelled by abort, at once, and nothing is written", async () => {
    const s = session(exchange());
    s.state.hang = true;
    const outcome = s.compactor.manual();
    await tick();
    expect(s.compactor.isCompacting).toBe(true);
    await s.compactor.abort();
    expect(s.compactor.isCompacting).toBe(false);
    expect(s.events.at(-1)).toEqual({ type: "compaction_end", reason: "manual", aborted: true, willRetry: false });
    expect(await outcome).toEqual({ refused: "Compaction cancelled" });
    expect(s.entries).toHaveLength(2);
  });

  it("takes its place in line at once, begins when the run is over, and a second one waits for it", async () => {
    const s = session(exchange());
    let runIsOver = (): void => undefined;
    const first = s.compactor.manual(undefined, new Promise<void>((resolve) => (runIsOver = resolve)));
    const second = s.compactor.manual();
    await tick();
    expect(s.compactor.isCompacting).toBe(true);
    expect(s.events).toEqual([]);
    runIsOver();
    expect(await first).toHaveProperty("result");
    expect(await second).toEqual({ refused: "Already compacted" });
    await s.compactor.settled();
    expect(s.compactor.isCompacting).toBe(false);
  });
});

describe("compaction by itself", () => {
  it("tells both pairs of events, at their place", async () => {
    const s = session([...exchange(), ...exchange()]);
    expect(await s.automatic()).toBe("done");
    const result = expect.objectContaining({ summary: "notes", firstKeptEntryId: "e3" });
    const end = { result, aborted: false, willRetry: false };
    expect(s.events).toEqual([
      { type: "auto_compaction_start", reason: "threshold", action: "context-full" },
      { type: "compaction_start", reason: "threshold" },
      { type: "auto_compaction_end", action: "context-full", ...end },
      { type: "compaction_end", reason: "threshold", ...end },
    ]);
  });

  it("after an overflow says that the run goes on", async () => {
    const s = session([...exchange(70), user("next")]);
    expect(await s.automatic("overflow")).toBe("done");
    expect(s.events.at(-1)).toMatchObject({ reason: "overflow", willRetry: true });
    expect(s.entries.at(-1)).toMatchObject({ type: "compaction", firstKeptEntryId: "e2" });
  });

  it("with nothing to compact is skipped, and not tried again until something has changed", async () => {
    const s = session([user(tokens(900))]);
    expect(s.compactor.isDue()).toBe(true);
    expect(await s.automatic()).toBe("skipped");
    expect(s.events.at(-2)).toEqual({
      type: "auto_compaction_end",
      action: "context-full",
      aborted: false,
      willRetry: false,
      skipped: true,
    });
    expect(s.compactor.isDue()).toBe(false);
    s.add(user("more"));
    expect(s.compactor.isDue()).toBe(true);
  });

  it("is ended by the run's abort, at once, and nothing is written", async () => {
    const s = session([...exchange(), ...exchange()]);
    s.state.hang = true;
    const controller = new AbortController();
    const outcome = s.automatic("threshold", controller.signal);
    await tick();
    controller.abort();
    expect(await outcome).toBe("aborted");
    expect(s.events.slice(2)).toEqual([
      { type: "auto_compaction_end", action: "context-full", aborted: true, willRetry: false },
      { type: "compaction_end", reason: "threshold", aborted: true, willRetry: false },
    ]);
    expect(s.entries).toHaveLength(4);
  });

  it("says nothing when the run was aborted before", async () => {
    const s = session(exchange());
    expect(await s.automatic("threshold", AbortSignal.abort())).toBe("aborted");
    expect(s.events).toEqual([]);
  });

  it.each([
    ["threshold", "Auto-compaction failed: Summarization failed: wrong key"],
    ["overflow", "Context overflow recovery failed: Summarization failed: wrong key"],
  ] as const)("that fails (%s) says why", async (reason, errorMessage) => {
    const s = session([...exchange(), ...exchange()], new ProviderError("auth", "wrong key"));
    expect(await s.automatic(reason)).toBe("failed");
    const end = { aborted: false, willRetry: false, errorMessage };
    expect(s.events.slice(2)).toEqual([
      { type: "auto_compaction_end", action: "context-full", ...end },
      { type: "compaction_end", reason, ...end },
    ]);
    expect(s.entries).toHaveLength(4);
  });

  it("tells a second overflow by ends without a start", () => {
    const s = session([]);
    s.compactor.tellSecondOverflow();
    expect(s.events).toMatchObject([
      { type: "auto_compaction_end", errorMessage: expect.stringMatching(/after one compact-and-retry attempt/) },
      { type: "compaction_end", reason: "overflow", aborted: false, willRetry: false },
    ]);
  });

  it("is off when the setting says so", () => {
    const s = session([]);
    expect(s.compactor.isOn).toBe(true);
    s.state.settings = { ...settings, enabled: false };
    expect(s.compactor.isOn).toBe(false);
  });
});

describe("the circuit breaker", () => {
  const long = () => [...exchange(), ...exchange()];
  const rows: [story: string, answer: Answer, reason: RegExp][] = [
    ["an empty summary", "", /empty summary/],
    ["a summary that is longer than what it replaces", tokens(200), /not shorter/],
    ["a summariser that refuses", new ProviderError("bad_request", "no"), /Summarization failed: no/],
  ];
  for (const [story, answer, reason] of rows) {
    it(`stops after the second failure in a row: ${story}`, async () => {
      const s = session(long(), answer);
      expect(await s.automatic()).toBe("failed");
      expect([s.compactor.isOn, s.notices()]).toEqual([true, []]);
      expect(await s.automatic()).toBe("failed");
      expect(s.compactor.isOn).toBe(false);
      expect(s.notices()).toMatchObject([
        { level: "error", source: "compaction", message: expect.stringMatching(/stopped: it failed 2 times/) },
      ]);
      expect(s.notices()[0]).toMatchObject({ message: expect.stringMatching(reason) });
      expect(s.events.at(-1)).toMatchObject({ errorMessage: expect.stringMatching(/Automatic compaction is stopped/) });
    });
  }

  it("counts a compaction that does not bring the conversation under the threshold", async () => {
    const s = session(long());
    for (const expected of [true, false]) {
      s.add(user("more"));
      s.add(assistant("", {}, [read("1")]));
      s.add(result("1", tokens(850)));
      expect(await s.automatic()).toBe("done");
      expect(s.compactor.isOn).toBe(expected);
    }
  });

  it("counts one that the next answer shows to have been of no use, without asking the model again", async () => {
    const s = session(long());
    expect(await s.automatic()).toBe("done");
    for (const expected of [true, false]) {
      s.add(user("next"));
      s.add(assistant("ok", { usage: usage(900) }));
      expect(s.compactor.isDue()).toBe(true);
      expect(await s.automatic()).toBe("failed");
      expect(s.compactor.isOn).toBe(expected);
    }
    expect(s.asked).toHaveLength(1);
    expect(s.events.at(-1)).toMatchObject({
      errorMessage: expect.stringMatching(/left 899 tokens, and the threshold is 800/),
    });
  });

  it("does not mistake a large question for a compaction that was of no use", async () => {
    const s = session(long());
    await s.automatic();
    for (let i = 0; i < 3; i++) {
      s.add(user(tokens(850)));
      s.add(assistant("ok", { usage: usage(950) }));
      expect(await s.automatic()).toBe("done");
    }
    expect(s.compactor.isOn).toBe(true);
  });

  it("does not count what passes, nor an abort", async () => {
    const s = session(long(), new ProviderError("overloaded", "later"));
    for (let i = 0; i < 3; i++) expect(await s.automatic()).toBe("failed");
    s.state.hang = true;
    const controller = new AbortController();
    const aborted = s.automatic("threshold", controller.signal);
    controller.abort();
    await aborted;
    expect(s.compactor.isOn).toBe(true);
  });

  describe("is closed again", () => {
    let s: ReturnType<typeof session>;
    beforeEach(async () => {
      s = session(long(), "", "", "notes");
      await s.automatic();
      await s.automatic();
      expect(s.compactor.isOn).toBe(false);
    });
    it("by a compaction that the host asks for", async () => {
      expect(await s.compactor.manual()).toHaveProperty("result");
      expect(s.compactor.isOn).toBe(true);
    });
    it("by another model", () => {
      s.state.model.id = "other";
      expect(s.compactor.isOn).toBe(true);
    });
    it("when the host switches it on", () => {
      s.compactor.reset();
      expect(s.compactor.isOn).toBe(true);
    });
  });

  it("begins to count anew after a good one", async () => {
    const s = session(long(), "", "notes", "");
    await s.automatic();
    expect(await s.automatic()).toBe("done");
    for (const item of exchange()) s.add(item);
    expect(await s.automatic()).toBe("failed");
    expect(s.compactor.isOn).toBe(true);
  });
});
