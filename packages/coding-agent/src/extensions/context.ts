import type { CompactionResult } from "@tiller/protocol/compaction";
import type { ExtensionActions } from "./actions.ts";
import { isRecord } from "./answers.ts";
import { type Call, countDialog, newCall } from "./call.ts";
import type { Extension } from "./extension.ts";
import { askedBy, errorText } from "./guards/rejections.ts";
import { uiForExtension } from "./ui-for-extensions.ts";

export interface ContextOptions {
  extension: Extension;
  /** Throws when the extension is no longer the one that is loaded. */
  actions(): ExtensionActions;
  theme: object;
  /** Told to the host once for each key. */
  notice(key: string, text: string): void;
  /** What went wrong with something that nobody waits for. */
  problem(event: string, error: string): void;
  now(): number;
  /** A dialog of this extension is shown, or is over. */
  onPrompt(when: "start" | "end", dialog: { id: string; method: string }): void;
  /** The context of this extension as it is loaded now: it may have been loaded anew since. */
  successor(): object;
}

/** Where a context keeps what it was made for. A symbol: handlers are called for each delta, and this costs next to nothing. */
const CALL = Symbol("call");

/** What every handler gets. Its fields are looked up when they are asked for: they are never out of date. */
export function createContext(options: ContextOptions): object {
  const { actions } = options;
  const context = {
    [CALL]: { ...newCall(), isOver: true },
    get ui(): object {
      return uiOf(options, this[CALL]);
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
    get signal(): AbortSignal | undefined {
      return this[CALL].signal ?? actions().signal();
    },
    isIdle: () => actions().isIdle(),
    isProjectTrusted: () => actions().isProjectTrusted(),
    abort: () => actions().abort(),
    hasPendingMessages: () => actions().hasPendingMessages(),
    shutdown: () => actions().shutdown(),
    getContextUsage: () => actions().contextUsage(),
    getSystemPrompt: () => actions().systemPrompt(),
    getSystemPromptOptions: () => actions().systemPromptOptions(),
    compact: (given?: unknown) => compact(actions(), isRecord(given) ? given : {}, options.problem),
  };
  return context;
}

/** `ctx.ui`, made when it is first asked for. Its dialogs are withdrawn when nobody waits for an answer any more. */
function uiOf(options: ContextOptions, call: Call): object {
  const { extension, actions, theme, notice, onPrompt } = options;
  call.ui ??= uiForExtension({
    ui: () => actions().ui,
    theme,
    notice,
    life: extension.life,
    call: () => (call.isCommand ? [] : call.signal ? [call.signal] : actions().questionSignals()),
    onDialog: () => countDialog(call, extension, options.now),
    onPrompt,
  });
  return call.ui;
}

/** The context for one call. */
export function contextFor(context: object, call: Call): object {
  const own = Object.create(context) as { [CALL]: Call };
  own[CALL] = call;
  return own;
}

interface CompactOptions {
  customInstructions?: string;
  onComplete?(result: CompactionResult): void;
  onError?(error: Error): void;
}

/** Nobody waits for it; who wants to know gives functions to call. What they throw, and what they do not take, is told. */
function compact(
  actions: ExtensionActions,
  { customInstructions, onComplete, onError }: CompactOptions,
  problem: ContextOptions["problem"],
): void {
  const failed = (error: unknown): void => {
    if (onError) onError(error instanceof Error ? error : new Error(errorText(error)));
    else problem("compact", errorText(error));
  };
  const compacted = async (): Promise<void> => {
    let made: Awaited<ReturnType<ExtensionActions["compact"]>>;
    try {
      made = await actions.compact(customInstructions);
    } catch (error) {
      return failed(error);
    }
    if ("result" in made) await onComplete?.(made.result);
    else failed(new Error(made.refused));
  };
  void compacted().catch((error: unknown) => problem("compact", errorText(error)));
}

/** What the handler of a command has beside that: it may leave the session. */
export function createCommandContext(options: ContextOptions, base: object): object {
  const { actions } = options;
  const own = <T>(work: Promise<T>): Promise<T> => askedBy(options.extension.source.path, work);
  /** `withSession` sees the session that was entered, not the one that was left. */
  const entered = async (left: Promise<{ cancelled: boolean }>, how: unknown): Promise<{ cancelled: boolean }> => {
    const { cancelled } = await left;
    const withSession = isRecord(how) ? how.withSession : undefined;
    if (!cancelled && typeof withSession === "function") await withSession(options.successor());
    return { cancelled };
  };
  return inherit(base, {
    [CALL]: { ...newCall(undefined, true), isOver: true },
    waitForIdle: () => actions().waitForIdle(),
    newSession: async (how?: { parentSession?: string; setup?(view: object): unknown }) =>
      own(entered(actions().newSession({ parentSession: how?.parentSession, setup: how?.setup }), how)),
    fork: async (entryId: string, how?: { position?: "before" | "at" }) =>
      own(entered(actions().fork(entryId, how?.position ?? "before"), how)),
    branch: async (entryId: string, how?: object) => own(entered(actions().fork(entryId, "before"), how)),
    navigateTree: async (targetId: string, how?: object) => {
      const { cancelled } = await own(actions().navigateTree(targetId, how ?? {}));
      return { cancelled };
    },
    switchSession: async (path: string, how?: object) => own(entered(actions().switchSession(path), how)),
    reload: async () => {
      await own(actions().reload());
      return { cancelled: false };
    },
  });
}

/** Both; the getters of the first stay getters. */
export function inherit(base: object, more: object): object {
  return Object.create(base, Object.getOwnPropertyDescriptors(more)) as object;
}
