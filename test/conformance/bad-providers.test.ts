import { readFileSync } from "node:fs";
import { makeCertificate } from "@tiller/ai/http/test-certificate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FAMILIES, type Family, fourFamilies, KEY } from "../support/four-families.ts";
import { at, type Frame } from "../support/frame.ts";
import {
  emptyBody,
  fail,
  htmlPage,
  type MockLlm,
  type Reply,
  redirect,
  say,
  startMockLlm,
} from "../support/mock-llm.ts";
import { partly } from "../support/part-of.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { refusedIn } from "../support/wire-requests.ts";
import { ended, joined, ofType } from "./looking.ts";

/**
 * Everything a provider can do wrong, with the real process on this side of the wire: each ends the prompt once, in the
 * provider's own words, is tried again only where that can help, and leaves a process that answers the next prompt.
 */

let llm: MockLlm;
const others: MockLlm[] = [];
beforeEach(async () => {
  llm = await startMockLlm();
});
// Hooks run last to first: the process, which `useRpc` ends, goes before the servers it talks to.
afterEach(async () => {
  for (const server of [llm, ...others.splice(0)]) await server.close();
});

const startProcess = useRpc();
const set = (key: string, value: number): string[] => ["--set", `${key}=${value}`];
/** Once more at most, and at once. */
const ONE_RETRY = [...set("retry.maxRetries", 1), ...set("retry.baseDelayMs", 1)];
const ANTHROPIC = FAMILIES[0] as Family;

function start(
  models: string,
  { provider }: Pick<Family, "provider"> = ANTHROPIC,
  { args = [], ...options }: RpcOptions = {},
): RpcProcess {
  const common = ["--no-session", "--updates", "delta", "--model", `${provider}/mock-1`];
  return startProcess({ ...options, agentFiles: { "models.json": models }, args: [...common, ...ONE_RETRY, ...args] });
}

interface Trouble {
  kind: string;
  says: RegExp;
  /** Was it tried once more? */
  isRetried: boolean;
  status?: number;
  /** What had been said before. */
  kept?: string;
}

/** Prompts once; says how it went wrong. */
async function wentWrong(rpc: RpcProcess, { kind, says, isRetried, status, kept }: Trouble, story = ""): Promise<void> {
  const { frames, result } = await rpc.prompt("hi");
  expect(ofType(frames, "prompt_result"), story).toHaveLength(1);
  expect(result, story).toMatchObject({ status: "error", turns: isRetried ? 2 : 1 });
  expect(at(result, "error", "message"), story).toMatch(says);
  expect([at(result, "error", "kind"), at(result, "error", "httpStatus")], story).toEqual([kind, status]);
  expect(ofType(frames, "auto_retry_start"), story).toHaveLength(isRetried ? 1 : 0);
  const last = ofType(frames, "message_end").at(-1)?.message as Frame;
  expect(last, story).toMatchObject({ role: "assistant", stopReason: "error" });
  expect(last.content, story).toMatchObject(kept === undefined ? [] : [{ type: "text", text: kept }]);
  expect(last.errorMessage, story).toBe(at(result, "error", "message"));
  keepsTheKey(rpc, frames);
}

async function worksAgain(rpc: RpcProcess, story = ""): Promise<void> {
  llm.reply(say("All is well."));
  const { frames, result } = await rpc.prompt("again");
  expect([result.status, joined(frames)], story).toEqual(["completed", "All is well."]);
  keepsTheKey(rpc, frames);
}

function keepsTheKey({ stderr }: RpcProcess, frames: readonly Frame[]): void {
  expect(JSON.stringify(frames) + stderr).not.toContain(KEY);
}

describe("a wrong key", () => {
  const refusals: [family: string, provider: string, says: RegExp, status: number][] = [
    ["anthropic-messages", "mock", /^401 authentication_error: invalid x-api-key$/, 401],
    ["openai-completions", "mock-openai-completions", /^401 invalid_request_error: Incorrect API key provided\.$/, 401],
    ["openai-responses", "mock-openai-responses", /^401 invalid_request_error: Incorrect API key provided\.$/, 401],
    ["google-generative-ai", "mock-google-generative-ai", /^400 INVALID_ARGUMENT: API key not valid\./, 400],
  ];
  it.each(refusals)("is refused by %s, and not tried again", async (_family, provider, says, status) => {
    const strict = await startMockLlm({ requireKey: "the right key" });
    others.push(strict);
    const rpc = start(fourFamilies(strict), { provider });
    await wentWrong(rpc, { kind: "auth", says, isRetried: false, status });
    expect(strict.requests).toHaveLength(1);
  });

  it("that the provider quotes is not passed on", async () => {
    llm.reply(fail(401, "authentication_error", `no such key: ${KEY}`));
    const rpc = start(fourFamilies(llm));
    await wentWrong(rpc, {
      kind: "auth",
      says: /^401 authentication_error: no such key: \[hidden\]$/,
      isRetried: false,
      status: 401,
    });
    await worksAgain(rpc);
  });
});

const BAD_GATEWAY = `<!DOCTYPE html><html><head><style>h1 { color: red }</style></head>
<body><h1>502 Bad Gateway</h1><p>squid at office-proxy</p></body></html>`;
const EMPTY = /^127\.0\.0\.1:\d+ answered (\d+ )?with an empty body instead of an event stream/;

const ANSWERS: [story: string, reply: Reply, trouble: Trouble][] = [
  [
    "429 that says nothing of a time",
    fail(429, "rate_limit_error", "slow down"),
    { kind: "rate_limit", says: /^429 rate_limit_error: slow down$/, isRetried: true, status: 429 },
  ],
  [
    "429 that asks for an hour",
    fail(429, "rate_limit_error", "slow down", { "retry-after": "3600" }),
    { kind: "rate_limit", says: /^429 rate_limit_error: slow down/, isRetried: false, status: 429 },
  ],
  [
    "500",
    fail(500, "api_error", "Internal server error"),
    { kind: "server", says: /^500 api_error: Internal server error$/, isRetried: true, status: 500 },
  ],
  [
    "529",
    fail(529, "overloaded_error", "Overloaded"),
    { kind: "overloaded", says: /^529 overloaded_error: Overloaded$/, isRetried: true, status: 529 },
  ],
  [
    "a conversation that is too long",
    fail(400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"),
    { kind: "overflow", says: /^400 invalid_request_error: prompt is too long/, isRetried: false, status: 400 },
  ],
  [
    "the page of a proxy",
    htmlPage(502, BAD_GATEWAY),
    {
      kind: "server",
      says: /^502 502 Bad Gateway squid at office-proxy \(an HTML page, not the API/,
      isRetried: true,
      status: 502,
    },
  ],
  [
    "a login page in the clothes of a success",
    htmlPage(200, "<html><body>Please log in</body></html>"),
    {
      kind: "bad_request",
      says: /answered with text\/html.* instead of an event stream: Please log in/,
      isRetried: false,
      status: 200,
    },
  ],
  [
    "a redirect",
    redirect("https://login.example.com/"),
    {
      kind: "bad_request",
      says: /^302 Found to https:\/\/login\.example\.com\/; redirects are not followed/,
      isRetried: false,
      status: 302,
    },
  ],
  ["an empty body", emptyBody(), { kind: "malformed", says: EMPTY, isRetried: true }],
  ["204", emptyBody(204), { kind: "bad_request", says: EMPTY, isRetried: false, status: 204 }],
  [
    "an error in the clothes of a success",
    {
      status: 200,
      body: '{"type":"error","error":{"type":"api_error","message":"oops"}}',
      headers: { "content-type": "application/json" },
    },
    { kind: "server", says: /^api_error: oops$/, isRetried: true, status: 200 },
  ],
];

it.each(ANSWERS)("%s is told, and the next prompt works", async (_story, reply, trouble) => {
  llm.reply(reply, ...(trouble.isRetried ? [reply] : []));
  const rpc = start(fourFamilies(llm));
  await wentWrong(rpc, trouble);
  expect(llm.requests).toHaveLength(trouble.isRetried ? 2 : 1);
  await worksAgain(rpc);
});

describe("no money left", () => {
  const QUOTA = "You exceeded your current quota, please check your plan and billing details.";
  const openai: Reply = {
    status: 429,
    error: { type: "insufficient_quota", code: "insufficient_quota", message: QUOTA },
  };
  const bills: [provider: string, reply: Reply, says: RegExp, status: number][] = [
    [
      "mock",
      fail(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
      /^400 .*credit balance is too low/,
      400,
    ],
    ["mock-openai-completions", openai, /^429 insufficient_quota: You exceeded your current quota/, 429],
    ["mock-openai-responses", openai, /^429 insufficient_quota: You exceeded your current quota/, 429],
    [
      "mock-google-generative-ai",
      fail(429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: requests_per_day, limit: 0, model: gemini-pro"),
      /^429 RESOURCE_EXHAUSTED: Quota exceeded .*limit: 0/,
      429,
    ],
  ];
  it.each(bills)("at %s is told at once: to wait would not help", async (provider, reply, says, status) => {
    llm.reply(reply);
    const rpc = start(fourFamilies(llm), { provider });
    await wentWrong(rpc, { kind: "bad_request", says, isRetried: false, status });
    await worksAgain(rpc);
  });
});

/** What goes wrong inside a stream, said by each family in its own words. */
const half = { type: "text" as const, text: "half" };
const STREAMS: [story: string, reply: Reply, trouble: Omit<Trouble, "isRetried">][] = [
  [
    "an error event",
    { steps: [half, { type: "errorEvent", kind: "overloaded_error", message: "Too many people" }] },
    { kind: "overloaded", says: /overloaded_error: Too many people$/, kept: "half" },
  ],
  [
    "broken JSON",
    { steps: [half, { type: "raw", data: 'data: {"type": "cont\n\n' }] },
    { kind: "malformed", says: /sent an event that is not JSON: \{"type": "cont$/, kept: "half" },
  ],
  [
    "a connection that breaks",
    { steps: [half, { type: "delay", ms: 20 }, { type: "cut" }] },
    { kind: "network", says: /^Connection lost: 127\.0\.0\.1:\d+ closed the stream early/, kept: "half" },
  ],
  [
    "a stream that ends early",
    { steps: [half, { type: "endEarly" }] },
    { kind: "malformed", says: /stream .*ended before /, kept: "half" },
  ],
];

describe.each(FAMILIES)("a stream of $family", ({ provider, family }) => {
  it("may fail in every way, one after the other: what was said is kept, and the conversation goes on", async () => {
    const rpc = start(fourFamilies(llm), { provider });
    for (const [story, reply, trouble] of STREAMS) {
      llm.reply(reply, reply);
      // Google numbers its errors, also inside a stream.
      const status = story === "an error event" && family === "google-generative-ai" ? 500 : undefined;
      await wentWrong(rpc, { ...trouble, isRetried: true, status }, story);
      await worksAgain(rpc, story);
      expect(refusedIn(family, llm.requests.at(-1)?.body ?? {}), story).toEqual([]);
    }
  });

  it("may be compressed, and have events in it that nobody knows", async () => {
    const weather = 'event: weather\ndata: {"type":"weather","sun":true}\n\n: a comment\n\n';
    llm.reply(
      { ...say("zipped and whole", 3), gzip: true },
      {
        steps: [
          { type: "raw", data: weather },
          { type: "text", text: "not bothered" },
          { type: "raw", data: weather },
        ],
      },
    );
    const rpc = start(fourFamilies(llm), { provider });
    for (const words of ["zipped and whole", "not bothered"]) {
      const { frames, result } = await rpc.prompt("hi");
      expect([result.status, joined(frames)]).toEqual(["completed", words]);
      expect(ended(frames, "assistant").stopReason).toBe("stop");
    }
    expect(llm.requests).toHaveLength(2);
  });
});

describe("silence", () => {
  const PATIENCE = 400;
  const args = [
    ...set("retry.provider.timeoutMs", PATIENCE),
    ...set("retry.provider.idleTimeoutMs", PATIENCE),
    ...set("retry.maxRetries", 0),
  ];
  const silences: [story: string, reply: Reply, says: RegExp, kept?: string][] = [
    ["before the first byte", { delayHead: Number.POSITIVE_INFINITY }, /^Timed out: waited 0\.4 s for an answer from /],
    [
      "of a server that drips byte after byte",
      { steps: [half, { type: "drip", ms: 40 }, { type: "text", text: "and never the rest" }] },
      /^Timed out: waited 0\.4 s for the next piece from /,
      "half",
    ],
  ];
  it.each(silences)("%s comes to an end", async (_story, reply, says, kept) => {
    llm.reply(reply);
    const rpc = start(fourFamilies(llm), ANTHROPIC, { args });
    const { frames, result } = await rpc.prompt("hi");
    expect(result).toMatchObject({
      status: "error",
      error: { kind: "stalled", message: expect.stringMatching(says), retryable: true },
    });
    expect(ended(frames, "assistant").content).toMatchObject(kept === undefined ? [] : [{ text: kept }]);
    await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
    await worksAgain(rpc);
  });
});

describe("a server that cannot be reached", () => {
  /** A provider of its own beside those that work, so that the next prompt has somewhere to go. */
  function withBroken(baseUrl: string): string {
    const config = JSON.parse(fourFamilies(llm));
    config.providers.broken = { ...config.providers.mock, baseUrl };
    return JSON.stringify(config);
  }
  async function secured(): Promise<string> {
    const server = await startMockLlm({ certificate: makeCertificate("a stranger", { hosts: ["127.0.0.1"] }) });
    others.push(server);
    return server.baseUrl;
  }
  async function gone(): Promise<string> {
    const server = await startMockLlm();
    await server.close();
    return server.baseUrl;
  }
  const places: [story: string, where: () => Promise<string> | string, trouble: Trouble][] = [
    [
      "because its name is unknown",
      () => "https://x.invalid",
      { kind: "network", says: /^Connection error: cannot (find|look up) the host x\.invalid/, isRetried: true },
    ],
    [
      "because nobody listens",
      gone,
      {
        kind: "network",
        says: /^Connection error: cannot reach http:\/\/127\.0\.0\.1:\d+ .*is the server running\?$/,
        isRetried: true,
      },
    ],
    [
      "because nobody knows who signed its certificate",
      secured,
      {
        kind: "bad_request",
        says: /^Connection error: the certificate of 127\.0\.0\.1 is self-signed.*TILLER_CA_FILE$/,
        isRetried: false,
      },
    ],
    [
      "because it does not speak TLS",
      () => llm.baseUrl.replace("http:", "https:"),
      {
        kind: "network",
        says: /^Connection error: https:\/\/127\.0\.0\.1:\d+ does not speak TLS \(.*\): try http:\/\/ in the base URL$/,
        isRetried: true,
      },
    ],
    [
      "because its address is none",
      () => "htp://x",
      {
        kind: "bad_request",
        says: /^Cannot send a request to "htp:\/\/x.*must begin with http:\/\/ or https:\/\/$/,
        isRetried: false,
      },
    ],
  ];
  it.each(places)("%s is named, and another one answers", async (_story, where, trouble) => {
    const rpc = start(withBroken(await where()), { provider: "broken" });
    await wentWrong(rpc, trouble);
    await rpc.call({ type: "set_model", provider: "mock", modelId: "mock-1" });
    await worksAgain(rpc);
  });
});

/** More than the longest event and the longest answer; `npm run test:long` has more. */
const FLOOD_MB = process.env.TILLER_ALL === "1" ? 200 : 48;

describe(`${FLOOD_MB} MB`, () => {
  /** The most memory the process ever had, in MB. */
  const peakOf = ({ pid }: RpcProcess): number =>
    Number(/VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  const MEGABYTE = 1024 * 1024;
  const megabyte = Buffer.alloc(MEGABYTE, "x");
  const weather = Buffer.from(`data: {"type":"weather","map":"${"x".repeat(MEGABYTE)}"}\n\n`);
  const floods: [story: string, reply: Reply, error: RegExp | undefined][] = [
    ["of events that nobody knows", { steps: [{ type: "raw", data: weather, times: FLOOD_MB }, half] }, undefined],
    [
      "of one event without an end",
      { steps: [{ type: "raw", data: megabyte, times: FLOOD_MB }] },
      /^The server sent an event longer than 33554432 characters$/,
    ],
    ["of an error page", { status: 400, body: Buffer.alloc(FLOOD_MB * MEGABYTE, "x") }, /^400 x{2000}…$/],
  ];
  it("of an answer are cut off, and what came before is told", async () => {
    const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "x".repeat(MEGABYTE) } };
    const text = Buffer.from(`data: ${JSON.stringify(delta)}\n\n`);
    llm.reply({ steps: [{ type: "raw", data: text, times: FLOOD_MB }] });
    // To look at every character of such frames takes longer than all the rest.
    const rpc = start(fourFamilies(llm), ANTHROPIC, { check: { schema: false, grammar: false } });
    const { frames, result } = await rpc.prompt("hi", {}, 40_000);
    expect(result).toMatchObject({ status: "error", turns: 1, error: { kind: "bad_request", retryable: false } });
    expect(at(result, "error", "message")).toMatch(/^The answer of mock\/mock-1 was ended after 33554432 characters/);
    expect(String(at(ended(frames, "assistant"), "content", 0, "text")).length).toBeGreaterThanOrEqual(32 * MEGABYTE);
    expect(peakOf(rpc)).toBeLessThan(800);
    await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
    await worksAgain(rpc);
  }, 60_000);

  partly(3).each(floods)("%s do not fill the memory", async (_story, reply, error) => {
    const rpc = start(fourFamilies(llm), ANTHROPIC, { args: set("retry.maxRetries", 0) });
    await worksAgain(rpc);
    const before = peakOf(rpc);
    llm.reply(reply);
    const { result } = await rpc.prompt("hi");
    expect(result.status).toBe(error ? "error" : "completed");
    if (error) expect(at(result, "error", "message")).toMatch(error);
    expect(peakOf(rpc) - before).toBeLessThan(120);
    expect(rpc.stdoutBytes).toBeLessThan(MEGABYTE);
    await worksAgain(rpc);
  });
});

it("an answer that calls tools without end is ended, runs none of them, and does not fill the pipe", async () => {
  const block = { type: "tool_use", id: "again", name: "ls", input: {} };
  const begin = { type: "content_block_start", index: 0, content_block: block };
  const input = {
    type: "content_block_delta",
    index: 0,
    delta: { type: "input_json_delta", partial_json: '{"path":"."}' },
  };
  const data = [begin, input, { type: "content_block_stop", index: 0 }].map((e) => `data: ${JSON.stringify(e)}\n\n`);
  const FLOOD = 100_000;
  llm.reply({ steps: [{ type: "raw", data: Buffer.from(data.join("").repeat(100)), times: FLOOD / 100 }] });
  const args = ["--updates", "snapshot"];
  const rpc = start(fourFamilies(llm), ANTHROPIC, { args, check: { schema: false } });
  const { frames, result } = await rpc.prompt("hi", {}, 40_000);
  expect(result).toMatchObject({ status: "error", turns: 1, toolCalls: 0, error: { kind: "bad_request" } });
  expect(at(result, "error", "message")).toMatch(/^The answer of mock\/mock-1 was ended after 1000 blocks/);
  const ends = frames.filter(({ type }) => type === "tool_execution_end");
  expect(ends).toHaveLength(1000);
  expect(ends.filter(({ isError }) => isError === true)).toHaveLength(1000);
  expect(frames.some((frame) => at(frame, "message", "content", 500) !== undefined)).toBe(true);
  // In snapshot mode, where each frame may repeat what came before: without a limit it is gigabytes.
  expect(rpc.stdoutBytes).toBeLessThan(64 * 1024 * 1024);
  await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
  await worksAgain(rpc);
}, 60_000);

it("a models.json with mistakes names file, line and key of each, and its good providers answer", async () => {
  const good = JSON.stringify(JSON.parse(fourFamilies(llm)).providers.mock);
  const file = `{
  "providers": {
    "mock": ${good},
    "half": {
      "baseUrl": "${llm.baseUrl}", "api": "anthropic-messages", "apiKey": "${KEY}",
      "models": [{ "id": "good" }, { "id": "bad", "maxTokens": -1 }]
    },
    "odd": { "baseUrl": 7, "models": [] }
  }
}`;
  const rpc = start(file);
  await worksAgain(rpc);
  expect(rpc.stderr).toMatch(/models\.json:6:\d+: providers\.half\.models\[1\]\.maxTokens must be a number above 0/);
  expect(rpc.stderr).toMatch(/models\.json:8:\d+: providers\.odd\.baseUrl must be /);
  await rpc.call({ type: "set_model", provider: "half", modelId: "good" });
  await worksAgain(rpc);
});
