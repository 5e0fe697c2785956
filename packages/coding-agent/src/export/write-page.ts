import type { Redact } from "../lib/redactor.ts";
import type { ReadBlob } from "../session/store/migrations.ts";
import type { SessionHead } from "../session/store/session-head.ts";
import { beginNewFile, type NewFile } from "../session/store/whole-file.ts";
import { columnsOf, type EntryRow } from "./entry-row.ts";
import { BLOCK_CHARS, BLOCK_ENTRIES, PAGE_FORMAT, type PageEnd, type PageStart } from "./html/format.ts";
import { blockText, closePage, openPage } from "./html/shell.ts";
import { createPageFacts } from "./page-facts.ts";
import { createEntryReader, type ReaderOptions } from "./read-entries.ts";
import type { LinePieces } from "./session-text.ts";

/** A session that is to become a page. */
export interface ExportedSession {
  head: SessionHead;
  lines: LinePieces;
  readBlob?: ReadBlob;
  /** What only a session that is open knows: where it stands, its system prompt and tools. */
  known?: Partial<Pick<PageEnd, "leafId" | "name" | "systemPrompt" | "tools">>;
}

export interface PageMaking {
  version: string;
  /** ISO. */
  exported: string;
  /** Undefined: nothing is taken out. */
  redact?: Redact;
}

/** In the words of other systems. */
export class NothingToExport extends Error {
  constructor() {
    super("Nothing to export yet - start a conversation first");
  }
}

/** What is being written to; the real thing is `beginNewFile`. */
export type BeginFile = (path: string) => NewFile;

/**
 * Writes the page beside its place and puts it there when it is whole: whatever goes wrong, there is the old file or
 * none, never half of one. What is in memory at a time is a piece of the session and one block. Others have their turn after each.
 */
export async function writePage(
  path: string,
  session: ExportedSession,
  making: PageMaking,
  begin: BeginFile = beginNewFile,
): Promise<{ entries: number; damagedLines: number }> {
  const file = begin(path);
  try {
    const made = await writeParts(file, session, making);
    if (made.entries === 0) throw new NothingToExport();
    file.putInPlace();
    return made;
  } catch (error) {
    file.discard();
    throw error;
  }
}

async function writeParts(
  file: NewFile,
  { head, lines, readBlob, known }: ExportedSession,
  { version, exported, redact: redactor }: PageMaking,
): Promise<{ entries: number; damagedLines: number }> {
  const redact = redactor ?? ((text: string) => text);
  const put = (text: string): void => file.write(Buffer.from(text));
  const clean = <T>(data: T): T => JSON.parse(redact(JSON.stringify(data))) as T;
  const start: PageStart = {
    format: PAGE_FORMAT,
    sessionId: head.id,
    cwd: head.cwd,
    ...(head.title !== undefined && { name: head.title }),
    ...(head.created !== "" && { started: head.created }),
    version,
    exported,
    redacted: redactor !== undefined,
  };
  put(openPage(clean(start)));
  const facts = createPageFacts(head);
  const blocks = createBlocks(put);
  const onEntry: ReaderOptions["onEntry"] = (row, json, entry) => {
    facts.take(row, entry);
    blocks.add(row, json);
  };
  const reader = createEntryReader({ version: head.version, redact, readBlob, onEntry });
  for (const text of lines) {
    reader.take(text);
    await new Promise(setImmediate);
  }
  reader.end();
  blocks.end();
  const { damagedLines } = reader;
  const end: PageEnd = { ...facts.end(), ...known, ...(damagedLines > 0 && { damagedLines }) };
  put(closePage(clean(end)));
  return { entries: end.entries, damagedLines };
}

/** Entries that are written together. */
interface Blocks {
  add(row: EntryRow, json: string): void;
  end(): void;
}

function createBlocks(put: (text: string) => void): Blocks {
  let rows: EntryRow[] = [];
  let texts: string[] = [];
  let size = 0;
  /** The id of the entry before those that wait. */
  let before: string | undefined;
  const end = (): void => {
    if (rows.length === 0) return;
    put(blockText(columnsOf(rows, before), texts));
    before = rows.at(-1)?.id;
    rows = [];
    texts = [];
    size = 0;
  };
  return {
    add(row, json) {
      if (rows.length === BLOCK_ENTRIES || size + json.length > BLOCK_CHARS) end();
      rows.push(row);
      texts.push(json);
      size += json.length;
    },
    end,
  };
}
