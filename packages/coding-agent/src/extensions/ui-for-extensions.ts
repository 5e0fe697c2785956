import type { DialogOptions, ExtensionUi } from "../session/ports.ts";
import {
  choicesOf,
  dialogOptionsOf,
  keyOf,
  linesOf,
  notifyTypeOf,
  optionalText,
  placementOf,
  textOf,
} from "./ui-arguments.ts";

/** `ctx.ui`: what a host can show and ask works; what needs a terminal does nothing, and the host is told so once. */

export interface UiForExtensionOptions {
  /** Throws when the extension is no longer the one that is loaded. */
  ui(): ExtensionUi;
  /** Colours of texts, for `ctx.ui.theme`. */
  theme: object;
  /** Tells the host; what has the same key need be told only once. */
  notice(onceKey: string, text: string): void;
  /** A dialog opens; the function that it gives back is called when it has ended. */
  onDialog(): () => void;
  /** A dialog is shown, or is over: for those who want to know that somebody is asked. */
  onPrompt?(when: "start" | "end", dialog: { id: string; method: string }): void;
  /** Aborts when the extension's time is over: its dialogs are withdrawn. */
  life?: AbortSignal;
  /** Aborts when what the extension was called for is over: nobody waits for an answer any more. Asked for each dialog. */
  call?(): readonly AbortSignal[];
}

type Choice = string | { label: string; description?: string };

/** What extensions see. The arguments are checked when they come: most extensions are JavaScript in the end. */
export interface UiForExtension {
  select(title: string, options: readonly Choice[], how?: DialogOptions): Promise<string | undefined>;
  confirm(title: string, message?: string, how?: DialogOptions): Promise<boolean>;
  input(title: string, placeholder?: string, how?: DialogOptions): Promise<string | undefined>;
  editor(
    title: string,
    prefill?: string,
    how?: DialogOptions,
    style?: { promptStyle?: boolean },
  ): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
  setStatus(key: string, text: string | undefined): void;
  setWidget(
    key: string,
    content: readonly string[] | ((...given: never[]) => unknown) | undefined,
    options?: { placement?: "aboveEditor" | "belowEditor" },
  ): void;
  setTitle(title: string): void;
  setEditorText(text: string): void;
  pasteToEditor(text: string): void;
  getEditorText(): string;
  readonly theme: object;
  getAllThemes(): { name: string; path: string | undefined }[];
  getTheme(name: string): object | undefined;
  setTheme(theme: string | object): { success: boolean; error?: string };
  getToolsExpanded(): boolean;
  getEditorComponent(): undefined;
  custom(...given: unknown[]): Promise<undefined>;
  setFooter(...given: unknown[]): void;
  setHeader(...given: unknown[]): void;
  setWorkingMessage(...given: unknown[]): void;
  setWorkingIndicator(...given: unknown[]): void;
  setWorkingVisible(...given: unknown[]): void;
  setHiddenThinkingLabel(...given: unknown[]): void;
  setEditorComponent(...given: unknown[]): void;
  setToolsExpanded(...given: unknown[]): void;
  onTerminalInput(...given: unknown[]): () => void;
  addAutocompleteProvider(...given: unknown[]): () => void;
}

export function uiForExtension(options: UiForExtensionOptions): UiForExtension {
  const { ui } = options;

  /** Opens a dialog of which the other arguments have been checked. */
  const dialog = async <A>(method: string, how: unknown, open: (how: DialogOptions) => Promise<A>): Promise<A> => {
    const checked = dialogOptionsOf(`${method}(): opts`, how);
    const either = firstOf(checked.signal, options.life, ...(options.call?.() ?? []));
    let shown: string | undefined;
    const onShown = (id: string): void => {
      shown = id;
      options.onPrompt?.("start", { id, method });
    };
    const closed = options.onDialog();
    try {
      return await open({ ...checked, signal: either.signal, ...(options.onPrompt && { onShown }) });
    } finally {
      either.release();
      closed();
      if (shown !== undefined) options.onPrompt?.("end", { id: shown, method });
    }
  };

  /** Where there is no host nobody expects to see anything. */
  const tellOnce = (method: string, instead: string): void => {
    if (ui().hasUI) options.notice(`ctx.ui.${method}`, `ctx.ui.${method}() needs a terminal: here ${instead}`);
  };

  /** Setting something back to what it was before takes nothing from anybody. */
  const unsupported =
    <R>(method: string, instead: string, result: R) =>
    (...given: unknown[]): R => {
      if (given[0] !== undefined) tellOnce(method, instead);
      return result;
    };
  const noEffect = (method: string) => unsupported(method, "it has no effect", undefined);
  const unsubscribe = (): void => undefined;

  const checked = {
    select: async (title: unknown, choices: unknown, how: unknown) => {
      const [text, list] = [textOf("select(): title", title), choicesOf("select(): options", choices)];
      return dialog("select", how, (opts) => ui().select(text, list, opts));
    },
    confirm: async (title: unknown, message: unknown, how: unknown) => {
      const [text, more] = [textOf("confirm(): title", title), textOf("confirm(): message", message)];
      return dialog("confirm", how, (opts) => ui().confirm(text, more, opts));
    },
    input: async (title: unknown, placeholder: unknown, how: unknown) => {
      const [text, hint] = [textOf("input(): title", title), optionalText("input(): placeholder", placeholder)];
      return dialog("input", how, (opts) => ui().input(text, hint, opts));
    },
    editor: async (title: unknown, prefill: unknown, how: unknown, style?: { promptStyle?: unknown }) => {
      const [text, start] = [textOf("editor(): title", title), optionalText("editor(): prefill", prefill)];
      const looks = style?.promptStyle === true ? { promptStyle: true } : {};
      return dialog("editor", how, (opts) => ui().editor(text, start, { ...opts, ...looks }));
    },
    notify: (message: unknown, type: unknown) => ui().notify(textOf("notify(): message", message), notifyTypeOf(type)),
    setStatus: (key: unknown, text: unknown) =>
      ui().setStatus(keyOf("setStatus(): key", key), optionalText("setStatus(): text", text)),
    setWidget(key: unknown, content: unknown, where: unknown) {
      const name = keyOf("setWidget(): key", key);
      if (typeof content === "function")
        return tellOnce("setWidget", "a widget is a list of lines, components are not shown");
      const lines = content === undefined || content === null ? undefined : linesOf("setWidget(): content", content);
      ui().setWidget(name, lines, placementOf(where));
    },
    setTitle: (title: unknown) => ui().setTitle(textOf("setTitle(): title", title)),
    setEditorText: (text: unknown) => ui().setEditorText(textOf("setEditorText(): text", text)),
    pasteToEditor: (text: unknown) => ui().setEditorText(textOf("pasteToEditor(): text", text)),
  };

  return {
    ...checked,
    getEditorText() {
      tellOnce("getEditorText", "it is always empty");
      return "";
    },
    theme: options.theme,
    getAllThemes: () => [],
    getTheme: () => undefined,
    setTheme: () => ({ success: false, error: `Theme switching not supported ${ui().hasUI ? "in RPC mode" : "here"}` }),
    getToolsExpanded: () => false,
    getEditorComponent: () => undefined,
    custom: unsupported("custom", "nothing is shown and the answer is undefined", Promise.resolve(undefined)),
    setFooter: noEffect("setFooter"),
    setHeader: noEffect("setHeader"),
    setWorkingMessage: noEffect("setWorkingMessage"),
    setWorkingIndicator: noEffect("setWorkingIndicator"),
    setWorkingVisible: noEffect("setWorkingVisible"),
    setHiddenThinkingLabel: noEffect("setHiddenThinkingLabel"),
    setEditorComponent: noEffect("setEditorComponent"),
    setToolsExpanded: noEffect("setToolsExpanded"),
    onTerminalInput: unsupported("onTerminalInput", "no key is ever seen", unsubscribe),
    addAutocompleteProvider: unsupported("addAutocompleteProvider", "it is never asked", unsubscribe),
  };
}

/** Aborts with the first of them that does. Signals of any make are taken, so `AbortSignal.any` cannot be used. */
function firstOf(...given: (AbortSignal | undefined)[]): { signal?: AbortSignal; release(): void } {
  const signals = given.filter((signal) => signal !== undefined);
  if (signals.length < 2) return { signal: signals[0], release: () => undefined };
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (signals.some((signal) => signal.aborted)) abort();
  for (const signal of signals) signal.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) signal.removeEventListener("abort", abort);
    },
  };
}
