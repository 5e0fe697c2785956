import type { LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tries } from "../../../../test/support/part-of.ts";
import { assistant, result, round, user } from "../../../../test/support/random-histories.ts";
import type { ModelRequest } from "../provider.ts";
import { answer, testModel, testRequest } from "../testing.ts";
import { anthropicMessages } from "./anthropic-messages/family.ts";
import { wireForm as anthropicForm } from "./anthropic-messages/request.ts";
import type { HttpCall } from "./api.ts";
import { googleGenerativeAi } from "./google/family.ts";
import { wireForm as googleForm } from "./google/request.ts";
import { prepareHistory } from "./history.ts";
import { openaiChat } from "./openai-chat/family.ts";
import { wireForm as chatForm } from "./openai-chat/request.ts";
import { openaiResponses } from "./openai-responses/family.ts";
import { wireForm as responsesForm } from "./openai-responses/input.ts";
import { bodyText } from "./test-histories.ts";
import type { WireForm } from "./wire-history.ts";

/** What is remembered of a conversation changes nothing but the time a request takes. */

interface Family {
  buildRequest(request: ModelRequest): HttpCall;
  /** The name of the conversation in the body. */
  field: string;
  /** The conversation made in one go, with nothing kept. */
  whole(request: ModelRequest): unknown[];
  models: readonly Partial<Model>[];
}

function made<W>({ messages, model }: ModelRequest, form: WireForm<W>): unknown[] {
  const wire: W[] = [];
  form.append(wire, prepareHistory(messages, model, form.rules));
  return JSON.parse(JSON.stringify(wire)) as unknown[];
}

const FAMILIES: Readonly<Record<string, Family>> = {
  "anthropic-messages": {
    buildRequest: anthropicMessages.buildRequest,
    field: "messages",
    whole: (request) => made(request, anthropicForm(request)),
    models: [
      {},
      { id: "other" },
      { reasoning: true, compat: { thinking: "adaptive", thinkingOff: "disabled", preservedThinking: true } },
    ],
  },
  "openai-completions": {
    buildRequest: openaiChat.buildRequest,
    field: "messages",
    whole: (request) => made(request, chatForm(request)),
    models: [
      {},
      {
        id: "other",
        compat: { requiresMistralToolIds: true, requiresAssistantAfterToolResult: true },
      },
      { reasoning: true, compat: { requiresReasoningContent: true, cacheControlFormat: "anthropic" } },
    ],
  },
  "openai-responses": {
    buildRequest: openaiResponses.buildRequest,
    field: "input",
    whole: (request) => made(request, responsesForm(request)),
    models: [{}, { input: ["text"] }, { id: "other" }],
  },
  "google-generative-ai": {
    buildRequest: googleGenerativeAi.buildRequest,
    field: "contents",
    whole: (request) => made(request, googleForm(request)),
    models: [{ id: "gemini-3" }, { id: "gemini-3", input: ["text"] }, { id: "gemini-2.5" }],
  },
};

/** Who is asked, and how. */
interface Asking {
  model: number;
  odd: boolean;
  thinks: boolean;
}
const ASKINGS: readonly Asking[] = [false, true].flatMap((odd) =>
  [false, true].flatMap((thinks) => [0, 1, 2].map((model) => ({ model, odd, thinks }))),
);

interface Talk {
  messages: LlmMessage[];
  asking: Asking;
}

/** What happens to a conversation between two requests: it goes on, is undone, compacted, edited, given to another model. */
type Step = { add: LlmMessage[] } | { undo: number } | { compact: number } | { edit: number } | { asking: Asking };

const said = (words: string): LlmMessage => ({ role: "user", content: words, timestamp: 0 });
const anything = fc.array(fc.oneof(round, fc.tuple(fc.oneof(user, assistant, result))), { maxLength: 3 });
/** As conversations usually go on, so that much is settled. */
const usual = fc.array(
  round.map((messages) => [...messages, said("Go on")]),
  { minLength: 1, maxLength: 4 },
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: anything.map((pieces) => pieces.flat()) }) },
  { weight: 6, arbitrary: fc.record({ add: usual.map((pieces) => pieces.flat()) }) },
  { weight: 1, arbitrary: fc.record({ undo: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ compact: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ edit: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ asking: fc.constantFrom(...ASKINGS) }) },
);

function happen({ messages, asking }: Talk, step: Step, own: (message: LlmMessage) => LlmMessage): Talk {
  if ("asking" in step) return { messages, asking: step.asking };
  if ("add" in step) return { messages: [...messages, ...step.add.map(own)], asking };
  if ("undo" in step) return { messages: messages.slice(0, -step.undo), asking };
  if ("compact" in step) return { messages: [said("A summary"), ...messages.slice(step.compact)], asking };
  return { messages: messages.map((message, at) => (at === step.edit ? said("Another one") : message)), asking };
}

const ODD_TOOL = { name: "functions.read", description: "Reads", parameters: { type: "object" } };

function requestOf(api: string, family: Family, { messages, asking }: Talk): ModelRequest {
  return testRequest({
    model: testModel({ api, ...family.models[asking.model % family.models.length] }),
    systemPrompt: "Be brief.",
    messages,
    tools: asking.odd ? [ODD_TOOL] : [],
    thinkingLevel: asking.thinks ? "high" : "off",
  });
}

/** The body, or why there is none. */
function attempt(family: Family, request: ModelRequest): string {
  try {
    return bodyText(family.buildRequest(request).body);
  } catch (error) {
    return String(error);
  }
}

/** The generated answers become those of a model, so that it gets its own back; some are of others and stay so. */
function authored(message: LlmMessage, { api, id }: Model): LlmMessage {
  if (message.role !== "assistant" || message.api === "other") return message;
  return { ...message, api, model: message.model === "other" ? "other" : id };
}

describe.each(Object.entries(FAMILIES))("%s", (api, family) => {
  const author = testModel({ api, ...family.models[0] });

  test("whatever happens to a conversation, each request is as if it were the first", () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 2, maxLength: 8 }), (happened) => {
        let talk: Talk = { messages: [], asking: ASKINGS[0]! };
        for (const step of happened) {
          talk = happen(talk, step, (message) => authored(message, author));
          expectAsIfFirst(family, requestOf(api, family, talk));
        }
        for (const asking of ASKINGS) expectAsIfFirst(family, requestOf(api, family, { ...talk, asking }));
      }),
      { numRuns: tries(24) },
    );
  });
});

function expectAsIfFirst(family: Family, request: ModelRequest): void {
  const body = attempt(family, request);
  expect(attempt(family, { ...request, messages: structuredClone(request.messages) })).toBe(body);
  if (body.startsWith("{")) expectWhole(family, request, JSON.parse(body) as Record<string, unknown>);
}

/** All messages are there, and marks for the cache only where they would be without a memory. */
function expectWhole(family: Family, request: ModelRequest, body: Record<string, unknown>): void {
  const sent = body[family.field] as Marked[];
  const marked = sent.flatMap((message, at) => (JSON.stringify(message).includes("cache_control") ? [at] : []));
  expect(marked).toEqual(placesToMark(request.model, sent));
  const plain = attempt(family, { ...request, cacheRetention: "none" });
  const list = (JSON.parse(plain) as Record<string, unknown[]>)[family.field]!;
  expect(list.filter((message) => (message as Marked).role !== "system")).toEqual(family.whole(request));
}

interface Marked {
  role?: string;
}

function placesToMark({ api, compat }: Model, sent: readonly Marked[]): number[] {
  const ours = sent.flatMap(({ role }, at) => (role === "user" || role === "tool" ? [at] : []));
  if (api === "anthropic-messages") return ours.slice(-2);
  if (compat?.cacheControlFormat !== "anthropic") return [];
  // Only a text can be marked there.
  return [0, ...ours.slice(-1).filter((at) => JSON.stringify(sent[at]).includes('"type":"text"'))];
}

/** A conversation of so many rounds, ready for the next answer. */
function longTalk(rounds: number, text = "words"): LlmMessage[] {
  const messages: LlmMessage[] = [said("Begin")];
  for (let i = 0; i < rounds; i++) messages.push(...goingOn(i, text));
  return messages;
}

function goingOn(i: number, text: string): LlmMessage[] {
  const call = { type: "toolCall" as const, id: `call_${i}`, name: "ls", arguments: { path: text } };
  const content = [{ type: "text" as const, text }];
  return [
    answer([{ type: "text", text }, call]),
    { role: "toolResult", toolCallId: call.id, toolName: "ls", content, isError: false, timestamp: 0 },
  ];
}

const { buildRequest } = anthropicMessages;
const bytesOf = ({ body }: HttpCall): Buffer[] => body.filter((piece) => typeof piece !== "string");

test("the bytes of a long conversation are sent again, not made again", () => {
  const messages = longTalk(3000, "some words ".repeat(20));
  const first = buildRequest(testRequest({ messages }));
  const before = bodyText(first.body);
  expect(bytesOf(first).length).toBeGreaterThan(3);
  const more = [...messages, ...goingOn(3000, "more"), ...goingOn(3001, "still more")];
  const second = buildRequest(testRequest({ messages: more }));
  const kept = bytesOf(first).slice(0, -1);
  expect(bytesOf(second).slice(0, kept.length).map(placeOf)).toEqual(kept.map(placeOf));
  expect(bodyText(first.body), "a request that is being sent does not change").toBe(before);
  expect(bodyText(second.body)).toBe(
    attempt(FAMILIES["anthropic-messages"]!, { ...testRequest(), messages: structuredClone(more) }),
  );
});

/** Where the bytes lie, which tells whether they are the same ones. */
function placeOf(piece: Buffer): unknown {
  return { of: memoryNumber(piece.buffer), at: piece.byteOffset, length: piece.length };
}

const memories: ArrayBufferLike[] = [];
function memoryNumber(memory: ArrayBufferLike): number {
  if (!memories.includes(memory)) memories.push(memory);
  return memories.indexOf(memory);
}

test("half of a pair in what is kept, in what is new and in the system prompt", () => {
  const messages = longTalk(6, "cut \ud83d");
  buildRequest(testRequest({ messages }));
  const { body } = buildRequest(testRequest({ messages: [...messages, said("\udc00")], systemPrompt: "\ud83d" }));
  expect(body.length).toBeGreaterThan(2);
  expect(bodyText(body)).not.toMatch(/\\ud[89a-f]/);
  expect(bodyText(body).match(/\\ufffd/g)).toHaveLength(6 * 3 + 2);
});
