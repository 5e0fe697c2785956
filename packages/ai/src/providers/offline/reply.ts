import type { PlannedCall } from "./toolbox.ts";

/** What scout says next: words, and the calls it wants made before it goes on. Without calls the answer is finished. */
export interface Reply {
  text: string;
  calls?: PlannedCall[];
}

export function code(text: string): string {
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A code block whose fence is longer than any fence inside. */
export function block(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** "1 file", "2 files", "no files". */
export function plural(count: number, word: string, many = `${word}s`): string {
  if (count === 0) return `no ${many}`;
  return `${count} ${count === 1 ? word : many}`;
}

/** "a", "a and b", "a, b and c". */
export function joinAnd(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}
