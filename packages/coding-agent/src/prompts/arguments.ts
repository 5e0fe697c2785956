/** What stands after `/name`, and where it goes in a template. Pure; every text is a valid input. */

export interface Argument {
  value: string;
  /** The white space before it. */
  gap: string;
}

const QUOTES = `"'`;

/**
 * Splits as a shell does: at white space, and quotes hold together what is between them. There are no escapes, a quote
 * that is never closed is a character like others, and so is the apostrophe in a word.
 */
export function splitArguments(text: string): Argument[] {
  const found: Argument[] = [];
  let gap = "";
  let at = 0;
  while (at < text.length) {
    if (isSpace(text[at]!)) {
      gap += text[at++];
      continue;
    }
    let value = "";
    while (at < text.length && !isSpace(text[at]!)) {
      const end = closingQuote(text, at);
      value += end < 0 ? text[at] : text.slice(at + 1, end);
      at = end < 0 ? at + 1 : end + 1;
    }
    found.push({ value, gap });
    gap = "";
  }
  return found;
}

function isSpace(char: string): boolean {
  return /\s/.test(char);
}

function closingQuote(text: string, at: number): number {
  const char = text[at]!;
  if (!QUOTES.includes(char)) return -1;
  const isApostrophe = char === "'" && at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1]!);
  return isApostrophe ? -1 : text.indexOf(char, at + 1);
}

/**
 * `$1`, `${1}`, `${1:-default}`; `$@`, `$ARGUMENTS`, `${@}`, `${@:-default}`; and parts of the list by their place and
 * number: `${@:2}`, `${@:2:3}`, `$@[2]`, `$@[2:3]`.
 */
const WITHOUT_BRACES = String.raw`(?<one>\d+)|@\[(?<from>\d+)(?::(?<count>\d*))?\]|(?<all>@|ARGUMENTS)`;
const IN_BRACES = String.raw`\{(?:(?<oneOr>\d+)|(?<allOr>@|ARGUMENTS))(?::-(?<otherwise>[^}]*))?\}|\{@:(?<start>\d+)(?::(?<length>\d+))?\}`;
const ANY = new RegExp(String.raw`\$(?:${WITHOUT_BRACES}|${IN_BRACES})`, "g");
const UNBRACED = new RegExp(String.raw`\$(?:${WITHOUT_BRACES})`, "g");

/** Behind the last brace none can close: to look for its end from each `${1:-` there takes the square of the length. */
function halves(template: string): [string, RegExp][] {
  const end = template.lastIndexOf("}") + 1;
  return [
    [template.slice(0, end), ANY],
    [template.slice(end), UNBRACED],
  ];
}

export function countPlaceholders(template: string): number {
  return halves(template).reduce((sum, [text, placeholder]) => sum + (text.match(placeholder)?.length ?? 0), 0);
}

/** In one go, so that what looks like a placeholder in an argument stays as it is. What is missing is empty. */
export function fillIn(template: string, given: readonly Argument[]): string {
  const fill = (...match: unknown[]): string => valueFor(match.at(-1) as Record<string, string | undefined>, given);
  return halves(template)
    .map(([text, placeholder]) => text.replace(placeholder, fill))
    .join("");
}

function valueFor(found: Readonly<Record<string, string | undefined>>, given: readonly Argument[]): string {
  const place = found.one ?? found.oneOr;
  if (place !== undefined) return given[Number(place) - 1]?.value || (found.otherwise ?? "");
  const from = Math.max(1, Number(found.from ?? found.start ?? 1)) - 1;
  const count = found.count || found.length;
  const part = given.slice(from, count === undefined || count === "" ? undefined : from + Number(count));
  return joined(part) || (found.otherwise ?? "");
}

/** With the space that was between them, so that lines stay lines. */
export function joined(part: readonly Argument[]): string {
  return part.map(({ value, gap }, index) => (index === 0 ? value : gap + value)).join("");
}
