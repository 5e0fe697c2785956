/**
 * Reads the arguments of a tool call while they come, character by character: JSON in which the escapes of strings are
 * resolved, so that conditions see a text as the tool will get it. Notes the paths that stand in it. Pure.
 */
export interface ArgumentReader {
  /** Takes one UTF-16 unit; gives back the one that it means, or -1 when there is none (yet). */
  take(unit: number): number;
  /** The paths so far. */
  readonly paths: readonly string[];
}

/** What tools call the file that they work on. */
export const PATH_KEYS: ReadonlySet<string> = new Set(["path", "file_path", "filePath", "file", "filename"]);
const LONGEST_KEY = 16;
const LONGEST_PATH = 4096;
const MOST_PATHS = 1000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const U = 0x75;
/** `\n` and the like; everything else stands for itself. */
const ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }).map(([name, char]) => [
    name.charCodeAt(0),
    char.charCodeAt(0),
  ]),
);
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

export function createArgumentReader(): ArgumentReader {
  const paths: string[] = [];
  let inString = false;
  let escaping: "no" | "begun" | "code" = "no";
  let code = "";
  /** The string that is being read, as far as anybody may want it. */
  let text = "";
  /** The last string outside of which we are, which may turn out to be a key. */
  let last: string | undefined;
  let isPath = false;

  const plain = (unit: number): number => {
    if (unit === QUOTE) {
      inString = true;
      text = "";
    } else if (unit === COLON) isPath = last !== undefined && PATH_KEYS.has(last);
    else if (!SPACES.has(unit)) isPath = false;
    if (!SPACES.has(unit)) last = undefined;
    return unit;
  };
  const inside = (unit: number): number => {
    if (text.length < (isPath ? LONGEST_PATH : LONGEST_KEY)) text += String.fromCharCode(unit);
    return unit;
  };
  const close = (): number => {
    inString = false;
    if (isPath && paths.length < MOST_PATHS) paths.push(text);
    last = isPath ? undefined : text;
    isPath = false;
    return QUOTE;
  };
  const escaped = (unit: number): number => {
    if (escaping === "begun" && unit === U) {
      escaping = "code";
      code = "";
      return -1;
    }
    if (escaping === "begun") {
      escaping = "no";
      return inside(ESCAPES.get(unit) ?? unit);
    }
    code += String.fromCharCode(unit);
    if (code.length < 4) return -1;
    escaping = "no";
    // What is no number is no JSON either: the call will fail, whatever is read here.
    return inside(Number.parseInt(code, 16) || 0);
  };

  return {
    paths,
    take(unit) {
      if (!inString) return plain(unit);
      if (escaping !== "no") return escaped(unit);
      if (unit === QUOTE) return close();
      if (unit !== BACKSLASH) return inside(unit);
      escaping = "begun";
      return -1;
    },
  };
}
