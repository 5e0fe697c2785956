import { spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Frame } from "./support/frame.ts";
import { fail, type MockLlm, say, startMockLlm, useTool } from "./support/mock-llm.ts";
import { cliPath, RpcProcess } from "./support/rpc-process.ts";
import { createSandbox } from "./support/sandbox.ts";

/** A session with a model behind HTTP, tools, a retry, a steering message and an abort is recorded once and played back many times. */

/** `npm run test:long` plays it a hundred times. */
const REPLAYS = Number(process.env.TILLER_REPLAYS ?? 2);
const KEY = "mock-key-that-nobody-may-see";
/** A value of a header and one in the address, under names that say nothing. */
const OTHER_SECRETS = ["HDRsecretvalue12345", "QRYsecretvalue123456"] as const;

const root = mkdtempSync(join(tmpdir(), "tiller-recording-"));
const folder = join(root, "recording");
let frames: Frame[] = [];
let sent: string[] = [];

beforeAll(async () => {
  const model = await startMockLlm({ requireKey: KEY });
  ({ frames, sent } = await recordSession(model));
  // Nobody is left to ask.
  await model.close();
}, 30_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function withSecrets(modelsJson: string): string {
  const [header, query] = OTHER_SECRETS;
  const { providers } = JSON.parse(modelsJson) as { providers: Record<string, { baseUrl: string }> };
  const entries = Object.entries(providers).map(([id, provider]) => [
    id,
    { ...provider, baseUrl: `${provider.baseUrl}?code=${query}`, headers: { "X-Foo": header } },
  ]);
  return JSON.stringify({ providers: Object.fromEntries(entries) });
}

async function recordSession(model: MockLlm): Promise<{ frames: Frame[]; sent: string[] }> {
  const rpc = new RpcProcess({
    args: ["--model", "mock/mock-1", "--set", "retry.baseDelayMs=20", "--record", folder],
    files: { "notes.txt": "the tide comes at six\n" },
    agentFiles: { "models.json": withSecrets(model.modelsJson()) },
    env: { SOME_API_KEY: KEY },
  });
  const lines: string[] = [];
  const send = (command: object): void => {
    lines.push(JSON.stringify(command));
    rpc.send(command);
  };
  const settled = async (since: number): Promise<void> => void (await rpc.waitFor("session_settled", { since }));
  model.reply(
    fail(529, "overloaded_error", "Overloaded"),
    useTool("bash", { command: "cat notes.txt; sleep 0.5; echo more >> notes.txt; date +%N" }),
    say("Six o'clock, as it says.", 4),
  );
  send({ id: "1", type: "prompt", message: "When does the tide come?" });
  await rpc.waitFor("tool_execution_start");
  send({ id: "2", type: "steer", message: "Be short" });
  await settled(0);
  const second = rpc.mark();
  model.reply(useTool("bash", { command: "sleep 30" }));
  send({ id: "3", type: "prompt", message: "And now wait" });
  await rpc.waitFor("tool_execution_start", { since: second });
  send({ id: "4", type: "abort" });
  await settled(second);
  send({ id: "5", type: "bash", command: "date +%N" });
  await rpc.waitFor((frame) => frame.type === "response" && frame.id === "5");
  send({ id: "6", type: "get_state" });
  await rpc.waitFor((frame) => frame.type === "response" && frame.id === "6");
  rpc.closeStdin();
  await rpc.waitExit();
  await rpc.dispose();
  return { frames: rpc.frames, sent: lines };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Played {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Another machine as far as the program can see: another home, another folder, no key. */
function play(args: readonly string[], input: readonly string[] = []): Promise<Played> {
  const sandbox = createSandbox();
  const child = spawn(process.execPath, [cliPath(), ...args], { cwd: sandbox.cwd, env: sandbox.env });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(input.map((line) => `${line}\n`).join(""));
  return new Promise((resolve) =>
    child.on("close", (code) => {
      sandbox.remove();
      resolve({ code, stdout, stderr });
    }),
  );
}

const framesIn = ({ stdout }: Played): Frame[] =>
  stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Frame);

describe("a recording", () => {
  test("holds what came and went, and no key", () => {
    const log = readFileSync(join(folder, "log.jsonl"), "utf8");
    expect(log).toContain("the tide comes at six");
    expect(log).toContain('"name":"request"');
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
    expect(files.some((path) => path.endsWith("models.json"))).toBe(true);
    for (const path of files.filter((each) => statSync(each).isFile())) {
      for (const secret of [KEY, ...OTHER_SECRETS]) expect(readFileSync(path, "utf8")).not.toContain(secret);
      expect(statSync(path).mode & 0o077).toBe(0);
    }
  });

  test("a session that was recorded did what any other does", () => {
    expect(frames.filter(({ type }) => type === "prompt_result")).toMatchObject([
      { id: "1", status: "completed" },
      { id: "3", status: "aborted" },
    ]);
    expect(frames.some(({ type }) => type === "auto_retry_start")).toBe(true);
  });

  test(`gives the identical frames ${REPLAYS} times`, { timeout: 20_000 + REPLAYS * 3_000 }, async () => {
    const said = new Set<string>();
    for (let count = 0; count < REPLAYS; count++) {
      const { code, stdout, stderr } = await play(["replay", folder]);
      said.add(`${code} ${stdout}${stderr}`);
    }
    expect([...said]).toEqual([
      expect.stringMatching(`^0 identical: ${frames.length} frames, \\d+ lines of the log\n$`),
    ]);
  });

  test("the first difference is shown when the recording says something else", async () => {
    const other = copyOf("changed", (log) => log.replace("the tide comes at six", "the tide comes at ten"));
    // It is of another version too, which is said and no reason not to play it.
    const head = join(other, "recording.json");
    writeFileSync(head, readFileSync(head, "utf8").replace(/"version": "[^"]*"/, '"version": "99.0.0"'));
    const { code, stdout, stderr } = await play(["replay", other]);
    expect(code).toBe(1);
    expect(stderr).toContain("was recorded by version 99.0.0");
    expect(stdout).toMatch(/^different: frame \d+ \(log\.jsonl:\d+\): expected .*got /s);
  });
});

describe("a host at a replay", () => {
  const replay = (input: readonly string[]): Promise<Played> => play(["--mode", "rpc", "--replay", folder], input);

  test("that does the same gets the same, byte for byte", async () => {
    const played = await replay(sent);
    expect(played).toMatchObject({ code: 0, stderr: "" });
    expect(framesIn(played)).toEqual(frames);
  });

  test("may call its commands otherwise and write their fields in another order", async () => {
    const renamed = sent.map((line, index) => {
      const { id: _, ...rest } = JSON.parse(line);
      return JSON.stringify({ ...rest, id: `mine-${index}` });
    });
    const played = await replay(renamed);
    expect(played).toMatchObject({ code: 0, stderr: "" });
    const ids = framesIn(played).flatMap((frame) => (frame.type === "response" ? [frame.id] : []));
    expect(new Set(ids)).toEqual(new Set(renamed.map((_, index) => `mine-${index}`)));
  });

  test("may take longer to speak than the one that was recorded did", async () => {
    const quick = join(root, "quick");
    const prompts = ["1", "2", "3"].map((id) => JSON.stringify({ id, type: "prompt", message: "list" }));
    const converse = async (args: readonly string[], patienceMs: number): Promise<[unknown, Frame[]]> => {
      const rpc = new RpcProcess({ args: [...args] });
      for (const [index, line] of prompts.entries()) {
        if (patienceMs > 0) await pause(patienceMs);
        rpc.send(`${line}\n`);
        await rpc.waitFor(({ type, id }) => type === "prompt_result" && id === String(index + 1));
      }
      if (patienceMs > 0) await pause(patienceMs);
      rpc.closeStdin();
      const { code } = await rpc.waitExit();
      await rpc.dispose();
      return [code, rpc.frames];
    };
    const recorded = await converse(["--no-session", "--record", quick], 0);
    const replayed = await Promise.all([0, 50, 300].map((ms) => converse(["--replay", quick], ms)));
    for (const played of replayed) expect(played).toEqual(recorded);
  });

  test("may read later than the one that was recorded did", async () => {
    const much = join(root, "much");
    const text = Array.from({ length: 40_000 }, (_, index) => `${index} `).join("");
    const script = join(root, "much.json");
    writeFileSync(script, JSON.stringify({ turns: [[{ text, chunk: 4 }]] }));
    const ask = JSON.stringify({ id: "1", type: "prompt", message: "Count" });
    const converse = async (args: readonly string[], isLate: boolean): Promise<Frame[]> => {
      const rpc = new RpcProcess({ args: [...args], check: { schema: false } });
      await rpc.waitFor("ready");
      if (isLate) rpc.pauseReading();
      rpc.send(`${ask}\n`);
      if (isLate) await pause(500);
      rpc.resumeReading();
      await rpc.waitFor("session_settled");
      rpc.closeStdin();
      await rpc.waitExit();
      await rpc.dispose();
      return rpc.frames;
    };
    const recorded = await converse(
      ["--no-session", "--updates", "delta", "--script", script, "--record", much],
      false,
    );
    expect(recorded.length).toBeGreaterThan(10_000);
    expect(await converse(["--replay", much], true)).toEqual(recorded);
  });

  test("that waits where it did not wait before is told", { timeout: 40_000 }, async () => {
    const together = join(root, "together");
    const asks = ["1", "2"].map((id) => `${JSON.stringify({ id, type: "get_state" })}\n`);
    const first = new RpcProcess({ args: ["--no-session", "--record", together] });
    first.send(asks.join(""));
    await first.waitFor(({ id }) => id === "2");
    first.closeStdin();
    await first.waitExit();
    await first.dispose();
    const second = new RpcProcess({ args: ["--replay", together] });
    for (const [index, line] of asks.entries()) {
      second.send(line);
      await second.waitFor(({ id }) => id === String(index + 1), { timeoutMs: 20_000 });
    }
    second.closeStdin();
    expect((await second.waitExit()).code).toBe(3);
    expect(second.stderr).toContain("together with the line before it; nothing comes");
    await second.dispose();
  });

  test("that sends another command is told where, and gets an answer", async () => {
    const other = '{"id":"x","type":"get_available_models"}';
    const played = await replay(sent.map((line, index) => (index === 1 ? other : line)));
    expect(played.code).toBe(3);
    const text = /line 2 of the host \(log\.jsonl:\d+\): expected .*"steer".*, got .*get_available_models/;
    expect(played.stderr).toMatch(text);
    const told = framesIn(played);
    expect(told.find((frame) => frame.type === "notice")).toMatchObject({
      source: "recording",
      message: expect.stringMatching(text),
    });
    expect(told.find((frame) => frame.id === "x")).toMatchObject({ type: "response", success: true });
  });

  test("that ends too early, or goes on for too long, is told", async () => {
    const [early, late] = await Promise.all([
      replay(sent.slice(0, 2)),
      replay([...sent, '{"id":"9","type":"prompt","message":"One more"}']),
    ]);
    expect(early.code).toBe(3);
    expect(early.stderr).toMatch(/line 3 of the host .*: expected .*And now wait.*, got the end of its input/);
    expect(late.code).toBe(3);
    expect(late.stderr).toMatch(/line 7 of the host .*: expected the end of its input, got .*One more/);
  });
});

/** A copy of the recording with another log. */
function copyOf(name: string, change: (log: string) => string): string {
  const copy = join(root, name);
  cpSync(folder, copy, { recursive: true });
  const log = join(copy, "log.jsonl");
  writeFileSync(log, change(readFileSync(log, "utf8")));
  return copy;
}

describe("bad recordings", () => {
  test("one that was cut off is played as far as it goes", async () => {
    const cut = copyOf("cut", (log) => log.slice(0, Math.floor(log.length / 2)));
    const { code, stdout } = await play(["replay", cut]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^different: line \d+ of the log: the recording is cut off there; until then it is identical\n$/,
    );
  });

  test("what is no recording is refused", async () => {
    const gone = join(root, "gone");
    const empty = join(root, "empty");
    mkdirSync(empty);
    const results = await Promise.all([
      play(["replay", gone]),
      play(["--mode", "rpc", "--replay", empty]),
      play(["replay"]),
    ]);
    expect(results.map(({ code, stderr }) => [code, stderr.trim()])).toEqual([
      [2, `Error: cannot replay ${gone}: there is no folder ${gone}`],
      [2, `Error: cannot replay ${empty}: ${empty} holds no recording: recording.json is missing`],
      [2, expect.stringContaining("tiller replay DIR")],
    ]);
  });
});

describe("where nothing can be recorded", () => {
  test("the process does not start", async () => {
    const full = join(root, "full");
    mkdirSync(full);
    appendFileSync(join(full, "a"), "");
    const file = join(full, "a");
    const results = await Promise.all([
      play(["--mode", "rpc", "--record", full]),
      play(["--mode", "rpc", "--record", join(file, "below")]),
    ]);
    expect(results.map(({ code, stderr }) => [code, stderr.trim()])).toEqual([
      [2, `Error: --record ${full}: the folder is not empty; name a new one`],
      [2, expect.stringMatching(/^Error: --record .*ENOTDIR/)],
    ]);
  });

  test("a disk that takes no more ends the recording, and the session goes on", async () => {
    const sandbox = createSandbox();
    const small = join(root, "small");
    // 8 KB, and files cannot grow any more.
    const command = `ulimit -f 8; exec "${process.execPath}" "${cliPath()}" --mode rpc --no-session --record "${small}"`;
    const child = spawn("bash", ["-c", command], { cwd: sandbox.cwd, env: sandbox.env });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stdin.end(
      Array.from({ length: 40 }, (_, id) => `${JSON.stringify({ id: String(id), type: "get_state" })}\n`).join(""),
    );
    const code = await new Promise((resolve) => child.on("close", resolve));
    sandbox.remove();
    const told = framesIn({ code: 0, stdout, stderr: "" });
    expect(code).toBe(0);
    expect(told.filter((frame) => frame.type === "response" && frame.success === true)).toHaveLength(40);
    expect(told.filter((frame) => frame.source === "recording")).toMatchObject([
      {
        type: "notice",
        message: expect.stringContaining(`The recording in ${small} ends here, the session goes on: EFBIG`),
      },
    ]);
  });
});
