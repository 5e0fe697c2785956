/** JavaScript knows upper and lower case alike only for a whole pattern; here for a single set of characters. Pure. */

const CASED = "[\\p{Changes_When_Casemapped}\\p{Changes_When_Casefolded}]";
/** Beyond, no letter has two cases. */
const LAST_CASED = 0x1ffff;

let cased: string[] | undefined;

/** The same set without regard to case, for a pattern with regard to it. Takes milliseconds: for few patterns. */
export function foldCase(set: string): string {
  cased ??= findCased();
  const matches = new RegExp(`^${set}$`, "iv");
  const both = cased.filter((char) => matches.test(char)).map((char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
  return `[[[${set}]--${CASED}]${both.join("")}]`;
}

function findCased(): string[] {
  const found: string[] = [];
  const isCased = new RegExp(CASED, "v");
  for (let code = 0; code <= LAST_CASED; code++) {
    const char = String.fromCodePoint(code);
    if (isCased.test(char)) found.push(char);
  }
  return found;
}
