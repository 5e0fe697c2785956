import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { ExtensionUIRequest, PendingDialog } from "@tiller/protocol/extension-ui";
import type { DialogOptions, ExtensionUi } from "../../session/ports.ts";
import { createPendingRequests } from "./pending-requests.ts";

/** What extensions show and ask, as frames: the host draws it and answers. */
export interface UiBridge extends ExtensionUi {
  editor(
    title: string,
    prefill?: string,
    how?: DialogOptions & { promptStyle?: boolean },
  ): ReturnType<ExtensionUi["editor"]>;
  /** Takes an `extension_ui_response`. One that nobody waits for (any more) is ignored. */
  answer(frame: Readonly<Record<string, unknown>>): void;
  /** What waits for an answer, oldest first; the same list as long as nothing has changed. */
  pending(): readonly PendingDialog[];
  /** Nobody will answer any more: open dialogs get their defaults, and so do later ones. What is only told still goes out. */
  close(): void;
}

export interface UiBridgeOptions {
  write(frame: ExtensionUIRequest): void;
  ids: IdSource;
  clock: Clock;
  /** `setTitle` requests are sent. */
  emitTitle: boolean;
  /** A dialog that is withdrawn is told by a `cancel` request. */
  announcesCancel: boolean;
  /** Something odd that a person should know of; for a notice. */
  onSurprise(text: string): void;
}

/** The four dialogs: which field answers them, of which type, and what is taken when nobody does. */
const DIALOGS = {
  select: { field: "value", type: "string", fallback: undefined },
  confirm: { field: "confirmed", type: "boolean", fallback: false },
  input: { field: "value", type: "string", fallback: undefined },
  editor: { field: "value", type: "string", fallback: undefined },
} as const;

type Method = keyof typeof DIALOGS;
type DialogAnswer = string | boolean | undefined;
type DialogFields = Omit<PendingDialog, "id" | "method" | "openedAt" | "timeout"> & Record<string, unknown>;

interface OpenDialog {
  shown: PendingDialog;
  timedOut(): void;
}

const PREFIX = "ui";

export function createUiBridge(options: UiBridgeOptions): UiBridge {
  const { ids, clock, onSurprise } = options;
  const requests = createPendingRequests<DialogAnswer>(PREFIX, ids, clock);
  const open = new Map<string, OpenDialog>();
  let list: readonly PendingDialog[] | undefined;
  let closed = false;

  const tell = (fields: { method: ExtensionUIRequest["method"] } & Record<string, unknown>, id = ids.count(PREFIX)) =>
    options.write(withoutUndefined({ type: "extension_ui_request", id, ...fields }) as ExtensionUIRequest);

  const ask = async (method: Method, fields: DialogFields, how: DialogOptions = {}): Promise<DialogAnswer> => {
    const { fallback } = DIALOGS[method];
    if (closed || how.signal?.aborted) return fallback;
    const timeout = usableTimeout(how.timeout);
    const withdraw = (targetId: string): DialogAnswer => {
      forget(targetId);
      if (options.announcesCancel) tell({ method: "cancel", targetId });
      return fallback;
    };
    return requests.open({
      send(id) {
        const { title, message, options, placeholder, prefill } = fields;
        const shown = { id, method, title, message, options, placeholder, prefill, openedAt: clock.now(), timeout };
        open.set(id, { shown: withoutUndefined(shown), timedOut: () => callTimedOut(id, method, how) });
        list = undefined;
        try {
          tell({ method, ...fields, timeout }, id);
        } catch (error) {
          forget(id);
          throw error;
        }
        how.onShown?.(id);
      },
      signal: how.signal,
      onAbort: withdraw,
      timeoutMs: timeout,
      onTimeout(id) {
        withdraw(id);
        callTimedOut(id, method, how);
        return fallback;
      },
    });
  };

  const forget = (id: string): void => {
    open.delete(id);
    list = undefined;
  };

  /** The callback is the extension's: whatever it does, the dialog has ended. */
  const callTimedOut = (id: string, method: Method, how: DialogOptions): void => {
    try {
      how.onTimeout?.();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      onSurprise(`The onTimeout of dialog ${id} (${method}) threw: ${reason}`);
    }
  };

  return {
    hasUI: true,
    select: (title, choices, how) =>
      ask("select", { title, ...choiceFields(choices) }, how) as Promise<string | undefined>,
    confirm: (title, message, how) => ask("confirm", { title, message }, how) as Promise<boolean>,
    input: (title, placeholder, how) => ask("input", { title, placeholder }, how) as Promise<string | undefined>,
    editor: (title, prefill, how) =>
      ask("editor", { title, prefill, promptStyle: how?.promptStyle }, how) as Promise<string | undefined>,
    notify: (message, notifyType) => tell({ method: "notify", message, notifyType }),
    setStatus: (statusKey, statusText) => tell({ method: "setStatus", statusKey, statusText }),
    setWidget: (widgetKey, widgetLines, widgetPlacement) =>
      tell({ method: "setWidget", widgetKey, widgetLines, widgetPlacement }),
    setTitle(title) {
      if (options.emitTitle) tell({ method: "setTitle", title });
    },
    setEditorText: (text) => tell({ method: "set_editor_text", text }),

    answer(frame) {
      const dialog = open.get(frame.id as string);
      if (!dialog) return;
      const { id, method } = dialog.shown;
      forget(id);
      const { field, type, fallback } = DIALOGS[method];
      const given = frame[field];
      const isAnswer = frame.cancelled !== true && typeof given === type;
      requests.settle(id, isAnswer ? (given as DialogAnswer) : fallback);
      if (frame.cancelled !== true && !isAnswer) onSurprise(wrongAnswer(dialog.shown, given));
      if (frame.cancelled === true && frame.timedOut === true) dialog.timedOut();
    },
    pending() {
      list ??= [...open.values()].map(({ shown }) => shown);
      return list;
    },
    close() {
      closed = true;
      for (const [id, { shown }] of [...open]) {
        forget(id);
        requests.settle(id, DIALOGS[shown.method].fallback);
      }
    },
  };
}

/** A time that is not positive or has no end is none: the dialog waits. */
function usableTimeout(ms: number | undefined): number | undefined {
  return ms !== undefined && ms > 0 && Number.isFinite(ms) ? ms : undefined;
}

function choiceFields(choices: Parameters<ExtensionUi["select"]>[1]): { options: string[]; optionDetails?: object[] } {
  const options = choices.map((choice) => (typeof choice === "string" ? choice : choice.label));
  const details = choices.map((choice) =>
    typeof choice === "string" || choice.description === undefined ? {} : { description: choice.description },
  );
  return details.some((detail) => "description" in detail) ? { options, optionDetails: details } : { options };
}

function wrongAnswer({ id, method }: PendingDialog, given: unknown): string {
  const { field, type } = DIALOGS[method];
  const what =
    given === undefined
      ? `has no "${field}"`
      : `has a "${field}" that is no ${type} but ${given === null ? "null" : kindOf(given)}`;
  return `The answer to dialog ${id} (${method}) ${what}: taken as cancelled`;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
