/**
 * A command line for a POSIX shell, taken apart by somebody who must not be fooled. It knows the plain part of the
 * language: words, quotes, simple variables, and what separates commands. Everything else makes the line unclear, and
 * nothing unclear is ever allowed: better asked once too often than a command that nobody saw. Pure.
 */

export interface ShellWord {
  /** Without quotes. */
  text: string;
  /** The shell makes something else of it: a variable, a glob, a home folder. */
  isDynamic: boolean;
}

export interface ShellLine {
  /** The simple commands, in their order, as far as they can be told apart. */
  commands: ShellWord[][];
  /** Why nobody can tell what this line does; undefined when all of it was understood. */
  unclear?: string;
}

interface Reader {
  text: string;
  at: number;
  commands: ShellWord[][];
  words: ShellWord[];
  /** The word that is being read. */
  word: (ShellWord & { isQuoted: boolean }) | undefined;
  unclear: string | undefined;
}

/** So long a line is not looked at. */
const LONGEST = 100_000;

export function readShellLine(text: string): ShellLine {
  const reader: Reader = { text, at: 0, commands: [], words: [], word: undefined, unclear: undefined };
  if (text.length > LONGEST) return { commands: [], unclear: "it is too long to be looked at" };
  while (reader.at < text.length) readNext(reader);
  endCommand(reader);
  const { commands } = reader;
  for (const [first] of commands)
    if (first?.isDynamic) doubt(reader, "which program it starts is known only to the shell");
  return reader.unclear === undefined ? { commands } : { commands, unclear: reader.unclear };
}

function doubt(reader: Reader, why: string): void {
  reader.unclear ??= why;
}

function readNext(reader: Reader): void {
  const char = reader.text[reader.at]!;
  const read = SPECIAL[char] ?? readLetter;
  read(reader);
}

function readLetter(reader: Reader): void {
  const char = reader.text[reader.at]!;
  if (isControl(char)) doubt(reader, "it has a control character in it");
  reader.at += 1;
  add(reader, char, GLOBS.has(char) || (char === "~" && !isInside(reader)));
}

const GLOBS = new Set(["*", "?", "[", "]", "{", "}"]);

/** Something of the word has been read, and a tilde here is no home folder: behind `=` and `:` it is one. */
function isInside({ word }: Reader): boolean {
  return word !== undefined && !/[=:]$/.test(word.text);
}

/** What the shell does not take for a letter of a word. */
const SPECIAL: Readonly<Record<string, (reader: Reader) => void>> = {
  " ": skipBlank,
  "\t": skipBlank,
  "\n": separate,
  ";": separate,
  "|": separate,
  "&": separate,
  "\\": readEscape,
  "'": readSingle,
  '"': readDouble,
  $: readVariable,
  "`": (reader) => giveUpOn(reader, "it has a command inside a command (backticks)"),
  "(": (reader) => giveUpOn(reader, "it has parentheses (a subshell or a function)"),
  ")": (reader) => giveUpOn(reader, "it has parentheses (a subshell or a function)"),
  "<": readRedirection,
  ">": readRedirection,
  "#": readHash,
};

function add(reader: Reader, text: string, isDynamic: boolean, isQuoted = false): void {
  const word = reader.word ?? { text: "", isDynamic: false, isQuoted: false };
  word.text += text;
  word.isDynamic ||= isDynamic;
  word.isQuoted ||= isQuoted;
  reader.word = word;
}

function endWord(reader: Reader): void {
  if (reader.word) reader.words.push({ text: reader.word.text, isDynamic: reader.word.isDynamic });
  reader.word = undefined;
}

function endCommand(reader: Reader): void {
  endWord(reader);
  if (reader.words.length > 0) reader.commands.push(reader.words);
  reader.words = [];
}

function skipBlank(reader: Reader): void {
  endWord(reader);
  reader.at += 1;
}

function separate(reader: Reader): void {
  if (reader.text.startsWith("&>", reader.at)) doubt(reader, "it has &>, which not every shell reads alike");
  endCommand(reader);
  reader.at += 1;
}

/** Goes on behind it, so that what follows can still be looked at for what is forbidden. */
function giveUpOn(reader: Reader, why: string): void {
  doubt(reader, why);
  endCommand(reader);
  reader.at += 1;
}

function readEscape(reader: Reader): void {
  const next = reader.text[reader.at + 1];
  reader.at += 2;
  if (next === undefined) doubt(reader, "it ends in a backslash");
  else if (isControl(next) && next !== "\n") doubt(reader, "it has a control character in it");
  else if (next !== "\n") add(reader, next, false, true);
}

function readSingle(reader: Reader): void {
  const end = reader.text.indexOf("'", reader.at + 1);
  const inside = reader.text.slice(reader.at + 1, end < 0 ? undefined : end);
  if (end < 0) doubt(reader, "a quote is not closed");
  if (hasControl(inside)) doubt(reader, "it has a control character in it");
  add(reader, inside, false, true);
  reader.at = end < 0 ? reader.text.length : end + 1;
}

function readDouble(reader: Reader): void {
  add(reader, "", false, true);
  reader.at += 1;
  while (reader.at < reader.text.length) {
    const char = reader.text[reader.at]!;
    if (char === '"') {
      reader.at += 1;
      return;
    }
    if (char === "$") readVariable(reader);
    else if (char === "`") {
      doubt(reader, "it has a command inside a command (backticks)");
      reader.at += 1;
    } else if (char === "\\") readEscapeInDouble(reader);
    else {
      if (isControl(char) && char !== "\n") doubt(reader, "it has a control character in it");
      add(reader, char, false);
      reader.at += 1;
    }
  }
  doubt(reader, "a quote is not closed");
}

function readEscapeInDouble(reader: Reader): void {
  const next = reader.text[reader.at + 1];
  reader.at += 2;
  if (next === "\n") return;
  if (next !== undefined && isControl(next)) doubt(reader, "it has a control character in it");
  add(reader, next !== undefined && '$`"\\'.includes(next) ? next : `\\${next ?? ""}`, false);
}

const VARIABLE = /\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?!$-]|\{[A-Za-z_][A-Za-z0-9_]*\})/y;

function readVariable(reader: Reader): void {
  VARIABLE.lastIndex = reader.at;
  const [found] = VARIABLE.exec(reader.text) ?? [];
  const next = reader.text[reader.at + 1] ?? "";
  // A line that goes on is joined before anything else is read: `$` and `(` may stand on two of them.
  const isCut = reader.text.startsWith("\\\n", reader.at + 1);
  if (isCut) doubt(reader, "it has an expansion that is not looked into");
  if (found === undefined && "({['\"".includes(next) && next !== "") {
    doubt(
      reader,
      next === "(" ? "it has a command inside a command ($(…))" : "it has an expansion that is not looked into",
    );
  }
  add(reader, found ?? "$", true);
  reader.at += found?.length ?? 1;
}

/** To and from nowhere, or from one stream to another; nothing that names a file. */
const HARMLESS = /(?:>{1,2}[ \t]*\/dev\/null|<[ \t]*\/dev\/null|>&[ \t]*[12])(?=[ \t\n;&|]|$)/y;

function readRedirection(reader: Reader): void {
  const { word } = reader;
  // The number of a stream is no word.
  if (word && !word.isQuoted && /^[0-9]+$/.test(word.text)) reader.word = undefined;
  endWord(reader);
  HARMLESS.lastIndex = reader.at;
  const [found] = HARMLESS.exec(reader.text) ?? [];
  if (found === undefined) doubt(reader, "it redirects to or from a file");
  reader.at += found?.length ?? 1;
}

/** Behind it no quote counts, and shells do not agree where it begins one. */
function readHash(reader: Reader): void {
  if (!reader.word) doubt(reader, "it has a comment in it");
  add(reader, "#", false);
  reader.at += 1;
}

function isControl(char: string): boolean {
  const code = char.charCodeAt(0);
  return code < 32 || code === 127;
}

function hasControl(text: string): boolean {
  return [...text].some((char) => isControl(char) && char !== "\n" && char !== "\t");
}

/**
 * Everything that might be a command in a line that is unclear, or in the arguments of a program that runs others: quotes
 * do not count, and whatever could separate commands does.
 */
export function possibleCommands(text: string): ShellWord[][] {
  const bare = text.slice(0, LONGEST).replace(/\\\n|['"\\]/g, "");
  return bare.split(/[;&|()`{}<>$\n\r]+/).flatMap((piece) => {
    const words = piece.split(/\s+/).filter((word) => word !== "");
    return words.length === 0 ? [] : [words.map((word) => ({ text: word, isDynamic: false }))];
  });
}
