import type { AssistantContent, AssistantMessage, AssistantMessageEvent } from "@tiller/protocol/plain-types.generated";
import type { AgentEvent } from "./events.ts";

/**
 * Gives every `message_update` the message so far, also when the agent sends only what is new (update mode `delta`). It is
 * one object that grows: whoever wants to keep a moment of it makes a copy.
 */
export interface MessageBuilder {
  /** Puts the message into the event. */
  update(event: AgentEvent<"message_update">): void;
  /** A message begins. */
  begin(event: AgentEvent<"message_start">): void;
  end(): void;
}

const FLATTEN_STEP = 4096;

export function createMessageBuilder(): MessageBuilder {
  let growing: Partial<AssistantMessage> & { role: "assistant"; content: AssistantContent[] } = empty();
  let flatAt = FLATTEN_STEP;
  /** What the agent sent whole last: it belongs to whoever got it, does not grow, and may be ahead of the piece it came with. */
  let whole: AgentEvent<"message_update">["message"] | undefined;

  /** The engine keeps a text that grows by tokens as a tree of them; to look at a character makes it one string again. */
  const flatten = (text: string): void => {
    if (text.length < flatAt) return;
    flatAt = Number.isNaN(text.charCodeAt(0)) ? FLATTEN_STEP : text.length * 1.25 + FLATTEN_STEP;
  };

  const apply = (event: AssistantMessageEvent): void => {
    if (event.type === "text_delta") {
      const block = growing.content[event.contentIndex];
      if (block?.type !== "text") growing.content[event.contentIndex] = { type: "text", text: event.delta };
      else {
        block.text += event.delta;
        flatten(block.text);
      }
    } else if (event.type === "thinking_delta") {
      const block = growing.content[event.contentIndex];
      if (block?.type !== "thinking") growing.content[event.contentIndex] = { type: "thinking", thinking: event.delta };
      else {
        block.thinking += event.delta;
        flatten(block.thinking);
      }
    } else if ("contentIndex" in event) {
      flatAt = FLATTEN_STEP;
      const block = wholeBlock(event);
      if (block) growing.content[event.contentIndex] = block;
    }
  };

  /** All that the whole one said beside the words; of these only what was told, unless their beginning was missed. */
  const goOnFrom = (said: NonNullable<typeof whole>): typeof growing => {
    const next = structuredClone(said) as typeof growing;
    next.content.forEach((block, at) => {
      const told: AssistantContent | undefined = growing.content[at];
      if (block.type === "text" && told?.type === "text" && block.text.startsWith(told.text)) block.text = told.text;
      if (block.type === "thinking" && told?.type === "thinking" && block.thinking.startsWith(told.thinking))
        block.thinking = told.thinking;
    });
    return next;
  };

  return {
    begin({ message }) {
      whole = undefined;
      if (message.role === "assistant") growing = { ...message, content: [...message.content] };
    },
    update(event) {
      const piece = event.assistantMessageEvent;
      // Whole already: the agent sends snapshots. It may leave them out for a while when a message is huge.
      if (event.message.content.length > 0) {
        apply(piece);
        whole = event.message;
        return;
      }
      if (whole) growing = goOnFrom(whole);
      whole = undefined;
      apply(piece);
      if (event.usage) growing.usage = event.usage;
      if (piece.type === "done") event.message = piece.message;
      else if (piece.type === "error") event.message = piece.error;
      else {
        event.message = growing;
        piece.partial = growing;
      }
    },
    end() {
      whole = undefined;
      growing = empty();
    },
  };
}

function empty(): { role: "assistant"; content: AssistantContent[] } {
  return { role: "assistant", content: [] };
}

/** What a block is at its beginning and at its end; undefined for a piece of it. */
function wholeBlock(event: AssistantMessageEvent): AssistantContent | undefined {
  switch (event.type) {
    case "text_start":
      return { type: "text", text: "" };
    case "text_end":
      return { type: "text", text: event.content };
    case "thinking_start":
      return { type: "thinking", thinking: "" };
    case "thinking_end":
      return { type: "thinking", thinking: event.content };
    case "toolcall_start":
      return { type: "toolCall", id: event.id, name: event.toolName, arguments: {} };
    case "toolcall_end":
      return event.toolCall;
    default:
      return undefined;
  }
}
