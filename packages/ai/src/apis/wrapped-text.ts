import type { Delta } from "../provider.ts";

/**
 * All tokens of a block come in the same wrapping, so after the first one the text is cut out of its event without
 * parsing: a third of the work. Text with quotes or escapes, and every other event, does not fit and has to be parsed.
 *
 * Use it only where nothing but the text differs between the events of one block, and forget it when the block is closed.
 */
export interface Wrapping {
  /** What stands before and after the text. */
  head: string;
  tail: string;
  /** The tail without its blanks, where only blanks can differ: some providers pad their events to hide their length. */
  tightTail: string;
  /** The block whose tokens come like this. */
  index: number;
}

export function noWrapping(): Wrapping {
  return { head: "", tail: "", tightTail: "", index: -1 };
}

/** Takes the event if it is a token of the known wrapping. */
export function pushWrapped(wrapping: Wrapping, data: string, out: Delta[]): boolean {
  const { head } = wrapping;
  if (head === "" || !data.startsWith(head)) return false;
  const end = data.indexOf('"', head.length);
  if (end <= head.length || !isTail(wrapping, data, end)) return false;
  const text = data.slice(head.length, end);
  // A line break inside a text is not JSON; whoever parses the event will say so.
  if (text.includes("\\") || text.includes("\n")) return false;
  out.push({ type: "grow", index: wrapping.index, text });
  return true;
}

function isTail({ tail, tightTail }: Wrapping, data: string, from: number): boolean {
  if (data.length - from === tail.length && data.endsWith(tail)) return true;
  return tightTail !== "" && data.slice(from).replaceAll(" ", "") === tightTail;
}

/** A text that stands in its event exactly once, between quotes, tells where the texts of the next ones will stand. */
export function learnWrapping(wrapping: Wrapping, data: string, delta: Delta | undefined): void {
  if (delta?.type !== "grow" || delta.index === wrapping.index) return;
  const quoted = `"${delta.text}"`;
  const at = data.indexOf(quoted);
  if (at === -1 || data.indexOf(quoted, at + 1) !== -1) return;
  const tail = data.slice(at + 1 + delta.text.length);
  wrapping.head = data.slice(0, at + 1);
  wrapping.tail = tail;
  wrapping.tightTail = tail.includes('"', 1) ? "" : tail.replaceAll(" ", "");
  wrapping.index = delta.index;
}
