import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { TodoPhase, TodoPhaseInput } from "../todo.ts";

export const TODOS = table({
  set_todos: defineCommand({
    type: "set_todos",
    summary: "Replaces the plan and answers with it in its normal form.",
    params: { phases: Type.Array(TodoPhaseInput) },
    result: Type.Object({ todoPhases: Type.Array(TodoPhase) }),
    lane: "ordered",
    systems: ["xcsh"],
    examples: [
      {
        params: {
          phases: [
            {
              id: "phase-1",
              name: "Build",
              tasks: [{ id: "task-1", content: "Find the failing step", status: "in_progress" }],
            },
          ],
        },
        data: {
          todoPhases: [
            {
              id: "phase-1",
              name: "Build",
              tasks: [{ id: "task-1", content: "Find the failing step", status: "in_progress" }],
            },
          ],
        },
      },
    ],
  }),
});
