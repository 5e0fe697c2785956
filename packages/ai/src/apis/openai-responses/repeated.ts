import type { Delta } from "../../provider.ts";

/**
 * The pieces of one block come in events that differ in nothing but the piece, a running number and some padding. So
 * after one of them was parsed, the pieces are cut out of the next ones by a pattern that fixes every other character:
 * a fifth of the work. A piece with quotes or escapes, and every other event, does not fit and has to be parsed.
 */
export interface Repeated {
  pattern: RegExp | undefined;
  /** The block whose pieces come like this. */
  index: number;
  /** How often a pattern may still be looked for: a server may have a form of its own, where there is none. */
  tries: number;
}

export function nothingRepeated(): Repeated {
  return { pattern: undefined, index: -1, tries: 5 };
}

/** Takes the event if it is one more piece. */
export function pushRepeated({ pattern, index }: Repeated, data: string, out: Delta[]): boolean {
  const text = pattern?.exec(data)?.[1];
  if (text === undefined) return false;
  out.push({ type: "grow", index, text });
  return true;
}

/** `piece` is what the event was found to say, `delta` what became of it. Only what is passed on as it came is learned. */
export function learnRepeated(repeated: Repeated, data: string, piece: unknown, delta: Delta | undefined): void {
  if (repeated.pattern || repeated.tries === 0 || delta?.type !== "grow" || delta.text !== piece) return;
  repeated.tries--;
  const pattern = patternOf(data);
  if (pattern?.exec(data)?.[1] !== piece) return;
  repeated.pattern = pattern;
  repeated.index = delta.index;
}

/** A quote inside of a text is escaped, so what looks like the name of a field is one. */
const CHANGING = /"(delta|sequence_number|obfuscation)":\s*("[^"\\]*"|\d+)/g;
const PLAIN = '[^"\\\\\\u0000-\\u001f]';

function patternOf(data: string): RegExp | undefined {
  let source = "";
  let pieces = 0;
  let from = 0;
  for (const { 0: field, 1: name, 2: value = "", index } of data.matchAll(CHANGING)) {
    const end = index + field.length;
    source += literally(data.slice(from, end - value.length));
    from = end;
    if (name === "delta") {
      pieces++;
      source += `"(${PLAIN}+)"`;
    } else source += value.startsWith('"') ? `"${PLAIN}*"` : "\\d+";
  }
  return pieces === 1 ? new RegExp(`^${source}${literally(data.slice(from))}$`) : undefined;
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
