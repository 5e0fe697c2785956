import { expect } from "vitest";
import { GREY_DOT, KEY } from "../support/four-families.ts";
import { at, list } from "../support/frame.ts";

/** The same things said to a model in the words of each API family, for the stories of real-models.test.ts. */

/** What differs from family to family, as its documentation says it. */
export interface Words {
  path: string;
  keyHeader: [name: string, value: string];
  conversation: (body: Record<string, unknown>) => unknown;
  systemPrompt: (body: Record<string, unknown>) => unknown;
  tools: (body: Record<string, unknown>) => unknown[];
  limitIn: (body: Record<string, unknown>) => unknown;
  /** For a model that can say 500 tokens at most. */
  limit: number;
  /** Writing to the cache is not told by everyone; then it is input like any other. */
  usage: object;
  /** The message that thought "Hm, hm.", then something secret, and said "Yes.". */
  kept: object[];
  carried: object[];
  /** The question, two calls, one of which fails, and their results. */
  callIds: [string, string];
  tooling: object[];
  resultImage: object;
  levels: Record<string, unknown>;
  levelIn: (body: Record<string, unknown>) => unknown;
  refusal: RegExp;
  /** The first text of an answer that says "Well, " and then refuses: some send the refusal as part of it. */
  saidWhenRefusing: string;
  /** How many pieces the arguments of a call come in: there is one who sends them whole. */
  argumentPieces: number;
}

const COUNTED = { input: 1000, output: 200, cacheRead: 300, cacheWrite: 40, totalTokens: 1540, reasoning: 50 };
const COUNTED_COST = { input: 0.003, output: 0.003, cacheRead: 0.00009, cacheWrite: 0.00015, total: 0.00624 };
const MISSING = expect.stringContaining("missing.txt");
const CACHE = { cache_control: { type: "ephemeral" } };
const details = (...list: object[]): object[] => list.map((detail) => ({ ...detail, format: "unknown", index: 0 }));
const CHAT_DETAILS = details(
  { type: "reasoning.text", signature: "c2ln" },
  { type: "reasoning.encrypted", id: "rs_mock_0", data: "c2VhbGVk" },
);
const OPEN_REASONING = {
  type: "reasoning",
  id: "rs_mock_0",
  summary: [{ type: "summary_text", text: "Hm, hm." }],
  encrypted_content: "c2ln",
};
const SEALED_REASONING = { type: "reasoning", id: "rs_mock_1", summary: [], encrypted_content: "c2VhbGVk" };
const functionCall = (index: number, path: string): object => ({
  id: `call_mock_${index}`,
  type: "function",
  function: { name: "read", arguments: `{"path":"${path}"}` },
});
const budget = (thinkingBudget: number): object => ({ includeThoughts: true, thinkingBudget });
const effort = (name: string): object => ({ effort: name, summary: "auto" });

export const WORDS: Record<string, Words> = {
  "anthropic-messages": {
    path: "/v1/messages",
    keyHeader: ["x-api-key", KEY],
    conversation: (body) => body.messages,
    systemPrompt: (body) => at(body, "system", 0, "text"),
    tools: (body) => list(body.tools),
    limitIn: (body) => body.max_tokens,
    limit: 500,
    usage: { ...COUNTED, cost: COUNTED_COST },
    kept: [
      { type: "thinking", thinking: "Hm, hm.", thinkingSignature: "c2ln" },
      { type: "thinking", thinking: "[Reasoning redacted]", thinkingSignature: "c2VhbGVk", redacted: true },
      { type: "text", text: "Yes." },
    ],
    carried: [
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm, hm.", signature: "c2ln" },
          { type: "redacted_thinking", data: "c2VhbGVk" },
          { type: "text", text: "Yes." },
        ],
      },
    ],
    callIds: ["toolu_mock_0", "toolu_mock_1"],
    tooling: [
      { role: "user", content: [{ type: "text", text: "read both", ...CACHE }] },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "toolu_mock_0", name: "read", input: { path: "notes.txt" } },
          { type: "tool_use", id: "toolu_mock_1", name: "read", input: { path: "missing.txt" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_mock_0", content: [{ type: "text", text: "milk\n" }] },
          {
            type: "tool_result",
            tool_use_id: "toolu_mock_1",
            content: [{ type: "text", text: MISSING }],
            is_error: true,
            ...CACHE,
          },
        ],
      },
    ],
    resultImage: {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_mock_0",
          content: [
            { type: "text", text: expect.any(String) },
            { type: "image", source: { type: "base64", media_type: "image/png", data: GREY_DOT } },
          ],
          ...CACHE,
        },
      ],
    },
    levels: {
      off: undefined,
      minimal: { type: "enabled", budget_tokens: 1024 },
      low: { type: "enabled", budget_tokens: 4096 },
      medium: { type: "enabled", budget_tokens: 10_240 },
      high: { type: "enabled", budget_tokens: 20_480 },
      xhigh: { type: "enabled", budget_tokens: 48_000 },
    },
    levelIn: (body) => body.thinking,
    refusal: /^The model refused to answer \(stop_reason refusal\): I will not\.$/,
    saidWhenRefusing: "Well, ",
    argumentPieces: 3,
  },
  "openai-completions": {
    path: "/v1/chat/completions",
    keyHeader: ["authorization", `Bearer ${KEY}`],
    conversation: (body) => list(body.messages).slice(1),
    systemPrompt: (body) => at(body, "messages", 0, "content"),
    tools: (body) => list(body.tools).map((tool) => at(tool, "function")),
    limitIn: (body) => body.max_tokens,
    limit: 500,
    usage: { ...COUNTED, cost: COUNTED_COST },
    kept: [
      { type: "thinking", thinking: "Hm, hm.", thinkingSignature: JSON.stringify(CHAT_DETAILS) },
      { type: "text", text: "Yes." },
    ],
    carried: [{ role: "assistant", content: "Yes.", reasoning_details: CHAT_DETAILS }],
    callIds: ["call_mock_0", "call_mock_1"],
    tooling: [
      { role: "user", content: "read both" },
      {
        role: "assistant",
        content: null,
        tool_calls: [functionCall(0, "notes.txt"), functionCall(1, "missing.txt")],
      },
      { role: "tool", tool_call_id: "call_mock_0", content: "milk\n" },
      { role: "tool", tool_call_id: "call_mock_1", content: expect.stringMatching(/^Error: .*missing\.txt/s) },
    ],
    // A tool can only answer with text, so its images follow in the user's name.
    resultImage: {
      role: "user",
      content: [
        { type: "text", text: "Images from the tool results above:" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${GREY_DOT}` } },
      ],
    },
    levels: { off: undefined, minimal: "low", low: "low", medium: "medium", high: "high", xhigh: "max" },
    levelIn: (body) => body.reasoning_effort,
    refusal: /^The model refused to answer: I will not\.$/,
    saidWhenRefusing: "Well, I will not.",
    argumentPieces: 3,
  },
  "openai-responses": {
    path: "/v1/responses",
    keyHeader: ["authorization", `Bearer ${KEY}`],
    conversation: (body) => body.input,
    systemPrompt: (body) => body.instructions,
    tools: (body) => list(body.tools),
    limitIn: (body) => body.max_output_tokens,
    limit: 500,
    usage: { ...COUNTED, cost: COUNTED_COST },
    kept: [
      {
        type: "thinking",
        thinking: "Hm, hm.",
        thinkingSignature: expect.stringContaining('"encrypted_content":"c2ln"'),
      },
      {
        type: "thinking",
        thinking: "[Reasoning redacted]",
        thinkingSignature: expect.stringContaining('"encrypted_content":"c2VhbGVk"'),
        redacted: true,
      },
      { type: "text", text: "Yes.", textSignature: "msg_mock_2" },
    ],
    carried: [
      OPEN_REASONING,
      SEALED_REASONING,
      {
        type: "message",
        id: "msg_mock_2",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Yes.", annotations: [] }],
      },
    ],
    callIds: ["call_mock_0|fc_mock_0", "call_mock_1|fc_mock_1"],
    tooling: [
      { role: "user", content: [{ type: "input_text", text: "read both" }] },
      {
        type: "function_call",
        id: "fc_mock_0",
        call_id: "call_mock_0",
        name: "read",
        arguments: '{"path":"notes.txt"}',
      },
      {
        type: "function_call",
        id: "fc_mock_1",
        call_id: "call_mock_1",
        name: "read",
        arguments: '{"path":"missing.txt"}',
      },
      { type: "function_call_output", call_id: "call_mock_0", output: "milk\n" },
      {
        type: "function_call_output",
        call_id: "call_mock_1",
        output: expect.stringMatching(/^Error: .*missing\.txt/s),
      },
    ],
    resultImage: {
      type: "function_call_output",
      call_id: "call_mock_0",
      output: [
        { type: "input_text", text: expect.any(String) },
        { type: "input_image", detail: "auto", image_url: `data:image/png;base64,${GREY_DOT}` },
      ],
    },
    levels: {
      off: undefined,
      minimal: effort("minimal"),
      low: effort("low"),
      medium: effort("medium"),
      high: effort("high"),
      xhigh: effort("xhigh"),
    },
    levelIn: (body) => body.reasoning,
    refusal: /^The model refused to answer: I will not\.$/,
    saidWhenRefusing: "Well, ",
    argumentPieces: 3,
  },
  "google-generative-ai": {
    path: "/v1beta/models/mock-1:streamGenerateContent?alt=sse",
    keyHeader: ["x-goog-api-key", KEY],
    conversation: (body) => body.contents,
    systemPrompt: (body) => at(body, "systemInstruction", "parts", 0, "text"),
    tools: (body) => list(at(body, "tools", 0, "functionDeclarations")),
    limitIn: (body) => at(body, "generationConfig", "maxOutputTokens"),
    limit: 500,
    usage: {
      ...COUNTED,
      input: 1040,
      cacheWrite: 0,
      cost: { ...COUNTED_COST, input: 0.00312, cacheWrite: 0, total: 0.00621 },
    },
    // What proves the thoughts stands on the part that follows them; the thoughts themselves are for people.
    kept: [
      { type: "thinking", thinking: "Hm, hm." },
      { type: "text", text: "Yes.", textSignature: "c2VhbGVk" },
    ],
    carried: [{ role: "model", parts: [{ text: "Yes.", thoughtSignature: "c2VhbGVk" }] }],
    callIds: ["mock-response_0", "mock-response_1"],
    tooling: [
      { role: "user", parts: [{ text: "read both" }] },
      {
        role: "model",
        parts: [
          { functionCall: { name: "read", args: { path: "notes.txt" } } },
          { functionCall: { name: "read", args: { path: "missing.txt" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { name: "read", response: { output: "milk\n" } } },
          { functionResponse: { name: "read", response: { error: MISSING } } },
        ],
      },
    ],
    resultImage: {
      role: "user",
      parts: [
        { functionResponse: { name: "read", response: { output: expect.any(String) } } },
        { text: "Images from the tool read:" },
        { inlineData: { mimeType: "image/png", data: GREY_DOT } },
      ],
    },
    levels: {
      off: { thinkingBudget: 0 },
      minimal: budget(512),
      low: budget(2048),
      medium: budget(8192),
      high: budget(24_576),
      xhigh: budget(30_000),
    },
    levelIn: (body) => at(body, "generationConfig", "thinkingConfig"),
    refusal: /^Google stopped the answer \(SAFETY\): I will not\.$/,
    saidWhenRefusing: "Well, ",
    argumentPieces: 1,
  },
};
