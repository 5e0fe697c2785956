import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FAMILIES, type Family, fourFamilies, GREY_DOT, picture, RED_DOT } from "../support/four-families.ts";
import type { Frame } from "../support/frame.ts";
import { type MockLlm, type Reply, say, startMockLlm } from "../support/mock-llm.ts";
import { partly } from "../support/part-of.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { refusedIn, type Said, saidIn } from "../support/wire-requests.ts";
import { ended, isIncrement, joined } from "./looking.ts";

/** One conversation, told to one vendor after the other: whatever it holds, the next one must not refuse it. */

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
// Hooks run last to first: the process, which `useRpc` ends, goes before the server it talks to.
afterEach(() => llm.close());

const startProcess = useRpc();
const files = { "dot.png": Buffer.from(GREY_DOT, "base64") };
const startWith = ({ provider }: Family, compat: object = {}): RpcProcess =>
  startProcess({
    agentFiles: { "models.json": fourFamilies(llm, { compat }) },
    args: ["--no-session", "--updates", "delta", "--set", "retry.enabled=false", "--model", `${provider}/mock-1`],
    files,
  });
const switchTo = (rpc: RpcProcess, { provider }: Family, modelId = "mock-1"): Promise<Frame> =>
  rpc.call({ type: "set_model", provider, modelId });

/** What the vendor behind a family is told by the last request. It must have nothing to complain about. */
function toldTo({ family }: Family, index = llm.requests.length - 1): Said[] {
  const body = llm.requests[index]?.body ?? {};
  expect(refusedIn(family, body), `request ${index} to ${family}`).toEqual([]);
  return saidIn(family, body);
}
const wordsOf = (said: readonly Said[], kind: Said["kind"]): string[] =>
  said.filter((one) => one.kind === kind).map(({ text }) => text);

/** Every family, and the one after it. */
const PAIRS = FAMILIES.map((from, index): [string, string, Family, Family] => {
  const to = FAMILIES[(index + 1) % FAMILIES.length] as Family;
  return [from.family, to.family, from, to];
});

/** An id that its vendor likes and the next one does not. */
const IDS: Record<string, [string, string]> = {
  "anthropic-messages": ["toolu_01", "toolu_02"],
  "openai-completions": ["functions.read:0", `call_${"x".repeat(90)}`],
  "openai-responses": ["call_a", "call_b"],
  "google-generative-ai": ["g.1", "toolu_01"],
};

function lookAround({ family }: Family, leg: number): Reply {
  const [first, second] = IDS[family] as [string, string];
  return {
    steps: [
      { type: "thinking", text: `thought ${leg}`, signature: `signature-of-${family}` },
      { type: "toolUse", id: first, name: "read", input: { path: "dot.png" } },
      { type: "toolUse", id: second, name: "bash", input: { command: `echo leg ${leg}` } },
    ],
  };
}

describe("a conversation that goes from vendor to vendor and back", () => {
  const route = [...FAMILIES, FAMILIES[0] as Family];
  /** The newest Gemini has ids for its calls, takes pictures inside of results and wants its calls signed. */
  const newest = { functionCallIds: true, imagesInFunctionResponse: true, requiresThoughtSignatures: true };

  it.each([
    ["as they were", {}],
    ["of the newest kind", newest],
  ])("keeps thoughts, calls and pictures (models %s)", async (_kind, compat) => {
    const rpc = startWith(route[0] as Family, compat);
    for (const [leg, family] of route.entries()) {
      llm.reply(lookAround(family, leg), say(`answer ${leg}`));
      if (leg > 0) expect(await switchTo(rpc, family)).toMatchObject({ success: true });
      const { frames, result } = await rpc.prompt(`question ${leg}`, { images: [picture(RED_DOT)] });
      expect(result).toMatchObject({ status: "completed", turns: 2, toolCalls: 2 });
      expect(ended(frames, "assistant")).toMatchObject({ api: family.family, provider: family.provider });
      expect(frames.filter(isIncrement("text_delta")).length).toBeGreaterThan(0);
      checkRequest(family, 2 * leg, leg, route);
      checkRequest(family, 2 * leg + 1, leg, route);
    }
  });

  /** Of the thoughts so far, a model finds its own signed, and those of the others as text without a signature. */
  function checkRequest(family: Family, index: number, leg: number, route: readonly Family[]): void {
    const said = toldTo(family, index);
    const isSecond = index % 2 === 1;
    const legs = [...route.keys()].filter((earlier) => earlier < leg || (earlier === leg && isSecond));
    const own = legs.filter((earlier) => route[earlier] === family);
    const foreign = legs.filter((earlier) => route[earlier] !== family);
    const texts = said.filter(({ by, kind }) => by === "model" && kind === "text").map(({ text }) => text);
    expect(texts.join("\n").match(/thought \d/g) ?? []).toEqual(foreign.map((earlier) => `thought ${earlier}`));
    const signatures = JSON.stringify(llm.requests[index]?.body).match(/signature-of-[a-z-]+/g) ?? [];
    expect(signatures).toEqual(own.map(() => `signature-of-${family.family}`));
    const questions = [...route.keys()].filter((earlier) => earlier <= leg);
    expect(wordsOf(said, "image")).toHaveLength(questions.length + legs.length);
    expect(wordsOf(said, "call")).toHaveLength(2 * legs.length);
    const echoes = wordsOf(said, "result").filter((text) => text.startsWith("leg "));
    expect(echoes).toEqual(legs.map((earlier) => `leg ${earlier}\n`));
  }
});

partly(2).each(PAIRS)(
  "pictures that %s was shown are a note for a model of %s that only reads",
  async (_from, _to, from, to) => {
    llm.reply(lookAround(from, 0), say("Red and grey."), say("I cannot see."));
    const rpc = startWith(from);
    await rpc.prompt("compare", { images: [picture(RED_DOT)] });
    await switchTo(rpc, to, "plain");
    const { frames, result } = await rpc.prompt("and you?");
    expect([result.status, joined(frames)]).toEqual(["completed", "I cannot see."]);
    const said = toldTo(to);
    expect(wordsOf(said, "image")).toEqual([]);
    const notes = said.filter(({ text }) => text.includes("(image left out: this model reads only text)"));
    expect(notes.map(({ kind }) => kind)).toEqual(["text", "result"]);
    // The pictures are not gone: a model that sees gets them again.
    llm.reply(say("Now I can."));
    await switchTo(rpc, to);
    await rpc.prompt("better?");
    expect(wordsOf(toldTo(to), "image")).toEqual([RED_DOT, GREY_DOT]);
  },
);

partly(2).each(PAIRS)("a tool that was aborted under %s has its result under %s", async (_from, _to, from, to) => {
  llm.reply({ steps: [{ type: "toolUse", name: "bash", input: { command: "echo begun; sleep 30" } }] }, say("Better."));
  const rpc = startWith(from);
  await rpc.call({ id: "p", type: "prompt", message: "wait" });
  await rpc.waitFor("tool_execution_start");
  await rpc.call({ type: "abort" });
  expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "p", status: "aborted" });
  await switchTo(rpc, to);
  const { frames, result } = await rpc.prompt("what now?");
  expect([result.status, joined(frames)]).toEqual(["completed", "Better."]);
  const said = toldTo(to);
  expect(wordsOf(said, "call")).toHaveLength(1);
  expect(wordsOf(said, "result")).toEqual([expect.stringMatching(/abort/i)]);
});

partly(2).each(PAIRS)("a call that %s did not finish is not told to %s", async (_from, _to, from, to) => {
  const unfinished: Reply = {
    steps: [
      { type: "text", text: "Let me" },
      { type: "toolUse", name: "bash", input: { command: "echo hi" } },
      { type: "stall" },
    ],
  };
  llm.reply(unfinished, say("Hello."));
  const rpc = startWith(from);
  await rpc.call({ id: "p", type: "prompt", message: "first" });
  await rpc.waitFor(isIncrement("toolcall_start"));
  await rpc.call({ type: "abort" });
  await rpc.waitFor("session_settled");
  expect(ended(rpc.frames, "assistant")).toMatchObject({
    stopReason: "aborted",
    content: [{ type: "text" }, { type: "toolCall" }],
  });
  await switchTo(rpc, to);
  expect((await rpc.prompt("second")).result.status).toBe("completed");
  const said = toldTo(to);
  expect(said.map(({ by, kind }) => [by, kind])).not.toContainEqual(["model", "call"]);
  expect(wordsOf(said, "text").join("\n")).toMatch(/^first\s+second$/);
});

partly(2).each(PAIRS)(
  "a switch from %s to %s while a tool runs lets the other finish the turn",
  async (_from, _to, from, to) => {
    llm.reply(
      {
        steps: [
          { type: "thinking", text: "Let me wait.", signature: "signature-of-the-first" },
          { type: "toolUse", name: "bash", input: { command: "until [ -e go ]; do sleep 0.01; done; echo went" } },
        ],
      },
      say("Done by the other."),
      say("Done once more."),
    );
    const rpc = startWith(from);
    await rpc.call({ id: "p", type: "prompt", message: "wait" });
    await rpc.waitFor("tool_execution_start");
    await switchTo(rpc, to);
    writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "p", status: "completed", turns: 2 });
    const said = toldTo(to);
    expect(wordsOf(said, "result")).toEqual(["went\n"]);
    expect(wordsOf(said, "text")).toEqual(["wait", "Let me wait."]);
    expect(JSON.stringify(llm.requests[1]?.body)).not.toContain("signature-of-the-first");
    await rpc.waitFor("session_settled");
    await rpc.prompt("again");
    toldTo(to);
  },
);
