import type { Subagent } from "@tiller/protocol/sub-agent";
import { describe, expect, it, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { createTask } from "./task.ts";
import type { TaskReport, TaskRequest, ToolContext } from "./tool.ts";

const about = (fields: Partial<Subagent> = {}): Subagent => {
  const { id = "a" } = fields;
  return { id, index: 0, agent: "task", agentSource: "bundled", status: "completed", lastUpdate: 0, ...fields };
};

function desk(reports: TaskReport[] = [{ about: about(), text: "yes" }]) {
  const asked: TaskRequest[] = [];
  const updates: unknown[] = [];
  const delegate = async () => ({
    describe: async () => "",
    async run(request: TaskRequest, { onProgress }: { onProgress(all: readonly Subagent[]): void }) {
      asked.push(request);
      for (let at = 0; at < 50; at++) {
        onProgress([about({ status: "running", progress: progress(at) }), about({ id: "b", status: "pending" })]);
      }
      return reports;
    },
  });
  const run = createTask({ delegate, clock: systemClock } as unknown as ToolContext);
  type Args = Parameters<typeof run>[0]["args"];
  const call = (args: Args, signal = new AbortController().signal) =>
    run({ toolCallId: "c", args, signal, onUpdate: (partial) => updates.push(partial) });
  return { asked, updates, call };
}
const progress = (turns: number) => ({ turns, toolCalls: 0, tokens: 0, cost: 0, durationMs: 0, currentTool: "grep" });
const tasks = [{ assignment: "do it" }];

test.each<[what: string, args: Parameters<ReturnType<typeof desk>["call"]>[0], says: string]>([
  ["no task", { tasks: [] }, '"tasks" is empty'],
  ["an empty one", { tasks: [{ id: "x", assignment: " " }] }, 'The "assignment" of task "x" is empty'],
  [
    "the same id twice",
    {
      tasks: [
        { id: "x", assignment: "1" },
        { id: "x", assignment: "2" },
      ],
    },
    'Two tasks have the id "x"',
  ],
  [
    "two ids that become one",
    {
      tasks: [
        { id: "a/b", assignment: "1" },
        { id: "a b", assignment: "2" },
      ],
    },
    'Two tasks have the id "a-b"',
  ],
  ["an agent and instructions", { agent: "x", instructions: "y", tasks }, 'Give either "agent" or "instructions"'],
  ["tools for an agent", { agent: "x", tools: ["read"], tasks }, '"tools" belongs to "instructions"'],
  ["a folder of its own", { isolated: true, tasks }, '"isolated" is not available here'],
  ["too many", { tasks: Array.from({ length: 101 }, () => ({ assignment: "x" })) }, "101 tasks are too many"],
])("refuses %s, and starts nothing", async (_what, args, says) => {
  const { call, asked } = desk();
  await expect(call(args)).rejects.toThrow(says);
  expect(asked).toEqual([]);
});

it("makes ids that can be names of files", async () => {
  const { call, asked } = desk();
  await call({
    tasks: ["../../etc/passwd", "  Find it! ", "", "é", "x".repeat(99)].map((id) => ({ id, assignment: "x" })),
  });
  expect(asked[0]?.tasks.map(({ id }) => id)).toEqual(["etc-passwd", "Find-it", "task-3", "task-4", "x".repeat(48)]);
});

it("tells how they are getting on, not more often than somebody can read", async () => {
  const { call, updates } = desk();
  await call({ tasks });
  expect(updates).toMatchObject([
    { content: [{ text: "a [task]: running\nb [task]: pending" }], details: { subagents: [{ id: "a" }, { id: "b" }] } },
  ]);
});

describe("the result", () => {
  it("has the reports, and details for the host without the long texts", async () => {
    const { call } = desk([
      { about: about({ task: "long", assignment: "long" }), text: "yes" },
      { about: about({ id: "b" }) },
    ]);
    expect(await call({ tasks })).toEqual({
      content: [{ type: "text", text: "## a [task] completed\n\nyes\n\n## b [task] completed\n\n(no answer)" }],
      details: { subagents: [about(), about({ id: "b" })] },
    });
  });

  it("of a sub-agent that failed has what it said before", async () => {
    const failed = about({ id: "b", status: "failed", error: "no key" });
    const { call } = desk([
      { about: about(), text: "yes" },
      { about: failed, text: "I will look" },
    ]);
    const { content } = await call({ tasks });
    expect(content).toEqual([
      {
        type: "text",
        text: "1 of 2 sub-agents failed: b [task]\n\n## a [task] completed\n\nyes\n\n## b [task] failed: no key\n\nI will look",
      },
    ]);
  });

  it.each<[what: string, text: string, begins: string]>([
    ["many lines", "line\n".repeat(50_000), "line\nline\n"],
    ["one long line", "é".repeat(100_000), "éé"],
  ])("is cut, and says where all of it is: %s", async (_what, text, begins) => {
    const { call } = desk([{ about: about({ sessionFile: "/s/a.jsonl" }), text }]);
    const [block] = (await call({ tasks })).content;
    const shown = block?.type === "text" ? block.text : "";
    expect(Buffer.byteLength(shown)).toBeLessThan(52_000);
    expect(shown).toContain(begins);
    expect(shown).toMatch(/\n\n\[The rest of the report was cut\. All of it: \/s\/a\.jsonl\]$/);
    expect(shown).not.toContain("\ufffd");
  });

  it("of an aborted call is always the same", async () => {
    const { call } = desk();
    await expect(call({ tasks }, AbortSignal.abort())).rejects.toThrow(
      "Tool execution was aborted: Request was aborted",
    );
  });
});
