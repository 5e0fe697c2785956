import type { Redact } from "../lib/redactor.ts";
import { FILE_VERSION } from "../session/store/begin-session.ts";
import { type Line, migrate, normalise, type ReadBlob } from "../session/store/migrations.ts";
import { salvage } from "../session/store/salvage.ts";
import { type EntryRow, rowOf } from "./entry-row.ts";
import { readUsualLine } from "./usual-line.ts";

/**
 * The entries of any session file of the family, as we would have written them. Secrets are taken out of the text before
 * it is parsed, so that nothing of them gets any further.
 */
export interface EntryReader {
  /** Whole lines. */
  take(text: string): void;
  /** There is no more. */
  end(): void;
  /** So many lines could not be read so far. */
  readonly damagedLines: number;
}

export interface ReaderOptions {
  /** Of the file. */
  version: number;
  redact: Redact;
  readBlob?: ReadBlob;
  /**
   * `json` is the text of the entry, `entry` what it says if it had to be parsed. In a damaged file an entry whose parent
   * was lost follows what stands before it; only `row` says so.
   */
  onEntry(row: EntryRow, json: string, entry: Line | undefined): void;
}

export function createEntryReader({ version, redact, readBlob, onEntry }: ReaderOptions): EntryReader {
  let damagedLines = 0;
  const known = new Set<string>();
  let before: string | null = null;
  let nameless = 0;
  let again = 0;
  /** Entries of an old version can only be understood together. Such files are small. */
  const old: Line[] | undefined = version < FILE_VERSION ? [] : undefined;

  const tell = (row: EntryRow, json: string, entry?: Line): void => {
    const { parentId } = row;
    if (damagedLines > 0 && before !== null && parentId !== null && !known.has(parentId)) row.parentId = before;
    // Two entries of one name: others mean the first one, and a link to the second needs a name for it.
    if (known.has(row.id)) row.id = `${row.id}.again-${++again}`;
    onEntry(row, json, entry);
    before = row.id;
    known.add(before);
  };
  const takeEntry = (entry: Line, json: string): void => {
    const named = typeof entry.id === "string" ? entry : { ...entry, id: `unnamed-${++nameless}`, parentId: before };
    const ours = normalise(named, readBlob);
    const text = ours === entry ? json : jsonOf(ours);
    if (text === undefined) damagedLines += 1;
    else tell(rowOf(ours), text, ours);
  };
  const takeLine = (json: string): void => {
    const row = old ? undefined : readUsualLine(json);
    const entry = row ? undefined : parsed(json);
    if (row) tell(row, json);
    else if (!entry) {
      if (json.trim() === "") return;
      damagedLines += 1;
      for (const good of salvage(Buffer.from(json)).good) takeLine(good.toString());
    } else if (entry.type !== "session" && entry.type !== "title") {
      if (old) old.push(entry);
      else takeEntry(entry, json);
    }
  };

  return {
    get damagedLines() {
      return damagedLines;
    },
    take(text) {
      const clean = redact(plain(text));
      let start = 0;
      for (let end = clean.indexOf("\n"); end >= 0; end = clean.indexOf("\n", start)) {
        if (end > start) takeLine(clean.slice(start, end));
        start = end + 1;
      }
      if (start < clean.length) takeLine(clean.slice(start));
    },
    end() {
      let made = 0;
      if (!old) return;
      for (const entry of migrate({ version }, old, () => `line-${++made}`).entries) {
        takeEntry(entry, JSON.stringify(entry));
      }
    },
  };
}

/** Undefined for what is no entry. */
function parsed(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isEntry = typeof value === "object" && value !== null && typeof (value as Line).type === "string";
    return isEntry ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for what JSON.parse reads and JSON.stringify cannot write: it is nested too deep. */
function jsonOf(entry: Line): string | undefined {
  try {
    return JSON.stringify(entry);
  } catch {
    return undefined;
  }
}

/** A letter or a slash may be written as an escape, which no pattern would see through. */
function plain(text: string): string {
  if (!hidesLetters(text)) return text;
  const lines = text.split("\n");
  return lines.map((line) => (hidesLetters(line) ? rewritten(line) : line)).join("\n");
}

function hidesLetters(text: string): boolean {
  return text.includes("\\/") || (text.includes("\\u00") && /\\u00[2-7]/.test(text));
}

function rewritten(line: string): string {
  const entry = parsed(line);
  return (entry && jsonOf(entry)) ?? line;
}
