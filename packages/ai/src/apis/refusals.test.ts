import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { afterEach, expect, test } from "vitest";
import { ProviderError } from "../errors.ts";
import type { Delta, ModelRequest } from "../provider.ts";
import { streamAssistant } from "../stream.ts";
import { answer, collect, testModel, testRequest } from "../testing.ts";
import { learnFrom as learnFromClaude } from "./anthropic-messages/refusals.ts";
import { createLessons } from "./lessons.ts";
import { learnFrom as learnFromChat } from "./openai-chat/refusals.ts";
import { learnFrom as learnFromResponses } from "./openai-responses/refusals.ts";

/** A server refuses a request and says why, in its own words; the same is then asked in another way, once. */

const UNVERIFIED = {
  message:
    "Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.",
  type: "invalid_request_error",
  param: "reasoning.summary",
  code: "unsupported_value",
};
const MANDATORY = { message: "Reasoning is mandatory for this endpoint and cannot be disabled.", code: 400 };
const BOUND = {
  type: "invalid_request_error",
  message:
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
};

type Body = Record<string, unknown>;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
});

/** Refuses what `isRefused` says, and answers all else with the events. Gives what it was asked. */
async function picky(isRefused: (body: Body) => boolean, error: object, events: readonly object[]) {
  const asked: Body[] = [];
  const started = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Body;
      asked.push(body);
      if (isRefused(body)) {
        response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
        return;
      }
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
    });
  });
  server = started;
  await new Promise<void>((resolve) => started.listen(0, "127.0.0.1", resolve));
  return { asked, url: `http://127.0.0.1:${(started.address() as AddressInfo).port}` };
}

const ask = async (model: Model, fields: Partial<ModelRequest> = {}): Promise<Delta | undefined> =>
  (await collect(streamAssistant(testRequest({ model, ...fields })))).at(-1);

const RESPONSES_END = [{ type: "response.completed", response: { id: "r", status: "completed", output: [] } }];
const CHAT_END = [{ choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] }];
const CLAUDE_END = [{ type: "message_delta", delta: { stop_reason: "end_turn" } }, { type: "message_stop" }];
const DONE = { type: "done", stopReason: "stop" };

test("OpenAI, not verified: the summary is left out, and not asked for again by any model there", async () => {
  const hasSummary = (body: Body) => (body.reasoning as Body).summary !== undefined;
  const { asked, url } = await picky(hasSummary, UNVERIFIED, RESPONSES_END);
  const model = testModel({ id: "gpt-a", api: "openai-responses", provider: "openai", baseUrl: url, reasoning: true });
  expect(await ask(model, { thinkingLevel: "high" })).toEqual(DONE);
  expect(asked.map(({ reasoning }) => reasoning)).toEqual([{ effort: "high", summary: "auto" }, { effort: "high" }]);
  expect(await ask({ ...model, id: "gpt-b" }, { thinkingLevel: "low" })).toEqual(DONE);
  expect(asked.slice(2).map(({ reasoning }) => reasoning)).toEqual([{ effort: "low" }]);
});

test("a model that has to think: it is not told to stop, now and later; others are", async () => {
  const isTold = (body: Body) => body.model === "thinker" && body.reasoning !== undefined;
  const { asked, url } = await picky(isTold, MANDATORY, CHAT_END);
  const compat = { thinkingFormat: "openrouter" };
  const fields = { api: "openai-completions", provider: "router", baseUrl: url, reasoning: true, compat };
  const thinker = testModel({ ...fields, id: "thinker" });
  expect(await ask(thinker)).toEqual(DONE);
  expect(await ask(thinker)).toEqual(DONE);
  expect(await ask({ ...thinker, id: "other" })).toEqual(DONE);
  const off = { enabled: false };
  expect(asked.map(({ reasoning }) => reasoning)).toEqual([off, undefined, undefined, off]);
});

const conversation: LlmMessage[] = [
  { role: "user", content: "a", timestamp: 0 },
  answer([
    { type: "thinking", thinking: "Hm", thinkingSignature: "s" },
    { type: "text", text: "b" },
  ]),
  { role: "user", content: "c", timestamp: 0 },
];

test("Claude between tools: thoughts are sent back until something before them has changed", async () => {
  let isChanged = false;
  const { asked, url } = await picky((body) => isChanged && JSON.stringify(body).includes("Hm"), BOUND, CLAUDE_END);
  const compat = { thinking: "adaptive", thinkingOff: "between_tools", preservedThinking: true };
  const model = testModel({ baseUrl: url, reasoning: true, compat });
  const thoughts = () => asked.map((body) => JSON.stringify(body).includes("Hm"));
  const request = { messages: conversation, sessionId: "s-1" };
  expect(await ask(model, request)).toEqual(DONE);
  expect(thoughts()).toEqual([true]);
  isChanged = true;
  expect(await ask(model, request)).toEqual(DONE);
  expect(await ask(model, request)).toEqual(DONE);
  expect(thoughts()).toEqual([true, true, false, false]);
  isChanged = false;
  // While it thinks it drops them by itself, and another conversation is another matter.
  expect(await ask(model, { ...request, thinkingLevel: "high" })).toEqual(DONE);
  expect(await ask(model, { ...request, sessionId: "s-2" })).toEqual(DONE);
  expect(thoughts().slice(4)).toEqual([true, true]);
});

test("a refusal that stays one is told after the second try, and every other at once", async () => {
  const { asked, url } = await picky(() => true, UNVERIFIED, []);
  const model = testModel({ api: "openai-responses", provider: "openai", baseUrl: url, reasoning: true });
  expect(await ask(model, { thinkingLevel: "high" })).toMatchObject({ type: "error", error: { kind: "bad_request" } });
  expect(asked).toHaveLength(2);
  expect(await ask(model, { thinkingLevel: "high" })).toMatchObject({ type: "error", error: { status: 400 } });
  expect(asked).toHaveLength(3);
});

const refusal = (message: string, status = 400) => new ProviderError("bad_request", message, { status });

test("what is no such refusal teaches nothing", () => {
  const request = testRequest({ model: testModel({ reasoning: true }) });
  expect(learnFromResponses(refusal("Invalid reasoning.summary"), request)).toBeUndefined();
  expect(learnFromResponses(refusal(UNVERIFIED.message, 403), request)).toBeUndefined();
  expect(learnFromClaude(refusal("Invalid `signature` in `thinking` block"), request)).toBeUndefined();
  const off = testRequest({
    model: testModel({ reasoning: true, api: "openai-completions", compat: { thinkingFormat: "openrouter" } }),
  });
  expect(learnFromChat(refusal(MANDATORY.message), off)).toBeDefined();
  expect(learnFromChat(refusal(MANDATORY.message), { ...off, thinkingLevel: "low" })).toBeUndefined();
  expect(learnFromChat(refusal("Missing reasoning_content in the answer before"), off)).toBeUndefined();
  const silent = { ...off, model: { ...off.model, thinkingLevelMap: { off: null } } };
  expect(learnFromChat(refusal(MANDATORY.message), silent)).toBeUndefined();
});

test("lessons add up, and hold for no more than they are about", () => {
  const lessons = createLessons();
  const request = testRequest({ sessionId: "s", model: testModel({ compat: { a: 1, b: 1 } }) });
  lessons.remember({ compat: { a: 2 }, holdsFor: "server" }, request);
  lessons.remember({ compat: { c: 2 }, holdsFor: "server" }, request);
  lessons.remember({ thinkingLevelMap: { off: null }, holdsFor: "model" }, request);
  lessons.remember({ compat: { d: 2 }, holdsFor: "conversation" }, request);
  expect(lessons.applied(request).model).toMatchObject({
    compat: { a: 2, b: 1, c: 2, d: 2 },
    thinkingLevelMap: { off: null },
  });
  const sibling = { ...request, model: { ...request.model, id: "other" } };
  expect(lessons.applied(sibling).model).toMatchObject({ compat: { a: 2, b: 1, c: 2 }, thinkingLevelMap: {} });
  const elsewhere = { ...request, model: { ...request.model, baseUrl: "https://b.test" } };
  expect(lessons.applied(elsewhere)).toBe(elsewhere);
  lessons.remember({ compat: { e: 1 }, holdsFor: "conversation" }, { ...elsewhere, sessionId: undefined });
  expect(lessons.applied({ ...elsewhere, sessionId: undefined }).model).toBe(elsewhere.model);
});
