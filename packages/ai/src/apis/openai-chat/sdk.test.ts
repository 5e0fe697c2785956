import { ChatCompletionStream } from "openai/lib/ChatCompletionStream";
import { expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import type { Delta } from "../../provider.ts";
import { testModel } from "../../testing.ts";
import { finish, initial, step } from "./stream.ts";

/** A composed stream, folded by us and by the vendor's own library. */

const chunk = (delta: Record<string, unknown>, finish_reason: string | null = null) => ({
  id: "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
  object: "chat.completion.chunk",
  created: 1_741_569_952,
  model: "gpt-5.2-2025-12-11",
  service_tier: "default",
  system_fingerprint: "fp_1",
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  usage: null,
  obfuscation: "kX3",
});
const called = (index: number, fields: Record<string, unknown>) => chunk({ tool_calls: [{ index, ...fields }] });
const opened = (index: number, id: string, name: string) =>
  called(index, { id, type: "function", function: { name, arguments: "" } });
const args = (index: number, piece: string) => called(index, { function: { arguments: piece } });

const STREAM = [
  chunk({ role: "assistant", content: "", refusal: null }),
  ...["I ", "will ", 'read "both" ', "files ✓", "."].map((content) => chunk({ content })),
  opened(0, "call_a", "read"),
  ...['{"', "path", '":"', "a\\n", '"}'].map((piece) => args(0, piece)),
  opened(1, "call_b", "read"),
  ...['{"path"', ":", '"b"', "}"].map((piece) => args(1, piece)),
  chunk({}, "tool_calls"),
  {
    ...chunk({}),
    choices: [],
    usage: {
      prompt_tokens: 82,
      completion_tokens: 30,
      total_tokens: 112,
      prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 12, audio_tokens: 0 },
    },
  },
];

test("the vendor's library reads the same out of a stream", async () => {
  const lines = STREAM.map((event) => `${JSON.stringify(event)}\n`).join("");
  const theirs = await ChatCompletionStream.fromReadableStream(
    new Blob([lines]).stream() as Parameters<typeof ChatCompletionStream.fromReadableStream>[0],
  ).finalChatCompletion();

  const state = initial();
  const out: Delta[] = [];
  for (const event of STREAM) step(state, JSON.stringify(event), out);
  step(state, "[DONE]", out);
  finish(state, out);
  const assembly = createAssembly(testModel(), 0);
  for (const delta of out) assembly.apply(delta);
  const ours = assembly.message;

  const [choice] = theirs.choices;
  const calls = ours.content.filter((block) => block.type === "toolCall");
  expect(ours.content[0]).toEqual({ type: "text", text: choice?.message.content });
  expect(calls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given }))).toEqual(
    choice?.message.tool_calls?.map((call) => {
      if (call.type !== "function") throw new Error(`unexpected call of type ${call.type}`);
      return { id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown };
    }),
  );
  expect(calls).toHaveLength(2);
  expect([out.at(-1), choice?.finish_reason]).toEqual([{ type: "done", stopReason: "toolUse" }, "tool_calls"]);
  expect(ours.responseId).toBe(theirs.id);
  expect(ours.responseModel).toBe(theirs.model);
  const { usage } = ours;
  expect(usage.input + usage.cacheRead).toBe(theirs.usage?.prompt_tokens);
  expect(usage.output).toBe(theirs.usage?.completion_tokens);
  expect(usage.totalTokens).toBe(theirs.usage?.total_tokens);
});
