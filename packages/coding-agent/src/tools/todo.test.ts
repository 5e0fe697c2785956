import type { TodoPhase } from "@tiller/protocol/todo";
import { expect, it } from "vitest";
import { normalPlan, planText } from "../session/todo-plan.ts";
import { createTodo } from "./todo.ts";
import type { PlanKeeper, ToolContext } from "./tool.ts";

const first: TodoPhase[] = [
  {
    id: "phase-1",
    name: "Work",
    tasks: [
      { id: "task-1", content: "Rig", status: "in_progress" },
      { id: "task-2", content: "Sail", status: "pending" },
    ],
  },
];

function desk() {
  let phases = first;
  const keeper: PlanKeeper = {
    get phases() {
      return phases;
    },
    set(given, by) {
      expect(by).toBe("model");
      const kept = normalPlan(given);
      if (!("refused" in kept)) phases = kept;
      return kept;
    },
    text: () => planText(phases),
  };
  const run = createTodo({ plan: async () => keeper } as unknown as ToolContext);
  type Args = Parameters<typeof run>[0]["args"];
  const call = (args: Args) =>
    run({ toolCallId: "c", args, signal: new AbortController().signal, onUpdate: () => undefined });
  return { call, phases: () => phases };
}

it("writes the whole plan and reads it back with its ids", async () => {
  const { call, phases } = desk();
  const result = await call({ phases: [{ name: "New", tasks: [{ content: "Moor" }] }] });
  const plan = [{ id: "phase-1", name: "New", tasks: [{ id: "task-1", content: "Moor", status: "pending" }] }];
  expect(result).toEqual({
    content: [{ type: "text", text: "## New\n- [ ] Moor (task-1)" }],
    details: { phases: plan },
  });
  expect(phases()).toEqual(plan);
});

it("changes single tasks by their ids and leaves the rest", async () => {
  const { call, phases } = desk();
  await call({
    updates: [
      { id: "task-1", status: "completed", notes: "with two reefs" },
      { id: "task-2", status: "in_progress" },
    ],
  });
  expect(phases()[0]!.tasks).toEqual([
    { id: "task-1", content: "Rig", status: "completed", notes: "with two reefs" },
    { id: "task-2", content: "Sail", status: "in_progress" },
  ]);
});

it("makes all changes of a task, in their order", async () => {
  const { call, phases } = desk();
  await call({
    updates: [
      { id: "task-2", status: "in_progress", content: "Drift" },
      { id: "task-2", notes: "no wind", status: "abandoned" },
    ],
  });
  expect(phases()[0]!.tasks[1]).toEqual({ id: "task-2", content: "Drift", status: "abandoned", notes: "no wind" });
});

it("changes tasks of the plan that comes with it", async () => {
  const { call, phases } = desk();
  await call({
    phases: [{ name: "New", tasks: [{ id: "m", content: "Moor" }] }],
    updates: [{ id: "m", status: "completed" }],
  });
  expect(phases()[0]!.tasks).toEqual([{ id: "m", content: "Moor", status: "completed" }]);
});

it.each([
  ["nothing asked", {}, 'Give "phases" to write the plan, or "updates" to change tasks of it'],
  [
    "a task that is not there",
    { updates: [{ id: "task-9" }] },
    'There is no task "task-9" in the plan; there are: task-1, task-2',
  ],
  ["a plan that is refused", { phases: [{ name: "", tasks: [] }] }, '"phases[0].name" is empty'],
])("fails and changes nothing: %s", async (_story, args, problem) => {
  const { call, phases } = desk();
  await expect(call(args)).rejects.toThrow(problem);
  expect(phases()).toEqual(first);
});

it("fails where there is no plan", async () => {
  const run = createTodo({} as unknown as ToolContext);
  const signal = new AbortController().signal;
  await expect(run({ toolCallId: "c", args: {}, signal, onUpdate: () => undefined })).rejects.toThrow(
    "There is no plan here",
  );
});
