/** Whether a session file is whole: every line is looked at to its end, which opening it does not do. Pure. */
export interface Verdict {
  /** Lines that cannot be read. Empty for a file that is whole. */
  damage: LineProblem[];
  /** What is odd without being unreadable: the session opens with it. */
  oddities: LineProblem[];
}

export interface LineProblem {
  /** Bytes of the line in the file, without its end. */
  start: number;
  end: number;
  /** Counted from 1. */
  line: number;
  why: string;
}

const LF = 0x0a;

export function verifyLines(bytes: Buffer): Verdict {
  const verdict: Verdict = { damage: [], oddities: [] };
  const known = new Map<string, number>();
  const parents: { at: LineProblem; parentId: string }[] = [];
  let header: Record<string, unknown> | undefined;
  let number = 0;
  for (let start = 0; start < bytes.length; ) {
    const lineFeed = bytes.indexOf(LF, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const at = { start, end, line: ++number, why: "" };
    const read = end === start ? undefined : readLine(bytes.subarray(start, end), lineFeed >= 0);
    if (typeof read === "string") verdict.damage.push({ ...at, why: read });
    else if (read?.type === "session") {
      if (header) verdict.oddities.push({ ...at, why: "a second header" });
      header ??= read;
    } else if (read && read.type !== "title") takeEntry(read, at);
    start = end + 1;
  }
  if (!header) verdict.damage.unshift({ start: 0, end: 0, line: 1, why: "no session header" });
  for (const { at, parentId } of parents) {
    if (!known.has(parentId)) verdict.oddities.push({ ...at, why: `its parent "${parentId}" is not in the file` });
  }
  return verdict;

  function takeEntry(entry: Record<string, unknown>, at: LineProblem): void {
    const { id, parentId } = entry;
    if (typeof id !== "string") {
      // The first version had none.
      const isOld = typeof header?.version !== "number" || header.version < 2;
      if (!isOld) verdict.oddities.push({ ...at, why: "an entry without an id" });
      return;
    }
    const first = known.get(id);
    if (first === undefined) known.set(id, at.line);
    else verdict.oddities.push({ ...at, why: `the id "${id}" is that of line ${first} too` });
    if (typeof parentId === "string") parents.push({ at, parentId });
  }
}

/** The object in a line, or what is wrong with it. */
function readLine(line: Buffer, isEnded: boolean): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(line.toString("utf8"));
  } catch (error) {
    return whyUnreadable(line, isEnded, error as Error);
  }
  const isEntry = typeof (value as { type?: unknown } | null)?.type === "string";
  return isEntry ? (value as Record<string, unknown>) : 'not an object with a "type"';
}

function whyUnreadable(line: Buffer, isEnded: boolean, error: Error): string {
  const zeros = line.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  if (zeros > 0) return `${zeros} of its ${line.length} bytes are zero`;
  return isEnded ? error.message : "cut off at the end of the file";
}
