import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseArgs } from "../../packages/coding-agent/src/args.ts";
import { systemClock } from "../../packages/coding-agent/src/lib/clock.ts";
import { sessionsOutcome } from "../../packages/coding-agent/src/sessions/sub-command.ts";
import { at, type Frame, list } from "../support/frame.ts";
import { say, startMockLlm } from "../support/mock-llm.ts";
import { partly } from "../support/part-of.ts";
import { cliPath, type RpcProcess, useProcessForAll, useRpc } from "../support/rpc-process.ts";
import {
  CWD,
  countsOf,
  type Expected,
  entriesIn,
  type Node,
  SAMPLES,
  type Sample,
  soundLines,
  textOf,
} from "./support/other-sessions.ts";

/** Session files that other programs wrote, old ones and damaged ones, in the real process. */

const start = useRpc();
let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tiller-others-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A copy, where omp would have it, whose working folder exists: a session whose folder is gone is not opened. */
function placed(bytes: Buffer): { file: string; before: Buffer } {
  const cwd = join(folder, "app");
  const file = join(folder, "agent/sessions/app/session.jsonl");
  for (const path of [cwd, dirname(file)]) mkdirSync(path, { recursive: true });
  const at = bytes.indexOf(CWD);
  const before = Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(JSON.stringify(cwd)),
    bytes.subarray(at + CWD.length),
  ]);
  writeFileSync(file, before);
  return { file, before };
}

/** The models that the files speak of, at an address where somebody may answer or not. */
function knownModels(baseUrl = "http://127.0.0.1:9") {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { reasoning: true, input: ["text", "image"], contextWindow: 200_000, maxTokens: 8000, cost };
  const models = ["mock-1", "mock-2"].map((id) => ({ ...model, id, name: id }));
  const providers = { mock: { baseUrl, api: "anthropic-messages", apiKey: "none", models } };
  return {
    agentFiles: {
      "models.json": JSON.stringify({ providers }),
      // pi says "off" of a session that has nothing to say about it.
      "settings.json": JSON.stringify({ defaultThinkingLevel: "off" }),
    },
  };
}

async function dataOf(rpc: RpcProcess, command: { type: string } & Record<string, unknown>): Promise<Frame> {
  const response = await rpc.call(command);
  expect(response).toMatchObject({ success: true });
  return response.data as Frame;
}

const messagesOf = async (rpc: RpcProcess): Promise<Frame[]> =>
  list((await dataOf(rpc, { type: "get_messages" })).messages) as Frame[];

/** What the process says of the session that is open. */
async function viewOf(rpc: RpcProcess) {
  const state = await dataOf(rpc, { type: "get_state" });
  const { entries, leafId } = await dataOf(rpc, { type: "get_entries" });
  const tree = await dataOf(rpc, { type: "get_tree" });
  expect(tree.leafId).toBe(leafId);
  return {
    messageCount: state.messageCount,
    name: state.sessionName ?? null,
    model: { provider: at(state, "model", "provider"), modelId: at(state, "model", "id") },
    thinkingLevel: state.thinkingLevel,
    messages: await messagesOf(rpc),
    entries: entries as Frame[],
    leafId,
    tree: list(tree.tree).map(nodeOf),
  };
}

function nodeOf(node: unknown): Node {
  const { entry, children, ...label } = node as { entry: { id: string }; children: unknown[] };
  return { id: entry.id, children: children.map(nodeOf), ...label };
}

const without = (ids: ReadonlySet<unknown>, nodes: readonly Node[]): Node[] =>
  nodes.filter(({ id }) => !ids.has(id)).map((node) => ({ ...node, children: without(ids, node.children) }));

function labelsIn(nodes: readonly Node[]): [string, string][] {
  return nodes.flatMap(({ id, label, children }) => [
    ...(label === undefined ? [] : [[id, label] as [string, string]]),
    ...labelsIn(children),
  ]);
}

/** What opening adds, behind everything else: the model and the level that hold, when the file says otherwise. */
function addedTo(entries: readonly Frame[], bytes: Buffer): Frame[] {
  const added = entries.slice(entriesIn(bytes).length);
  for (const { type } of added) expect(["model_change", "thinking_level_change"]).toContain(type);
  return added;
}

async function expectSession(rpc: RpcProcess, { expected, bytes }: Sample): Promise<Pick<Expected, "thinkingLevel">> {
  const { entries, tree, leafId, model, thinkingLevel, ...view } = await viewOf(rpc);
  const { messages, name = null } = expected;
  expect(view).toEqual({ messages, messageCount: messages.length, name });
  const added = addedTo(entries, bytes);
  const old = entries.slice(0, entries.length - added.length).map(({ id }) => String(id));
  expect(leafId).toBe(added.at(-1)?.id ?? expected.leafId ?? old.at(-1));
  if (expected.tree) {
    expect(old).toEqual(expected.entryIds);
    const known = without(new Set(added.map(({ id }) => id)), tree);
    expect(known).toEqual(expected.tree);
    expect(Object.fromEntries(labelsIn(known))).toEqual(expected.labels);
  }
  return { model, thinkingLevel } as Pick<Expected, "model" | "thinkingLevel">;
}

/** `tiller sessions ... --json`, without a process: how it ends, and what it says. */
async function sessionsCommand(...argv: string[]): Promise<{ code: number; value: unknown }> {
  const parsed = parseArgs(["sessions", ...argv, "--json"], "tiller");
  if (parsed.kind !== "sessions") throw new Error(JSON.stringify(parsed));
  const env = { HOME: folder, TILLER_DIR: join(folder, "agent") };
  const { code, out } = await sessionsOutcome({ ...parsed, env, cwd: folder, clock: systemClock });
  return { code, value: JSON.parse(out ?? "") };
}

/** Everything that was in the file and could be read is in it as it was, and before everything else. */
function expectKept(file: string, before: Buffer, { isOld, isDamaged, filesAside }: Sample): void {
  const after = readFileSync(file);
  if (isOld) expectMigrated(after, before);
  else if (isDamaged) expect(soundLines(after).slice(0, soundLines(before).length)).toEqual(soundLines(before));
  else expect(after.subarray(0, before.length).equals(before)).toBe(true);
  expect(readdirSync(dirname(file)).filter((name) => name.includes(".damaged"))).toHaveLength(filesAside);
}

/** Every field but those that the new version has in another form. */
function expectMigrated(after: Buffer, before: Buffer): void {
  const header = (bytes: Buffer): Frame => JSON.parse(soundLines(bytes)[0] ?? "");
  expect(header(after)).toEqual({ ...header(before), version: 3 });
  const entries = entriesIn(after);
  for (const [position, { firstKeptEntryIndex, ...entry }] of entriesIn(before).entries()) {
    const isHook = at(entry, "message", "role") === "hookMessage";
    expect(entries[position]).toMatchObject(
      isHook ? { ...entry, message: { ...(entry.message as Frame), role: "custom" } } : entry,
    );
    if (firstKeptEntryIndex !== undefined)
      expect(entries[position]?.firstKeptEntryId).toBe(entries[Number(firstKeptEntryIndex) - 1]?.id);
  }
}

/** All of them are opened in one process below; a process for each is much the same again. */
describe("each by itself", () => {
  partly(3).each(SAMPLES)("$name opens with --session and is what its own program says it is", async (sample) => {
    const { bytes, expected } = sample;
    const { file, before } = placed(bytes);
    const rpc = start({ ...knownModels(), args: ["--session", file] });
    const { model, thinkingLevel } = expected;
    expect(await expectSession(rpc, sample)).toEqual({ model, thinkingLevel });
    const { cost, ...counts } = countsOf(bytes);
    expect(await dataOf(rpc, { type: "get_session_stats" })).toMatchObject({
      sessionFile: file,
      ...counts,
      cost: expect.closeTo(cost, 9),
      contextUsage: { tokens: expect.any(Number) },
    });
    expectKept(file, before, sample);
  });

  it.each(SAMPLES)("$name is shown and verified on the command line, which changes nothing", async (sample) => {
    const { bytes, expected, isDamaged } = sample;
    const { file, before } = placed(bytes);
    const { userMessages: user, assistantMessages: assistant, toolCalls, tokens } = countsOf(bytes);
    const shown = await sessionsCommand("show", file);
    expect(shown).toMatchObject({ code: 0, value: { messages: { user, assistant }, toolCalls, tokens } });
    expect(at(shown.value, "name") ?? null).toBe(expected.name ?? null);
    expect(at(shown.value, "unreadableLines")).toBe(isDamaged ? 1 : 0);
    const ok = !isDamaged;
    expect(await sessionsCommand("verify", file)).toMatchObject({ code: ok ? 0 : 1, value: [{ ok }] });
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

describe("one after the other in one process", () => {
  const rpcOf = useProcessForAll({ script: SAMPLES.map(() => 'text "Going on."') });

  it.each(SAMPLES)("$name opens with switch_session where its model is not to be had, and goes on", async (sample) => {
    const { bytes, expected } = sample;
    const { file, before } = placed(bytes);
    const rpc = rpcOf();
    const since = rpc.mark();
    expect(await dataOf(rpc, { type: "switch_session", sessionPath: file })).toEqual({ cancelled: false });
    const lost = `${expected.model.provider}/${expected.model.modelId}, which this session was using, cannot be used`;
    await rpc.waitFor((frame) => frame.type === "notice" && String(frame.message).startsWith(lost), { since });
    expect(await expectSession(rpc, sample)).toMatchObject({ model: { provider: "script", modelId: "script" } });

    expect((await rpc.prompt("Go on")).result).toMatchObject({ status: "completed" });
    const messages = await messagesOf(rpc);
    expect(messages.slice(0, -2)).toEqual(expected.messages);
    expect(messages.slice(-2).map(({ role }) => role)).toEqual(["user", "assistant"]);
    await dataOf(rpc, { type: "new_session" });
    expectKept(file, before, sample);
    expect(await sessionsCommand("verify", file)).toMatchObject({ code: 0, value: [{ ok: true }] });
  });
});

describe("what only omp and xcsh have", () => {
  it("is told in our words, where it stood", async () => {
    const { file } = placed(Buffer.from(textOf("xcsh/session")));
    const rpc = start({ ...knownModels(), args: ["--session", file] });
    // To the last entry before the compaction, so that everything is in the conversation again.
    await dataOf(rpc, { type: "navigate_tree", entryId: "30000013" });
    const messages = await messagesOf(rpc);
    expect(messages.map(({ role, customType = "" }) => `${role} ${customType}`.trim())).toEqual([
      "user",
      "custom fileMention",
      "custom developer",
      "assistant",
      "toolResult",
      "bashExecution",
      "bashExecution",
      "bashExecution",
      "custom note",
      "custom reminder",
      "assistant",
    ]);
    expect(await dataOf(rpc, { type: "get_state" })).toMatchObject({ messageCount: messages.length });
  });

  it("the last name counts, whoever gave it", async () => {
    const { file, before } = placed(Buffer.from(textOf("omp-18.2.3/conversation")));
    const renamed = { type: "title_change", id: "0000aaaa", parentId: "3a10d34d", timestamp: "", title: "in omp" };
    writeFileSync(file, `${before}${JSON.stringify(renamed)}\n`);
    const rpc = start({ ...knownModels(), args: ["--session", file] });
    expect(await dataOf(rpc, { type: "get_state" })).toMatchObject({ sessionName: "in omp" });
    await rpc.call({ type: "set_session_name", name: "in Tiller" });
    expect(await dataOf(rpc, { type: "get_state" })).toMatchObject({ sessionName: "in Tiller" });
    expect(await sessionsCommand("show", file)).toMatchObject({ value: { name: "in Tiller" } });
  });

  const IMAGE = "blob:sha256:b0c33f8581867b3aed93b0bdf3d0d1748767807fdd3dbaee126eadee78b77819";
  const PIXEL = Buffer.from("89504e470d0a1a0a", "hex");

  /** Asks the model about a conversation with an image that is kept in a file of its own; gives back what it is sent. */
  async function askedAboutImage(): Promise<{ file: string; rpc: RpcProcess; sent: string }> {
    const { file } = placed(Buffer.from(textOf("omp-18.2.3/conversation")));
    const llm = await startMockLlm();
    try {
      llm.reply(say("A dot."));
      const rpc = start({ ...knownModels(llm.baseUrl), args: ["--session", file] });
      await dataOf(rpc, { type: "navigate_tree", entryId: "a4a33681" });
      await rpc.prompt("And now?");
      return { file, rpc, sent: JSON.stringify(llm.requests[0]?.body) };
    } finally {
      await llm.close();
    }
  }

  it("an image that omp keeps beside its sessions is shown to the host and to the model", async () => {
    mkdirSync(join(folder, "agent/blobs"), { recursive: true });
    writeFileSync(join(folder, "agent/blobs", IMAGE.slice(-64)), PIXEL);
    const { rpc, sent } = await askedAboutImage();
    expect(sent).toContain(PIXEL.toString("base64"));
    expect(sent).not.toContain("blob:");
    expect(JSON.stringify(await messagesOf(rpc))).toContain(`"data":"${PIXEL.toString("base64")}"`);
  });

  it("an image that is gone is a text that says so, and never sent as an image", async () => {
    const { file, rpc, sent } = await askedAboutImage();
    expect(sent).toContain(`[An image was here; it is kept outside the session file as ${IMAGE}]`);
    expect(sent).not.toContain(`"data":"blob:`);
    const images = (await messagesOf(rpc)).flatMap(({ content }) => list(content).filter(isImage));
    expect(images).toEqual([]);
    expect(readFileSync(file, "utf8")).toContain(`"type":"image","data":"${IMAGE}"`);
  });

  const isImage = (block: unknown): boolean => at(block, "type") === "image";
});

it("a session that does not say where it worked goes on where we are", async () => {
  const file = join(folder, "session.jsonl");
  writeFileSync(file, textOf("pi-0.73.1/fork").replace(`,"cwd":${CWD}`, ""));
  const rpc = start({ script: ['toolCall bash {"command":"pwd"}', 'text "There."'] });
  await dataOf(rpc, { type: "switch_session", sessionPath: file });
  await rpc.prompt("Where are we?");
  expect(JSON.stringify((await messagesOf(rpc)).at(-2))).toContain(rpc.sandbox.cwd);
});

describe("a session whose folder is gone", () => {
  const gone =
    /^Stored session working directory does not exist: \/home\/me\/app\nSession file: .*\nCurrent working directory: /;

  it("is refused, and the session before stays open", async () => {
    const file = join(folder, "session.jsonl");
    writeFileSync(file, textOf("pi-0.73.1/fork"));
    const rpc = start({ script: ['text "Still here."'] });
    const { sessionId } = await dataOf(rpc, { type: "get_state" });
    const refused = await rpc.call({ type: "switch_session", sessionPath: file });
    expect(refused).toMatchObject({ success: false, error: expect.stringMatching(gone) });
    expect(await dataOf(rpc, { type: "get_state" })).toMatchObject({ sessionId });
    expect((await rpc.prompt("Hello?")).result).toMatchObject({ status: "completed" });
    expect(readFileSync(file, "utf8")).toBe(textOf("pi-0.73.1/fork"));
  });

  it("is no session to start with", () => {
    const file = join(folder, "session.jsonl");
    writeFileSync(file, textOf("old/v1"));
    const env = { PATH: process.env.PATH, HOME: folder, TILLER_DIR: folder };
    const args = [cliPath(), "--mode", "rpc", "--session", file];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8", input: "" });
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("/home/me/app") });
    expect(readFileSync(file, "utf8")).toBe(textOf("old/v1"));
  });
});
