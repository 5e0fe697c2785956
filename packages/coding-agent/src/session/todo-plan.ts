import type { TodoItem, TodoPhase, TodoPhaseInput, TodoStatus } from "@tiller/protocol/todo";

/** The plan of a session as data: phases of tasks. Pure. */

/** With ids where there were none; or what is wrong, in one sentence that names the field. */
export function normalPlan(given: readonly TodoPhaseInput[]): TodoPhase[] | { refused: string } {
  const phaseIds = freshIds("phase", given);
  const taskIds = freshIds(
    "task",
    given.flatMap(({ tasks }) => tasks),
  );
  const seen = new Set<string>();
  const plan: TodoPhase[] = [];
  for (const [at, { id, name, tasks }] of given.entries()) {
    if (name.trim() === "") return { refused: `"phases[${at}].name" is empty: a phase needs a name` };
    const items: TodoItem[] = [];
    for (const [place, task] of tasks.entries()) {
      const field = `phases[${at}].tasks[${place}]`;
      if (task.content.trim() === "") return { refused: `"${field}.content" is empty: a task needs a text` };
      const taskId = task.id || taskIds();
      if (seen.has(taskId)) return { refused: `"${field}.id" is "${taskId}", which is another task's` };
      seen.add(taskId);
      items.push({
        id: taskId,
        content: task.content.toWellFormed(),
        status: task.status ?? "pending",
        ...(typeof task.notes === "string" && { notes: task.notes.toWellFormed() }),
      });
    }
    const phaseId = id || phaseIds();
    if (plan.some((phase) => phase.id === phaseId)) {
      return { refused: `"phases[${at}].id" is "${phaseId}", which is another phase's` };
    }
    plan.push({ id: phaseId, name: name.toWellFormed(), tasks: items });
  }
  return plan;
}

/** Counts from 1 and leaves out what is taken. */
function freshIds(prefix: string, taken: readonly { id?: string | null }[]): () => string {
  const known = new Set(taken.map(({ id }) => id));
  let count = 0;
  return () => {
    do count += 1;
    while (known.has(`${prefix}-${count}`));
    return `${prefix}-${count}`;
  };
}

const OPEN: ReadonlySet<TodoStatus> = new Set(["pending", "in_progress"]);

export function openTasks(plan: readonly TodoPhase[]): TodoItem[] {
  return plan.flatMap(({ tasks }) => tasks.filter(({ status }) => OPEN.has(status)));
}

export function finishedTasks(plan: readonly TodoPhase[]): TodoItem[] {
  return plan.flatMap(({ tasks }) => tasks.filter(({ status }) => !OPEN.has(status)));
}

/** Without these tasks, and without the phases that are then empty. */
export function withoutTasks(plan: readonly TodoPhase[], ids: ReadonlySet<string>): TodoPhase[] {
  return plan
    .map((phase) => ({ ...phase, tasks: phase.tasks.filter(({ id }) => !ids.has(id)) }))
    .filter(({ tasks }) => tasks.length > 0);
}

const MARKS: Readonly<Record<TodoStatus, string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  abandoned: "[-]",
};

/** For the model: a line for each task, with the id by which it can be changed. */
export function planText(plan: readonly TodoPhase[]): string {
  if (plan.length === 0) return "The plan is empty.";
  return plan.map(({ name, tasks }) => [`## ${name}`, ...tasks.map(taskLine)].join("\n")).join("\n\n");
}

function taskLine({ id, content, status, notes }: TodoItem): string {
  return `- ${MARKS[status]} ${content} (${id})${notes ? `: ${notes}` : ""}`;
}
