import type { Clock } from "@tiller/protocol/clock";
import type { Delta, DeltaStream, ModelRequest } from "../provider.ts";
import { abortedDelta, nextTurn, pause } from "./offline/local-model.ts";
import { type Action, actionsOf, type Pause } from "./script-actions.ts";
import type { Turn } from "./script-types.ts";

/** Plays one turn: the actions of the turn, with time, batches and abort. */

/** Deltas without any pace arrive in one batch; this only keeps absurd numbers from filling the memory. */
const LARGEST_BATCH = 100_000;

export async function* playTurn(turn: Turn, request: ModelRequest): DeltaStream {
  const pauseBefore = createPacer(request.clock);
  let batch: Delta[] = [];
  let deaf = false;
  for (const action of actionsOf(turn, request)) {
    if (request.signal.aborted && !deaf) {
      yield [...batch, abortedDelta()];
      return;
    }
    if (action.type === "ignoreAbort") deaf = true;
    else if (!isPause(action)) batch.push(action);
    const ms = isPause(action) ? pauseBefore(action) : batch.length < LARGEST_BATCH ? undefined : 0;
    if (ms === undefined) continue;
    if (batch.length > 0) yield batch;
    batch = [];
    await rest(ms, request.clock, deaf ? undefined : request.signal);
  }
  if (batch.length > 0) yield batch;
}

function isPause(action: Action): action is Pause {
  return action.type === "wait" || action.type === "gap" || action.type === "hang";
}

/** How long each pause lasts; undefined for a gap that is already over, so that a late stream keeps its rate. */
function createPacer(clock: Clock): (action: Pause) => number | undefined {
  let due: number | undefined;
  return (action) => {
    if (action.type === "hang") return Number.POSITIVE_INFINITY;
    if (action.type === "wait") {
      due = undefined;
      return action.ms;
    }
    due = (due ?? clock.now()) + action.ms;
    if (action.ms === 0) return 0;
    const left = due - clock.now();
    return left > 0 ? left : undefined;
  };
}

/** No time at all still lets the event loop turn. Without a signal nothing ends the rest early. */
function rest(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  if (ms === 0) return nextTurn();
  return Number.isFinite(ms) ? pause(clock, ms, signal) : forever(signal);
}

function forever(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}
