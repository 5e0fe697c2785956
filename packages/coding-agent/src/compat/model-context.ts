import type { LlmMessage } from "@tiller/protocol/message";
import type { ToolSpec } from "@tiller/protocol/tool";

/** What extensions hand to a model, in the words of all versions. Later ones put prompt and tools into system messages. */
export interface ModelContext {
  systemPrompt?: string | readonly string[];
  messages: readonly (LlmMessage | SystemMessage | DeveloperMessage)[];
  tools?: readonly ToolSpec[];
}

interface DeveloperMessage {
  role: "developer";
  content?: unknown;
}

interface SystemMessage {
  role: "system";
  content?: unknown;
  /** Named parts of the prompt: new ones, changed ones, and null for those that are gone. */
  sections?: unknown;
  toolsAdded?: readonly ToolSpec[];
  toolsRemoved?: readonly (string | { name: string })[];
}

export interface PlainContext {
  systemPrompt: string;
  messages: LlmMessage[];
  tools: ToolSpec[];
}

/** Prompt and tools of conversations that have no system message in them, for those who ask the conversation. */
const told = new WeakMap<object, Pick<PlainContext, "systemPrompt" | "tools">>();

/** Prompt and tools apart from the conversation, whichever way they were given. */
export function plainContext(context: ModelContext): PlainContext {
  const before = told.get(context.messages);
  const prompts = [context.systemPrompt ?? before?.systemPrompt ?? []].flat();
  const tools = new Map((context.tools ?? before?.tools ?? []).map((tool) => [tool.name, tool]));
  const messages: LlmMessage[] = [];
  for (const message of context.messages) {
    // Reminders of a third kind are the user's to every model that does not know them.
    if (message.role === "developer") messages.push({ ...message, role: "user" } as unknown as LlmMessage);
    else if (message.role !== "system") messages.push(message);
    if (message.role !== "system") continue;
    prompts.push(contentText(message.content), ...sectionTexts(message.sections));
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool);
    for (const gone of message.toolsRemoved ?? []) tools.delete(typeof gone === "string" ? gone : gone.name);
  }
  const systemPrompt = prompts.filter((text) => text !== "").join("\n\n");
  return { systemPrompt, messages, tools: [...tools.values()] };
}

/** As an extension's provider gets it: readable in both ways, by field and by asking the conversation. */
export function contextForExtension(plain: PlainContext): PlainContext {
  told.set(plain.messages, { systemPrompt: plain.systemPrompt, tools: plain.tools });
  return plain;
}

export function collapseSystemMessages(context: ModelContext): PlainContext {
  return contextForExtension(plainContext(context));
}

export function getCurrentSystemPrompt(messages: ModelContext["messages"]): string | undefined {
  return plainContext({ messages }).systemPrompt || undefined;
}

export function getCurrentTools(messages: ModelContext["messages"]): ToolSpec[] {
  return plainContext({ messages }).tools;
}

export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { type?: unknown; text?: unknown }) => (block.type === "text" ? String(block.text) : ""))
    .join("");
}

function sectionTexts(sections: unknown): string[] {
  if (typeof sections !== "object" || sections === null) return [];
  return Object.values(sections).map((section: unknown) =>
    typeof section === "string" ? section : contentText((section as { content?: unknown } | null)?.content),
  );
}
