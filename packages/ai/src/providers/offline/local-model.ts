import type { Clock } from "@tiller/protocol/clock";
import type { LlmMessage } from "@tiller/protocol/message";
import { ProviderError } from "../../errors.ts";
import type { Delta, ModelRequest } from "../../provider.ts";

/** What the two models that need no network (offline and script) have in common. */

const CHARACTERS_PER_TOKEN = 4;
const TOKENS_PER_IMAGE = 1000;

export function abortedDelta(): Delta {
  return { type: "error", error: new ProviderError("aborted", "Request was aborted") };
}

/** Lets the event loop turn once, so that a host's abort can be read between two batches. It waits for no time at all. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits on the given clock; an abort ends the wait early. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal?.addEventListener("abort", finish, { once: true });
  });
}

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** A rough count of what a real model would have been sent: hosts show usage, so it should not be nothing. */
export function estimateInput(request: ModelRequest): number {
  let characters = request.systemPrompt.length;
  let images = 0;
  for (const message of request.messages) {
    for (const block of blocksOf(message)) {
      if (block.type === "image") images++;
      else if (block.type === "text") characters += block.text.length;
      else if (block.type === "thinking") characters += block.thinking.length;
      else characters += block.name.length + JSON.stringify(block.arguments).length;
    }
  }
  return estimateTokens(characters) + images * TOKENS_PER_IMAGE;
}

/** The text of a message, blocks joined by a line break; images and tool calls are left out. */
export function textOf(message: LlmMessage): string {
  const texts: string[] = [];
  for (const block of blocksOf(message)) if (block.type === "text") texts.push(block.text);
  return texts.join("\n");
}

export function hasImage(message: LlmMessage): boolean {
  return blocksOf(message).some((block) => block.type === "image");
}

/**
 * The number the next tool call gets (`scout_3`). It is read off the conversation, so that the models keep no state and
 * the same conversation always gives the same ids; the highest number counts because compaction may have cut away others.
 */
export function nextCallNumber(messages: readonly LlmMessage[], prefix: string): number {
  let highest = 0;
  for (const message of messages) {
    for (const block of blocksOf(message)) {
      if (block.type !== "toolCall" || !block.id.startsWith(prefix)) continue;
      const number = Number(block.id.slice(prefix.length));
      if (Number.isSafeInteger(number)) highest = Math.max(highest, number);
    }
  }
  return highest + 1;
}

function blocksOf(message: LlmMessage) {
  if (typeof message.content === "string") return [{ type: "text" as const, text: message.content }];
  return message.content;
}
