import type { Clock } from "@tiller/protocol/clock";
import type { HookEvent, HookName, HookResult } from "../session/ports.ts";
import { isRecord } from "./answers.ts";
import { type Call, callExtension, newCall } from "./call.ts";
import type { Extension, ExtensionError, Handler } from "./extension.ts";
import { errorText } from "./guards/rejections.ts";
import { HOOKS, type HookRow, type HookState } from "./hooks.ts";
import { createLateHandlers } from "./late-handlers.ts";

export interface RunnerOptions {
  /** In the order in which they were loaded. */
  extensions(): readonly Extension[];
  /** The hooks that have a handler. */
  heard(): ReadonlySet<HookName>;
  /** What a handler gets beside the event. */
  context(extension: Extension, call: Call): object;
  report(error: ExtensionError): void;
  clock: Clock;
  /** No handler may take longer, whatever its row says; 0: what its row says. */
  longestMs: number;
  enter(label: string): () => void;
}

export interface Runner {
  listens(hook: HookName): boolean;
  run<K extends HookName>(hook: K, event: HookEvent<K>, signal?: AbortSignal): Promise<HookResult<K>>;
}

interface Listener {
  extension: Extension;
  handler: Handler;
}

/** Asks the handlers of a hook, one after the other, as its row in the table says. */
export function createRunner(options: RunnerOptions): Runner {
  const handlersOf = (hook: HookName): Listener[] =>
    options
      .extensions()
      .flatMap((extension) => (extension.handlers.get(hook) ?? []).map((handler) => ({ extension, handler })));
  const late = createLateHandlers();

  const ask = async <K extends HookName>(
    hook: K,
    { extension, handler }: Listener,
    state: HookState<K>,
    signal: AbortSignal | undefined,
  ): Promise<"stop" | undefined> => {
    const row: HookRow<K> = HOOKS[hook];
    // It has not dealt with what it was told before.
    if (!row.take && late.isLate(hook, handler)) return undefined;
    const { clock, enter } = options;
    const call = newCall(signal);
    const ctx = options.context(extension, call);
    const { path } = extension.source;
    const limitMs = options.longestMs > 0 ? Math.min(row.limitMs, options.longestMs) : row.limitMs;
    const how = { extension, call, what: hook, limitMs, clock, signal, enter };
    let given: unknown;
    const called = await callExtension(() => {
      given = handler(state.event, ctx);
      return given;
    }, how);
    if ("aborted" in called) return "stop";
    const spoiled = row.mend?.(state);
    if (spoiled !== undefined) options.report({ extensionPath: path, event: hook, error: spoiled });
    if ("error" in called) {
      if (called.isLate) late.add(hook, handler, given);
      options.report({ extensionPath: path, event: hook, error: called.error });
      return row.failed?.(called.error, state);
    }
    const answer = called.value;
    if (answer === undefined || answer === null || !row.take) return undefined;
    try {
      const taken = takeAnswer(row, answer, state);
      if (typeof taken !== "object") return taken;
      options.report({ extensionPath: path, event: hook, error: taken.problem });
      return undefined;
    } catch (error) {
      // It cannot even be looked at.
      const problem = `what the handler gave back cannot be used: ${firstLine(errorText(error))}`;
      options.report({ extensionPath: path, event: hook, error: problem });
      return row.failed?.(problem, state);
    }
  };

  return {
    listens: (hook) => options.heard().has(hook),
    async run<K extends HookName>(hook: K, given: HookEvent<K>, signal?: AbortSignal) {
      const row: HookRow<K> = HOOKS[hook];
      // The same object: whoever asks can follow what becomes of it.
      const event = Object.assign(given, { type: hook });
      const result = row.nothing(event);
      const askAll = async (listeners: readonly Listener[]): Promise<void> => {
        for (const listener of listeners) {
          const state = { event, result, extensionPath: listener.extension.source.path };
          if ((await ask(hook, listener, state, signal)) === "stop") break;
        }
      };
      const all = handlersOf(hook);
      await Promise.all((row.allAtOnce ? byExtension(all) : [all]).map(askAll));
      return result;
    },
  };
}

function byExtension(listeners: readonly Listener[]): Listener[][] {
  const extensions = new Set(listeners.map(({ extension }) => extension));
  return [...extensions].map((extension) => listeners.filter((listener) => listener.extension === extension));
}

function takeAnswer<K extends HookName>(
  row: HookRow<K>,
  answer: unknown,
  state: HookState<K>,
): "stop" | { problem: string } | undefined {
  if (row.takesAnything || isRecord(answer)) return row.take?.(answer as Record<string, unknown>, state);
  return {
    problem: `the handler gave back ${shown(answer)}. What it may give back: ${row.answer ?? "nothing"}`,
  };
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function shown(value: unknown): string {
  return Array.isArray(value) ? "a list" : `the ${typeof value} ${String(value).slice(0, 60)}`;
}
