import type { AnswerWatch } from "@tiller/agent/types";
import type { Clock } from "@tiller/protocol/clock";
import type { CustomMessage } from "@tiller/protocol/message";
import type { RuleInterruptMode } from "@tiller/protocol/stream-rule";
import { createMatcher } from "./rules/matcher.ts";
import { reminderText } from "./rules/reminder.ts";
import type { LoadedRule, Part } from "./rules/rule.ts";
import type { RunRules } from "./session/run-options.ts";
import type { SessionEvent } from "./session/session-event.ts";
import type { SessionStore } from "./session/store/session-store.ts";

export interface RuleSettings {
  contextMode: "discard" | "keep";
  interruptMode: RuleInterruptMode;
  repeatMode: "once" | "after-gap";
  repeatGap: number;
}

export interface StreamRuleOptions {
  rules: readonly LoadedRule[];
  settings: RuleSettings;
  store: SessionStore;
  clock: Clock;
  emit(event: SessionEvent): unknown;
}

export interface StreamRules extends RunRules {
  /** For the next answer; undefined when no rule may trigger in it. */
  watch(): AnswerWatch | undefined;
}

/** The rules of a session at work. Which of them the model was told of already stands in the session file. */
export function createStreamRules(options: StreamRuleOptions): StreamRules {
  const { rules, settings, store, clock, emit } = options;
  const matcher = createMatcher(store.cwd, () =>
    emit({ type: "notice", level: "warning", source: "rules", message: SPENT }),
  );
  /** What the last answer has broken, until the model is told. An answer that is made anew begins without. */
  let broken: LoadedRule[] = [];
  let wasInterrupted = false;

  const isDue = (since: number | undefined): boolean =>
    since === undefined || (settings.repeatMode === "after-gap" && since >= settings.repeatGap);
  const interrupts = ({ rule }: LoadedRule, part: Part): boolean =>
    INTERRUPTS[rule.interruptMode ?? settings.interruptMode](part);

  return {
    discards: settings.contextMode === "discard",
    get hasObjections() {
      return broken.length > 0;
    },
    watch() {
      broken = [];
      wasInterrupted = false;
      const told = messagesSince(store);
      const due = rules.filter(({ rule }) => isDue(told.get(rule.name)));
      if (due.length === 0) return undefined;
      const look = matcher.watch(due, (found, part) => {
        broken.push(...found);
        emit({ type: "ttsr_triggered", rules: found.map(({ rule }) => rule) });
        wasInterrupted = found.some((rule) => interrupts(rule, part));
        return wasInterrupted;
      });
      return (event) => (look(event) ? objection(broken) : undefined);
    },
    takeReminder(): CustomMessage | undefined {
      if (broken.length === 0) return undefined;
      const told = broken.map(({ rule }) => rule);
      broken = [];
      const names = told.map(({ name }) => name);
      store.append({ type: "ttsr_injection", injectedRules: names });
      return {
        role: "custom",
        customType: "ttsr-injection",
        content: reminderText(told, { cwd: store.cwd, wasInterrupted }),
        display: false,
        details: { rules: names },
        timestamp: clock.now(),
      };
    },
  };
}

const SPENT =
  "The stream rules are not held to the rest of this answer: looking for their conditions in it takes too long. Conditions that count far, such as [ab]{300}, are the usual cause.";

const INTERRUPTS: Readonly<Record<RuleInterruptMode, (part: Part) => boolean>> = {
  always: () => true,
  "prose-only": (part) => part !== "tool",
  "tool-only": (part) => part === "tool",
  never: () => false,
};

function objection(broken: readonly LoadedRule[]): string {
  const names = broken.map(({ rule }) => `"${rule.name}"`).join(", ");
  return `Interrupted by the stream rule${broken.length === 1 ? "" : "s"} ${names}`;
}

/** For each rule that the model was told of on the way to the leaf: how many messages came after that. */
function messagesSince({ log, path }: SessionStore): ReadonlyMap<string, number> {
  const since = new Map<string, number>();
  const way = path();
  let messages = 0;
  for (let at = way.length - 1; at >= 0; at--) {
    const position = way[at]!;
    const kind = log.kind(position);
    if (kind === "message") messages += 1;
    if (kind !== "ttsr_injection") continue;
    const entry = log.look(position);
    const names = entry?.type === "ttsr_injection" ? entry.injectedRules : [];
    // What stands in a file may have been written by anybody.
    for (const name of Array.isArray(names) ? names : []) if (!since.has(name)) since.set(name, messages);
  }
  return since;
}
