import { emptyUsage } from "@tiller/ai/cost";
import type { ModelRequest } from "@tiller/ai/provider";
import type { AssistantContent, ImageContent, TextContent } from "@tiller/protocol/content";
import type { LlmMessage } from "@tiller/protocol/message";
import { isRecord } from "./frame.ts";

/**
 * What stands in a request to the Anthropic Messages API, as the script model looks at it: `expect`, the numbers of tool calls
 * and the estimate of tokens need no more. Whatever has another shape is passed over. Pure.
 */

type Conversation = Pick<ModelRequest, "systemPrompt" | "messages" | "tools">;
type Block = Record<string, unknown>;

export function conversationOf(body: unknown): Conversation {
  const { system, messages, tools } = isRecord(body) ? body : {};
  /** A result names its call only by the id. */
  const callNames = new Map<string, string>();
  return {
    systemPrompt: textsOf(system).join("\n\n"),
    messages: records(messages).flatMap(({ role, content }) =>
      role === "assistant"
        ? [assistantMessage(blocksOf(content), callNames)]
        : userMessages(blocksOf(content), callNames),
    ),
    tools: records(tools).map(({ name, description, input_schema }) => ({
      name: String(name),
      description: text(description),
      parameters: isRecord(input_schema) ? input_schema : {},
    })),
  };
}

/** The results of tools, each a message of its own, and what the user says between them. */
function userMessages(blocks: readonly Block[], callNames: ReadonlyMap<string, string>): LlmMessage[] {
  const messages: LlmMessage[] = [];
  let said: (TextContent | ImageContent)[] | undefined;
  for (const block of blocks) {
    if (block.type !== "tool_result") {
      if (!said) {
        said = [];
        messages.push({ role: "user", content: said, timestamp: 0 });
      }
      said.push(...spoken([block]));
      continue;
    }
    said = undefined;
    const toolCallId = text(block.tool_use_id);
    messages.push({
      role: "toolResult",
      toolCallId,
      toolName: callNames.get(toolCallId) ?? "",
      content: spoken(blocksOf(block.content)),
      isError: block.is_error === true,
      timestamp: 0,
    });
  }
  return messages;
}

function assistantMessage(blocks: readonly Block[], callNames: Map<string, string>): LlmMessage {
  const content = blocks.flatMap((block): AssistantContent[] => {
    if (block.type === "text") return [{ type: "text", text: text(block.text) }];
    if (block.type === "thinking") return [{ type: "thinking", thinking: text(block.thinking) }];
    if (block.type !== "tool_use") return [];
    const [id, name] = [text(block.id), text(block.name)];
    callNames.set(id, name);
    return [{ type: "toolCall", id, name, arguments: isRecord(block.input) ? block.input : {} }];
  });
  const by = { api: "anthropic-messages", provider: "script", model: "script" };
  return { role: "assistant", content, ...by, usage: emptyUsage(), stopReason: "stop", timestamp: 0 };
}

function spoken(blocks: readonly Block[]): (TextContent | ImageContent)[] {
  return blocks.flatMap((block): (TextContent | ImageContent)[] => {
    if (block.type === "text") return [{ type: "text", text: text(block.text) }];
    if (block.type !== "image") return [];
    const { data, media_type } = isRecord(block.source) ? block.source : {};
    return [{ type: "image", data: text(data), mimeType: text(media_type) }];
  });
}

/** A content may be a mere text. */
function blocksOf(content: unknown): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : records(content);
}

function textsOf(content: unknown): string[] {
  return blocksOf(content).flatMap((block) => (block.type === "text" ? [text(block.text)] : []));
}

function records(value: unknown): Block[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
