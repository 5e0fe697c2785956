/** A text that shows changes, line by line. Pure. */

export interface DiffLine {
  kind: "added" | "removed" | "same" | "gap" | "head";
  /** As it stood in the file: the number of the line, in the new text for added ones, else in the old. */
  number?: number;
  text: string;
}

/** `+12 text`: what the edit tool gives, with the number of the line behind the sign. */
const NUMBERED = /^([ +-])( *\d+) (.*)$/;
const NUMBERED_GAP = /^ +\.\.\.$/;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const HEAD = /^(diff |index |--- |\+\+\+ |new file|deleted file|similarity |rename |old mode|new mode|Binary files )/;
const SIGNS: Record<string, DiffLine["kind"]> = { "+": "added", "-": "removed", " ": "same" };

export function diffLines(text: string): DiffLine[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return isNumbered(lines) ? lines.map(numberedLine) : unifiedLines(lines);
}

function isNumbered(lines: readonly string[]): boolean {
  return lines.every(
    (line) => line === "" || NUMBERED.test(line) || NUMBERED_GAP.test(line) || /^[ +-] *\d+$/.test(line),
  );
}

function numberedLine(line: string): DiffLine {
  const found = NUMBERED.exec(line) ?? /^([ +-])( *\d+)()$/.exec(line);
  if (!found) return { kind: line.trim() === "" ? "same" : "gap", text: line.trim() };
  return { kind: SIGNS[found[1] as string] ?? "same", number: Number(found[2]), text: found[3] as string };
}

function unifiedLines(lines: readonly string[]): DiffLine[] {
  let [old, now] = [0, 0];
  return lines.map((line): DiffLine => {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[2])];
      return { kind: "gap", text: line };
    }
    // Between hunks the same signs begin the names of the files.
    if (old === 0 ? HEAD.test(line) : /^(diff |\\ No newline)/.test(line)) {
      if (line.startsWith("diff ")) [old, now] = [0, 0];
      return { kind: "head", text: line };
    }
    const kind = SIGNS[line[0] ?? " "] ?? "same";
    const number = kind === "added" ? now : old;
    if (kind !== "added") old += old === 0 ? 0 : 1;
    if (kind !== "removed") now += now === 0 ? 0 : 1;
    return { kind, ...(number > 0 && { number }), text: SIGNS[line[0] ?? ""] ? line.slice(1) : line };
  });
}

/** A text that was replaced by another, without a closer look at what they have in common but at both ends. */
export function replacedLines(oldText: string, newText: string): DiffLine[] {
  const [before, after] = [oldText.split("\n"), newText.split("\n")];
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const line = (kind: DiffLine["kind"]) => (text: string) => ({ kind, text });
  return [
    ...before.slice(0, head).map(line("same")),
    ...before.slice(head, before.length - tail).map(line("removed")),
    ...after.slice(head, after.length - tail).map(line("added")),
    ...before.slice(before.length - tail).map(line("same")),
  ];
}
