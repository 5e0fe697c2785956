import { runAgent } from "@tiller/agent/agent-loop";
import { createMessageQueue } from "@tiller/agent/message-queue";
import type { StreamModel } from "@tiller/ai/provider";
import { streamOffline } from "@tiller/ai/providers/offline";
import { createScriptModel, parseScript } from "@tiller/ai/providers/script";
import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { createEventPipeline } from "../event-pipeline.ts";
import { messagesToLlm } from "../messages-to-llm.ts";
import type { RunMachinery } from "../run-options.ts";
import type { SessionEvent } from "../session-event.ts";
import { createSessionQueue, type WaitingMessage } from "../session-queue.ts";
import { createSessionRun } from "../session-run.ts";
import { messageOf } from "../store/entry-rules.ts";
import { noSpending } from "../usage-tally.ts";
import { createAskModel } from "./ask-model.ts";
import { createCompactor } from "./compactor.ts";
import { uncompacted } from "./cut-point.ts";
import type { CompactionSettings } from "./policy.ts";
import { branch, model as testModel, settings as testSettings, tokens, user } from "./test-entries.ts";

/** The whole of it, without files and without a wire: real loop, real compactor, models that need no network. */
function conversation(stream: StreamModel, changes: Partial<CompactionSettings> = {}) {
  const path = branch();
  const settings = { ...testSettings, keepRecentTokens: 20_000, ...changes };
  const model = { ...testModel, contextWindow: 10_000, maxTokens: 2000 };
  const events: SessionEvent[] = [];
  const pipeline = createEventPipeline({ keep: (message) => void path.add(message), endTurn: () => undefined });
  pipeline.subscribe((event) => void events.push(event));
  let count = 0;
  const ids = { uuid: () => "", short: () => "", lot: () => 0, count: (name: string) => `${name}-${++count}` };
  const context = (): AgentMessage[] => {
    const { previous, entries } = uncompacted(path.fromLeaf());
    return [...(previous ? [previous] : []), ...entries]
      .map((entry) => messageOf(entry))
      .filter((m) => m !== undefined);
  };
  const ports: RunMachinery["ports"] = {
    model: () => model,
    thinkingLevel: () => "off",
    tools: async () => [],
    systemPrompt: () => "",
    context: () => messagesToLlm(context()),
    credentials: () => ({}),
    stream,
    cwd: "/w",
    clock: systemClock,
  };
  const compactor = createCompactor({
    fromLeaf: path.fromLeaf,
    append: path.append,
    ask: createAskModel({
      ports,
      retrySettings: () => undefined,
      lot: () => 0,
      onRetry: () => undefined,
      onUsage: (usage) => run.spend(usage),
    }),
    emit: pipeline.emit,
    settings: () => settings,
    model: () => model,
  });
  const waiting = createMessageQueue<WaitingMessage>({
    steeringMode: "all",
    followUpMode: "all",
    interruptMode: "wait",
  });
  const run = createSessionRun({
    pipeline,
    queue: createSessionQueue(waiting, ids, () => undefined),
    clock: systemClock,
    ids,
    machinery: async () => ({ runAgent, ports }),
    model: () => model,
    retrySettings: () => undefined,
    atRest: () => undefined,
    leaveOut(messages) {
      for (let left = messages.length; left > 0; left--) path.entries.pop();
    },
    compaction: compactor,
    sessionLimits: {},
    sessionSpending: noSpending(),
    sessionStartedAt: 0,
  });
  const say = async (text: string): Promise<void> => {
    await run.accept(user(text), { promptId: ids.count("prompt"), commandId: text }, {})();
  };
  return { path, events, run, compactor, context, say, types: () => events.map(({ type }) => type) };
}

const script = (turns: unknown[]) => createScriptModel(parseScript(JSON.stringify({ turns })));
const seen = (messages: readonly AgentMessage[]) => messages.map(({ role }) => role).join(" ");

describe("a conversation with a scripted model", () => {
  it("goes on by itself after an overflow, without what failed", async () => {
    const c = conversation(
      script([
        { steps: [{ text: "first answer" }] },
        { steps: [{ error: { message: "prompt is too long: 12000 tokens", kind: "overflow" } }] },
        { expect: { system: "has to be remembered", user: "[User]: one" }, steps: [{ text: "the notes" }] },
        { expect: { user: "two", messages: 2 }, steps: [{ text: "second answer" }] },
      ]),
    );
    await c.say(`one ${tokens(100)}`);
    await c.say("two");
    expect(c.types().filter((type) => !/^(message|turn|session)/.test(type))).toEqual([
      ...["agent_start", "agent_end", "agent_settled", "prompt_result"],
      ...["agent_start", "agent_end", "auto_compaction_start", "compaction_start"],
      ...["auto_compaction_end", "compaction_end", "agent_start", "agent_end", "agent_settled", "prompt_result"],
    ]);
    expect(seen(c.context())).toBe("compactionSummary user assistant");
    expect(c.events.at(-2)).toMatchObject({ type: "prompt_result", status: "completed", turns: 2 });
  });

  it("abort while the summary is being written ends it in no time and leaves no trace of it", async () => {
    const c = conversation(
      script([
        { steps: [{ text: "first answer" }, { usage: { input: 9900, output: 1 } }] },
        { steps: [{ text: "the no" }, { hang: true }, { ignoreAbort: true }] },
      ]),
    );
    const prompt = c.say(`one ${tokens(100)}`);
    while (!c.types().includes("compaction_start")) await new Promise((resolve) => setTimeout(resolve, 1));
    expect([c.compactor.isCompacting, c.run.isStreaming]).toEqual([true, false]);
    await c.run.abort();
    await prompt;
    expect(c.path.entries.map(({ type }) => type)).toEqual(["message", "message"]);
    expect(c.events.slice(-5)).toMatchObject([
      { type: "auto_compaction_end", aborted: true },
      { type: "compaction_end", aborted: true },
      { type: "agent_settled", aborted: true },
      { type: "prompt_result", status: "aborted" },
      { type: "session_settled" },
    ]);
  });
});

describe("a conversation with scout", () => {
  it("is compacted again and again, and what was said at the beginning is still known", async () => {
    const c = conversation(streamOffline, { thresholdTokens: 6000, reserveTokens: 4000 });
    await c.say("The deploy key is called MOORHEN-77 and lives in vault/keys.txt.");
    for (let i = 0; i < 55; i++) await c.say(`Note ${i}: port ${4000 + i} is taken. ${tokens(30, "more ")}`);
    const compactions = c.events.filter((event) => event.type === "compaction_end");
    expect(compactions.length).toBeGreaterThan(1);
    expect(compactions.filter(({ result }) => !result)).toEqual([]);
    const known = JSON.stringify(c.context());
    expect(known).toContain("MOORHEN-77");
    for (let i = 0; i < 55; i++) expect(known).toContain(`port ${4000 + i} is taken`);
    expect(c.compactor.isOn).toBe(true);
  });

  it("works by hand from one exchange on", async () => {
    const c = conversation(streamOffline);
    await c.say("Remember the word heron.");
    expect(await c.compactor.manual()).toMatchObject({ result: { summary: expect.stringContaining("heron") } });
    expect(seen(c.context())).toBe("compactionSummary");
    expect(await c.compactor.manual()).toEqual({ refused: "Already compacted" });
    await c.say("hello");
    expect(seen(c.context())).toBe("compactionSummary user assistant");
  });
});
