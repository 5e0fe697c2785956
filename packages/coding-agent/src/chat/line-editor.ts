/** What a key press means. */
export type Key =
  | { kind: "text"; text: string }
  | { kind: "enter" | "delete" | "deleteWord" | "clear" | "interrupt" | "end" | "up" | "down" };

const CONTROL: Readonly<Record<string, Key>> = {
  "\r": { kind: "enter" },
  "\n": { kind: "enter" },
  "\u007f": { kind: "delete" },
  "\b": { kind: "delete" },
  "\u0017": { kind: "deleteWord" },
  "\u0015": { kind: "clear" },
  "\u0003": { kind: "interrupt" },
  "\u0004": { kind: "end" },
};
const ARROWS: Readonly<Record<string, Key>> = { A: { kind: "up" }, B: { kind: "down" } };

/** An escape sequence, or the beginning of one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SEQUENCE = /^\u001b(?:\[[0-9;?]*[ -/]*([@-~])?|O(.)?|[^[O])?/;
const PASTE_BEGINS = "\u001b[200~";
const PASTE_ENDS = "\u001b[201~";

/** What a terminal in raw mode sends, as keys. What is pasted is text, its line ends too. */
export function createKeyReader(): (data: string) => Key[] {
  let rest = "";
  let pasted: string | undefined;
  return (data) => {
    const keys: Key[] = [];
    rest += data;
    while (rest !== "") {
      if (pasted !== undefined) {
        const end = rest.indexOf(PASTE_ENDS);
        if (end === -1) {
          // The end mark itself may be cut.
          const safe = Math.max(0, rest.length - PASTE_ENDS.length + 1);
          pasted += rest.slice(0, safe);
          rest = rest.slice(safe);
          break;
        }
        keys.push({ kind: "text", text: clean(pasted + rest.slice(0, end)) });
        rest = rest.slice(end + PASTE_ENDS.length);
        pasted = undefined;
        continue;
      }
      if (rest.startsWith(PASTE_BEGINS)) {
        pasted = "";
        rest = rest.slice(PASTE_BEGINS.length);
        continue;
      }
      const { key, length } = firstKey(rest);
      if (length === 0) break;
      if (key) keys.push(key);
      rest = rest.slice(length);
    }
    return keys;
  };
}

/** The first key and how much of the text it is; nothing when the rest of it has not come yet. */
function firstKey(text: string): { key?: Key; length: number } {
  const first = text[0] as string;
  if (first === "\u001b") {
    const [sequence = "", final, key] = SEQUENCE.exec(text) ?? [];
    const isWhole = final !== undefined || key !== undefined || (sequence.length === 2 && !/[[O]$/.test(sequence));
    if (!isWhole) return { length: 0 };
    const arrow = ARROWS[final ?? key ?? ""];
    return { length: sequence.length, ...(arrow && { key: arrow }) };
  }
  const control = CONTROL[first];
  if (control) return { key: control, length: 1 };
  if (first < " ") return { length: 1 };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: text goes up to the next of them
  const [plain = first] = /^[^\u0000-\u001f\u007f]+/.exec(text) ?? [];
  return { key: { kind: "text", text: plain }, length: plain.length };
}

function clean(pasted: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return pasted.replaceAll(/\r\n?/g, "\n").replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
}

/** The line that is being written, and those that were. */
export interface LineEditor {
  readonly text: string;
  set(text: string): void;
  /** Applies a key that changes the line; enter gives the line and begins a new one. */
  apply(key: Key): string | undefined;
}

export function createLineEditor(): LineEditor {
  const history: string[] = [];
  let at = 0;
  let text = "";
  const recall = (step: number): void => {
    at = Math.min(history.length, Math.max(0, at + step));
    text = history[at] ?? "";
  };
  return {
    get text() {
      return text;
    },
    set(next) {
      text = next;
    },
    apply(key) {
      switch (key.kind) {
        case "text":
          text += key.text;
          return undefined;
        case "delete":
          text = [...text].slice(0, -1).join("");
          return undefined;
        case "deleteWord":
          text = text.replace(/\S*\s*$/, "");
          return undefined;
        case "clear":
          text = "";
          return undefined;
        case "up":
          recall(-1);
          return undefined;
        case "down":
          recall(1);
          return undefined;
        case "enter": {
          const line = text;
          text = "";
          if (line.trim() !== "" && line !== history.at(-1)) history.push(line);
          at = history.length;
          return line;
        }
        default:
          return undefined;
      }
    },
  };
}
