import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage, CustomMessage } from "@tiller/protocol/message";
import type { TodoItem, TodoPhase, TodoPhaseInput } from "@tiller/protocol/todo";
import type { SessionEvent } from "./session-event.ts";
import type { SessionStore } from "./store/session-store.ts";
import { finishedTasks, normalPlan, openTasks, planText, withoutTasks } from "./todo-plan.ts";

/** Owns the plan of the session. It is kept in the session file, and the model hears of what others have changed in it. */
export interface Todos {
  readonly phases: readonly TodoPhase[];
  /** Puts another plan in its place. What the model wrote itself it need not be told. */
  set(phases: readonly TodoPhaseInput[], by: "host" | "model"): TodoPhase[] | { refused: string };
  /** As the model reads it. */
  text(): string;
  /** What the model has not heard of yet, or that it shall plan, as a message; undefined when there is nothing. */
  takeNews(): CustomMessage | undefined;
  /** What is left to do, if the model is to be reminded of it. */
  reminder(attempt: number): { event: SessionEvent; message: CustomMessage } | undefined;
  /** Another session, or another place in it, is in the store. */
  adopt(): void;
  close(): void;
}

export interface TodoOptions {
  store: SessionStore;
  clock: Clock;
  emit(event: SessionEvent): unknown;
  settings: {
    /** Seconds until a finished task is taken out of the plan; negative: never. */
    clearDelay: number;
    reminders: boolean;
    maxReminders: number;
    /** The model is asked to plan before it begins. */
    eager: boolean;
  };
  /** The model can change the plan: only then it is reminded of it. */
  isToolActive(): boolean;
}

const ENTRY = "tiller.todos";
const PLAN_MESSAGE = "todo-plan";
const REMINDER_MESSAGE = "todo-reminder";
const EAGER_MESSAGE = "todo-eager";
const EAGER_TEXT = `<system-reminder>
Before you begin, write a plan of the work with the tool todo, unless it is done in a step or two.
</system-reminder>`;

export function createTodos({ store, clock, emit, settings, isToolActive }: TodoOptions): Todos {
  /** Undefined: not looked for yet in the session that is in the store. */
  let known: readonly TodoPhase[] | undefined;
  /** Unix milliseconds, when the plan was last set. */
  let setAt = 0;
  let hasNews = false;
  const timers = new Map<string, () => void>();

  const phases = (): readonly TodoPhase[] => {
    if (!known) ({ phases: known, setAt } = recorded(store));
    return known;
  };
  const keep = (next: readonly TodoPhase[]): void => {
    known = next;
    store.append({ type: "custom", customType: ENTRY, data: { phases: next } });
    watch();
  };
  /** Finished tasks stay a while, for people to see. */
  const watch = (): void => {
    const finished = new Set(finishedTasks(phases()).map(({ id }) => id));
    for (const [id, cancel] of timers) {
      if (finished.has(id)) continue;
      cancel();
      timers.delete(id);
    }
    if (settings.clearDelay < 0) return;
    for (const id of finished) {
      if (!timers.has(id))
        timers.set(
          id,
          clock.after(settings.clearDelay * 1000, () => clear(id)),
        );
    }
  };
  const clear = (id: string): void => {
    timers.delete(id);
    keep(withoutTasks(phases(), new Set([id])));
    emit({ type: "todo_auto_clear" });
  };
  const forgetTimers = (): void => {
    for (const cancel of timers.values()) cancel();
    timers.clear();
  };

  /** Once, at the beginning: who has answered without a plan did not want one. */
  const asksForPlan = (): boolean => settings.eager && isToolActive() && !store.messages.some(isAfterBeginning);

  return {
    get phases() {
      return phases();
    },
    set(given, by) {
      const plan = normalPlan(given);
      if ("refused" in plan) return plan;
      keep(plan);
      setAt = clock.now();
      hasNews = by === "host";
      return plan;
    },
    text: () => planText(phases()),
    takeNews() {
      const plan = phases();
      if (plan.length === 0 && !hasNews && asksForPlan()) {
        return {
          role: "custom",
          customType: EAGER_MESSAGE,
          content: EAGER_TEXT,
          display: false,
          timestamp: clock.now(),
        };
      }
      // A process may have ended before the model was told, and a compaction makes it forget.
      if (!hasNews && (openTasks(plan).length === 0 || wasTold(store.messages, setAt))) return undefined;
      const change = hasNews ? "The plan was set from outside. It is now" : "The plan of this session";
      hasNews = false;
      const content = `${change}:\n\n${planText(plan)}`;
      return { role: "custom", customType: PLAN_MESSAGE, content, display: false, timestamp: clock.now() };
    },
    reminder(attempt) {
      if (!settings.reminders || attempt > settings.maxReminders || !isToolActive()) return undefined;
      const todos = openTasks(phases());
      if (todos.length === 0) return undefined;
      const { maxReminders: maxAttempts } = settings;
      return {
        event: { type: "todo_reminder", todos, attempt, maxAttempts },
        message: {
          role: "custom",
          customType: REMINDER_MESSAGE,
          content: reminderText(todos, phases(), `${attempt}/${maxAttempts}`),
          display: false,
          timestamp: clock.now(),
        },
      };
    },
    adopt() {
      forgetTimers();
      known = undefined;
      hasNews = false;
    },
    close: forgetTimers,
  };
}

function reminderText(todos: readonly TodoItem[], plan: readonly TodoPhase[], count: string): string {
  const open = new Set(todos.map(({ id }) => id));
  const left = plan
    .map((phase) => ({ ...phase, tasks: phase.tasks.filter(({ id }) => open.has(id)) }))
    .filter(({ tasks }) => tasks.length > 0);
  return `<system-reminder>
You stopped with ${todos.length} open task${todos.length === 1 ? "" : "s"} in the plan:

${planText(left)}

Go on with them, or mark in the plan what is done or given up. (Reminder ${count})
</system-reminder>`;
}

function isAfterBeginning(message: AgentMessage): boolean {
  return message.role === "assistant" || (message.role === "custom" && message.customType === EAGER_MESSAGE);
}

/** What the model can still see says how the plan is since then. */
function wasTold(messages: readonly AgentMessage[], setAt: number): boolean {
  return messages.some((message) => message.timestamp >= setAt && tellsPlan(message));
}

function tellsPlan(message: AgentMessage): boolean {
  if (message.role === "toolResult") return message.toolName === "todo" && !message.isError;
  return message.role === "custom" && [PLAN_MESSAGE, REMINDER_MESSAGE].includes(message.customType);
}

interface RecordedPlan {
  phases: readonly TodoPhase[];
  setAt: number;
}

/** The last plan on the way to the leaf. */
function recorded({ log, path }: SessionStore): RecordedPlan {
  const way = log.holds("custom") ? path() : [];
  for (let at = way.length - 1; at >= 0; at--) {
    const position = way[at]!;
    if (log.kind(position) !== "custom") continue;
    const entry = log.look(position);
    if (entry?.type !== "custom" || entry.customType !== ENTRY) continue;
    const { phases } = (entry.data ?? {}) as { phases?: unknown };
    const plan = Array.isArray(phases) ? readPlan(phases) : undefined;
    if (plan) return { phases: plan, setAt: Date.parse(entry.timestamp) || 0 };
  }
  return NO_PLAN;
}

const NO_PLAN: RecordedPlan = { phases: [], setAt: 0 };

/** What stands in a file may have been written by anybody. */
function readPlan(phases: readonly unknown[]): TodoPhase[] | undefined {
  try {
    const plan = normalPlan(phases as TodoPhaseInput[]);
    return "refused" in plan ? undefined : plan;
  } catch {
    return undefined;
  }
}
