import type { SessionJournal } from "../../session/ports.ts";
import type { DeltaEvent, ToldUpdates } from "./open-message.ts";

/** What a host has missed, put together of what is kept and of the message that is being streamed. */

export interface Replay {
  /** Frames up to this number are not all there. */
  base: number;
  frames: string[];
}

/** Makes the frame of an increment under a number that it was told under; so many more stand behind it. */
export type RenderUpdate = (updates: ToldUpdates, event: ToldUpdates["event"], seq: number, behind: number) => string;

export function replayAfter(
  after: number,
  journal: Pick<SessionJournal, "after">,
  told: readonly ToldUpdates[],
  render: RenderUpdate,
): Replay {
  const { base, frames } = journal.after(after);
  const updates = told.flatMap((group, at) => {
    const missed = missedOf(group, after);
    return missed ? [{ seq: missed.seq, json: render(group, missed.event, missed.seq, told.length - 1 - at) }] : [];
  });
  return { base, frames: merged(frames, updates) };
}

/** Pieces of a block are joined into one; it has the number of the last. */
function missedOf({ firstSeq, event, deltas, joined }: ToldUpdates, after: number) {
  const count = joined?.ends.length ?? deltas.length;
  const seq = firstSeq + Math.max(count, 1) - 1;
  if (seq <= after) return undefined;
  if (count === 0) return { seq, event };
  const known = Math.max(after - firstSeq + 1, 0);
  const delta = joined ? joined.text.slice(joined.ends[known - 1] ?? 0) : deltas.slice(known).join("");
  return { seq, event: { ...(event as DeltaEvent), delta } };
}

function merged(frames: readonly string[], updates: readonly { seq: number; json: string }[]): string[] {
  const all: string[] = [];
  let next = 0;
  for (const frame of frames) {
    const seq = seqOf(frame);
    for (; next < updates.length && (updates[next]?.seq ?? 0) < seq; next++) all.push(updates[next]?.json ?? "");
    all.push(frame);
  }
  for (; next < updates.length; next++) all.push(updates[next]?.json ?? "");
  return all;
}

function seqOf(frame: string): number {
  return Number(/(\d+)\}$/.exec(frame.slice(-30))?.[1]);
}
