import { runAgent } from "@tiller/agent/agent-loop";
import { createMessageQueue } from "@tiller/agent/message-queue";
import type { AgentTool } from "@tiller/agent/types";
import { ProviderError } from "@tiller/ai/errors";
import type { ModelRegistry } from "@tiller/ai/model-registry";
import type { Delta, DeltaStream, ModelRequest } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { Subagent } from "@tiller/protocol/sub-agent";
import type { AgentDefinition } from "./agents/agent.ts";
import { BUNDLED_AGENTS } from "./agents/bundled.ts";
import { createIdSource, systemClock } from "./lib/clock.ts";
import type { Machinery } from "./run-machinery.ts";
import { createEventPipeline } from "./session/event-pipeline.ts";
import { messagesToLlm } from "./session/messages-to-llm.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createSessionQueue, textOf, type WaitingMessage } from "./session/session-queue.ts";
import { createSessionRun, type SessionRun } from "./session/session-run.ts";
import { beginSession } from "./session/store/begin-session.ts";
import { createSessionStore, type SessionStore } from "./session/store/session-store.ts";
import { paidEntry } from "./session/sub-agents.ts";
import { noSpending } from "./session/usage-tally.ts";
import { createSessionSubAgents, type SessionSubAgents, type SubAgentSettings } from "./sub-agents.ts";
import { createTools } from "./tools/create-tools.ts";
import type { Delegate } from "./tools/tool.ts";

/** For tests: a main agent whose model, and the models of its sub-agents, say what the test wants. Kept in memory. */

/** Prices that are sums of powers of two, so that sums of costs are exact. */
export const model: Model = {
  id: "m",
  name: "M",
  api: "test",
  provider: "p",
  baseUrl: "",
  reasoning: true,
  input: ["text"],
  cost: { input: 250_000, output: 500_000, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1_000_000,
  maxTokens: 100,
};

export const say = (text: string, input = 1, output = 1): Delta[] => [
  { type: "open", index: 0, block: { type: "text" } },
  { type: "grow", index: 0, text },
  { type: "close", index: 0 },
  { type: "usage", input, output },
  { type: "done", stopReason: "stop" },
];
export const call = (...calls: [name: string, args: object][]): Delta[] => [
  ...calls.flatMap(([name, args], index): Delta[] => [
    { type: "open", index, block: { type: "toolCall", id: `call_${index}`, name } },
    { type: "grow", index, text: JSON.stringify(args) },
    { type: "close", index },
  ]),
  { type: "usage", input: 1, output: 1 },
  { type: "done", stopReason: "toolUse" },
];
export const fail = (message: string, kind: ProviderError["kind"] = "bad_request"): Delta[] => [
  { type: "error", error: new ProviderError(kind, message) },
];

/** What a model is asked: the task, or for the main agent the prompt; and how often it has answered in this conversation. */
export interface Asked {
  task: string;
  answers: number;
  /** The newest result of a tool. */
  result: string;
  request: ModelRequest;
}

export type Answers = (asked: Asked) => Delta[] | Promise<Delta[]>;

export interface Story {
  settings?: Partial<SubAgentSettings>;
  agents?: readonly AgentDefinition[];
  problems?: readonly string[];
  /** Why a model cannot be used, by its id. */
  unusable?: Record<string, string>;
  retries?: number;
  limits?: PromptLimits;
  tools?: readonly AgentTool[];
  /** A sub-agent whose parts cannot be put together. */
  breaks?(about: Subagent): boolean;
}

export function mainAgent(answers: Answers, story: Story = {}) {
  const clock = systemClock;
  const ids = createIdSource(clock);
  const events: SessionEvent[] = [];
  const storeIn = (): SessionStore =>
    createSessionStore({ clock, ids, first: beginSession({ clock, ids, cwd: "/project" }, {}) });
  const store = storeIn();
  const pipeline = createEventPipeline({ keep: store.appendMessage, endTurn: store.endTurn });
  pipeline.subscribe((event) => {
    events.push(event);
    return undefined;
  });
  const machinery = (
    conversation: SessionStore,
    used: Model,
    level: ThinkingLevel,
    names: readonly string[],
    delegate: () => Promise<Delegate>,
  ): Machinery => ({
    runAgent,
    systemPrompt: () => "system",
    tools: () => [],
    ports: {
      model: () => used,
      thinkingLevel: () => level,
      tools: async () =>
        names.flatMap((name) => {
          const given = story.tools?.find((tool) => tool.name === name);
          return given ?? createTools({ names: [name], cwd: "/project", env: {}, clock, delegate });
        }),
      systemPrompt: () => "system",
      context: () => messagesToLlm(conversation.messages),
      credentials: () => ({}),
      stream: (request) => guardStream(async () => playing(answers, request), request.signal),
      cwd: "/project",
      clock,
    },
  });
  const names = ["task", ...(story.tools ?? []).map(({ name }) => name)].filter((name) => name !== "spare");
  const retrySettings = () => ({ maxRetries: story.retries ?? 0, baseDelayMs: 1, maxDelayMs: 10 });
  const agents = new Map([...BUNDLED_AGENTS, ...(story.agents ?? [])].map((agent) => [agent.name, agent]));
  const subAgents: SessionSubAgents = createSessionSubAgents({
    settings: {
      maxConcurrency: 8,
      maxRecursionDepth: 2,
      disabledAgents: [],
      agentModelOverrides: {},
      eager: false,
      ...story.settings,
    },
    agents: async () => ({ agents, problems: story.problems ?? [] }),
    models: { registry: registryOf(story), source: { describe: () => undefined } as never },
    clock,
    emit: (event) => pipeline.emit(event),
    folder: "/nowhere/subagents",
    sessionFolder: () => undefined,
    child: {
      clock,
      ids,
      cwd: () => "/project",
      retrySettings,
      attachDisk: async () => undefined,
      machinery: async (child) => {
        const about = child.record.about;
        if (story.breaks?.(about)) throw new Error(`no room for ${about.id}`);
        return machinery(child.store, child.model, child.thinkingLevel, child.toolNames, async () => child.delegate);
      },
      compaction: async () => ({ isOn: false, settled: async () => undefined }) as never,
    },
    main: {
      depth: 0,
      budget: () => run.budget,
      toolNames: () => names,
      mayHave: (name) => names.includes(name) || name === "spare",
      model: () => model,
      thinkingLevel: () => "high",
      sessionFile: () => undefined,
      paid: (usage, { provider, id }) => void store.append(paidEntry(usage, provider, id)),
    },
  });
  const waiting = createMessageQueue<WaitingMessage>({
    steeringMode: "one-at-a-time",
    followUpMode: "one-at-a-time",
    interruptMode: "immediate",
  });
  const queue = createSessionQueue(waiting, ids, () => undefined);
  const run: SessionRun = createSessionRun({
    pipeline,
    queue,
    clock,
    ids,
    machinery: async () => machinery(store, model, "high", names, async () => subAgents.main),
    model: () => model,
    retrySettings,
    atRest: () => undefined,
    toolsOver: () => subAgents.main.settled(),
    leaveOut: store.leaveOut,
    sessionLimits: {},
    sessionSpending: noSpending(),
    sessionStartedAt: clock.now(),
  });
  return {
    store,
    events,
    subAgents,
    run,
    queue,
    async prompt(text = "go") {
      const content = [{ type: "text" as const, text }];
      const job = run.accept(
        { role: "user", content, timestamp: 0 },
        { promptId: "prompt-1", commandId: "1" },
        story.limits ?? {},
      );
      await job();
      return events.findLast((event) => event.type === "prompt_result")!;
    },
    /** Of the newest call of the tool. */
    result() {
      const ended = events.findLast((event) => event.type === "tool_execution_end");
      const [block] = ended?.result.content ?? [];
      return { text: block?.type === "text" ? block.text : "", isError: ended?.isError };
    },
  };
}

async function* playing(answers: Answers, request: ModelRequest): DeltaStream {
  const [first] = request.messages;
  const results = request.messages.filter((message) => message.role === "toolResult");
  const [block] = results.at(-1)?.content ?? [];
  yield await answers({
    task: first?.role === "user" ? textOf(first) : "",
    answers: request.messages.filter(({ role }) => role === "assistant").length,
    result: block?.type === "text" ? block.text : "",
    request,
  });
}

/** Knows `p/m` and `p/small`. */
function registryOf({ unusable = {} }: Story): ModelRegistry {
  const all = [model, { ...model, id: "small", name: "Small" }];
  return {
    providers: () => ["p"],
    modelsOf: () => all,
    all: () => all,
    available: () => all,
    unlisted: () => undefined,
    firstOf: () => undefined,
    hasCredentials: () => true,
    adopt: () => undefined,
    unusable: ({ id }: Model) => unusable[id],
  } as unknown as ModelRegistry;
}

/** Resolves when so many have come here: who waits for each other is there at the same time. */
export function meeting(size: number): () => Promise<void> {
  let missing = size;
  let open = (): void => undefined;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    missing -= 1;
    if (missing === 0) open();
    return all;
  };
}

export const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(new ProviderError("aborted", "Request was aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
