import type { Delta } from "../provider.ts";

/**
 * All tokens of a block come in the same wrapping, so after the first one the text is cut out of its event without
 * parsing: a third of the work. Text with quotes or escapes, and every other event, does not fit and has to be parsed.
 *
 * Use it only where nothing but the text differs between the events of one block.
 */
export interface Wrapping {
  /** What stands before and after the text. */
  head: string;
  tail: string;
  /** The block whose tokens come like this. */
  index: number;
}

export function noWrapping(): Wrapping {
  return { head: "", tail: "", index: -1 };
}

/** Takes the event if it is a token of the known wrapping. */
export function pushWrapped(wrapping: Wrapping, data: string, out: Delta[]): boolean {
  const { head, tail } = wrapping;
  const end = data.length - tail.length;
  if (head === "" || end <= head.length || !data.startsWith(head) || !data.endsWith(tail)) return false;
  const text = data.slice(head.length, end);
  if (text.includes('"') || text.includes("\\")) return false;
  out.push({ type: "grow", index: wrapping.index, text });
  return true;
}

/** A text that stands in its event exactly once, between quotes, tells where the texts of the next ones will stand. */
export function learnWrapping(wrapping: Wrapping, data: string, delta: Delta | undefined): void {
  if (delta?.type !== "grow" || delta.index === wrapping.index) return;
  const quoted = `"${delta.text}"`;
  const at = data.indexOf(quoted);
  if (at === -1 || data.indexOf(quoted, at + 1) !== -1) return;
  wrapping.head = data.slice(0, at + 1);
  wrapping.tail = data.slice(at + 1 + delta.text.length);
  wrapping.index = delta.index;
}
