/** Makes the raw output of a program readable: no colours, no cursor movements, no control characters. */

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
/**
 * Operating system commands and other strings (ended by BEL or ST), control sequences, and two-character escapes. A string
 * that does not end on its line is none: only its first two characters go, and the text behind them stays.
 */
const ESCAPE_SEQUENCES =
  /[\u001b\u009d](?:\][^\u0007\u001b\u009c\n]{0,4096}(?:\u0007|\u001b\\|\u009c)|[PX^_][^\u001b\u009c\n]{0,4096}(?:\u001b\\|\u009c)|\[[0-?]*[ -/]*[@-~]?|[ -/]+[0-~]?|[0-~])|\u009b[0-?]*[ -/]*[@-~]?/g;
/** Everything below space but tab and newline, DEL and C1, and the invisible interlinear marks. CR goes too. */
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]/g;
/** Most output is clean, and looking is cheaper than replacing. */
const NEEDS_CLEANING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufff9-\ufffb]/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

export function cleanText(text: string): string {
  if (!NEEDS_CLEANING.test(text)) return text;
  return text.replace(ESCAPE_SEQUENCES, "").replace(CONTROL_CHARACTERS, "");
}

/** Decodes UTF-8 whose beginning may have been cut inside a character: the rest of that character is left out. */
export function decodeCutUtf8(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
}

/** No usual sequence is longer; what looks like a longer one is most likely text. */
const LONGEST_SEQUENCE = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const UNFINISHED_SEQUENCE = /^\u001b(?:\][^\u0007\n]*|[PX^_][^\u0007\n]*|\[[0-?]*[ -/]*|[ -/]*)$/;
const ESCAPE = 0x1b;

/** How many bytes can be cleaned now: up to a character or a sequence at the end whose rest has not come yet. */
export function wholeLength(bytes: Buffer): number {
  const end = bytes.length - unfinishedCharacter(bytes);
  const begin = bytes.subarray(0, end).lastIndexOf(ESCAPE);
  if (begin === -1 || end - begin > LONGEST_SEQUENCE) return end;
  return UNFINISHED_SEQUENCE.test(bytes.toString("utf8", begin, end)) ? begin : end;
}

/** Bytes at the end that begin a UTF-8 character without finishing it. */
function unfinishedCharacter(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
}
