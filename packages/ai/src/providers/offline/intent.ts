/** What a person wants from scout, read off their words by rules. Pure. */

export type Intent =
  | { kind: "summary" }
  | { kind: "read"; path: string }
  | { kind: "list"; path: string }
  | { kind: "find"; pattern: string; path: string }
  | { kind: "search"; text: string; path: string }
  | { kind: "run"; command: string }
  | { kind: "write"; path: string; content: string }
  | { kind: "replace"; before: string; after: string; path: string }
  | { kind: "help" };

interface Rule {
  words: RegExp;
  /** Longer texts are not tried: they are no such sentence, and some patterns are slow on them. */
  longest?: number;
  intent(match: RegExpExecArray): Intent | undefined;
}

const SUBJECT = "(?:repo|repository|project|code ?base|folder|directory|package|workspace)";
const DETERMINER = "(?:this|the|my|our|your|that|current)";
/** A path: quoted (spaces allowed) or one word. */
const PATH = "(\"[^\"]+\"|'[^']+'|`[^`]+`|\\S+)";
/** Some words: quoted, then taken whole, or as few as will do. */
const WORDS = "(\"[^\"]*\"|'[^']*'|`[^`]*`|[\\s\\S]+?)";
/** A file to write: quoted or with a dot or slash in it, so that "write a poem to cheer me up" writes nothing. */
const FILE = "(\"[^\"]+\"|'[^']+'|`[^`]+`|(?=[^\\s:]*[./])[^\\s:]+)";
const FILLER =
  "(?:(?:me|all|every|the|any|contents?|files?|entries|everything|of|named|called|matching|for|with)\\s+)*";
const LONGEST_QUESTION = 300;
const LONGEST_COMMAND = 10_000;

/** Tried from top to bottom; the first that matches and builds an intent wins. */
const RULES: readonly Rule[] = [
  {
    words: new RegExp(
      `^.*\\b(?:summari[sz]e|summary|sum up|overview|describe|explain|introduction to|tour)\\b.*\\b${DETERMINER}\\b.*\\b${SUBJECT}\\b.*$`,
      "i",
    ),
    longest: LONGEST_QUESTION,
    intent: summary,
  },
  {
    words: /^(?:(?:give me )?an? )?(?:summary|overview|tl;?dr)(?: please)?\W*$|^summari[sz]e(?: (?:this|it))?\W*$/i,
    longest: LONGEST_QUESTION,
    intent: summary,
  },
  {
    words: new RegExp(`^what(?:'s|s| is| does| kind of)\\b.*\\b${DETERMINER} ${SUBJECT}\\b.*$`, "i"),
    longest: LONGEST_QUESTION,
    intent: summary,
  },
  { words: /^what(?:'s| is) (?:this|here|in here)\W*$/i, longest: LONGEST_QUESTION, intent: summary },
  {
    words: /^(?:run|execute|bash|shell):?\s+([\s\S]+)$/i,
    intent: (m) => ({ kind: "run", command: unquote(m[1]!, "`") }),
  },
  { words: /^\$\s*([\s\S]+)$/, intent: (m) => ({ kind: "run", command: m[1]! }) },
  {
    words: new RegExp(`^replace\\s${WORDS}\\s(?:with|by)\\s${WORDS}\\sin\\s+${PATH}$`, "i"),
    longest: LONGEST_COMMAND,
    intent: (m) => ({ kind: "replace", before: unquote(m[1]!), after: unquote(m[2]!), path: asPath(m[3]!) }),
  },
  {
    words: new RegExp(`^(?:write|create|save)\\s+(?:file\\s+)?${FILE}:[ \\t]*\\n?([\\s\\S]*)$`, "i"),
    intent: (m) => ({ kind: "write", path: asPath(m[1]!), content: m[2]! }),
  },
  {
    words: new RegExp(`^(?:write|save|put)\\s([\\s\\S]+)\\s(?:to|into)\\s+(?:file\\s+)?${FILE}$`, "i"),
    longest: LONGEST_COMMAND,
    intent: (m) => ({ kind: "write", content: unquote(m[1]!), path: asPath(m[2]!) }),
  },
  {
    words: new RegExp(`^(?:(?:search|grep)(?:\\sfor)?|look for)\\s${WORDS}(?:\\sin\\s+${PATH})?$`, "i"),
    longest: LONGEST_COMMAND,
    intent: (m) => inFolder(m[2], (path) => ({ kind: "search", text: unquote(m[1]!), path })),
  },
  {
    words: new RegExp(`^find\\s+${FILLER}${PATH}(?:\\s+files?)?(?:\\s+(?:in|under)\\s+(.+))?$`, "i"),
    longest: LONGEST_COMMAND,
    intent: (m) => inFolder(m[2], (path) => ({ kind: "find", pattern: asPattern(asPath(m[1]!)), path })),
  },
  {
    words:
      /^(?:list|ls|dir)(?:\s+(?:me|all|the|files?|folders?|contents?|entries|everything|and|of|in|under)(?=\s|$))*(?:\s+(\S.*))?$/i,
    longest: LONGEST_COMMAND,
    intent: listOf,
  },
  {
    words: new RegExp(`^(?:read|show|open|cat)\\s+${FILLER}${PATH}(?:\\s+file)?$`, "i"),
    longest: LONGEST_COMMAND,
    intent: (m) => ({ kind: "read", path: readable(asPath(m[1]!)) }),
  },
];

/** A short request that adds to the one before ("Also include risks") and is not a task of its own. */
const ADDITION = /^(?:also|and|plus|additionally|include|add|mention|what about|how about)\b/i;
const POLITE =
  /^(?:(?:hi|hey|hello|ok|okay|now|then|please|scout|can you|could you|would you|will you|i want you to|let's|also|and)\b[\s,!:]*)+(?=\S)/i;

export function parseIntent(words: string): Intent {
  const text = words.trim();
  // A leading "also" or "please" must not hide the verb, but "hello" alone is just a greeting.
  const bare = text.replace(POLITE, "");
  for (const rule of RULES) {
    if (bare.length > (rule.longest ?? Number.POSITIVE_INFINITY)) continue;
    const match = rule.words.exec(bare);
    const intent = match && rule.intent(match);
    if (intent) return intent;
  }
  return { kind: "help" };
}

export function isAddition(words: string): boolean {
  const text = words.trim();
  return ADDITION.test(text) && text.length <= LONGEST_QUESTION && parseIntent(text).kind === "help";
}

function summary(): Intent {
  return { kind: "summary" };
}

function listOf(match: RegExpExecArray): Intent | undefined {
  return inFolder(match[1], (path) => ({ kind: "list", path }));
}

function unquote(text: string, quotes = "\"'`"): string {
  const trimmed = text.trim();
  const first = trimmed.charAt(0);
  const quoted = trimmed.length > 1 && quotes.includes(first) && trimmed.endsWith(first);
  return quoted ? trimmed.slice(1, -1) : trimmed;
}

/** "README.md." and "src?" end a sentence; "." and ".." are folders. */
function asPath(text: string): string {
  const path = unquote(text);
  return /^\.+\/?$/.test(path) ? path : path.replace(/[.,;?!]+$/, "");
}

const HERE = /^(?:(?:the|this|current|working)\s+)*(?:here|repo|repository|project|folder|directory)$/i;

/** No folder named means this one; several unquoted words name no folder, so the rule does not apply. */
function inFolder(words: string | undefined, build: (path: string) => Intent): Intent | undefined {
  const path = asPath(words ?? ".");
  if (path === "" || HERE.test(path)) return build(".");
  const quoted = /^["'`]/.test(words?.trim() ?? "");
  return /\s/.test(path) && !quoted ? undefined : build(path);
}

/** "find notes" means a name with "notes" in it; with a wildcard or a folder it is taken as it stands. */
function asPattern(text: string): string {
  return /[*?[\]{}/]/.test(text) ? text : `*${text}*`;
}

function readable(path: string): string {
  return /^readme$/i.test(path) ? "README.md" : path;
}
