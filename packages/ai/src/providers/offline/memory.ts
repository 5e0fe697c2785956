import type { ModelRequest } from "../../provider.ts";
import { insideTag, SUMMARY_TAGS, SUMMARY_TASK } from "../../summary-task.ts";
import { textOf } from "./local-model.ts";

/**
 * Scout's answer when it is asked to summarise a conversation: it invents nothing, it picks. What people said comes first,
 * then decisions, errors, files and the latest state; what an earlier summary holds is carried over. Pure.
 */

const HEADINGS = ["Goal", "Progress", "Key Decisions", "Next Steps", "Critical Context"] as const;
type Heading = (typeof HEADINGS)[number];
type Notes = Record<Heading, string[]>;

const MOST_CHARACTERS = 16_000;
const LEAST_CHARACTERS = 600;
/** Of what it replaces: a summary that is not much shorter is none. */
const SHARE_OF_SOURCE = 0.4;
const CHARACTERS_PER_TOKEN = 4;
/** How much of the room each part may take, in the order they are given theirs; what is left over goes to the next. */
const SHARES: readonly (readonly [Heading, number])[] = [
  ["Next Steps", 0.12],
  ["Critical Context", 0.2],
  ["Key Decisions", 0.18],
  ["Progress", 0.12],
  ["Goal", 1],
];
const LONGEST_LINE = 1000;
/** Tried one after the other until a part fits. */
const LINE_LENGTHS = [LONGEST_LINE, 400, 160, 80] as const;
const LONGEST_ERROR = 300;
const MOST_ERRORS = 5;
const MOST_FILES = 40;
const LEFT_OUT = /^\(\d+ left out\)$/;
/** Says nothing: no entry, a ruler, a label. */
const EMPTY = /^(?:\(none\)|-{3,}|\*\*[^*]*\*\*:?)$/;
const DECIDES =
  /\b(?:decid\w+|decision|agreed?|we(?:'ll| will)|i(?:'ll| will) use|chose|choose|must|never|always|prefer\w*|instead of|because|remember)\b/i;

export function isSummaryTask(request: Pick<ModelRequest, "systemPrompt">): boolean {
  return request.systemPrompt.startsWith(SUMMARY_TASK);
}

export function remember({ messages, maxTokens }: Pick<ModelRequest, "messages" | "maxTokens">): string {
  const last = messages.at(-1);
  const asked = last ? textOf(last) : "";
  const conversation = insideTag(asked, SUMMARY_TAGS.conversation) ?? asked;
  const previous = insideTag(asked.slice(0, asked.indexOf(`<${SUMMARY_TAGS.conversation}>`)), SUMMARY_TAGS.previous);
  const source = conversation.length + (previous?.length ?? 0);
  const room = Math.min(
    (maxTokens ?? MOST_CHARACTERS) * CHARACTERS_PER_TOKEN,
    MOST_CHARACTERS,
    Math.max(source * SHARE_OF_SOURCE, LEAST_CHARACTERS),
  );
  return render(fitted(merged(notesIn(previous ?? ""), notesOf(conversation)), room));
}

interface Said {
  who: string;
  text: string;
}

const SPEAKER =
  /^\[(User|Note|Assistant thinking|Assistant tool calls|Assistant failed|Assistant|Tool result|Tool error|Shell command|Summary of a branch that was left|Earlier summary)(?:[ ,(][^\]\n]*)?\]: /gm;

/** The parts of a conversation that was written down with its speakers in brackets. */
function parse(conversation: string): Said[] {
  const starts = [...conversation.matchAll(SPEAKER)];
  return starts.map((match, i) => ({
    who: match[0].includes("exit code") ? "Tool error" : match[1]!,
    text: conversation.slice(match.index + match[0].length, starts[i + 1]?.index).trim(),
  }));
}

function notesOf(conversation: string): Notes {
  const said = parse(conversation);
  const by = (...who: string[]): string[] => said.filter((part) => who.includes(part.who)).map(({ text }) => text);
  const errors = by("Tool error", "Assistant failed").slice(-MOST_ERRORS);
  const calls = by("Assistant tool calls").flatMap((text) => text.split(/(?<=\)); /));
  const files = unique(calls.flatMap((call) => /\b(?:path|file_path)="([^"]+)"/.exec(call)?.[1] ?? []));
  const latest = by("Assistant").at(-1);
  return {
    Goal: by("User", "Note", "Shell command").map((text) => line(text, LONGEST_LINE)),
    Progress: unique(calls.map((call) => line(call, 120))),
    "Key Decisions": unique(by("Assistant").flatMap(sentences).filter(isDecision)),
    "Next Steps": latest === undefined ? [] : [`Latest answer: ${line(latest, LONGEST_LINE)}`],
    "Critical Context": [
      ...by("Summary of a branch that was left", "Earlier summary").map((text) => line(text, LONGEST_LINE)),
      ...(files.length > 0 ? [`Files: ${files.slice(-MOST_FILES).join(", ")}`] : []),
      ...errors.map((text) => `Error: ${line(text, LONGEST_ERROR)}`),
    ],
  };
}

/** An earlier summary, whoever wrote it: what stands under no heading of ours is context. */
function notesIn(summary: string): Notes {
  const notes: Notes = { Goal: [], Progress: [], "Key Decisions": [], "Next Steps": [], "Critical Context": [] };
  let heading: Heading = "Critical Context";
  for (const written of summary.split("\n")) {
    const title = /^#+\s+(.*)$/.exec(written)?.[1]?.trim();
    if (title !== undefined) {
      const known = HEADINGS.find((name) => name === title);
      // Done, In Progress and Blocked are parts of Progress.
      if (known ?? written.startsWith("## ")) heading = known ?? "Critical Context";
      continue;
    }
    const text = written.replace(/^[-*]\s+/, "").trim();
    if (text !== "" && !EMPTY.test(text) && !LEFT_OUT.test(text)) notes[heading].push(text);
  }
  return notes;
}

/** The latest state replaces the one before; everything else is added to what was known. */
function merged(before: Notes, now: Notes): Notes {
  const notes = { ...now };
  for (const heading of HEADINGS) {
    if (heading === "Next Steps" && now[heading].length > 0) continue;
    notes[heading] = unique([...before[heading], ...now[heading]]);
  }
  return notes;
}

/** Each part gets as much as there is room for: of its lines the first, because it says what it is all about, and the newest. */
function fitted(notes: Notes, room: number): Notes {
  const kept = { ...notes };
  let left = room - HEADINGS.reduce((sum, heading) => sum + heading.length + 5, 0);
  for (const [heading, share] of SHARES) {
    const lines = withinRoom(notes[heading], Math.min(left, room * share));
    kept[heading] = lines;
    left -= sizeOf(lines);
  }
  return kept;
}

/** Shorter lines before fewer lines. */
function withinRoom(lines: readonly string[], room: number): string[] {
  const longest = LINE_LENGTHS.find((length) => sizeOf(lines.map((text) => line(text, length))) <= room);
  return longest === undefined ? firstAndNewest(lines, room) : lines.map((text) => line(text, longest));
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((sum, text) => sum + text.length + 3, 0);
}

function firstAndNewest(lines: readonly string[], room: number): string[] {
  const [first, ...others] = lines.map((text) => line(text, LINE_LENGTHS.at(-1)!));
  if (first === undefined) return [];
  const newest: string[] = [];
  // What says that something was left out needs room too.
  let left = room - sizeOf([first]) - 24;
  for (const text of others.toReversed()) {
    left -= sizeOf([text]);
    if (left < 0) break;
    newest.unshift(text);
  }
  const leftOut = others.length - newest.length;
  return leftOut === 0 ? [first, ...newest] : [first, `(${leftOut} left out)`, ...newest];
}

function render(notes: Notes): string {
  return HEADINGS.map((heading) => {
    const lines = notes[heading].length > 0 ? notes[heading] : ["(none)"];
    return `## ${heading}\n${lines.map((text) => (LEFT_OUT.test(text) ? text : `- ${text}`)).join("\n")}`;
  }).join("\n\n");
}

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+|\n+/).map((sentence) => line(sentence.replace(/^[-*]\s+/, ""), 300));
}

function isDecision(sentence: string): boolean {
  return DECIDES.test(sentence);
}

/** On one line; of what is too long the beginning and the end. */
function line(text: string, longest: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  if (flat.length <= longest) return flat;
  const half = Math.floor((longest - 3) / 2);
  return `${flat.slice(0, half)} … ${flat.slice(-half)}`.replace(/[\uD800-\uDBFF](?= …)|(?<=… )[\uDC00-\uDFFF]/g, "");
}

function unique(lines: readonly string[]): string[] {
  return [...new Set(lines.filter((text) => text !== ""))];
}
