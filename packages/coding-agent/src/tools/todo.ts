import type { TodoPhaseInput, TodoStatus } from "@tiller/protocol/todo";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

interface TodoArgs {
  /** Takes the place of the whole plan. */
  phases?: TodoPhaseInput[];
  updates?: { id: string; status?: TodoStatus; content?: string; notes?: string }[];
}

/** The model's side of the plan: writes it, and changes its tasks by their ids. */
export function createTodo({ plan }: ToolContext): Execute<TodoArgs> {
  return async ({ args: { phases, updates } }) => {
    if (!plan) throw new Error("There is no plan here");
    if (!phases && !updates) throw new Error('Give "phases" to write the plan, or "updates" to change tasks of it');
    const keeper = await plan();
    const next = withUpdates(phases ?? keeper.phases, updates ?? []);
    const kept = keeper.set(next, "model");
    if ("refused" in kept) throw new Error(kept.refused);
    return textResult(keeper.text(), { phases: kept });
  };
}

function withUpdates(phases: readonly TodoPhaseInput[], updates: NonNullable<TodoArgs["updates"]>): TodoPhaseInput[] {
  const known = new Set(phases.flatMap(({ tasks }) => tasks.map(({ id }) => id)));
  const unknown = updates.find(({ id }) => !known.has(id));
  if (unknown) {
    const ids = [...known].filter((id) => typeof id === "string");
    throw new Error(`There is no task "${unknown.id}" in the plan; there are: ${ids.join(", ") || "none"}`);
  }
  const changes = new Map<string, (typeof updates)[number]>();
  for (const update of updates) changes.set(update.id, { ...changes.get(update.id), ...update });
  return phases.map((phase) => ({
    ...phase,
    tasks: phase.tasks.map((task) => ({ ...task, ...(task.id && changes.get(task.id)) })),
  }));
}
