import { isRecord } from "./frame.ts";

/**
 * Golden transcripts, one story a file (`*.rpc.txt`):
 *
 *   # a comment; the first one is the title
 *   proves: id, id            requirements that this story proves
 *   args  --no-session        more command line; `--mode rpc` is always there
 *   env   NAME=value
 *   setup a.txt "text\n"      a file in the working folder
 *   agent models.json "{}"    a file in the configuration folder
 *   extension hooks/gate.ts   loads an extension of `fixtures/extensions`, beside the story or further up
 *   check replacedMessages    what the order of frames may be in this story, see StoryChecks
 *   model text "hi"           one answer of the script model, in its one-line notation
 *   >  {"type":"prompt", …}   sent as one line, as it stands
 *   <  agent_start turn_start the frames that must come next, one or more on a line
 *   <  … agent_end            `…` passes over whatever comes before
 *   signal SIGTERM            sent to the process
 *   eof                       closes stdin here (else it is closed after the last line)
 *   exit 0                    the exit code (0 if the line is missing)
 *   file user, assistant      the kinds of entries in the session file; `file none`
 *
 * What a `<` line may hold, see `parseItems`. `<cwd>`, `<agent>` and `<home>` stand for the folders of the sandbox, `<extensions>`
 * for the one where extensions come from; `<name>` stands for the text that a `<` line before it has called `"<=name>"`.
 */

export type Item =
  | { kind: "skip" }
  | { kind: "frame"; partial: Record<string, unknown>; source: string }
  | { kind: "block"; block: BlockKind; text?: string; call?: Record<string, unknown>; source: string };

export type BlockKind = "text" | "thinking" | "toolcall";

export type Step =
  | { kind: "send"; text: string; line: number }
  /** Consecutive `<` lines; `lines` is how many. */
  | { kind: "expect"; items: { item: Item; line: number }[]; line: number; lines: number }
  | { kind: "eof"; line: number }
  | { kind: "signal"; signal: NodeJS.Signals; line: number };

/** What is usual and does not hold in this story, for those who check the order of frames too. */
export interface StoryChecks {
  /** An extension starts a run by itself. */
  runsWithoutPrompt?: boolean;
  /** The host does not want all events: only responses and numbers are checked. */
  filteredEvents?: boolean;
  /** An extension puts another message in the place of one that was streamed. */
  replacedMessages?: boolean;
}

export interface Transcript {
  name: string;
  title: string;
  proves: string[];
  args: string[];
  env: Record<string, string>;
  files: Record<string, string>;
  agentFiles: Record<string, string>;
  /** Paths inside the folder of extensions. */
  extensions: string[];
  check: StoryChecks;
  model: string[];
  steps: Step[];
  exit: number | undefined;
  file: string[] | undefined;
  source: string[];
}

type Directive = (rest: string, transcript: Transcript, line: number) => void;

const pair = (rest: string): [string, string] => {
  const space = rest.search(/\s/);
  if (space < 0) throw new Error(`expected a path and a JSON string, got: ${rest}`);
  const content: unknown = JSON.parse(rest.slice(space));
  return [rest.slice(0, space), typeof content === "string" ? content : JSON.stringify(content)];
};
const commaList = (rest: string): string[] => rest.split(/[\s,]+/).filter((word) => word !== "");

const DIRECTIVES: Record<string, Directive> = {
  "proves:": (rest, transcript) => void transcript.proves.push(...commaList(rest)),
  args: (rest, transcript) => void transcript.args.push(...rest.split(/\s+/)),
  env: (rest, transcript) => {
    const equals = rest.indexOf("=");
    transcript.env[rest.slice(0, equals)] = rest.slice(equals + 1);
  },
  setup: (rest, transcript) => {
    const [path, content] = pair(rest);
    transcript.files[path] = content;
  },
  agent: (rest, transcript) => {
    const [path, content] = pair(rest);
    transcript.agentFiles[path] = content;
  },
  extension: (rest, transcript) => void transcript.extensions.push(...commaList(rest)),
  check: (rest, { check }) =>
    void Object.assign(check, Object.fromEntries(commaList(rest).map((name) => [name, true]))),
  model: (rest, transcript) => void transcript.model.push(rest),
  ">": (text, transcript, line) => void transcript.steps.push({ kind: "send", text, line }),
  "<": expectLine,
  eof: (_rest, transcript, line) => void transcript.steps.push({ kind: "eof", line }),
  signal: (rest, transcript, line) =>
    void transcript.steps.push({ kind: "signal", signal: rest as NodeJS.Signals, line }),
  exit: (rest, transcript) => {
    transcript.exit = Number(rest);
  },
  file: (rest, transcript) => {
    transcript.file = rest === "none" ? [] : commaList(rest);
  },
};

function expectLine(rest: string, transcript: Transcript, line: number): void {
  const last = transcript.steps.at(-1);
  const continues = last?.kind === "expect" && last.line + last.lines === line;
  const step = continues ? last : { kind: "expect" as const, items: [], line, lines: 0 };
  if (!continues) transcript.steps.push(step);
  step.lines += 1;
  for (const item of parseItems(rest)) step.items.push({ item, line });
}

export function parseTranscript(name: string, text: string): Transcript {
  const source = text.replace(/\n$/, "").split("\n");
  const title =
    source
      .find((line) => line.startsWith("#"))
      ?.slice(1)
      .trim() ?? name;
  const empty = {
    proves: [],
    args: [],
    env: {},
    files: {},
    agentFiles: {},
    extensions: [],
    check: {},
    model: [],
    steps: [],
  };
  const transcript: Transcript = { name, title, ...empty, exit: undefined, file: undefined, source };
  for (const [index, raw] of source.entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const word = /^[<>]|^\S+/.exec(line)?.[0] ?? "";
    const directive = DIRECTIVES[word];
    try {
      if (!directive) throw new Error(`unknown word "${word}"; known are ${Object.keys(DIRECTIVES).join(" ")}`);
      directive(line.slice(word.length).trim(), transcript, index + 1);
    } catch (error) {
      throw new Error(`${name}:${index + 1}: ${(error as Error).message}`);
    }
  }
  return transcript;
}

/**
 *   …                                        passes over frames
 *   agent_end                                a frame of this type
 *   agent_end {"willRetry":false}            and with at least these fields
 *   {"type":"response","id":"1"}             a frame with at least these fields; see `difference` for "…", "<any>", "<absent>", "<=name>"
 *   message_update text "hello"              the next text block: its deltas join to this
 *   message_update thinking "hm"
 *   message_update toolcall read {"path":"a"}
 */
export function parseItems(text: string): Item[] {
  const items: Item[] = [];
  const reader = new ItemReader(text);
  for (let item = reader.next(); item; item = reader.next()) items.push(item);
  return items;
}

class ItemReader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  next(): Item | undefined {
    const from = this.skipSpace();
    if (from >= this.text.length) return undefined;
    if (this.take(/…|\.{3}/y) !== undefined) return { kind: "skip" };
    if (this.text[from] === "{") return { kind: "frame", partial: this.object(), source: this.since(from) };
    const type = this.take(/\w+/y);
    if (type === undefined) throw new Error(`expected a frame type, "{" or "…" at: ${this.text.slice(from)}`);
    this.skipSpace();
    const block = type === "message_update" ? this.take(/(?:text|thinking|toolcall)\b/y) : undefined;
    if (block !== undefined) return this.block(block as BlockKind, from);
    const fields = this.text[this.at] === "{" ? this.object() : {};
    return { kind: "frame", partial: { type, ...fields }, source: this.since(from) };
  }

  private block(block: BlockKind, from: number): Item {
    this.skipSpace();
    if (block !== "toolcall") {
      const text: unknown = JSON.parse(this.json());
      return { kind: "block", block, text: String(text), source: this.since(from) };
    }
    const name = this.take(/[^\s{]+/y);
    this.skipSpace();
    const call: Record<string, unknown> = { name };
    if (this.text[this.at] === "{") call.arguments = this.object();
    return { kind: "block", block, call, source: this.since(from) };
  }

  private object(): Record<string, unknown> {
    const value: unknown = JSON.parse(this.json());
    if (!isRecord(value)) throw new Error("expected a JSON object");
    return value;
  }

  /** The JSON value that begins here: up to the end of the quotes or of the matching bracket. */
  private json(): string {
    const from = this.at;
    let depth = 0;
    do {
      if (this.take(/"(?:[^"\\]|\\.)*"/y) !== undefined) continue;
      const character = this.text[this.at++];
      if (character === undefined) throw new Error(`unfinished JSON: ${this.text.slice(from)}`);
      if (character === "{" || character === "[") depth += 1;
      if (character === "}" || character === "]") depth -= 1;
    } while (depth > 0);
    return this.text.slice(from, this.at);
  }

  private take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at += found.length;
    return found;
  }

  private skipSpace(): number {
    this.take(/\s+/y);
    return this.at;
  }

  private since(from: number): string {
    return this.text.slice(from, this.at).trimEnd();
  }
}
