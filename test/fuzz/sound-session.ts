import { ProviderError } from "@tiller/ai/errors";
import type { AgentMessage, LlmMessage } from "@tiller/protocol/message";
import { anthropicMessages } from "../../packages/ai/src/apis/anthropic-messages/family.ts";
import { googleGenerativeAi } from "../../packages/ai/src/apis/google/family.ts";
import { openaiChat } from "../../packages/ai/src/apis/openai-chat/family.ts";
import { openaiResponses } from "../../packages/ai/src/apis/openai-responses/family.ts";
import { testModel, testRequest } from "../../packages/ai/src/testing.ts";
import { messagesToLlm } from "../../packages/coding-agent/src/session/messages-to-llm.ts";
import { at, isRecord, list } from "../support/frame.ts";

/**
 * Whether a conversation that came from a file is one that can be gone on with: all that is said in it is text, numbers are
 * numbers, and each family can be asked about it.
 */

/** What must be text, by role and by kind of block. Of a kind that we do not know nothing is expected but to be in nobody's way. */
const TEXTS: Record<AgentMessage["role"], readonly string[]> = {
  user: [],
  assistant: ["provider", "model"],
  toolResult: ["toolCallId", "toolName"],
  bashExecution: ["command", "output"],
  custom: ["customType"],
  branchSummary: ["summary"],
  compactionSummary: ["summary"],
};
const TEXTS_OF_BLOCKS: Record<string, readonly string[]> = {
  text: ["text"],
  thinking: ["thinking"],
  image: ["data", "mimeType"],
  toolCall: ["id", "name"],
};
const COUNTS = [["input"], ["output"], ["cacheRead"], ["cacheWrite"], ["totalTokens"], ["cost", "total"]];
const HAS_ONLY_BLOCKS: ReadonlySet<string> = new Set(["assistant", "toolResult"]);
const HAS_CONTENT: ReadonlySet<string> = new Set([...HAS_ONLY_BLOCKS, "user", "custom"]);

const FAMILIES = [anthropicMessages, openaiChat, openaiResponses, googleGenerativeAi];

export function problemsOfSession(messages: readonly AgentMessage[]): string[] {
  return [...messages.flatMap(problemsOf), ...problemsOfAsking(messages)];
}

function problemsOf(message: AgentMessage): string[] {
  const { role } = message;
  const problems = missingTexts(role, { ...message }, TEXTS[role]);
  if (role === "assistant") problems.push(...problemsOfUsage(message.usage));
  if (HAS_CONTENT.has(role))
    problems.push(...problemsOfContent(role, "content" in message ? message.content : undefined));
  return problems;
}

function problemsOfContent(role: string, content: unknown): string[] {
  if (typeof content === "string" && !HAS_ONLY_BLOCKS.has(role)) return [];
  if (!Array.isArray(content)) return [`the content of ${role} is ${JSON.stringify(content)}`];
  return list(content).flatMap((block) => {
    if (!isRecord(block)) return [`a block of ${role} is ${JSON.stringify(block)}`];
    const kind = String(block.type);
    if (kind === "toolCall" && !isRecord(block.arguments))
      return [`arguments of a call is ${JSON.stringify(block.arguments)}`];
    return missingTexts(`${kind} of ${role}`, block, Object.hasOwn(TEXTS_OF_BLOCKS, kind) ? TEXTS_OF_BLOCKS[kind] : []);
  });
}

/** No sum can be made of it. */
function problemsOfUsage(usage: unknown): string[] {
  return COUNTS.flatMap((path) =>
    Number.isFinite(at(usage, ...path)) ? [] : [`usage.${path.join(".")} is ${JSON.stringify(at(usage, ...path))}`],
  );
}

const missingTexts = (of: string, fields: Record<string, unknown>, names: readonly string[] = []): string[] =>
  names.flatMap((name) =>
    typeof fields[name] === "string" ? [] : [`${name} of ${of} is ${JSON.stringify(fields[name])}`],
  );

/** A conversation that leaves nothing to ask is refused by name; everything else is a mistake. */
function problemsOfAsking(messages: readonly AgentMessage[]): string[] {
  const asked: LlmMessage[] = [...messagesToLlm(messages), { role: "user", content: "and on", timestamp: 1 }];
  return FAMILIES.flatMap(({ buildRequest }) => {
    try {
      buildRequest(testRequest({ model: testModel(), messages: asked }));
      return [];
    } catch (error) {
      return error instanceof ProviderError ? [] : [String((error as Error).stack)];
    }
  });
}
