/** What the highlighter knows of languages: a few facts each, enough to read code by colour. Data. */

export interface Language {
  /** What begins a comment that ends with the line. */
  line?: readonly string[];
  /** What begins and ends a comment. */
  block?: readonly (readonly [open: string, close: string])[];
  /** What begins and ends a text; longer ones first. Those of `multi` may go over several lines. */
  strings?: readonly string[];
  multi?: readonly string[];
  keywords?: ReadonlySet<string>;
  constants?: ReadonlySet<string>;
  /** Names may have these characters, besides letters, digits and `_`. */
  nameChars?: string;
  /** A name, or a text, before this character is a property: JSON, YAML, CSS. */
  keyBefore?: string;
  ignoreCase?: boolean;
  /** `$name` and `${name}` are variables. */
  dollar?: boolean;
  /** Names with a capital letter are types. */
  types?: boolean;
  /** Names in angle brackets: HTML and the like. */
  markup?: boolean;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const C_COMMENTS = { line: ["//"], block: [["/*", "*/"]] } as const;
const HASH = { line: ["#"] } as const;
const QUOTES = { strings: ['"', "'"] } as const;
const LITERALS = words("true false null undefined NaN Infinity this super self nil None True False nullptr");

const javascript: Language = {
  ...C_COMMENTS,
  strings: ['"', "'", "`"],
  multi: ["`"],
  nameChars: "$",
  types: true,
  constants: LITERALS,
  keywords: words(
    "abstract as asserts async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in infer instanceof interface is keyof let namespace new of package private protected public readonly return satisfies set static switch throw try type typeof var void while with yield",
  ),
};

const python: Language = {
  ...HASH,
  strings: ['"""', "'''", '"', "'"],
  multi: ['"""', "'''"],
  types: true,
  constants: LITERALS,
  keywords: words(
    "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
  ),
};

const shell: Language = {
  ...HASH,
  ...QUOTES,
  multi: ['"', "'"],
  dollar: true,
  nameChars: "-",
  keywords: words(
    "if then else elif fi for in do done while until case esac function return local export declare readonly set unset shift exit break continue source alias trap eval exec echo cd printf read test",
  ),
};

const go: Language = {
  ...C_COMMENTS,
  strings: ['"', "'", "`"],
  multi: ["`"],
  types: true,
  constants: words("true false nil iota"),
  keywords: words(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var string int int64 float64 bool byte rune error any",
  ),
};

const rust: Language = {
  ...C_COMMENTS,
  strings: ['"'],
  multi: ['"'],
  types: true,
  constants: words("true false self Self None Some Ok Err"),
  keywords: words(
    "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type unsafe use where while i32 i64 u8 u32 u64 usize f64 bool str char",
  ),
};

const cFamily: Language = {
  ...C_COMMENTS,
  ...QUOTES,
  types: true,
  constants: LITERALS,
  keywords: words(
    "abstract alignas auto base bool boolean break byte case catch char class companion const constexpr continue data default define defer delegate delete do double elif else endif enum event explicit export extends extension extern final finally float for foreach friend func fun goto guard if ifdef ifndef implements import in include inline instanceof int interface internal is let lock long mutable namespace native new object open operator out override package pragma private protected public readonly record ref return sealed short signed sizeof static string struct super switch synchronized template throw throws try typedef typename typeof undef union unsigned using val var virtual void volatile when where while yield",
  ),
};

const ruby: Language = {
  ...HASH,
  ...QUOTES,
  types: true,
  constants: LITERALS,
  nameChars: "?!",
  keywords: words(
    "alias and begin break case class def defined do else elsif end ensure for if in module next not or redo rescue retry return self super then undef unless until when while yield require include attr_accessor attr_reader",
  ),
};

const php: Language = { ...cFamily, line: ["//", "#"], dollar: true };

const sql: Language = {
  line: ["--"],
  block: [["/*", "*/"]],
  strings: ["'", '"'],
  ignoreCase: true,
  constants: words("null true false"),
  keywords: words(
    "add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with integer text varchar boolean timestamp numeric",
  ),
};

const json: Language = { ...C_COMMENTS, strings: ['"'], constants: LITERALS, keyBefore: ":" };
const yaml: Language = {
  ...HASH,
  ...QUOTES,
  constants: words("true false null yes no on off"),
  nameChars: "-.",
  keyBefore: ":",
};
const toml: Language = {
  ...HASH,
  strings: ['"""', "'''", '"', "'"],
  multi: ['"""', "'''"],
  constants: words("true false"),
  nameChars: "-.",
  keyBefore: "=",
};
const css: Language = {
  block: [["/*", "*/"]],
  line: [],
  ...QUOTES,
  nameChars: "-@#.",
  keyBefore: ":",
  keywords: words("@media @import @supports @keyframes @font-face @layer @container important"),
};
const markup: Language = { block: [["<!--", "-->"]], ...QUOTES, nameChars: "-:", markup: true };
const docker: Language = {
  ...HASH,
  ...QUOTES,
  dollar: true,
  keywords: words(
    "FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD HEALTHCHECK SHELL AS",
  ),
};
const make: Language = {
  ...HASH,
  dollar: true,
  keyBefore: ":",
  keywords: words("ifeq ifneq ifdef endif else include export define endef"),
};

const LANGUAGES: Record<string, Language> = {
  javascript,
  python,
  shell,
  go,
  rust,
  c: cFamily,
  ruby,
  php,
  sql,
  json,
  yaml,
  toml,
  css,
  markup,
  docker,
  make,
};

/** Names behind a fence and endings of files. */
const ALIASES: Record<string, string> = {
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  ts: "javascript",
  mts: "javascript",
  cts: "javascript",
  tsx: "javascript",
  typescript: "javascript",
  py: "python",
  python3: "python",
  sh: "shell",
  bash: "shell",
  zsh: "shell",
  fish: "shell",
  console: "shell",
  golang: "go",
  rs: "rust",
  "c++": "c",
  cpp: "c",
  cc: "c",
  h: "c",
  hpp: "c",
  cs: "c",
  csharp: "c",
  java: "c",
  kotlin: "c",
  kt: "c",
  swift: "c",
  scala: "c",
  dart: "c",
  zig: "c",
  rb: "ruby",
  psql: "sql",
  postgresql: "sql",
  sqlite: "sql",
  jsonc: "json",
  json5: "json",
  jsonl: "json",
  yml: "yaml",
  ini: "toml",
  conf: "toml",
  env: "toml",
  scss: "css",
  less: "css",
  html: "markup",
  htm: "markup",
  xml: "markup",
  svg: "markup",
  vue: "markup",
  svelte: "markup",
  dockerfile: "docker",
  containerfile: "docker",
  makefile: "make",
  mk: "make",
};

/** The language of a name, or of the file whose path ends with it. Undefined for one that is not known. */
export function languageOf(name: string): Language | undefined {
  const key = name.toLowerCase();
  const known = Object.hasOwn(ALIASES, key) ? ALIASES[key] : key;
  return known !== undefined && Object.hasOwn(LANGUAGES, known) ? LANGUAGES[known] : undefined;
}

/** `src/a.test.ts` is written in `ts`, a `Dockerfile` in `dockerfile`. */
export function languageOfPath(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}
