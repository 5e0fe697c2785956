import type { GrepCollector, GrepLine } from "./grep-format.ts";

/** Finds the matching lines of one file, which may come in several blocks, and the lines around them, none twice. Pure. */

export interface FileSearch {
  /** Takes the next lines of the file, whole ones. False when the collector has enough. */
  block(text: string): boolean;
}

export interface FileSearchOptions {
  path: string;
  matches(line: string): boolean;
  /** One look at a whole block that says no is quicker than one per line. */
  cannotMatch(block: string): boolean;
  /** Lines to show before and after a match. */
  context: number;
  collector: Pick<GrepCollector, "add">;
}

export function createFileSearch({ path, matches, cannotMatch, context, collector }: FileSearchOptions): FileSearch {
  /** Lines so far, and those before the next that are not reported yet but may have to be. */
  let line = 0;
  let before: string[] = [];
  let showUntil = 0;

  const report = (text: string, number: number, isMatch: boolean): boolean =>
    collector.add({ path, line: number, text, isMatch } satisfies GrepLine);
  const take = (text: string): boolean => {
    line += 1;
    if (matches(text.endsWith("\r") ? text.slice(0, -1) : text)) {
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
      if (line >= showUntil && cannotMatch(text)) {
        line += lines.length;
        if (context > 0) before = [...before, ...lines.slice(-context)].slice(-context);
        return true;
      }
      return lines.every(take);
    },
  };
}
