import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type MockLlm, say, startMockLlm } from "../support/mock-llm.ts";
import { PLAYS_ALL } from "../support/part-of.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { isIncrement, messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";
import { fileOf, kindsOf, linesOf, sessionText, user } from "./session-files.ts";

/** Making room: by hand, by threshold, after an overflow; and who stops it (decisions 15, 16, 18 and 35b). */

/** xcsh does it as omp does. */
const DIALECTS = PLAYS_ALL ? (["union", "pi", "omp", "xcsh"] as const) : (["union", "pi", "omp"] as const);
/** So little is kept that the last answer alone is enough of it: these stories are short. */
const KEEP_LITTLE = ["--set", "compaction.keepRecentTokens=1"];
const start = useRpc();

const call = (rpc: RpcProcess, type: string, fields: object = {}): Promise<Frame> => rpc.call({ type, ...fields });
const rolesOf = async (rpc: RpcProcess): Promise<unknown[]> => (await messagesOf(rpc)).map(({ role }) => role);

/** A question that is worth a summary. */
const LONG = "tell me about tillers and rudders ".repeat(40);
/** An answer after which the window of 200,000 tokens is nearly full. */
const FULL = 'text "long story" + usage {"input":190000,"output":10}';
const OVERFLOW = 'error overflow "prompt is too long: 210000 tokens > 200000 maximum"';

async function talk(rpc: RpcProcess, message: string): Promise<Frame[]> {
  const since = rpc.mark();
  await call(rpc, "prompt", { id: `p${since}`, message });
  await rpc.waitFor("agent_settled", { since });
  return rpc.frames.slice(since);
}

/** The frames about compactions, runs and answers, in order. */
const outline = (frames: readonly Frame[]): string[] =>
  frames
    .map((frame) => {
      const { type, reason, willRetry, status, command } = frame;
      const detail = reason ?? willRetry ?? status ?? command;
      return detail === undefined ? String(type) : `${type} ${detail}`;
    })
    .filter((text) => /^(agent_start|agent_end|auto_compaction|compaction|prompt_result|response (?!get_))/.test(text));

describe.each(DIALECTS)("compact in %s", (dialect) => {
  const isTold = dialect === "union" || dialect === "pi";

  proves(
    [
      "pi.compaction.command",
      "pi.compaction.summary",
      "pi.compaction.first-kept",
      "pi.compaction.tokens-before",
      "pi.compaction.details",
    ],
    "replaces the older part by a summary, and tells it where its system does (decision 15)",
    async () => {
      const rpc = start({
        script: [
          'toolCall read {"path":"a.txt"} + toolCall write {"path":"b.txt","content":"B"}',
          'text "Done." + usage {"input":5000,"output":10}',
          'text "Fine." + usage {"input":6000,"output":10}',
          'text "They copied a.txt."',
          'expect messages 4 + text "Still here."',
        ],
        files: { "a.txt": "A\n" },
        args: ["--dialect", dialect],
      });
      await talk(rpc, `copy a.txt ${LONG}`);
      await talk(rpc, "thanks");
      const since = rpc.mark();
      const { data, ...answer } = await call(rpc, "compact", { id: "c" });
      expect(answer).toEqual({ id: "c", type: "response", command: "compact", success: true });
      const kept = linesOf(await fileOf(rpc)).find(({ message }) => at(message, "content", 0, "text") === "thanks");
      expect(data).toMatchObject({
        summary: expect.stringContaining("They copied a.txt."),
        firstKeptEntryId: kept?.id,
        tokensBefore: 6010,
        details: { readFiles: ["a.txt"], modifiedFiles: ["b.txt"] },
      });
      expect(outline(rpc.frames.slice(since))).toEqual(
        isTold ? ["compaction_start manual", "compaction_end manual", "response compact"] : ["response compact"],
      );
      if (isTold) expect(ofType(rpc.frames, "compaction_end")[0]).toMatchObject({ result: data, aborted: false });
      expect(await rolesOf(rpc)).toEqual(["compactionSummary", "user", "assistant"]);
      expect(await stateOf(rpc)).toMatchObject({ messageCount: 3, contextUsage: { tokens: null, percent: null } });
      expect(kindsOf(await fileOf(rpc)).at(-1)).toBe("compaction");
      await talk(rpc, "And now?");
      expect((await messagesOf(rpc)).at(-1)).toMatchObject({ content: [{ text: "Still here." }] });
    },
  );
});

describe("compact", () => {
  let llm: MockLlm;
  beforeEach(async () => {
    llm = await startMockLlm();
  });
  afterEach(() => llm.close());

  proves("pi.compaction.instructions", "asks the model with the instructions of the host", async () => {
    llm.reply(say("A lever."), say("Notes: levers."), say("Yes."));
    const agentFiles = { "models.json": llm.modelsJson() };
    const rpc = start({ agentFiles, args: ["--model", "mock/mock-1"] });
    await rpc.prompt("what is a tiller");
    await call(rpc, "compact", { customInstructions: "Mind the rudder above all." });
    const asked = JSON.stringify(llm.requests[1]?.body);
    expect(asked).toContain("Mind the rudder above all.");
    expect(asked).toContain("what is a tiller");
    expect(llm.requests[1]?.body.tools).toBeUndefined();
    await rpc.prompt("still there?");
    const seen = JSON.stringify(llm.requests[2]?.body.messages);
    expect(seen).toContain("Notes: levers.");
    expect(seen).not.toContain("what is a tiller");
  });

  it("works from one exchange on, and is refused when there is nothing to do (decision 35b)", async () => {
    const rpc = start({ script: ['text "A lever."', 'text "Notes." + usage {"input":700,"output":30}'] });
    const nothing = "Nothing to compact (session too small)";
    expect(await call(rpc, "compact")).toMatchObject({ success: false, error: nothing });
    expect(ofType(rpc.frames, "compaction_end")).toMatchObject([{ errorMessage: `Compaction failed: ${nothing}` }]);
    await rpc.prompt("what is a tiller");
    expect((await call(rpc, "compact")).data).toMatchObject({
      summary: "Notes.",
      estimatedTokensAfter: 2,
      usage: { input: 700, output: 30, totalTokens: 730 },
    });
    expect(await rolesOf(rpc)).toEqual(["compactionSummary"]);
    expect(await call(rpc, "compact")).toMatchObject({ success: false, error: "Already compacted" });
    expect((await call(rpc, "get_session_stats")).data).toMatchObject({ userMessages: 1, assistantMessages: 1 });
  });

  it("leaves all that was said in the file, and a process that opens it has the same conversation", async () => {
    const rpc = start({ script: ['text "A lever."', 'text "Notes."', 'text "Yes."'] });
    await rpc.prompt("what is a tiller");
    const path = await fileOf(rpc);
    const before = readFileSync(path, "utf8");
    await call(rpc, "compact");
    await rpc.prompt("go on");
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    const messages = await messagesOf(rpc);
    rpc.closeStdin();
    await rpc.waitExit();
    const again = start({ script: ['text "x"'], args: ["--session", path] });
    expect(await messagesOf(again)).toEqual(messages);
  });

  it("again builds on the summary before", async () => {
    llm.reply(say("A lever."), say("Notes: levers."), say("A plate."), say("Notes: levers, plates."));
    const rpc = start({ agentFiles: { "models.json": llm.modelsJson() }, args: ["--model", "mock/mock-1"] });
    await rpc.prompt("what is a tiller");
    await call(rpc, "compact");
    await rpc.prompt("what is a rudder");
    await call(rpc, "compact");
    const asked = JSON.stringify(llm.requests[3]?.body);
    expect(asked).toContain("Notes: levers.");
    expect(asked).toContain("what is a rudder");
    expect(asked).not.toContain("what is a tiller");
    expect(await messagesOf(rpc)).toMatchObject([{ role: "compactionSummary", summary: "Notes: levers, plates." }]);
  });

  it("while a run is active ends the run first and tells it", async () => {
    const rpc = start({ script: ['text "A lever."', 'text "half" + hang', 'text "Notes."'] });
    await rpc.prompt("what is a tiller");
    const since = rpc.mark();
    await call(rpc, "prompt", { id: "p", message: "what is a rudder" });
    await rpc.waitFor(isIncrement("text_delta"), { since });
    expect(await call(rpc, "compact")).toMatchObject({ success: true });
    expect(outline(rpc.frames.slice(since)).slice(1)).toEqual([
      ...["agent_start", "agent_end false", "prompt_result aborted"],
      ...["compaction_start manual", "compaction_end manual", "response compact"],
    ]);
  });

  it("is told by get_state, and a prompt behind it waits for it", async () => {
    const rpc = start({ script: ['text "A lever."', 'delay 1000 + text "Notes."', 'expect messages 2 + text "Yes."'] });
    await rpc.prompt("what is a tiller");
    const since = rpc.mark();
    rpc.send({ id: "c", type: "compact" });
    expect(await stateOf(rpc)).toMatchObject({ isCompacting: true, isStreaming: false });
    await rpc.prompt("go on");
    expect(outline(rpc.frames.slice(since))).toEqual([
      ...["compaction_start manual", "response prompt", "compaction_end manual", "response compact"],
      ...["agent_start", "agent_end false", "prompt_result completed"],
    ]);
    expect(await stateOf(rpc)).toMatchObject({ isCompacting: false });
  });

  it("ends with abort: nothing is written, and it can be asked for again", async () => {
    const rpc = start({ script: ['text "A lever."', "hang", 'text "Notes."'] });
    await rpc.prompt("what is a tiller");
    const path = await fileOf(rpc);
    const before = readFileSync(path, "utf8");
    const since = rpc.mark();
    rpc.send({ id: "c", type: "compact" });
    await rpc.waitFor("compaction_start");
    expect(await call(rpc, "abort", { id: "a" })).toMatchObject({ success: true });
    await rpc.waitFor(({ type, id }) => type === "response" && id === "c");
    const told = rpc.frames.slice(since);
    expect(ofType(told, "compaction_end")).toMatchObject([{ aborted: true, willRetry: false }]);
    expect(ofType(told, "compaction_end")[0]).not.toHaveProperty("errorMessage");
    expect(told.find(({ id }) => id === "c")).toMatchObject({ success: false, error: "Compaction cancelled" });
    const end = told.findIndex(({ type }) => type === "compaction_end");
    expect(end).toBeLessThan(told.findIndex(({ id }) => id === "a"));
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(await call(rpc, "compact")).toMatchObject({ success: true, data: { summary: "Notes." } });
  });

  it("in line behind another one that is aborted never begins", async () => {
    const rpc = start({ script: ['text "A lever."', "hang"] });
    await rpc.prompt("what is a tiller");
    rpc.send('{"id":"1","type":"compact"}\n{"id":"2","type":"compact"}\n');
    await rpc.waitFor("compaction_start");
    await call(rpc, "abort");
    const refused = { success: false, error: "Compaction cancelled" };
    for (const id of ["1", "2"]) expect(await rpc.waitFor((frame) => frame.id === id)).toMatchObject(refused);
    expect(ofType(rpc.frames, "compaction_start")).toHaveLength(1);
    expect(ofType(rpc.frames, "compaction_end")).toHaveLength(1);
  });

  it("whose summary fails says why, and the conversation is as it was", async () => {
    const rpc = start({ script: ['text "A lever."', 'error auth "bad key"', 'text "Yes."'] });
    await rpc.prompt("what is a tiller");
    expect(await call(rpc, "compact")).toMatchObject({
      success: false,
      error: expect.stringMatching(/^Summarization failed: .*bad key/),
    });
    await rpc.prompt("go on");
    expect(await messagesOf(rpc)).toHaveLength(4);
  });

  it("works with the model that is built in, which keeps what was said", async () => {
    const rpc = start({ args: ["--provider", "offline", "--model", "scout"], files: { "a.txt": "A\n" } });
    await rpc.prompt("Remember: the harbour code is 4711.");
    await rpc.prompt("read a.txt");
    const { data } = await call(rpc, "compact");
    expect(at(data, "summary")).toContain("4711");
    expect(at(data, "summary")).not.toContain("(0 left out)");
    expect(await rolesOf(rpc)).toEqual(["compactionSummary", "user", "assistant", "toolResult", "assistant"]);
  });
});

describe.each(DIALECTS)("a context that is nearly full in %s", (dialect) => {
  const isTold = dialect === "union" || dialect === "pi";
  const goesOn = dialect === "omp" || dialect === "xcsh";
  const start_ = isTold ? ["compaction_start threshold"] : [];
  const end_ = isTold ? ["compaction_end threshold"] : [];
  const result = dialect === "pi" ? [] : ["prompt_result completed"];

  proves(
    ["pi.compaction.automatic", "pi.events.compaction-start", "pi.events.compaction-end"],
    "is compacted when the run is over; then it stops, or goes on by itself (decisions 15 and 16)",
    async () => {
      const rpc = start({
        script: [FULL, 'text "Notes."', 'text "All done."'],
        args: [...KEEP_LITTLE, "--dialect", dialect],
      });
      const frames = await talk(rpc, LONG);
      if (dialect !== "pi") await rpc.waitFor("session_settled");
      const compaction = ["auto_compaction_start threshold", ...start_, "auto_compaction_end false", ...end_];
      expect(outline(rpc.frames).slice(1)).toEqual(
        goesOn
          ? ["agent_start", "agent_end true", ...compaction, "agent_start", "agent_end false", ...result]
          : ["agent_start", "agent_end false", ...compaction, ...result],
      );
      expect(ofType(frames, "auto_compaction_start")[0]).toMatchObject({
        reason: "threshold",
        action: "context-full",
        promptId: "prompt-1",
      });
      expect(ofType(frames, "auto_compaction_end")[0]).toMatchObject({
        promptId: "prompt-1",
        action: "context-full",
        aborted: false,
        willRetry: false,
        result: { summary: expect.stringContaining("Notes."), tokensBefore: 190_010 },
      });
      const roles = ["compactionSummary", "assistant", ...(goesOn ? ["custom", "assistant"] : [])];
      expect(await rolesOf(rpc)).toEqual(roles);
    },
  );

  proves("pi.compaction.automatic-off", "is left alone when that is switched off", async () => {
    const rpc = start({ script: [FULL, 'text "On."'], args: [...KEEP_LITTLE, "--dialect", dialect] });
    await call(rpc, "set_auto_compaction", { enabled: false });
    await talk(rpc, LONG);
    await talk(rpc, "more");
    expect(rpc.types().filter((type) => type.includes("compaction"))).toEqual([]);
    expect(await rolesOf(rpc)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});

describe("compaction by itself", () => {
  const startShort = (script: string[], ...more: string[]): RpcProcess =>
    start({ script, args: [...KEEP_LITTLE, ...more] });

  it("comes behind what waits in the queue; what is queued while it works waits for the next prompt", async () => {
    const second = `expect user "and then" + ${FULL}`;
    const rpc = startShort([
      `delay 1000 + ${FULL}`,
      second,
      'delay 1000 + text "Notes."',
      'text "Yes."',
      'text "Sure."',
    ]);
    rpc.send({ id: "1", type: "prompt", message: LONG });
    await rpc.waitFor("message_end");
    await call(rpc, "prompt", { id: "2", message: "and then", streamingBehavior: "followUp" });
    await rpc.waitFor("auto_compaction_start");
    expect(await call(rpc, "follow_up", { message: "later" })).toMatchObject({ data: { disposition: "queued" } });
    await rpc.waitFor("session_settled");
    const results = ofType(rpc.frames, "prompt_result").map(({ id, status, sessionSettled }) => [
      id,
      status,
      sessionSettled,
    ]);
    expect(results).toEqual([
      ["1", "completed", false],
      ["2", "completed", false],
    ]);
    expect(ofType(rpc.frames, "agent_start")).toHaveLength(1);
    await rpc.prompt("now");
    const texts = (await messagesOf(rpc)).filter(({ role }) => role === "user");
    expect(texts.map((message) => at(message, "content", 0, "text"))).toEqual(["now", "later"]);
  });

  it("with compaction.autoContinue goes on once, with a note that is no message of the user's", async () => {
    const rpc = startShort([FULL, 'text "Notes."', 'text "All done."'], "--set", "compaction.autoContinue=true");
    await rpc.prompt(LONG);
    expect(await rolesOf(rpc)).toEqual(["compactionSummary", "assistant", "custom", "assistant"]);
    expect((await messagesOf(rpc))[2]).toMatchObject({ customType: "auto-continue", display: false });
    const { messages } = (await call(rpc, "get_fork_messages")).data as { messages: unknown[] };
    expect(messages).toHaveLength(1);
  });

  it("makes room after an overflow, and the prompt is answered without anybody doing anything", async () => {
    const rpc = startShort(['text "A lever."', OVERFLOW, 'text "Notes."', 'text "Now it fits."']);
    await rpc.prompt(LONG);
    const { frames, result } = await rpc.prompt("and a rudder?");
    expect(outline(frames).slice(1)).toEqual([
      ...["agent_start", "agent_end true"],
      ...["auto_compaction_start overflow", "compaction_start overflow"],
      ...["auto_compaction_end true", "compaction_end overflow"],
      ...["agent_start", "agent_end false", "prompt_result completed"],
    ]);
    expect(result.status).toBe("completed");
    expect((await messagesOf(rpc)).at(-1)).toMatchObject({ content: [{ text: "Now it fits." }] });
    // The failed answer is in the file and not in the conversation.
    expect(JSON.stringify(await messagesOf(rpc))).not.toContain("prompt is too long");
    expect(readFileSync(await fileOf(rpc), "utf8")).toContain("prompt is too long");
  });

  it("tries that once for a prompt, and says so", async () => {
    const rpc = startShort(['text "A lever."', OVERFLOW, 'text "Notes."', OVERFLOW, 'text "Later."']);
    await rpc.prompt(LONG);
    const { frames, result } = await rpc.prompt("and a rudder?");
    expect(result).toMatchObject({ status: "error" });
    expect(ofType(frames, "auto_compaction_start")).toHaveLength(1);
    expect(ofType(frames, "auto_compaction_end").at(-1)).toMatchObject({
      willRetry: false,
      errorMessage: expect.stringContaining("Context overflow recovery failed after one compact-and-retry attempt"),
    });
    expect((await rpc.prompt("hello?")).result.status).toBe("completed");
  });

  it("does nothing about an overflow when it is switched off", async () => {
    const rpc = startShort(['text "A lever."', OVERFLOW]);
    await rpc.prompt(LONG);
    await call(rpc, "set_auto_compaction", { enabled: false });
    const { frames, result } = await rpc.prompt("and a rudder?");
    expect(result).toMatchObject({ status: "error" });
    expect(outline(frames).filter((line) => line.includes("compaction"))).toEqual([]);
  });

  it("after an overflow ends with abort, before agent_end takes its promise back (decision 18)", async () => {
    const rpc = startShort(['text "A lever."', OVERFLOW, "hang", 'text "Later."']);
    await rpc.prompt(LONG);
    const since = rpc.mark();
    await call(rpc, "prompt", { id: "p", message: "and a rudder?" });
    await rpc.waitFor("auto_compaction_start", { since });
    expect(await stateOf(rpc)).toMatchObject({ isCompacting: true, isStreaming: true });
    await call(rpc, "abort");
    expect(outline(rpc.frames.slice(since)).slice(1)).toEqual([
      ...["agent_start", "agent_end true"],
      ...["auto_compaction_start overflow", "compaction_start overflow"],
      ...["auto_compaction_end false", "compaction_end overflow"],
      ...["agent_end false", "prompt_result aborted", "response abort"],
    ]);
    expect(ofType(rpc.frames, "auto_compaction_end")).toMatchObject([{ aborted: true, willRetry: false }]);
    expect((await rpc.prompt("hello?")).result.status).toBe("completed");
  });

  it("by threshold ends with abort, and so does the prompt that it belongs to", async () => {
    const rpc = startShort([FULL, "hang", 'text "Notes."', 'text "Later."']);
    await call(rpc, "prompt", { id: "p", message: LONG });
    await rpc.waitFor("auto_compaction_start");
    expect(await stateOf(rpc)).toMatchObject({ isCompacting: true, isStreaming: false });
    await call(rpc, "abort");
    expect(ofType(rpc.frames, "auto_compaction_end")).toMatchObject([{ aborted: true }]);
    expect(ofType(rpc.frames, "prompt_result")).toMatchObject([{ id: "p", status: "aborted" }]);
    expect((await rpc.prompt("hello?")).result.status).toBe("completed");
  });

  it.each([
    ["new_session", {}],
    ["switch_session", { sessionPath: "other.jsonl" }],
  ])("ends with %s, which is answered afterwards", async (command, fields) => {
    const rpc = startShort([FULL, "hang", 'text "Later."']);
    await call(rpc, "prompt", { id: "p", message: LONG });
    await rpc.waitFor("auto_compaction_start");
    const since = rpc.mark();
    expect(await call(rpc, command, fields)).toMatchObject({ success: true });
    const told = outline(rpc.frames.slice(since));
    expect(told).toEqual([
      ...["auto_compaction_end false", "compaction_end threshold", "prompt_result aborted", `response ${command}`],
    ]);
    await rpc.prompt("hello?");
    expect(await rolesOf(rpc)).toEqual(["user", "assistant"]);
  });

  it("that fails twice in a row is stopped and says how to go on; a word of the host gives it another chance", async () => {
    const failing = 'error auth "bad key"';
    const script = [FULL, failing, FULL, failing, FULL, FULL, 'text "Notes."'];
    const rpc = startShort(script, "--set", "retry.enabled=false");
    const seen: string[] = [];
    for (const word of ["one ", "two ", "three "]) {
      const { frames } = await rpc.prompt(word + LONG);
      seen.push(...ofType(frames, "auto_compaction_end").map(({ errorMessage }) => String(errorMessage)));
    }
    expect(seen).toEqual([
      expect.stringMatching(/^Auto-compaction failed: .*bad key$/),
      expect.stringMatching(/^Auto-compaction failed: .*bad key\. Automatic compaction is stopped/),
    ]);
    expect(ofType(rpc.frames, "notice")).toMatchObject([
      { level: "error", source: "compaction", message: expect.stringContaining("set_auto_compaction") },
    ]);
    await call(rpc, "set_auto_compaction", { enabled: true });
    const { frames } = await rpc.prompt(`four ${LONG}`);
    const made = ofType(frames, "auto_compaction_end");
    expect(made.some(({ result }) => result !== undefined)).toBe(true);
  });

  it("says so when there is nothing that it could summarise", async () => {
    const rpc = startShort(['text "Hello."'], "--set", "compaction.thresholdTokens=100");
    const path = join(rpc.sandbox.cwd, "question.jsonl");
    writeFileSync(path, sessionText(rpc.sandbox.cwd, [user("u1", LONG)]));
    await call(rpc, "switch_session", { sessionPath: path });
    const { frames, result } = await rpc.prompt("hello?");
    expect(result.status).toBe("completed");
    const end = { skipped: true, aborted: false, willRetry: false };
    expect(ofType(frames, "auto_compaction_end")[0]).toMatchObject(end);
    expect(ofType(frames, "compaction_end")[0]).toMatchObject(end);
    expect(frames.findIndex(({ type }) => type === "auto_compaction_start")).toBeLessThan(
      frames.findIndex(({ type }) => type === "agent_start"),
    );
  });

  it("counts what its summaries cost", async () => {
    const rpc = startShort([FULL, 'text "Notes." + usage {"input":700,"output":30}']);
    const { result } = await rpc.prompt(LONG);
    expect(at(result, "usage")).toMatchObject({ input: 190_700, output: 40 });
    const stats = (await call(rpc, "get_session_stats")).data;
    expect(at(stats, "tokens")).toMatchObject({ input: 190_700, output: 40 });
    expect(list(await rolesOf(rpc))).toEqual(["compactionSummary", "assistant"]);
  });
});
