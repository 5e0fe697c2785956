import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage } from "@tiller/protocol/message";
import type { AgentHooks } from "./types.ts";

/** Waiting for hooks: they belong to others, so they may reject or never end. */

/** How long hooks may still take after an abort, all of a run together. */
const ABORT_GRACE_MS = 20;

/** Who waits until the grace of a run is over. */
interface Grace {
  isOver: boolean;
  waiting: Set<() => void>;
}

const graces = new WeakMap<AbortSignal, Grace>();

/** Counted from the abort, or from the first hook that is asked after it. */
function graceOf(signal: AbortSignal, clock: Clock): Grace {
  const known = graces.get(signal);
  if (known) return known;
  const grace: Grace = { isOver: false, waiting: new Set() };
  const end = (): void => {
    grace.isOver = true;
    for (const wake of grace.waiting) wake();
  };
  const begin = (): void => void clock.after(ABORT_GRACE_MS, end);
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  graces.set(signal, grace);
  return grace;
}

/** What the hook says; what was there before when it fails, or when it takes too long after an abort. */
export async function hooked<T>(ask: () => Promise<T>, otherwise: T, clock: Clock, signal: AbortSignal): Promise<T> {
  const grace = graceOf(signal, clock);
  let said = otherwise;
  const asked = (async () => {
    said = await ask();
  })().catch(() => undefined);
  if (grace.isOver) return otherwise;
  let wake = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    wake = resolve;
    grace.waiting.add(wake);
  });
  try {
    await Promise.race([asked, over]);
  } finally {
    grace.waiting.delete(wake);
  }
  return said;
}

/** The message to use. One of another role is none. */
export async function settled<M extends AgentMessage>(
  hooks: AgentHooks,
  message: M,
  clock: Clock,
  signal: AbortSignal,
): Promise<M> {
  const used = await hooked<AgentMessage>(
    async () => (await hooks.settle?.(message)) ?? message,
    message,
    clock,
    signal,
  );
  return isLike(used, message) ? used : message;
}

function isLike<M extends AgentMessage>(used: AgentMessage, message: M): used is M {
  return used.role === message.role;
}
