import type { GrepCollector, GrepLine } from "./grep-format.ts";

/** Finds the matching lines of one file, which may come in several blocks, and the lines around them, none twice. Pure. */

export interface FileSearch {
  /** Takes the next lines of the file, whole ones. False when the collector has enough. */
  block(text: string): boolean;
  /** Takes a line that is not searched. */
  passOver(text: string): void;
}

export interface FileSearchOptions {
  path: string;
  /** Which of the lines of a block match, by their place in it; undefined when none does. */
  matchesIn(block: string, lines: readonly string[]): ((index: number) => boolean) | undefined;
  /** Lines to show before and after a match. */
  context: number;
  collector: Pick<GrepCollector, "add">;
}

export function createFileSearch({ path, matchesIn, context, collector }: FileSearchOptions): FileSearch {
  /** Lines so far, and those before the next that are not reported yet but may have to be. */
  let line = 0;
  let before: string[] = [];
  let showUntil = 0;

  const report = (text: string, number: number, isMatch: boolean): boolean =>
    // Bytes that are no character came as halves of one.
    collector.add({ path, line: number, text: text.toWellFormed(), isMatch } satisfies GrepLine);
  const take = (text: string, isMatch: boolean): boolean => {
    line += 1;
    if (isMatch) {
      for (const [index, earlier] of before.entries()) report(earlier, line - before.length + index, false);
      before = [];
      showUntil = line + context;
      return report(text, line, true);
    }
    if (line <= showUntil) {
      report(text, line, false);
    } else if (context > 0) {
      before.push(text);
      if (before.length > context) before.shift();
    }
    return true;
  };

  return {
    block(text) {
      const lines = text.split("\n");
      if (lines.at(-1) === "") lines.pop();
      const matches = matchesIn(text, lines);
      if (line >= showUntil && !matches) {
        line += lines.length;
        if (context > 0) before = [...before, ...lines.slice(-context)].slice(-context);
        return true;
      }
      return lines.every((one, index) => take(one, matches?.(index) ?? false));
    },
    passOver: (text) => void take(text, false),
  };
}
