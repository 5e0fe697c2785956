import fc from "fast-check";

/** For tests: patterns of every form that ripgrep knows, and lines with everything that lines have. */

const bytes = (hex: string) => Buffer.from(hex, "hex");

/** Letters with more than two cases, marks, separators that end no line, carriage returns, bytes that are no character. */
export const ODD_LINES: readonly Buffer[] = [
  ..."foo|Foo|a|A|aB|Ab|abc|k|K|\u212a|s|S|\u017f|ss|ß|ẞ|é|É|e\u0301|ǆ|ǅ|Ǆ|σ|ς|Σ|ı|I|i|İ|ι|\u0345|µ|μ|Ꭰ|ꭰ".split("|"),
  ..."x\u2028y|x\u2029y|x\u0085y|x\u00a0y|x\vy|x y|x\ty|foo bar|foo_bar|foo-bar|_|-|]|[|^|$|.|*|\\|{|}|a{2}".split("|"),
  ..."1|٣|²|Ⅷ|日本|😀|a😀b|\u200d|\ufffd|a\ufffdb|a&b|a~b|~|&|#|a b#c|\"|'|/|<b>||a\rb|foo\rbar|foo\r\r|\r|\ra|a\r".split(
    "|",
  ),
]
  .map((text) => Buffer.from(text))
  .concat(["61ff62", "ff", "61c3", "e29961", "eda080", "61efbfbd62ff63", "f09f9861"].map(bytes));

const character = fc.constantFrom(...'aabbAkKsSßéσΣιµx yz_-1 #&~"/<>]}{,😀\u017f\u212a\u2028ı');
const escapes = fc.constantFrom(
  ..."\\d;\\D;\\s;\\S;\\w;\\W;\\pL;\\p{Lu};\\P{Lu};\\p{lowercase letter};\\p{Greek};\\p{sc=Latin};\\p{any};\\p{ascii};\\PN".split(
    ";",
  ),
  ..."\\x61;\\x{212a};\\u00df;\\t;\\.;\\-;\\];\\[;\\\\;\\^;\\/;\\ ;\\#;\\&;\\~;\\_;\\v;\\f;\\a;\\p{White_Space}".split(
    ";",
  ),
);
const posix = fc.constantFrom(
  "[:alpha:]",
  "[:upper:]",
  "[:^upper:]",
  "[:space:]",
  "[:punct:]",
  "[:cntrl:]",
  "[:^ascii:]",
);
const operation = (set: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom("&&", "--", "~~"), set).map((parts) => parts.join("")) },
  );

const { pattern } = fc.letrec<Record<"member" | "union" | "set" | "atom" | "sequence" | "pattern", string>>((tie) => ({
  member: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(..."abkKsSé_1 .*σßA^$#&-|") },
    { weight: 2, arbitrary: escapes },
    { weight: 1, arbitrary: posix },
    { weight: 2, arbitrary: fc.constantFrom("a-c", "A-Z", "α-ω", "a-", "\\x00-\\x7f", " -~") },
    { weight: 1, arbitrary: tie("set") },
  ),
  union: fc.array(tie("member"), { minLength: 1, maxLength: 4 }).map((members) => members.join("")),
  set: fc
    .tuple(fc.constantFrom("", "^"), tie("union"), operation(tie("union")), operation(tie("union")))
    .map((parts) => `[${parts.join("")}]`),
  atom: fc.oneof(
    { maxDepth: 4 },
    { weight: 6, arbitrary: character },
    { weight: 2, arbitrary: escapes },
    { weight: 1, arbitrary: fc.constantFrom(".", "^", "$", "\\b", "\\B", "\\<", "\\>", "\\b{start}") },
    { weight: 1, arbitrary: tie("set") },
    { weight: 1, arbitrary: fc.constantFrom("(?i)", "(?-i)", "(?x)", "(?s)", "(?m)", "(?-x)", "(?U)") },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom("(", "(?:", "(?i:", "(?-i:", "(?P<n>", "(?x:", "(?s:", "(?i-s:"), tie("pattern"))
        .map(([opening, inside]) => `${opening}${inside})`),
    },
  ),
  sequence: fc
    .array(fc.tuple(tie("atom"), fc.constantFrom("", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0}", "*?", "**")), {
      maxLength: 4,
    })
    .map((parts) => parts.flat().join("")),
  pattern: fc.oneof(
    { maxDepth: 4 },
    { weight: 4, arbitrary: tie("sequence") },
    { weight: 1, arbitrary: fc.tuple(tie("sequence"), tie("sequence")).map((parts) => parts.join("|")) },
  ),
}));

export { pattern as anyPattern };
