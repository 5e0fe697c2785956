import { isFields } from "../html/format.ts";
import { type Child, el } from "./dom.ts";

/** A plan: phases of tasks. */

const STATES: Record<string, string> = { completed: "done", in_progress: "in progress", abandoned: "abandoned" };

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const fieldsIn = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isFields) : []);

/** The phases in `value`, if that is what it holds. */
export function phasesIn(value: unknown): Record<string, unknown>[] | undefined {
  const phases = isFields(value) ? fieldsIn(value.phases) : [];
  return phases.length > 0 && phases.every((phase) => Array.isArray(phase.tasks)) ? phases : undefined;
}

export function planElement(phases: readonly Record<string, unknown>[]): HTMLElement {
  return el("div", { class: "plan" }, ...phases.flatMap(phaseElements));
}

function phaseElements(phase: Record<string, unknown>): Child[] {
  const tasks = fieldsIn(phase.tasks).map((task) => {
    const state = Object.hasOwn(STATES, text(task.status)) ? (STATES[text(task.status)] as string) : "open";
    const box = el("span", { class: `task ${state.replace(" ", "-")}`, role: "img", "aria-label": state });
    return el("li", { class: "task-item" }, box, text(task.content), notes(task.notes));
  });
  return [el("p", { class: "phase" }, text(phase.name)), el("ul", {}, ...tasks)];
}

const notes = (value: unknown): Child => text(value) !== "" && el("span", { class: "note" }, ` ${text(value)}`);

export function planCount(phases: readonly Record<string, unknown>[]): string {
  const tasks = phases.flatMap((phase) => fieldsIn(phase.tasks));
  return `${tasks.filter((task) => task.status === "completed").length} of ${tasks.length} done`;
}
