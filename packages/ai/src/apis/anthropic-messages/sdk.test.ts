import Anthropic from "@anthropic-ai/sdk";
import type { AssistantMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import { createSseDecoder } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { testModel } from "../../testing.ts";
import { finish, initial, step } from "./stream.ts";

/**
 * The same stream read by us and by the vendor's own client has to give the same message. The streams are composed after
 * the vendor's documentation.
 */

type SdkMessage = Anthropic.Messages.Message;

async function readBySdk(stream: string): Promise<SdkMessage> {
  const client = new Anthropic({
    apiKey: "none",
    maxRetries: 0,
    fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
  });
  const request = { model: "claude-test", max_tokens: 1000, messages: [{ role: "user" as const, content: "Hello" }] };
  return client.messages.stream(request).finalMessage();
}

function readByUs(stream: string): AssistantMessage {
  const state = initial();
  const deltas: Delta[] = [];
  for (const data of createSseDecoder().push(Buffer.from(stream))) step(state, data, deltas);
  finish(state, deltas);
  const assembly = createAssembly(testModel(), 0);
  for (const delta of deltas) {
    if (delta.type === "done") assembly.finish(delta.stopReason);
    else if (delta.type === "error") assembly.fail(delta.error);
    else assembly.apply(delta);
  }
  return assembly.message;
}

/** A message of the vendor's client in our words. */
function inOurWords(message: SdkMessage): Partial<AssistantMessage> {
  const content: AssistantMessage["content"] = [];
  for (const block of message.content) {
    if (block.type === "text") content.push({ type: "text", text: block.text });
    if (block.type === "thinking") {
      content.push({ type: "thinking", thinking: block.thinking, thinkingSignature: block.signature });
    }
    if (block.type === "redacted_thinking") {
      content.push({
        type: "thinking",
        thinking: "[Reasoning redacted]",
        thinkingSignature: block.data,
        redacted: true,
      });
    }
    if (block.type === "tool_use") {
      const args = block.input as Record<string, unknown>;
      content.push({ type: "toolCall", id: block.id, name: block.name, arguments: args });
    }
  }
  const reasons: Record<string, AssistantMessage["stopReason"]> = { tool_use: "toolUse", max_tokens: "length" };
  return { content, responseId: message.id, stopReason: reasons[message.stop_reason ?? ""] ?? "stop" };
}

/** In the form the vendor sends it: named events, padded with blanks. */
function composed(...events: ({ type: string } & Record<string, unknown>)[]): string {
  const padded = events.map((event, i) => JSON.stringify(event).replace(/\}$/, `${" ".repeat(i % 5)}}`));
  return padded.map((data, i) => `event: ${events[i]!.type}\ndata: ${data}\n\n`).join("");
}

const start = {
  type: "message_start",
  message: {
    id: "msg_01XFDUDYJgAACzvnptvVoYEL",
    type: "message",
    role: "assistant",
    model: "claude-test",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 25, output_tokens: 1, cache_creation_input_tokens: 100, cache_read_input_tokens: 7 },
  },
};
const opened = (index: number, content_block: unknown) => ({ type: "content_block_start", index, content_block });
const delta = (index: number, piece: unknown) => ({ type: "content_block_delta", index, delta: piece });
const stopped = (index: number) => ({ type: "content_block_stop", index });
const ending = (stop_reason: string) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 15 } },
  { type: "message_stop" },
];
const text = (index: number, ...pieces: string[]) => [
  opened(index, { type: "text", text: "" }),
  ...pieces.map((piece) => delta(index, { type: "text_delta", text: piece })),
  stopped(index),
];

const STREAMS: Readonly<Record<string, string>> = {
  text: composed(
    start,
    { type: "ping" },
    ...text(0, "Hello", "! ", 'A "quote" and\na line ✓', "."),
    ...ending("end_turn"),
  ),
  thinking: composed(
    start,
    opened(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "27 * 453" }),
    delta(0, { type: "thinking_delta", thinking: " = 12231" }),
    delta(0, { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk" }),
    stopped(0),
    opened(1, { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix/LafPsn4aDFIT2Xlxh0L5L8rLVyIw" }),
    stopped(1),
    ...text(2, "12,231"),
    ...ending("end_turn"),
  ),
  tools: composed(
    start,
    ...text(0, "Let me", " look."),
    opened(1, { type: "tool_use", id: "toolu_01T1", name: "read", input: {} }),
    ...["", '{"pa', 'th": "src/', 'a b.ts", "li', 'mit": 20', "}"].map((partial_json) =>
      delta(1, { type: "input_json_delta", partial_json }),
    ),
    stopped(1),
    opened(2, { type: "tool_use", id: "toolu_01T2", name: "now", input: {} }),
    stopped(2),
    ...ending("tool_use"),
  ),
  "tools of the provider": composed(
    start,
    opened(0, { type: "server_tool_use", id: "srvtoolu_01", name: "web_search", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: '{"query": "weather"}' }),
    stopped(0),
    opened(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_01", content: [] }),
    stopped(1),
    ...text(2, "Sunny."),
    ...ending("end_turn"),
  ),
  "cut by the limit": composed(start, ...text(0, "Once upon a"), ...ending("max_tokens")),
};

test.each(Object.keys(STREAMS))("read as the vendor's client reads it: %s", async (name) => {
  const stream = STREAMS[name]!;
  const theirs = await readBySdk(stream);
  const ours = readByUs(stream);
  expect(ours).toMatchObject(inOurWords(theirs));
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = theirs.usage;
  expect(ours.usage).toMatchObject({
    input: input_tokens,
    output: output_tokens,
    cacheWrite: cache_creation_input_tokens,
    cacheRead: cache_read_input_tokens,
  });
});

test("a stream that is cut off fails there and here", async () => {
  const stream = composed(start, ...text(0, "Half an"));
  await expect(readBySdk(stream)).rejects.toThrow();
  expect(readByUs(stream)).toMatchObject({ stopReason: "error", content: [{ type: "text", text: "Half an" }] });
});

test("an error inside the stream fails there and here, in the same words", async () => {
  const error = { type: "overloaded_error", message: "Overloaded" };
  const stream = composed(start, ...text(0, "Half an"), { type: "error", error });
  await expect(readBySdk(stream)).rejects.toThrow(/Overloaded/);
  expect(readByUs(stream)).toMatchObject({ stopReason: "error", errorMessage: "overloaded_error: Overloaded" });
});
