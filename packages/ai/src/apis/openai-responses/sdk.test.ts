import OpenAI from "openai";
import { expect, test } from "vitest";
import { createAssembly } from "../../assemble.ts";
import { createSseDecoder } from "../../http/sse.ts";
import type { Delta } from "../../provider.ts";
import { testModel, testRequest } from "../../testing.ts";
import { bodyText } from "../test-histories.ts";
import { openaiResponses } from "./family.ts";
import { asStream, ended, wholeTurn } from "./test-events.ts";

/** The vendor's own client reads the same events and has to understand the same. */

const model = testModel({ id: "gpt-test", api: "openai-responses", provider: "openai" });

function ours(stream: string) {
  const state = openaiResponses.initial();
  const out: Delta[] = [];
  for (const data of createSseDecoder().push(Buffer.from(stream))) openaiResponses.step(state, data, out);
  openaiResponses.finish(state, out);
  const assembly = createAssembly(model, 0);
  for (const delta of out) assembly.apply(delta);
  return assembly.message;
}

async function theirs(stream: string) {
  const client = new OpenAI({
    apiKey: "key-1",
    baseURL: "http://127.0.0.1:9/v1",
    fetch: async () => new Response(stream, { headers: { "content-type": "text/event-stream" } }),
  });
  return await client.responses.stream({ model: "gpt-test", input: "Hello" }).finalResponse();
}

test("the vendor's accumulator makes the same of a turn", async () => {
  const turn = wholeTurn();
  // Without its last event, which repeats everything, what they know is what they gathered.
  for (const events of [turn, [...turn.slice(0, -1)]]) {
    const stream = asStream(events);
    const message = ours(stream);
    const response = await theirs(stream);
    const [reasoning, said, read, ls] = response.output;
    if (reasoning?.type !== "reasoning" || said?.type !== "message") throw new Error("another order");
    if (read?.type !== "function_call" || ls?.type !== "function_call") throw new Error("another order");
    expect(message.content).toEqual([
      {
        type: "thinking",
        thinking: reasoning.summary.map((part) => part.text).join("\n\n"),
        thinkingSignature: JSON.stringify(reasoning),
      },
      {
        type: "text",
        text: response.output_text,
        textSignature: JSON.stringify({ id: said.id, phase: said.phase }),
      },
      ...[read, ls].map((call) => ({
        type: "toolCall",
        id: `${call.call_id}|${call.id}`,
        name: call.name,
        arguments: JSON.parse(call.arguments) as unknown,
      })),
    ]);
    expect([message.responseId, message.responseModel]).toEqual([response.id, response.model]);
  }
});

test("the vendor's count of tokens is ours", async () => {
  const stream = asStream(wholeTurn());
  const { usage } = ours(stream);
  const counted = (await theirs(stream)).usage;
  expect(usage.totalTokens).toBe(counted?.total_tokens);
  expect(usage.input + usage.cacheRead + usage.cacheWrite).toBe(counted?.input_tokens);
  expect(usage.reasoning).toBe(counted?.output_tokens_details.reasoning_tokens);
});

test("what we carry back is what the vendor's types take as input", async () => {
  const message = ours(asStream([...wholeTurn().slice(0, -1), ended("completed")]));
  const request = testRequest({ model, messages: [message] });
  const body = JSON.parse(bodyText(openaiResponses.buildRequest(request).body)) as { input: unknown[] };
  const { output } = await theirs(asStream(wholeTurn()));
  const strip = ({ parsed_arguments, parsed, logprobs, ...rest }: Record<string, unknown>): Record<string, unknown> =>
    rest;
  const sent = output.map((item) => {
    const { status, content, ...rest } = strip(item as unknown as Record<string, unknown>);
    if (!Array.isArray(content)) return rest;
    return { ...rest, status, content: content.map((part) => strip(part as Record<string, unknown>)) };
  });
  expect(body.input.slice(0, sent.length)).toEqual(sent);
});
