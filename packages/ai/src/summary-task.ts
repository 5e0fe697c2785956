/**
 * How a request for a summary of a conversation looks: the first words of its system prompt, and the tags around the parts
 * of its one message. A language model reads it as prose; scout, who knows only rules, finds the parts by them.
 */
export const SUMMARY_TASK =
  "You write down what has to be remembered of a conversation between a person and a coding assistant.";

export const SUMMARY_TAGS = { conversation: "conversation", previous: "previous-summary" } as const;

export function tagged(tag: string, text: string): string {
  return `<${tag}>\n${text}\n</${tag}>`;
}

/** What stands between the first opening and the last closing tag; undefined when it is not there. */
export function insideTag(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>\n`);
  const end = text.lastIndexOf(`\n</${tag}>`);
  const from = start + tag.length + 3;
  return start < 0 || end < from - 1 ? undefined : text.slice(from, Math.max(end, from));
}
