import type { AgentTool } from "@tiller/agent/types";
import { describe, expect, test } from "vitest";
import type { AgentDefinition } from "./agents/agent.ts";
import { createSessionCounter } from "./session/session-stats.ts";
import { type Answers, call, fail, mainAgent, meeting, type Story, say, untilAborted } from "./sub-agents-fixture.ts";

const TWO = {
  tasks: [
    { id: "a", assignment: "do a" },
    { id: "b", assignment: "do b" },
  ],
};
const turn = () => new Promise((resolve) => setImmediate(resolve));
/** The main agent hands out, and says `done` when it has the results; sub-agents do what the test says. */
const handingOut =
  (args: object, child: Answers): Answers =>
  (asked) => {
    if (asked.task !== "go") return child(asked);
    return asked.answers === 0 ? call(["task", args]) : say("done");
  };
const statuses = ({ subAgents }: ReturnType<typeof mainAgent>) =>
  subAgents.list().map(({ id, status }) => `${id} ${status}`);
const agentNamed = (name: string, fields: Partial<AgentDefinition> = {}): AgentDefinition => {
  return {
    name,
    description: name,
    source: "project",
    path: `/${name}.md`,
    models: [],
    prompt: `I am ${name}`,
    ...fields,
  };
};

describe("sub-agents", () => {
  test("two of them overlap in time, and their reports come back in the order of the tasks", async () => {
    const both = meeting(2);
    const main = mainAgent(
      handingOut(TWO, async ({ task }) => {
        // Neither answers before the other one has been asked; then the second is the first to be done.
        await both();
        if (task === "do a") for (let at = 0; at < 20; at++) await turn();
        return say(`${task}: yes`);
      }),
    );
    expect(await main.prompt()).toMatchObject({ status: "completed" });
    expect(main.result()).toEqual({
      text: "## a [task] completed\n\ndo a: yes\n\n## b [task] completed\n\ndo b: yes",
      isError: false,
    });
    expect(statuses(main)).toEqual(["a completed", "b completed"]);
  });

  test("begin with their task alone, and leave only their report in the conversation", async () => {
    const seen: unknown[] = [];
    const args = { context: "In C.", tasks: [{ assignment: "do a" }] };
    const main = mainAgent(
      handingOut(args, ({ request }) => {
        seen.push(request.messages.map(({ role, content }) => [role, content]));
        return say("secret path, report");
      }),
    );
    await main.prompt();
    expect(seen).toEqual([[["user", [{ type: "text", text: "In C.\n\ndo a" }]]]]);
    expect(main.store.messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(main.subAgents.list()).toMatchObject([{ id: "task-1", task: "In C.\n\ndo a", assignment: "do a" }]);
  });

  test("read the whole of a long task; the list shows its beginning", async () => {
    let read = 0;
    const args = { context: "c".repeat(60_000), tasks: [{ assignment: "a".repeat(20_000) }] };
    const main = mainAgent(
      handingOut(args, ({ task }) => {
        read = task.length;
        return say("yes");
      }),
    );
    await main.prompt();
    expect(read).toBe(80_002);
    expect(main.subAgents.list()[0]).toMatchObject({
      task: `${"c".repeat(10_000)}...`,
      assignment: `${"a".repeat(10_000)}...`,
    });
  });

  test("one that cannot even begin has failed, and the others go on", async () => {
    const story: Story = { breaks: ({ id }) => id === "a" };
    const main = mainAgent(
      handingOut(TWO, ({ task }) => say(`${task}: yes`)),
      story,
    );
    await main.prompt();
    expect(main.subAgents.list()).toMatchObject([
      { status: "failed", error: "no room for a" },
      { status: "completed" },
    ]);
    expect(main.result().text).toMatch(/^1 of 2 sub-agents failed: a \[task\]\n/);
  });

  test("what they cost adds up exactly: in the result, in the statistics, and in their own progress", async () => {
    const answers: Answers = ({ task, answers: said }) => {
      if (task === "do a") return said === 0 ? call(["look", {}]) : say("A", 3, 2);
      return say("B", 5, 1);
    };
    const main = mainAgent(handingOut(TWO, answers), { tools: [look] });
    const { usage, turns, toolCalls } = await main.prompt();
    // Two turns of the main agent with 1+1 tokens each, and those of the sub-agents: 1+1, 3+2, 5+1.
    expect(usage).toMatchObject({ input: 11, output: 6, totalTokens: 17, cost: { total: 11 * 0.25 + 6 * 0.5 } });
    expect({ turns, toolCalls }).toEqual({ turns: 5, toolCalls: 2 });
    const counted = createSessionCounter().counts(main.store.log);
    expect(counted).toMatchObject({ cost: 5.75, tokens: { input: 11, output: 6, total: 17 }, assistantMessages: 2 });
    expect(main.subAgents.list().map(({ progress }) => progress)).toMatchObject([
      { turns: 2, toolCalls: 1, tokens: 7, cost: 2.5 },
      { turns: 1, toolCalls: 0, tokens: 6, cost: 1.75 },
    ]);
  });

  test("an abort ends both, and the run ends when they have; what they have spent is counted", async () => {
    const both = meeting(3);
    const main = mainAgent(
      handingOut(TWO, async ({ task, answers: said, request }) => {
        if (task === "do a" && said === 0) return call(["look", {}]);
        void both();
        return untilAborted(request.signal);
      }),
      { tools: [look] },
    );
    const prompted = main.prompt();
    await both();
    expect(statuses(main)).toEqual(["a running", "b running"]);
    await main.run.abort();
    expect(statuses(main)).toEqual(["a aborted", "b aborted"]);
    expect(await prompted).toMatchObject({ status: "aborted", usage: { totalTokens: 4 } });
    expect(main.result()).toEqual({ text: "Tool execution was aborted: Request was aborted", isError: true });
    expect(createSessionCounter().counts(main.store.log).tokens.total).toBe(4);
  });

  test("those that wait for their turn are aborted too, and never begin", async () => {
    const first = meeting(2);
    const main = mainAgent(
      handingOut(TWO, async ({ request }) => {
        void first();
        return untilAborted(request.signal);
      }),
      { settings: { maxConcurrency: 1 } },
    );
    const prompted = main.prompt();
    await first();
    expect(statuses(main)).toEqual(["a running", "b pending"]);
    await main.run.abort();
    await prompted;
    expect(statuses(main)).toEqual(["a aborted", "b aborted"]);
    expect(main.subAgents.list().map(({ progress }) => progress?.turns)).toEqual([1, 0]);
  });

  test("steering that interrupts the tools of the main agent ends them, and the run goes on", async () => {
    const both = meeting(2);
    const waitsForChild: AgentTool = {
      ...look,
      async execute(invocation) {
        await both();
        main.queue.add("steering", { role: "user", content: "stop that", timestamp: 0 });
        return look.execute(invocation);
      },
    };
    const main = mainAgent(
      ({ task, answers, request }) => {
        if (task !== "go") {
          void both();
          return untilAborted(request.signal);
        }
        return answers === 0 ? call(["task", TWO], ["look", {}]) : say("stopped");
      },
      { tools: [waitsForChild] },
    );
    expect(await main.prompt()).toMatchObject({ status: "completed" });
    expect(statuses(main)).toEqual(["a aborted", "b aborted"]);
    expect(main.store.messages.filter(({ role }) => role === "toolResult")).toMatchObject([
      { toolName: "look", isError: false },
      { toolName: "task", isError: true, content: [{ text: "Skipped due to queued user message." }] },
    ]);
  });

  test("a run that goes on without them waits for them before it tells its end", async () => {
    const begun = meeting(2);
    const stubborn: AgentTool = {
      ...look,
      name: "stubborn",
      execute: () => {
        void begun();
        return new Promise(() => undefined);
      },
    };
    const afterIt: AgentTool = {
      ...look,
      async execute(invocation) {
        await begun();
        main.queue.add("steering", { role: "user", content: "stop that", timestamp: 0 });
        return look.execute(invocation);
      },
    };
    const main = mainAgent(
      ({ task, answers }) => {
        if (task !== "go") return call(["stubborn", {}]);
        return answers === 0
          ? call(["task", { tasks: [{ id: "a", assignment: "x" }] }], ["look", {}])
          : say("on we go");
      },
      { tools: [afterIt, stubborn] },
    );
    const { status, usage } = await main.prompt();
    expect({ status, list: statuses(main) }).toEqual({ status: "completed", list: ["a aborted"] });
    // What it had spent is in the file before the end is told.
    expect(createSessionCounter().counts(main.store.log).tokens.total).toBe(usage?.totalTokens);
  });

  test("never more at the same time than allowed", async () => {
    let now = 0;
    let most = 0;
    const tasks = Array.from({ length: 7 }, (_, at) => ({ id: `t${at}`, assignment: `do ${at}` }));
    const main = mainAgent(
      handingOut({ tasks }, async () => {
        now += 1;
        most = Math.max(most, now);
        await turn();
        now -= 1;
        return say("yes");
      }),
      { settings: { maxConcurrency: 3 } },
    );
    await main.prompt();
    expect([most, statuses(main).filter((text) => text.endsWith("completed")).length]).toEqual([3, 7]);
  });

  test("one fails while the other completes: the result names the one and has the report of the other", async () => {
    const main = mainAgent(handingOut(TWO, ({ task }) => (task === "do a" ? fail("no such model") : say("B"))));
    expect(await main.prompt()).toMatchObject({ status: "completed" });
    expect(main.result()).toEqual({
      text: "1 of 2 sub-agents failed: a [task]\n\n## a [task] failed: no such model\n\n## b [task] completed\n\nB",
      isError: false,
    });
    expect(main.subAgents.list()).toMatchObject([
      { status: "failed", error: "no such model" },
      { status: "completed" },
    ]);
  });

  test("when all fail, the call has failed, and the run goes on", async () => {
    const main = mainAgent(handingOut(TWO, () => fail("down")));
    expect(await main.prompt()).toMatchObject({ status: "completed" });
    expect(main.result()).toMatchObject({
      isError: true,
      text: expect.stringContaining("2 of 2 sub-agents failed: a [task], b [task]"),
    });
  });

  test("a failure that passes is tried again, as for the main agent", async () => {
    let asked = 0;
    const main = mainAgent(
      handingOut({ tasks: [{ assignment: "do a" }] }, () => {
        asked += 1;
        return asked < 3 ? fail("busy", "overloaded") : say("at last");
      }),
      { retries: 3 },
    );
    await main.prompt();
    expect(main.result().text).toContain("at last");
  });

  test("the limits of the prompt hold for the sum", async () => {
    const main = mainAgent(
      handingOut(TWO, () => call(["look", {}])),
      { tools: [look], limits: { cost: 4 } },
    );
    const { status, limit, error, usage } = await main.prompt();
    expect({ status, limit }).toMatchObject({ status: "aborted", limit: { limit: "cost", max: 4 } });
    expect(error?.message).toBe("Stopped: the limit of $4 for this prompt is reached");
    // Each turn costs 0.75: one of the main agent, and as many of each sub-agent as begin below the limit.
    expect(usage?.cost.total).toBe(5.25);
    expect(main.subAgents.list()[0]).toMatchObject({
      status: "failed",
      error: "Stopped: the limit of $4 for this prompt is reached",
    });
  });

  test("who waits for a place is not begun when a limit is reached meanwhile", async () => {
    const tasks = ["a", "b", "c", "d"].map((id) => ({ id, assignment: `do ${id}` }));
    const main = mainAgent(
      handingOut({ tasks }, () => say("done")),
      { settings: { maxConcurrency: 1 }, limits: { turns: 3 } },
    );
    expect(await main.prompt()).toMatchObject({ status: "aborted", turns: 3, limit: { limit: "turns", used: 3 } });
    const error = "Nothing was started: the limit of 3 turns for this prompt is reached";
    expect(main.subAgents.list()).toMatchObject([
      { id: "a", status: "completed" },
      { id: "b", status: "completed" },
      { id: "c", status: "failed", error },
      { id: "d", status: "failed", error },
    ]);
  });

  test("tool calls of sub-agents count too", async () => {
    const main = mainAgent(
      handingOut({ tasks: [{ assignment: "do a" }] }, () => call(["look", {}])),
      { tools: [look], limits: { toolCalls: 3 } },
    );
    expect(await main.prompt()).toMatchObject({ status: "aborted", toolCalls: 3, limit: { limit: "toolCalls" } });
    expect(main.result().text).toContain("the limit of 3 tool calls for this prompt is reached");
  });
});

describe("depth", () => {
  /** Each hands out to the next as long as it can. */
  const deeper: Answers = ({ task, answers, result, request }) => {
    if (answers > 0) return say(`${task} <${result.split("\n").at(-1)}>`);
    const canDelegate = request.tools.some(({ name }) => name === "task");
    return canDelegate ? call(["task", { tasks: [{ id: "d", assignment: `${task}+` }] }]) : say(`${task}!`);
  };

  test.each<[limit: number, deepest: string]>([
    [1, "go+!"],
    [2, "go+ <go++!>"],
    [3, "go+ <go++ <go+++!>>"],
  ])("with a limit of %i", async (maxRecursionDepth, report) => {
    const main = mainAgent(deeper, { settings: { maxRecursionDepth, maxConcurrency: 1 } });
    const { usage } = await main.prompt();
    expect(main.result().text).toContain(report);
    // All of it is counted once: every agent but the deepest has two turns of two tokens.
    expect(usage?.totalTokens).toBe(maxRecursionDepth * 4 + 2);
    expect(createSessionCounter().counts(main.store.log).tokens.total).toBe(maxRecursionDepth * 4 + 2);
    expect(main.subAgents.list().map(({ id, parentId }) => [id, parentId])).toEqual(
      [
        ["d", undefined],
        ["d-2", "d"],
        ["d-3", "d-2"],
      ].slice(0, maxRecursionDepth),
    );
  });

  test("with none at all the call says why", async () => {
    const main = mainAgent(deeper, { settings: { maxRecursionDepth: 0 } });
    await main.prompt();
    expect(main.result()).toEqual({
      text: "No sub-agents may be started here: task.maxRecursionDepth is 0",
      isError: true,
    });
  });

  test("an abort reaches the deepest", async () => {
    const there = meeting(2);
    const main = mainAgent(
      (asked) => {
        if (asked.task !== "go++") return deeper(asked);
        void there();
        return untilAborted(asked.request.signal);
      },
      { settings: { maxRecursionDepth: 2 } },
    );
    const prompted = main.prompt();
    await there();
    await main.run.abort();
    expect(statuses(main)).toEqual(["d aborted", "d-2 aborted"]);
    await prompted;
  });
});

test.each<[what: string, tools: string[] | undefined, has: string[]]>([
  ["who has the tools of its starter can hand out what that could have", undefined, ["spare"]],
  ["who was given certain tools cannot hand out others", ["task", "look"], []],
])("what a sub-agent of a sub-agent may have: %s", async (_what, tools, has) => {
  const inner = { instructions: "You look.", tools: ["spare"], tasks: [{ assignment: "inner" }] };
  const seen: string[][] = [];
  const main = mainAgent(
    ({ task, answers, request }) => {
      if (task === "inner") seen.push(request.tools.map(({ name }) => name));
      if (task === "inner" || answers > 0) return say("done");
      return call(["task", task === "go" ? { agent: "x", tasks: [{ assignment: "outer" }] } : inner]);
    },
    { tools: [look, { ...look, name: "spare" }], agents: [agentNamed("x", { tools })] },
  );
  await main.prompt();
  expect(seen).toEqual([has]);
});

describe("agents", () => {
  const one = (agent: string) => ({ agent, tasks: [{ id: "a", assignment: "do a" }] });
  const outcome = async (args: object, story: Story = {}) => {
    const seen: { tools: string[]; model: string; level: string }[] = [];
    const main = mainAgent(
      handingOut(args, ({ request }) => {
        const tools = request.tools.map(({ name }) => name);
        seen.push({ tools, model: request.model.id, level: request.thinkingLevel });
        return say("yes");
      }),
      { tools: [look], ...story },
    );
    await main.prompt();
    const notices = main.events.flatMap((event) => (event.type === "notice" ? [event.message] : []));
    return { ...main.result(), seen, notices, list: main.subAgents.list() };
  };

  test("an unknown name is told with those there are, the likely one, and the file that was left out", async () => {
    const problem = '/p/.omp/agents/exploer.md:1: "description" is missing; the agent "exploer" is left out';
    const { text, isError } = await outcome(one("exploer"), { problems: [problem, "/p/other.md:3: no"] });
    expect({ text, isError }).toEqual({
      isError: true,
      text: `There is no agent "exploer"; there are: task, explore, review. Did you mean "explore"?\n${problem}`,
    });
  });

  test("one that is switched off cannot be started, and is not on the list", async () => {
    const settings = { disabledAgents: ["explore"] };
    expect(await outcome(one("explore"), { settings })).toMatchObject({
      isError: true,
      text: 'The agent "explore" is switched off (setting task.disabledAgents)',
    });
    const described = await mainAgent(() => say(""), { settings }).subAgents.main.describe();
    expect(described).toMatch(/^Agents:\n- task: .*\n- review: .*$/);
    const eager = mainAgent(() => say(""), { settings: { eager: true } }).subAgents.main;
    expect(await eager.describe()).toMatch(/^Prefer to hand out/);
  });

  test("one that a file describes has its own tools and model", async () => {
    const agents = [agentNamed("scribe", { tools: ["look", "fly"], models: ["p/small"] })];
    const { seen, list, notices } = await outcome(one("scribe"), { agents });
    expect(seen).toEqual([{ tools: ["look"], model: "small", level: "high" }]);
    expect(list).toMatchObject([{ agent: "scribe", agentSource: "project", status: "completed" }]);
    expect(notices).toEqual(['Agent "scribe" does without these tools, which are not there or not allowed: fly']);
  });

  test("one that the call describes has the tools it names", async () => {
    const inline = { instructions: "You count.", tools: ["look"], tasks: [{ assignment: "count" }] };
    const { seen, list } = await outcome(inline);
    expect(seen).toMatchObject([{ tools: ["look"] }]);
    expect(list).toMatchObject([{ agent: "inline", agentSource: "inline" }]);
  });

  test.each<[what: string, models: string[], unusable: Record<string, string>, used: string, warns: boolean]>([
    ["the first that can be used", ["p/nothing", "p/small"], {}, "small", false],
    ["that of whoever starts it, told", ["opus"], {}, "m", true],
    ["the same for one without a key", ["p/small"], { small: "no key" }, "m", true],
    ["inherit", ["inherit"], {}, "m", false],
  ])("its model: %s", async (_what, models, unusable, used, warns) => {
    const { seen, notices } = await outcome(one("x"), { agents: [agentNamed("x", { models })], unusable });
    expect([seen[0]?.model, notices.length > 0]).toEqual([used, warns]);
  });

  test.each<[what: string, thinking: string | undefined, models: string[], level: string, warns: boolean]>([
    ["that of the file", "low", ["p/small:high"], "low", false],
    ["that behind its model", undefined, ["p/small:minimal"], "minimal", false],
    ["that of whoever starts it", undefined, [], "high", false],
    ["what is no level is told", "lots", [], "high", true],
  ])("how much it thinks: %s", async (_what, thinking, models, level, warns) => {
    const { seen, notices } = await outcome(one("x"), { agents: [agentNamed("x", { models, thinking })] });
    expect([seen[0]?.level, notices.length > 0]).toEqual([level, warns]);
  });

  test("a model of the settings counts more than that of the file, and must be usable", async () => {
    const agents = [agentNamed("x", { models: ["p/m"] })];
    const good = await outcome(one("x"), { agents, settings: { agentModelOverrides: { x: "p/small" } } });
    expect(good.seen[0]?.model).toBe("small");
    const bad = await outcome(one("x"), { agents, settings: { agentModelOverrides: { x: "p/none" } } });
    expect(bad).toMatchObject({
      isError: true,
      text: 'The model "p/none" for agent "x" (task.agentModelOverrides) cannot be used',
    });
  });
});

/** A tool that does nothing. */
const look: AgentTool = {
  name: "look",
  label: "look",
  description: "Looks",
  parameters: { type: "object", properties: {} },
  concurrency: "shared",
  execute: async () => ({ content: [{ type: "text", text: "seen" }] }),
};
