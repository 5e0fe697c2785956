import type { Clock } from "@tiller/protocol/clock";
import { type Extension, noDialogs, type OpenDialogs } from "./extension.ts";
import { errorText } from "./guards/rejections.ts";

/** What became of calling into an extension. `isLate`: its time was over, and it is still at work. */
export type Called = { value: unknown } | { error: string; isLate?: true } | { aborted: true };

/** One call into an extension. What it asks a person is counted for it alone: its neighbours do not wait for that. */
export interface Call extends OpenDialogs {
  readonly signal?: AbortSignal;
  /** Runs beside what else is going on: nothing but its own end takes back what it asks. */
  readonly isCommand: boolean;
  /** Who goes on with its context is part of no call any more. */
  isOver: boolean;
  /** `ctx.ui`, once it was asked for. */
  ui?: object;
}

export function newCall(signal?: AbortSignal, isCommand = false): Call {
  return { ...noDialogs(), isCommand, isOver: false, ...(signal && { signal }) };
}

/** Counts a dialog until the function that it gives back is called. */
export function countDialog(call: Call, extension: Extension, now: () => number): () => void {
  const counted: OpenDialogs = call.isOver ? extension : call;
  counted.dialogs += 1;
  return () => {
    counted.dialogs -= 1;
    counted.dialogsOverAt = now();
  };
}

export interface CallOptions {
  extension: Extension;
  /** What its context was made for. */
  call?: Call;
  /** For people: which handler. */
  what: string;
  limitMs: number;
  clock: Clock;
  signal?: AbortSignal;
  /** Told when our thread goes into the extension; the function that it gives back, when it comes out again. */
  enter(label: string): () => void;
}

/** Calls into an extension and waits for it, but not for ever. Never throws. */
export async function callExtension(run: () => unknown, options: CallOptions): Promise<Called> {
  const leave = options.enter(`${options.extension.source.path} (${options.what})`);
  let given: unknown;
  let isLater = false;
  try {
    given = run();
    isLater = isPromise(given);
  } catch (error) {
    return { error: errorText(error) };
  } finally {
    leave();
    if (!isLater) endCall(options);
  }
  // Most handlers are done at once. A promise of another make may throw where ours cannot.
  return isLater ? waitFor(Promise.resolve(given), options) : { value: given };
}

function waitFor(given: PromiseLike<unknown>, options: CallOptions): Promise<Called> {
  const { what, limitMs, clock, signal } = options;
  return new Promise((resolve) => {
    let cancel = (): void => undefined;
    const finish = (called: Called): void => {
      cancel();
      signal?.removeEventListener("abort", aborted);
      endCall(options);
      resolve(called);
    };
    const aborted = (): void => finish({ aborted: true });
    const wait = (ms: number): void => {
      cancel = clock.after(ms, () => {
        const left = timeLeft(options);
        if (left > 0) wait(left);
        else finish({ error: `${what} did not finish within ${limitMs / 1000} s`, isLate: true });
      });
    };
    given.then(
      (value) => finish({ value }),
      (error: unknown) => finish({ error: errorText(error) }),
    );
    if (Number.isFinite(limitMs)) wait(limitMs);
    if (signal?.aborted) aborted();
    else signal?.addEventListener("abort", aborted, { once: true });
  });
}

function endCall({ call }: CallOptions): void {
  if (call) call.isOver = true;
}

/** A person who thinks about an answer is not counted. */
function timeLeft({ extension, call, limitMs, clock }: CallOptions): number {
  const own: OpenDialogs = call ?? extension;
  if (own.dialogs > 0 || extension.dialogs > 0) return limitMs;
  return Math.max(own.dialogsOverAt, extension.dialogsOverAt) + limitMs - clock.now();
}

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
