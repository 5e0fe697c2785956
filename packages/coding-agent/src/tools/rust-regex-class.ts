/** Sets of characters in Rust's regular expressions, as JavaScript writes them with the flag `v`. Pure. */

/** Where the reading of a pattern has come to; every character is one of the input. */
export interface SetSyntax {
  readonly input: readonly string[];
  at: number;
  /** False when ripgrep of one version or the other refuses the pattern, or reads it in a way of its own. */
  isPortable: boolean;
}

export interface SetFlags {
  /** Spaces in brackets mean nothing. */
  spaced: boolean;
  /** Classes such as `\w` know only the characters of ASCII. */
  ascii: boolean;
}

const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}";
export const IS_WORD = `[${WORD}]`;
export const IS_ASCII_WORD = "[0-9A-Za-z_]";

/** No set holds the end of a line, which is never a part of it, nor bytes that are no character. */
const NEVER = "[\\r\\n\\p{Cs}]";
const without = (set: string) => `[${set}--${NEVER}]`;

/** Everything else. Not as `[^...]`: with the flag `v` Node 20 turns that around once more inside `(...){1,2}` and `(...)+`. */
export const allBut = (members: string): string => `[\\p{Any}--[${members}]]`;

const CLASSES: Readonly<Record<string, string>> = {
  d: "\\p{Nd}",
  D: without("\\P{Nd}"),
  s: without("\\p{White_Space}"),
  S: without("\\P{White_Space}"),
  w: IS_WORD,
  W: without(allBut(WORD)),
};

const ASCII_CLASSES: Readonly<Record<string, string>> = {
  d: "[0-9]",
  D: without(allBut("0-9")),
  s: "[\\t\\v\\f\\x20]",
  S: without(allBut("\\t-\\r\\x20")),
  w: IS_ASCII_WORD,
  W: without(allBut("0-9A-Za-z_")),
};

const CONTROLS: Readonly<Record<string, string>> = { a: "\x07", f: "\f", t: "\t", n: "\n", r: "\r", v: "\v" };

const POSIX: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  ascii: "\\x00-\\x7f",
  blank: "\\t\\x20",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e",
  space: "\\t-\\r\\x20",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/** A character as a member of a set, also good outside of brackets. */
export function member(char: string): string {
  return /[\p{L}\p{N}_]/u.test(char) ? char : `\\u{${char.codePointAt(0)!.toString(16)}}`;
}

/** The set that an escape sequence means. */
export function readSet(reader: SetSyntax, flags: SetFlags): string {
  return readEscape(reader, flags).set;
}

/** `char` is set when it is a single one, which may begin or end a range. */
function readEscape(reader: SetSyntax, flags: SetFlags): { set: string; char?: string } {
  const { input, at } = reader;
  const rest = input.slice(at, at + 80).join("");
  const code = /^\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|[xuU]\{([0-9a-f]+)\})/i.exec(rest);
  if (code) {
    reader.at += code[0].length;
    return single(String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? code[3] ?? code[4]!, 16)));
  }
  const property = /^\\([pP])(?:\{(\^?)([^}]+)\}|(\p{L}))/u.exec(rest);
  if (property) {
    reader.at += [...property[0]].length;
    const negated = (property[1] === "P") !== (property[2] === "^");
    // ripgrep takes `!=` for `=`.
    if (property[3]?.includes("!=")) reader.isPortable = false;
    return { set: without(readProperty(property[3] ?? property[4]!, negated)) };
  }
  const char = input[at + 1] ?? "";
  reader.at += 2;
  const found = (flags.ascii ? ASCII_CLASSES : CLASSES)[char];
  if (found) return { set: found };
  // Punctuation stands for itself; every letter has a meaning, or none.
  if (CONTROLS[char] === undefined && !/^[!-/:-@[-`{-~ ]$/.test(char))
    throw new SyntaxError(`unknown escape \\${char}`);
  return single(CONTROLS[char] ?? char);
}

function single(char: string): { set: string; char: string } {
  return { set: member(char), char };
}

/** Names in Rust are written in any case, with spaces, dashes and underscores as one likes. */
const simple = (name: string) => name.toLowerCase().replace(/[\s_-]|^is/g, "");

const SPECIAL_PROPERTIES: Readonly<Record<string, string>> = {
  any: "[\\u{0}-\\u{10ffff}]",
  ascii: "[\\x00-\\x7f]",
  assigned: "\\P{Cn}",
};

/** What JavaScript calls the categories and properties; scripts are found by trying. */
const NAMES =
  "Cased_Letter Close_Punctuation Connector_Punctuation Control Currency_Symbol Dash_Punctuation Decimal_Number Enclosing_Mark Final_Punctuation Format Initial_Punctuation Letter Letter_Number Line_Separator Lowercase_Letter Mark Math_Symbol Modifier_Letter Modifier_Symbol Nonspacing_Mark Number Open_Punctuation Other Other_Letter Other_Number Other_Punctuation Other_Symbol Paragraph_Separator Private_Use Punctuation Separator Space_Separator Spacing_Mark Symbol Titlecase_Letter Unassigned Uppercase_Letter ASCII_Hex_Digit Alphabetic Bidi_Control Bidi_Mirrored Case_Ignorable Cased Changes_When_Casefolded Changes_When_Casemapped Changes_When_Lowercased Changes_When_Titlecased Changes_When_Uppercased Dash Default_Ignorable_Code_Point Deprecated Diacritic Emoji Emoji_Component Emoji_Modifier Emoji_Modifier_Base Emoji_Presentation Extended_Pictographic Extender Grapheme_Base Grapheme_Extend Hex_Digit IDS_Binary_Operator IDS_Trinary_Operator ID_Continue ID_Start Ideographic Join_Control Logical_Order_Exception Lowercase Math Noncharacter_Code_Point Pattern_Syntax Pattern_White_Space Quotation_Mark Radical Regional_Indicator Sentence_Terminal Soft_Dotted Terminal_Punctuation Unified_Ideograph Uppercase Variation_Selector White_Space XID_Continue XID_Start LC Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn L M N P S Z C";

function readProperty(written: string, negated: boolean): string {
  const [, kind, not, value] = /^(?:([\w\s-]+?)\s*(!?)[=:])?(.*)$/s.exec(written)!;
  const isNegated = negated !== (not === "!");
  const name = simple(value!);
  const known = NAMES.split(" ").find((one) => simple(one) === name);
  // Old_Italic from any way to write it with its words apart.
  const script = value!
    .trim()
    .toLowerCase()
    .replace(/[\s-]/g, "_")
    .replace(/(?:^|_)\p{L}/gu, (letter) => letter.toUpperCase());
  const scriptKind = kind !== undefined && simple(kind).endsWith("x") ? "scx" : "sc";
  const letter = isNegated ? "P" : "p";
  const special = kind === undefined && Object.hasOwn(SPECIAL_PROPERTIES, name) ? SPECIAL_PROPERTIES[name] : undefined;
  if (special) return isNegated ? allBut(special) : special;
  const isCategory = kind === undefined || ["gc", "generalcategory"].includes(simple(kind));
  if (known && isCategory) return `\\${letter}{${known}}`;
  if (kind !== undefined && !["sc", "scx", "script", "scriptextensions"].includes(simple(kind))) {
    throw new SyntaxError(`unknown property ${written}`);
  }
  return `\\${letter}{${scriptKind}=${script}}`;
}

/** `[...]` with its nested classes and set operations. */
export function readClass(reader: SetSyntax, flags: SetFlags): string {
  return without(readBrackets(reader, flags));
}

function readBrackets(reader: SetSyntax, flags: SetFlags): string {
  const { input } = reader;
  reader.at += 1;
  skipSpace(reader, flags);
  const negated = input[reader.at] === "^";
  if (negated) reader.at += 1;
  skipSpace(reader, flags);
  /** What the operators so far came to, and the members since the last one. */
  let before = "";
  let members = "";
  let operator = "";
  const joined = () => (operator === "" ? members : join(before, operator, members));
  // At the beginning, dashes are dashes, and a closing bracket is one too.
  while (input[reader.at] === "-") members += take(reader, "-");
  if (members === "" && input[reader.at] === "]") members += take(reader, "]");
  for (;;) {
    skipSpace(reader, flags);
    if (reader.at >= input.length) throw new SyntaxError("unclosed class");
    const next = input[reader.at]! + (input[reader.at + 1] ?? "");
    if (next.startsWith("]")) {
      reader.at += 1;
      return negated ? allBut(joined()) : `[${joined()}]`;
    }
    if (next === "&&" || next === "--" || next === "~~") {
      before = joined();
      operator = next;
      members = "";
      reader.at += 2;
    } else {
      members += readMember(reader, flags);
    }
  }
}

function take(reader: SetSyntax, char: string): string {
  reader.at += 1;
  return member(char);
}

function join(before: string, operator: string, members: string): string {
  // JavaScript does not know "in one of the two, but not in both".
  if (operator === "~~") return `[[${before}]--[${members}]][[${members}]--[${before}]]`;
  return `[[${before}]${operator}[${members}]]`;
}

function readMember(reader: SetSyntax, flags: SetFlags): string {
  const { input } = reader;
  if (input[reader.at] === "[") return readPosix(reader) ?? readBrackets(reader, flags);
  const first = readCharacter(reader, flags);
  skipSpace(reader, flags);
  const isRange = input[reader.at] === "-" && input[reader.at + 1] !== "]" && input[reader.at + 1] !== "-";
  if (!isRange) return first.set;
  reader.at += 1;
  skipSpace(reader, flags);
  const last = readCharacter(reader, flags);
  if (first.char === undefined || last.char === undefined) throw new SyntaxError("a range needs two characters");
  return `${first.set}-${last.set}`;
}

function readCharacter(reader: SetSyntax, flags: SetFlags): { set: string; char?: string } {
  const char = reader.input[reader.at];
  if (char === undefined) throw new SyntaxError("unclosed class");
  if (char === "\\") return readEscape(reader, flags);
  reader.at += 1;
  return single(char);
}

/** `[:alpha:]`; undefined when it is another class. */
function readPosix(reader: SetSyntax): string | undefined {
  const found = /^\[:(\^?)([a-z]+):\]/.exec(reader.input.slice(reader.at, reader.at + 12).join(""));
  const members = found && POSIX[found[2]!];
  if (!members) return undefined;
  reader.at += found[0].length;
  return found[1] ? allBut(members) : members;
}

/** With the flag `x`, spaces and comments are for the reader, here too. */
export function skipSpace(reader: SetSyntax, { spaced }: Pick<SetFlags, "spaced">): void {
  if (!spaced) return;
  const { input } = reader;
  for (; reader.at < input.length; reader.at++) {
    if (input[reader.at] === "#") while (reader.at < input.length && input[reader.at] !== "\n") reader.at += 1;
    else if (!/\p{White_Space}/u.test(input[reader.at]!)) return;
  }
}
