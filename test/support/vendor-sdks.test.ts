import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { fail, type MockLlm, type Reply, startMockLlm, stream } from "./mock-llm.ts";
import { ERROR_TEXT, ERROR_WORDS, EXPECTED, FAMILIES, type Heard, readStream } from "./streams/expected.ts";
import { KEY, SDKS, type Sdk } from "./vendor-sdks.ts";

/**
 * The mock server and the composed streams speak the real dialects if the vendors' own SDKs understand them. Everything
 * stays on loopback: the SDKs get its address, a made-up key, no proxy and no second attempt.
 */

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NODE_USE_ENV_PROXY"];
const OTHER_PLACES = ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENAI_USE_VERTEXAI"];

let llm: MockLlm;
beforeAll(() => {
  for (const name of [...PROXIES, ...PROXIES.map((name) => name.toLowerCase()), ...OTHER_PLACES]) {
    vi.stubEnv(name, undefined);
  }
});
afterAll(() => void vi.unstubAllEnvs());
beforeEach(async () => {
  llm = await startMockLlm({ requireKey: KEY });
});
afterEach(() => llm.close());

/** What the mock server says when the test says nothing about it. */
const USAGE = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const heard = (fields: Partial<Heard>): Heard => ({
  text: "",
  thinking: "",
  calls: [],
  usage: USAGE,
  stopReason: "stop",
  ...fields,
});
const read = { type: "toolUse", name: "read", input: { path: "nöte.md", lines: [1, 2] } } as const;
const grep = { type: "toolUse", name: "grep", input: {} } as const;

const ANSWERS: [story: string, reply: Reply, heard: Heard][] = [
  ["text in pieces", { steps: [{ type: "text", text: "Grüße 👋🏽", size: 3 }] }, heard({ text: "Grüße 👋🏽" })],
  [
    "thinking before text",
    {
      steps: [
        { type: "thinking", text: "Hm, let me see.", signature: "c2ln", size: 4 },
        { type: "text", text: "Yes." },
      ],
    },
    heard({ thinking: "Hm, let me see.", text: "Yes." }),
  ],
  [
    "thinking that nobody may read",
    {
      steps: [
        { type: "thinking", text: "", encrypted: "c2VhbGVk" },
        { type: "text", text: "No." },
      ],
    },
    heard({ text: "No." }),
  ],
  [
    "a tool call with arguments",
    { steps: [{ type: "text", text: "I look." }, read] },
    heard({ text: "I look.", calls: [["read", read.input]], stopReason: "toolUse" }),
  ],
  [
    "several tool calls",
    { steps: [read, grep, read] },
    heard({
      calls: [
        ["read", read.input],
        ["grep", {}],
        ["read", read.input],
      ],
      stopReason: "toolUse",
    }),
  ],
  [
    "usage with cached and reasoning tokens",
    {
      steps: [{ type: "text", text: "ok" }],
      usage: { input_tokens: 100, output_tokens: 50, cache_read_tokens: 900, reasoning_tokens: 30 },
    },
    heard({ text: "ok", usage: { input: 100, output: 50, cacheRead: 900, cacheWrite: 0, reasoning: 30 } }),
  ],
  [
    "an answer at its limit",
    { steps: [{ type: "text", text: "as much as fi" }], stopReason: "length" },
    heard({ text: "as much as fi", stopReason: "length" }),
  ],
  ["a compressed stream", { steps: [{ type: "text", text: "small" }], gzip: true }, heard({ text: "small" })],
];

describe.each(FAMILIES)("the mock server for the SDK of %s", (family) => {
  const sdk = (): Sdk => SDKS[family](llm);

  test.each(ANSWERS)("%s", async (_story, reply, answer) => {
    llm.reply(reply);
    expect(await sdk().ask()).toEqual(answer);
    expect(llm.requests).toHaveLength(1);
  });

  test("an error status becomes the error of the SDK, with our words", async () => {
    llm.reply(fail(429, "rate_limit_error", "slow down, please"));
    const error = await sdk()
      .ask()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(await sdk().errorClass(429));
    expect(error).toMatchObject({ status: 429, message: expect.stringContaining("slow down, please") });
    expect(llm.requests).toHaveLength(1);
  });

  test("a wrong key is refused as the vendor does", async () => {
    const error = await sdk()
      .ask("another-key")
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(await sdk().errorClass(401));
    expect(error).toMatchObject({ message: expect.stringMatching(/key/) });
  });

  test("a refusal comes with its words", async () => {
    llm.reply({ steps: [{ type: "refusal", text: "I would rather not" }] });
    const { events, error } = await sdk().askForTrouble();
    expect(error).toBeUndefined();
    expect(JSON.stringify(events)).toContain("I would rather not");
  });

  test("there is a list of models", async () => {
    expect(await sdk().modelIds()).toEqual(["mock-1"]);
    expect(llm.requests).toEqual([]);
  });

  test("an error inside the stream keeps what was said before", async () => {
    llm.reply({
      steps: [
        { type: "text", text: "Well" },
        { type: "errorEvent", kind: "INTERNAL", message: "it broke in the middle" },
        { type: "endEarly" },
      ],
    });
    const { text, error } = await sdk().askForTrouble();
    expect(text).toBe("Well");
    expect(error).toMatchObject({ message: expect.stringContaining("it broke in the middle") });
  });
});

test("OpenAI nests some errors of its stream, and then the SDK raises them", async () => {
  const error = {
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your quota",
    param: null,
  };
  const event = { type: "error", sequence_number: 2, error };
  llm.reply({ steps: [{ type: "raw", data: `event: error\ndata: ${JSON.stringify(event)}\n\n` }] });
  const { APIError } = await import("openai");
  const trouble = await SDKS["openai-responses"](llm).askForTrouble();
  expect(trouble.error).toBeInstanceOf(APIError);
  expect(trouble.error).toMatchObject({ code: "insufficient_quota", message: "You exceeded your quota" });
});

describe.each(FAMILIES)("the composed streams for the SDK of %s", (family) => {
  const sdk = (): Sdk => SDKS[family](llm);

  test.each(["text", "thinking", "tools"] as const)("%s", async (name) => {
    llm.reply(stream(readStream(family, name)));
    expect(await sdk().ask()).toEqual(EXPECTED[family][name]);
  });

  test("error", async () => {
    llm.reply(stream(readStream(family, "error")));
    const { text, error } = await sdk().askForTrouble();
    expect(text).toBe(ERROR_TEXT);
    expect(error).toMatchObject({ message: expect.stringContaining(ERROR_WORDS[family]) });
  });

  test("cut-off", async () => {
    llm.reply(stream(readStream(family, "cut-off")));
    expect((await sdk().askForTrouble()).text).toMatch(/^Editing: ünïcode/);
  });
});
