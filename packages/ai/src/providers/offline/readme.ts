/** The title and the first real paragraph of a README, as plain text. Pure. */

export interface ReadmeFacts {
  title?: string;
  purpose?: string;
}

const LONGEST_PURPOSE = 400;
/** Lines that are no prose: headings, badges, pictures, HTML, tables, lists, rules, directives. */
const NOT_PROSE = /^(?:#|!\[|\[!\[|<|\||[-*+]\s|\d+[.)]\s|={3,}|-{3,}|\*{3,}|\.\.\s|:\w+:|\[[^\]]+\]:)/;

const LONGEST_LINE = 2000;
const LONGEST_TITLE = 200;

export function readReadme(text: string): ReadmeFacts {
  // A line that is longer says what it has to say in its beginning.
  const lines = withoutCode(text)
    .split("\n")
    .map((line) => line.slice(0, LONGEST_LINE));
  return { title: titleOf(lines), purpose: purposeOf(lines) };
}

/** A comment that is never closed goes to the end. Looking on behind each beginning of one would take minutes. */
function withoutCode(text: string): string {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, "").replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  return body.replace(/^(```|~~~)[\s\S]*?^\1.*$/gm, "");
}

function titleOf(lines: readonly string[]): string | undefined {
  for (const [i, line] of lines.entries()) {
    const heading = /^#\s+(.*?)\s*#*$/.exec(line.slice(0, LONGEST_TITLE))?.[1];
    const underlined = line.trim() !== "" && /^={3,}\s*$/.test(lines[i + 1] ?? "");
    const title = plain(heading ?? (underlined ? line : ""));
    if (title) return title;
  }
  return undefined;
}

function purposeOf(lines: readonly string[]): string | undefined {
  let paragraph: string[] = [];
  for (const [i, line] of [...lines, ""].entries()) {
    const text = line.trim().replace(/^>\s?/, "");
    const heading = /^(?:=|-){3,}\s*$/.test(lines[i + 1] ?? "");
    if (text !== "" && !NOT_PROSE.test(text) && !heading) {
      paragraph.push(text);
      continue;
    }
    const purpose = plain(paragraph.join(" "));
    if (/\p{L}{2,}/u.test(purpose)) return shorten(purpose);
    paragraph = [];
  }
  return undefined;
}

/** Without pictures, links, emphasis and tags. */
function plain(markdown: string): string {
  const unlinked = markdown
    .replace(/!\[[^[\]]*\]\([^()]*\)/g, "")
    .replace(/\[([^[\]]*)\](?:\([^()]*\)|\[[^[\]]*\])/g, "$1");
  return unlinked
    .replace(/<[^<>]*>/g, "")
    .replace(/(\*\*|__)(.+?)\1/g, "$2")
    .replace(/\s+/g, " ")
    .trim();
}

/** Ends at a sentence where it can, else at a word. */
export function shorten(text: string, limit = LONGEST_PURPOSE): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, limit);
  const sentence = Math.max(head.lastIndexOf(". "), head.lastIndexOf("! "), head.lastIndexOf("? "));
  if (sentence > limit / 3) return head.slice(0, sentence + 1);
  const word = head.lastIndexOf(" ");
  // Without any space the cut may fall inside a surrogate pair.
  return `${(word > 0 ? head.slice(0, word) : head.replace(/[\uD800-\uDBFF]$/, "")).trimEnd()} …`;
}
