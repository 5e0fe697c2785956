/** Makes the raw output of a program readable: no colours, no cursor movements, no control characters. */

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
/** Operating system commands and other strings (ended by BEL or ST), control sequences, and two-character escapes. */
const ESCAPE_SEQUENCES =
  /[\u001b\u009d](?:\][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|[PX^_][^\u001b\u009c]*(?:\u001b\\|\u009c)?|\[[0-?]*[ -/]*[@-~]?|[ -/]+[0-~]?|[0-~])|\u009b[0-?]*[ -/]*[@-~]?/g;
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
