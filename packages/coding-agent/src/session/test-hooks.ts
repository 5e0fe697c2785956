import type { HookName, SessionHooks } from "./ports.ts";

type Answers = { [K in HookName]?: (event: object) => object | undefined };

/** Hooks for tests: they listen where an answer is given, and note what they are asked and told. */
export function testHooks(answers: Answers, notes: string[]): SessionHooks {
  const note = (name: string, event: object): void => {
    const { signal: _, type: __, ...payload } = event as Record<string, unknown>;
    notes.push(`${name} ${JSON.stringify(payload)}`);
  };
  return {
    listens: (hook) => answers[hook] !== undefined,
    run: async (hook, event) => {
      note(hook, event);
      return answers[hook]?.(event) as never;
    },
    observe: () => undefined,
    beforeSettle: async () => ({ messages: [], continue: false }),
    settled: async () => undefined,
    forAgent: () => undefined,
    leave: async (reason, target) => note("leave", { reason, target }),
    entered: async (reason, previous) => note("entered", { reason, previous }),
  };
}
