import type { CompactionResult } from "@tiller/protocol/compaction";
import type { ExtensionActions } from "./actions.ts";
import { isRecord } from "./answers.ts";
import type { Extension } from "./extension.ts";
import { uiForExtension } from "./ui-for-extensions.ts";

export interface ContextOptions {
  extension: Extension;
  /** Throws when the extension is no longer the one that is loaded. */
  actions(): ExtensionActions;
  theme: object;
  /** Told to the host once for each key. */
  notice(key: string, text: string): void;
  now(): number;
  /** A dialog of this extension is shown, or is over. */
  onPrompt(when: "start" | "end", dialog: { id: string; method: string }): void;
  /** The context of this extension as it is loaded now: it may have been loaded anew since. */
  successor(): object;
}

/** What every handler gets. Its fields are looked up when they are asked for: they are never out of date. */
export function createContext(options: ContextOptions): object {
  const { actions } = options;
  const ui = lazyUi(options, () => actions().questionSignals());
  return {
    get ui() {
      return ui();
    },
    get hasUI() {
      return actions().ui.hasUI;
    },
    get mode() {
      return actions().mode;
    },
    get cwd() {
      return actions().cwd();
    },
    get sessionManager() {
      return actions().view;
    },
    get modelRegistry() {
      return actions().modelRegistry();
    },
    get model() {
      return actions().model();
    },
    get thinkingLevel() {
      return actions().thinkingLevel();
    },
    get scopedModels() {
      return actions().scopedModels();
    },
    get signal() {
      return actions().signal();
    },
    isIdle: () => actions().isIdle(),
    isProjectTrusted: () => actions().isProjectTrusted(),
    abort: () => actions().abort(),
    hasPendingMessages: () => actions().hasPendingMessages(),
    shutdown: () => actions().shutdown(),
    getContextUsage: () => actions().contextUsage(),
    getSystemPrompt: () => actions().systemPrompt(),
    compact: (given?: unknown) => compact(actions(), isRecord(given) ? given : {}),
  };
}

/** `ctx.ui`, made when it is first asked for. Its dialogs are withdrawn when one of the signals aborts. */
function lazyUi(options: ContextOptions, call: () => readonly AbortSignal[]): () => object {
  const { extension, actions, theme, notice, onPrompt } = options;
  let ui: object | undefined;
  return () => {
    ui ??= uiForExtension({
      ui: () => actions().ui,
      theme,
      notice,
      life: extension.life.signal,
      call,
      onDialog(isOpen) {
        extension.dialogs += isOpen ? 1 : -1;
        if (!isOpen) extension.dialogsOverAt = options.now();
      },
      onPrompt,
    });
    return ui;
  };
}

interface CompactOptions {
  customInstructions?: string;
  onComplete?(result: CompactionResult): void;
  onError?(error: Error): void;
}

/** Nobody waits for it; who wants to know gives functions to call. */
function compact(actions: ExtensionActions, { customInstructions, onComplete, onError }: CompactOptions): void {
  void actions.compact(customInstructions).then((made) => {
    if ("result" in made) onComplete?.(made.result);
    else onError?.(new Error(made.refused));
  });
}

/** What the handler of a command has beside that: it may leave the session. */
export function createCommandContext(options: ContextOptions, base: object): object {
  const { actions } = options;
  /** `withSession` sees the session that was entered, not the one that was left. */
  const entered = async (done: { cancelled: boolean }, how: unknown): Promise<{ cancelled: boolean }> => {
    const withSession = isRecord(how) ? how.withSession : undefined;
    if (!done.cancelled && typeof withSession === "function") await withSession(options.successor());
    return { cancelled: done.cancelled };
  };
  // It runs beside what else is going on: nothing but its own end takes back what it asks.
  const ui = lazyUi(options, () => []);
  return inherit(base, {
    get ui() {
      return ui();
    },
    waitForIdle: () => actions().waitForIdle(),
    newSession: async (how?: { parentSession?: string; setup?(view: object): unknown }) =>
      entered(await actions().newSession({ parentSession: how?.parentSession, setup: how?.setup }), how),
    fork: async (entryId: string, how?: { position?: "before" | "at" }) =>
      entered(await actions().fork(entryId, how?.position ?? "before"), how),
    branch: async (entryId: string, how?: object) => entered(await actions().fork(entryId, "before"), how),
    navigateTree: async (targetId: string, how?: object) => {
      const { cancelled } = await actions().navigateTree(targetId, how ?? {});
      return { cancelled };
    },
    switchSession: async (path: string, how?: object) => entered(await actions().switchSession(path), how),
    reload: () => actions().reload(),
  });
}

/** For one call: with its own signal, which also takes back what the call asks. */
export function withSignal(options: ContextOptions, context: object, signal: AbortSignal | undefined): object {
  if (!signal) return context;
  const ui = lazyUi(options, () => [signal]);
  return inherit(context, {
    signal,
    get ui() {
      return ui();
    },
  });
}

/** Both; the getters of the first stay getters. */
export function inherit(base: object, more: object): object {
  return Object.create(base, Object.getOwnPropertyDescriptors(more)) as object;
}
