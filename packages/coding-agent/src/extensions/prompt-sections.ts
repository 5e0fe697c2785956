/**
 * Handlers of `before_agent_start` may put parts into `systemPromptOptions.sections` in place of answering with a whole
 * prompt. They come behind it, each between tags of its name.
 */
export function withSections(systemPrompt: string, sections: unknown): string {
  if (typeof sections !== "object" || sections === null) return systemPrompt;
  const parts = Object.entries(sections).filter(([, text]) => typeof text === "string" && text.trim() !== "");
  return [systemPrompt, ...parts.map(([name, text]) => `<${name}>\n${text}\n</${name}>`)].join("\n\n");
}
