import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FAMILIES, fourFamilies, GREY_DOT, KEY, picture, RED_DOT } from "../support/four-families.ts";
import { at, type Frame, list } from "../support/frame.ts";
import { fail, type MockLlm, type Reply, say, startMockLlm } from "../support/mock-llm.ts";
import { partly } from "../support/part-of.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { refusedIn, saidIn } from "../support/wire-requests.ts";
import { WORDS, type Words } from "./family-words.ts";
import { ended, increments, isIncrement, joined, messagesOf, ofType } from "./looking.ts";

/** One story after the other, each told to all four API families: the real process, HTTP, and a model that speaks the dialect. */

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
// Hooks run last to first: the process, which `useRpc` ends, goes before the server it talks to.
afterEach(() => llm.close());

const startProcess = useRpc();
/** Piece by piece, and without pauses of our own between tries. */
const SWIFTLY = ["--no-session", "--updates", "delta", "--set", "retry.baseDelayMs=1"];
const bodyOf = (index: number): Record<string, unknown> => llm.requests[index]?.body ?? {};
const start = (provider: string, { args = [], ...options }: RpcOptions = {}): RpcProcess =>
  startProcess({
    agentFiles: { "models.json": fourFamilies(llm) },
    args: [...SWIFTLY, "--model", `${provider}/mock-1`, ...args],
    ...options,
  });

const CASES = FAMILIES.map(({ provider, family }) => ({ provider, family, words: WORDS[family] as Words }));
/** A model that is asked to think would begin with it. */
const WITHOUT_THINKING = ["--thinking", "off"];
const USAGE = {
  input_tokens: 1000,
  output_tokens: 200,
  cache_read_tokens: 300,
  cache_write_tokens: 40,
  reasoning_tokens: 50,
};

/** Each story is told to one family at least, each family is told some; their bytes have tests of their own in packages/ai. */
const story = partly(3);

describe.each(CASES)("a model that speaks $family", ({ provider, family, words }) => {
  story("answers, piece by piece, and is paid for by kind of token", async () => {
    llm.reply({ ...say("Hello from afar", 5), usage: USAGE });
    const { frames, result } = await start(provider).prompt("hi");
    expect(increments(frames, "text_delta").map(({ delta }) => delta)).toEqual(["Hello", " from", " afar"]);
    expect(ended(frames, "assistant")).toEqual({
      role: "assistant",
      content: [expect.objectContaining({ type: "text", text: "Hello from afar" })],
      api: family,
      provider,
      model: "mock-1",
      responseId: expect.any(String),
      usage: words.usage,
      stopReason: "stop",
      timestamp: expect.any(Number),
    });
    expect(result).toMatchObject({ status: "completed", usage: words.usage, turns: 1 });
  });

  story("is asked at its address, with key, system prompt, tools and a limit, over one connection", async () => {
    llm.reply(say("one"), say("two"));
    const rpc = start(provider);
    await rpc.prompt("first");
    await rpc.call({ type: "set_model", provider, modelId: "plain" });
    await rpc.prompt("second");
    const [first, second] = llm.requests;
    expect(first).toMatchObject({ method: "POST", path: words.path });
    expect(first?.headers[words.keyHeader[0]]).toBe(words.keyHeader[1]);
    expect(words.systemPrompt(bodyOf(0))).toContain(`Current working directory: ${rpc.sandbox.cwd}`);
    expect(words.tools(bodyOf(0)).map((tool) => at(tool, "name"))).toEqual(["read", "bash", "edit", "write"]);
    expect(words.limitIn(bodyOf(1))).toBe(words.limit);
    expect(second?.clientPort).toBe(first?.clientPort);
    expect(JSON.stringify(rpc.frames) + rpc.stderr).not.toContain(KEY);
  });

  story("thinks aloud and in secret, and gets its thoughts back as they were", async () => {
    const thoughtful: Reply = {
      steps: [
        { type: "thinking", text: "Hm, hm.", signature: "c2ln", size: 4 },
        { type: "thinking", text: "", encrypted: "c2VhbGVk" },
        { type: "text", text: "Yes." },
      ],
    };
    llm.reply(thoughtful, say("Sure."));
    const rpc = start(provider);
    const { frames } = await rpc.prompt("is it?");
    expect(joined(frames, "thinking_delta")).toBe("Hm, hm.");
    expect(increments(frames, "thinking_delta").length).toBeGreaterThan(1);
    expect(ended(frames, "assistant").content).toEqual(words.kept);
    await rpc.prompt("really?");
    expect(list(words.conversation(bodyOf(1))).slice(1, -1)).toEqual(words.carried);
    expect(refusedIn(family, bodyOf(1))).toEqual([]);
  });

  story("calls two tools at once, and is told what came of each in its own words", async () => {
    const calls = ["notes.txt", "missing.txt"].map((path) => ({
      type: "toolUse" as const,
      name: "read",
      input: { path },
    }));
    llm.reply({ steps: calls, usage: USAGE }, { ...say("Milk, and nothing."), usage: USAGE });
    const { frames, result } = await start(provider, {
      files: { "notes.txt": "milk\n" },
      args: WITHOUT_THINKING,
    }).prompt("read both");
    expect(joined(frames, "toolcall_delta")).toBe('{"path":"notes.txt"}');
    const pieces = increments(frames, "toolcall_delta").filter(({ contentIndex }) => contentIndex === 0);
    expect(pieces).toHaveLength(words.argumentPieces);
    const [first, second] = words.callIds;
    expect(ended(frames, "assistant")).toMatchObject({
      stopReason: "toolUse",
      content: [
        { type: "toolCall", id: first, name: "read", arguments: { path: "notes.txt" } },
        { type: "toolCall", id: second, name: "read", arguments: { path: "missing.txt" } },
      ],
    });
    expect(
      ofType(frames, "tool_execution_end")
        .map(({ toolCallId, isError }) => [toolCallId, isError])
        .sort(),
    ).toEqual([
      [first, false],
      [second, true],
    ]);
    expect(words.conversation(bodyOf(1))).toEqual(words.tooling);
    expect(refusedIn(family, bodyOf(1))).toEqual([]);
    const { cost, output } = words.usage as { cost: { total: number }; output: number };
    expect(result).toMatchObject({
      turns: 2,
      toolCalls: 2,
      usage: { output: 2 * output, cost: { total: 2 * cost.total } },
    });
  });

  story("is shown the picture of a prompt and the one a tool has found", async () => {
    llm.reply({ steps: [{ type: "toolUse", name: "read", input: { path: "dot.png" } }] }, say("Red and grey."));
    const files = { "dot.png": Buffer.from(GREY_DOT, "base64") };
    await start(provider, { files, args: WITHOUT_THINKING }).prompt("compare", { images: [picture(RED_DOT)] });
    const shown = saidIn(family, bodyOf(1)).filter(({ kind }) => kind === "image");
    expect(shown.map(({ text }) => text)).toEqual([RED_DOT, GREY_DOT]);
    expect(list(words.conversation(bodyOf(1))).at(-1)).toEqual(words.resultImage);
    expect(refusedIn(family, bodyOf(1))).toEqual([]);
  });

  story("thinks as much as it is told to", async () => {
    const rpc = start(provider);
    const asked: Record<string, unknown> = {};
    for (const level of Object.keys(words.levels)) {
      llm.reply(say("ok"));
      await rpc.call({ type: "set_thinking_level", level });
      await rpc.prompt(level);
      asked[level] = words.levelIn(llm.requests.at(-1)?.body ?? {});
    }
    expect(asked).toEqual(words.levels);
  });

  story("may stop at its limit or refuse, and is asked on", async () => {
    llm.reply(
      { ...say("as much as fits"), stopReason: "length" },
      {
        steps: [
          { type: "text", text: "Well, " },
          { type: "refusal", text: "I will not." },
        ],
      },
      say("Gladly."),
    );
    const rpc = start(provider);
    const cut = await rpc.prompt("tell all");
    expect(ended(cut.frames, "assistant")).toMatchObject({
      stopReason: "length",
      content: [{ text: "as much as fits" }],
    });
    expect(cut.result.status).toBe("completed");
    const { frames, result } = await rpc.prompt("harm me");
    expect(ended(frames, "assistant")).toMatchObject({ stopReason: "error" });
    expect(list(ended(frames, "assistant").content)[0]).toMatchObject({
      type: "text",
      text: words.saidWhenRefusing,
    });
    expect(result).toMatchObject({ status: "error", error: { provider, kind: "content_filter", retryable: false } });
    expect(at(result, "error", "message")).toMatch(words.refusal);
    expect((await rpc.prompt("be nice")).result.status).toBe("completed");
    expect(refusedIn(family, bodyOf(2))).toEqual([]);
    expect(
      saidIn(family, bodyOf(2))
        .map(({ by, text }) => [by, text])
        .slice(0, 2),
    ).toEqual([
      ["user", "tell all"],
      ["model", "as much as fits"],
    ]);
  });

  story("is interrupted in the middle of a word, and hangs up", async () => {
    llm.reply({ steps: [{ type: "text", text: "half" }, { type: "stall" }] }, say("Again."));
    const rpc = start(provider);
    await rpc.call({ id: "p", type: "prompt", message: "go" });
    await rpc.waitFor(isIncrement("text_delta"));
    await rpc.call({ type: "abort" });
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "p", status: "aborted" });
    await expect.poll(() => llm.requests[0]?.aborted).toBe(true);
    expect((await messagesOf(rpc)).at(-1)).toMatchObject({ stopReason: "aborted", content: [{ text: "half" }] });
    expect((await rpc.prompt("on")).result.status).toBe("completed");
    expect(refusedIn(family, bodyOf(1))).toEqual([]);
  });
});

describe("the prompt cache", () => {
  const retentions: [provider: string, retention: string, inBody: object][] = [
    ["mock", "short", { system: [{ cache_control: { type: "ephemeral" } }] }],
    ["mock", "long", { system: [{ cache_control: { type: "ephemeral", ttl: "1h" } }] }],
    ["mock-openai-responses", "short", { prompt_cache_key: expect.stringMatching(/./) }],
  ];
  it.each(retentions)("of %s is asked to keep a prompt: %s", async (provider, retention, inBody) => {
    llm.reply(say("ok"));
    await start(provider, { args: ["--set", `cacheRetention=${retention}`] }).prompt("hi");
    expect(bodyOf(0)).toMatchObject(inBody);
  });

  it.each(FAMILIES)("of $provider is not asked for anything when nobody wants it", async ({ provider }) => {
    llm.reply(say("ok"));
    await start(provider, { args: ["--set", "cacheRetention=none"] }).prompt("hi");
    expect(JSON.stringify(bodyOf(0))).not.toMatch(/"(cache_control|prompt_cache_\w+)"/);
  });
});

it("every family waits as long as a 429 asks it to, and then gets its answer", async () => {
  const waited = await Promise.all(
    FAMILIES.map(async ({ provider, family }): Promise<unknown[]> => {
      const server = await startMockLlm();
      server.reply(fail(429, "rate_limit_error", "slow down", { "retry-after": "1" }), say("Now."));
      const rpc = start(provider, { agentFiles: { "models.json": fourFamilies(server) } });
      const { frames, result } = await rpc.prompt("hi");
      const [retry] = ofType(frames, "auto_retry_start") as [Frame];
      await server.close();
      return [family, retry.delayMs, String(retry.errorMessage).includes("slow down"), result.status];
    }),
  );
  expect(waited).toEqual(FAMILIES.map(({ family }) => [family, 1000, true, "completed"]));
});
