import type { Clock } from "@tiller/protocol/clock";
import type { Extension } from "./extension.ts";
import { errorText } from "./guards/rejections.ts";

/** What became of calling into an extension. */
export type Called = { value: unknown } | { error: string } | { aborted: true };

export interface CallOptions {
  extension: Extension;
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
  let isLater: boolean;
  try {
    given = run();
    isLater = isPromise(given);
  } catch (error) {
    return { error: errorText(error) };
  } finally {
    leave();
  }
  // Most handlers are done at once. A promise of another make may throw where ours cannot.
  return isLater ? waitFor(Promise.resolve(given), options) : { value: given };
}

function waitFor(given: PromiseLike<unknown>, options: CallOptions): Promise<Called> {
  const { extension, what, limitMs, clock, signal } = options;
  return new Promise((resolve) => {
    let cancel = (): void => undefined;
    const finish = (called: Called): void => {
      cancel();
      signal?.removeEventListener("abort", aborted);
      resolve(called);
    };
    const aborted = (): void => finish({ aborted: true });
    const wait = (ms: number): void => {
      cancel = clock.after(ms, () => {
        // A person who thinks about an answer is not counted.
        const left = extension.dialogs > 0 ? limitMs : extension.dialogsOverAt + limitMs - clock.now();
        if (left > 0) wait(left);
        else finish({ error: `${what} did not finish within ${limitMs / 1000} s` });
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

function isPromise(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
