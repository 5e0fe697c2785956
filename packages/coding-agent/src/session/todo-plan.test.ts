import type { TodoPhase, TodoPhaseInput } from "@tiller/protocol/todo";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finishedTasks, normalPlan, openTasks, planText, withoutTasks } from "./todo-plan.ts";

const plan: TodoPhase[] = [
  {
    id: "a",
    name: "Evaluation",
    tasks: [
      { id: "1", content: "Map the read tool surface", status: "in_progress" },
      { id: "2", content: "Exercise edit operations", status: "pending", notes: "all three" },
    ],
  },
  {
    id: "b",
    name: "Report",
    tasks: [
      { id: "3", content: "Write it", status: "completed" },
      { id: "4", content: "Print it", status: "abandoned" },
    ],
  },
];
const task = (content: string, more: object = {}) => ({ content, ...more });

describe("a plan in its normal form", () => {
  it("is what it was when everything is there", () => expect(normalPlan(plan)).toEqual(plan));

  it("has ids that were left out, and none twice", () => {
    const given = [
      { name: "One", tasks: [task("x"), task("y", { id: "task-1" }), task("z", { id: "" })] },
      { id: "phase-1", name: "Two", tasks: [] },
      { id: null, name: "Three", tasks: [task("w", { id: null, status: null })] },
    ];
    expect(normalPlan(given)).toEqual([
      {
        id: "phase-2",
        name: "One",
        tasks: [
          { id: "task-2", content: "x", status: "pending" },
          { id: "task-1", content: "y", status: "pending" },
          { id: "task-3", content: "z", status: "pending" },
        ],
      },
      { id: "phase-1", name: "Two", tasks: [] },
      { id: "phase-3", name: "Three", tasks: [{ id: "task-4", content: "w", status: "pending" }] },
    ]);
  });

  it("has nothing that is not known", () => {
    const given = [{ name: "One", colour: "red", tasks: [task("x", { id: "t", details: "long", notes: null })] }];
    expect(normalPlan(given as TodoPhaseInput[])).toEqual([
      { id: "phase-1", name: "One", tasks: [{ id: "t", content: "x", status: "pending" }] },
    ]);
  });

  it("is a text that every provider takes", () => {
    const given = [{ name: "On\ud800", tasks: [task("x\udfff", { id: "t", notes: "\ud800n" })] }];
    const tasks = [{ id: "t", content: "x\ufffd", status: "pending", notes: "\ufffdn" }];
    expect(normalPlan(given)).toEqual([{ id: "phase-1", name: "On\ufffd", tasks }]);
  });

  const refused: [story: string, given: TodoPhaseInput[], problem: string][] = [
    ["a phase without a name", [{ name: " ", tasks: [] }], '"phases[0].name" is empty: a phase needs a name'],
    [
      "a task without a text",
      [{ name: "A", tasks: [task("x"), task("\n")] }],
      '"phases[0].tasks[1].content" is empty: a task needs a text',
    ],
    [
      "one id for two phases",
      [
        { id: "p", name: "A", tasks: [] },
        { id: "p", name: "B", tasks: [] },
      ],
      '"phases[1].id" is "p", which is another phase\'s',
    ],
    [
      "one id for two tasks",
      [
        { name: "A", tasks: [task("x", { id: "t" })] },
        { name: "B", tasks: [task("y", { id: "t" })] },
      ],
      '"phases[1].tasks[0].id" is "t", which is another task\'s',
    ],
  ];
  it.each(refused)("is refused: %s", (_story, given, problem) => {
    expect(normalPlan(given)).toEqual({ refused: problem });
  });

  it("keeps every id that was given, gives one to the rest, and is its own normal form", () => {
    const id = fc.option(fc.constantFrom("task-1", "task-2", "phase-1", "phase-2", "x", ""), { nil: undefined });
    const phases = fc.array(
      fc.record({ id, name: fc.constant("P"), tasks: fc.array(fc.record({ id, content: fc.constant("T") })) }),
    );
    fc.assert(
      fc.property(phases, (given) => {
        const made = normalPlan(given);
        if ("refused" in made) return;
        const ids = made.flatMap(({ tasks }) => tasks.map((one) => one.id));
        expect([new Set(ids).size, ids.includes("")]).toEqual([ids.length, false]);
        for (const [at, phase] of given.entries()) {
          if (phase.id) expect(made[at]!.id).toBe(phase.id);
          for (const [place, one] of phase.tasks.entries()) if (one.id) expect(made[at]!.tasks[place]!.id).toBe(one.id);
        }
        expect(normalPlan(made)).toEqual(made);
      }),
    );
  });
});

it("tells what is open from what is finished", () => {
  expect(openTasks(plan).map(({ id }) => id)).toEqual(["1", "2"]);
  expect(finishedTasks(plan).map(({ id }) => id)).toEqual(["3", "4"]);
});

it("loses a phase with the last of its tasks", () => {
  expect(withoutTasks(plan, new Set(["1"])).map(({ tasks }) => tasks.length)).toEqual([1, 2]);
  expect(withoutTasks(plan, new Set(["3", "4"]))).toEqual([plan[0]]);
});

it("is read by the model as a list with the ids", () => {
  expect(planText(plan)).toBe(`## Evaluation
- [>] Map the read tool surface (1)
- [ ] Exercise edit operations (2): all three

## Report
- [x] Write it (3)
- [-] Print it (4)`);
  expect(planText([])).toBe("The plan is empty.");
});
