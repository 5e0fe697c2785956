import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { say, startMockLlm } from "../support/mock-llm.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

/** The host's own shell commands (decision 20). */

const start = useRpc({ args: ["--no-session"] });

async function bash(rpc: RpcProcess, command: string, more: object = {}): Promise<Frame> {
  const { data } = await rpc.call({ type: "bash", command, ...more });
  return data as Frame;
}

const deltas = (rpc: RpcProcess, id: string): string =>
  ofType(rpc.frames, "bash_execution_update")
    .filter((frame) => frame.id === id)
    .map(({ delta }) => delta)
    .join("");

const isAnswer =
  (id: string) =>
  (frame: Frame): boolean =>
    frame.type === "response" && frame.id === id;

/** The texts that the model saw last. */
const seen = (body: unknown): string => JSON.stringify(at(body, "messages"));

describe("bash", () => {
  proves(
    ["pi.bash.command", "pi.bash.output", "pi.bash.exit-code", "pi.bash.cancelled", "pi.bash.truncated"],
    "runs in a shell and answers with the fields of all systems",
    async () => {
      const rpc = start({ files: { "a.txt": "A" } });
      expect(await bash(rpc, "echo one; cat a.txt >&2; exit 3")).toEqual({
        output: "one\nA",
        exitCode: 3,
        cancelled: false,
        truncated: false,
        totalLines: 2,
        totalBytes: 5,
        outputLines: 2,
        outputBytes: 5,
        workingDir: rpc.sandbox.cwd,
      });
      expect(await bash(rpc, "true")).toMatchObject({ output: "", exitCode: 0 });
    },
  );

  proves(
    ["pi.bash.immediate", "pi.bash.message-stored", "pi.bash.no-event"],
    "works without a prompt, leaves a message, and tells of it by no event but its output",
    async () => {
      const rpc = start();
      await bash(rpc, "echo hi", { id: "b" });
      expect(await messagesOf(rpc)).toEqual([
        {
          role: "bashExecution",
          command: "echo hi",
          output: "hi\n",
          exitCode: 0,
          cancelled: false,
          truncated: false,
          timestamp: expect.any(Number),
        },
      ]);
      const events = rpc.frames.filter(({ type }) => !["ready", "notice", "response"].includes(String(type)));
      expect(events).toEqual([{ type: "bash_execution_update", id: "b", delta: "hi\n", seq: expect.any(Number) }]);
    },
  );

  proves(
    ["pi.bash.in-context", "pi.bash.converted", "pi.bash.next-prompt", "pi.bash.several"],
    "reaches the model with the next prompt, all of them, as text, and not before",
    async () => {
      const llm = await startMockLlm();
      llm.reply(say("First."), say("Second."));
      const agentFiles = { "models.json": llm.modelsJson() };
      const rpc = start({ agentFiles, args: ["--no-session", "--model", "mock/mock-1"] });
      await rpc.prompt("hello");
      await bash(rpc, "echo alpha");
      await bash(rpc, "echo beta; exit 7");
      await bash(rpc, "true");
      await bash(rpc, "echo secret", { excludeFromContext: true });
      expect(llm.requests).toHaveLength(1);
      await rpc.prompt("go on");
      const body = seen(llm.requests[1]?.body);
      expect(body).toContain(JSON.stringify("Ran `echo alpha`\n```\nalpha\n\n```").slice(1, -1));
      expect(body).toContain(JSON.stringify("beta\n\n```\n\nCommand exited with code 7").slice(1, -1));
      expect(body).toContain(JSON.stringify("Ran `true`\n(no output)").slice(1, -1));
      expect(body).not.toContain("secret");
      expect(body.indexOf("alpha")).toBeLessThan(body.indexOf("beta"));
      expect(body.indexOf("beta")).toBeLessThan(body.indexOf("go on"));
      await llm.close();
    },
  );

  it("is held back while a run is active, and stands behind its last message", async () => {
    const rpc = start({ script: ['toolCall bash {"command":"until [ -e go ]; do sleep 0.02; done"}', 'text "Done."'] });
    await rpc.call({ type: "prompt", message: "wait" });
    await rpc.waitFor("tool_execution_start");
    expect(await bash(rpc, "touch go; echo let go")).toMatchObject({ output: "let go\n" });
    await rpc.waitFor("session_settled");
    const roles = (await messagesOf(rpc)).map(({ role }) => role);
    expect(roles).toEqual(["user", "assistant", "toolResult", "assistant", "bashExecution"]);
  });

  it("of which several run at once is answered when each is done, and other commands meanwhile", async () => {
    const rpc = start();
    rpc.send({ id: "slow", type: "bash", command: "until [ -e go ]; do sleep 0.02; done; echo slow" });
    expect(await bash(rpc, "echo quick")).toMatchObject({ output: "quick\n" });
    expect(await stateOf(rpc)).toMatchObject({ messageCount: 1, isStreaming: false });
    writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    expect(await rpc.waitFor(isAnswer("slow"))).toMatchObject({ data: { output: "slow\n" } });
    expect((await messagesOf(rpc)).map(({ output }) => output)).toEqual(["quick\n", "slow\n"]);
  });

  it("has an empty stdin, no terminal, and none of our secrets, but the user's variables", async () => {
    const auth = JSON.stringify({ anthropic: { type: "api_key", key: "sk-from-auth-json" } });
    const rpc = start({ agentFiles: { "auth.json": auth }, env: { MY_VARIABLE: "mine", OPENAI_API_KEY: "sk-mine" } });
    expect(await bash(rpc, "cat; env; [ -t 0 ] || [ -t 1 ] || echo no terminal")).toMatchObject({ exitCode: 0 });
    const [message] = await messagesOf(rpc);
    expect(message?.output).toMatch(/^MY_VARIABLE=mine$/m);
    expect(message?.output).toMatch(/^OPENAI_API_KEY=sk-mine$/m);
    expect(message?.output).toMatch(/^PI_SESSION_ID=[0-9a-f-]{36}$/m);
    expect(message?.output).toMatch(/^no terminal$/m);
    expect(message?.output).not.toContain("sk-from-auth-json");
  });

  it("writes to /dev/stderr and /dev/stdout as to any other file, and nothing is left of the pipe", async () => {
    const rpc = start(OWN_TMP);
    const left = "ls tmp | grep -E '^tiller-(pipe|groups)'";
    // Another process takes its end of it in its own time.
    const wait = `for i in $(seq 100); do ${left} > /dev/null || break; sleep 0.05; done`;
    const command = `echo one > /dev/stderr; echo two >> /dev/stdout; echo three >&2; ${wait}; ${left}`;
    expect(await bash(rpc, command)).toMatchObject({ output: "one\ntwo\nthree\n" });
  });

  it("gets a pipe of its own, also beside many others and behind a background child", async () => {
    const rpc = start();
    expect(await bash(rpc, "(sleep 0.4; echo late) & echo early")).toMatchObject({ output: "early\n" });
    const many = Array.from({ length: 12 }, (_, index) =>
      bash(rpc, `sleep 0.1; echo ${index}; echo error ${index} >&2`),
    );
    expect((await Promise.all(many)).map(({ output }) => output)).toEqual(
      many.map((_, index) => `${index}\nerror ${index}\n`),
    );
    expect(await bash(rpc, "echo again")).toMatchObject({ output: "again\n" });
  });

  it("starts in the session's folder again when the kept one is gone", async () => {
    const rpc = start({ args: ["--no-session", "--dialect", "omp"] });
    await bash(rpc, "mkdir d; cd d");
    await bash(rpc, 'rmdir "$PWD"');
    expect(await bash(rpc, "pwd")).toMatchObject({ exitCode: 0, output: `${rpc.sandbox.cwd}\n` });
  });

  it("starts afresh each time; in omp and xcsh folder and environment survive", async () => {
    const moving = "cd sub && export WORD='two\nlines' && WORD2=gone";
    const looking = 'echo "$(basename "$PWD") $WORD $WORD2"';
    const fresh = start({ files: { "sub/a": "" } });
    await bash(fresh, moving);
    expect(await bash(fresh, looking)).toMatchObject({ output: "cwd  \n", workingDir: fresh.sandbox.cwd });
    for (const dialect of ["omp", "xcsh"]) {
      const rpc = start({ files: { "sub/a": "" }, args: ["--no-session", "--dialect", dialect] });
      const sub = join(rpc.sandbox.cwd, "sub");
      expect(await bash(rpc, moving)).toMatchObject({ exitCode: 0, newCwd: sub, workingDir: sub });
      expect(await bash(rpc, looking)).toMatchObject({ output: "sub two\nlines \n", newCwd: sub });
      expect(await bash(rpc, "unset WORD; exit 4")).toMatchObject({ exitCode: 4 });
      expect(await bash(rpc, "printenv WORD || cd ..; rmdir nothing")).toMatchObject({ newCwd: rpc.sandbox.cwd });
    }
  });

  it("uses the shell and the prefix of the settings", async () => {
    const settings = JSON.stringify({ shellPath: "/bin/sh", shellCommandPrefix: "greet() { echo hello $1; }" });
    const rpc = start({ agentFiles: { "settings.json": settings } });
    expect(await bash(rpc, "greet you; echo $0")).toMatchObject({
      output: "hello you\n/bin/sh\n",
    });
    const script = ['toolCall bash {"command":"greet tool; echo $0"}', 'text "Done."'];
    const { frames } = await start({ agentFiles: { "settings.json": settings }, script }).prompt("go");
    expect(at(ofType(frames, "tool_execution_end")[0], "result", "content", 0, "text")).toBe("hello tool\n/bin/sh\n");
  });
});

describe("abort_bash", () => {
  proves("pi.bash.abort", "ends every command, and is answered before them; also a success without any", async () => {
    const rpc = start();
    expect(await rpc.call({ type: "abort_bash" })).toMatchObject({ success: true });
    rpc.send({ id: "1", type: "bash", command: "echo begun; sleep 600" });
    rpc.send({ id: "2", type: "bash", command: "trap 'echo tidy; exit 0' TERM; echo begun; sleep 600 & wait" });
    for (const id of ["1", "2"]) {
      await rpc.waitFor((frame) => frame.type === "bash_execution_update" && frame.id === id);
    }
    rpc.send({ id: "3", type: "abort_bash" });
    expect(await rpc.waitFor(isAnswer("1"))).toMatchObject({
      success: true,
      data: { output: "begun\n", cancelled: true },
    });
    // It has a quarter of a second to tidy up, which a busy machine may not give it; that it may is proved with a longer one.
    const output = expect.stringMatching(/^begun\n(tidy\n)?$/);
    expect(at(await rpc.waitFor(isAnswer("2")), "data")).toMatchObject({ output, cancelled: true });
    const order = ofType(rpc.frames, "response").map(({ id }) => id);
    expect(order.indexOf("3")).toBeLessThan(Math.min(order.indexOf("1"), order.indexOf("2")));
    for (const message of await messagesOf(rpc)) {
      expect(message).toMatchObject({ role: "bashExecution", cancelled: true });
      expect(message).not.toHaveProperty("exitCode");
    }
  });

  it("in the same write ends the command before it, and not the one behind it", async () => {
    const rpc = start();
    rpc.send(
      '{"id":"1","type":"bash","command":"sleep 600"}\n{"type":"abort_bash"}\n{"id":"2","type":"bash","command":"echo hi"}\n',
    );
    expect(await rpc.waitFor(isAnswer("1"))).toMatchObject({ data: { cancelled: true } });
    expect(await rpc.waitFor(isAnswer("2"))).toMatchObject({ data: { cancelled: false, output: "hi\n" } });
  });

  it("in the same write keeps the command from beginning at all, also when others have run before", async () => {
    const rpc = start();
    await bash(rpc, "true");
    for (let n = 0; n < 10; n++) {
      rpc.send(`{"id":"${n}","type":"bash","command":": >begun; sleep 600"}\n{"type":"abort_bash"}\n`);
      expect(await rpc.waitFor(isAnswer(`${n}`))).toMatchObject({ data: { cancelled: true, output: "" } });
    }
    expect(existsSync(join(rpc.sandbox.cwd, "begun"))).toBe(false);
  });

  it("leaves a run alone, as abort leaves a command alone", async () => {
    const rpc = start({ script: ['text "on" + endless "." pace 5'] });
    await rpc.call({ type: "prompt", message: "go" });
    rpc.send({ id: "b", type: "bash", command: "echo begun; until [ -e go ]; do sleep 0.02; done" });
    await rpc.waitFor("bash_execution_update");
    await rpc.call({ type: "abort" });
    writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    expect(await rpc.waitFor(isAnswer("b"))).toMatchObject({ data: { cancelled: false, exitCode: 0 } });
  });
});

/** The files with the whole output shall go when the test does. */
const OWN_TMP = { files: { "tmp/.keep": "" }, env: { TMPDIR: "tmp" } };

describe("the output of a command", () => {
  it.each(["a.txt", "a.txt/below", "nowhere"])("needs no folder for its files: TMPDIR is %s", async (TMPDIR) => {
    const rpc = start({ files: { "a.txt": "" }, env: { TMPDIR } });
    for (const word of ["first", "second", "third"]) {
      expect(await bash(rpc, `echo ${word}`)).toMatchObject({ output: `${word}\n`, exitCode: 0 });
    }
  });

  it("is told while it grows, and joined it is the output", async () => {
    const rpc = start();
    const command =
      "echo one; until [ -e go ]; do sleep 0.02; done; printf 'gr\\303'; sleep 0.1; printf '\\274n \\033[3'; sleep 0.1; printf '1mred\\033[0m\\n'";
    rpc.send({ id: "b", type: "bash", command });
    await rpc.waitFor(({ type, delta }) => type === "bash_execution_update" && delta === "one\n");
    writeFileSync(join(rpc.sandbox.cwd, "go"), "");
    const answer = await rpc.waitFor(isAnswer("b"));
    expect(at(answer, "data", "output")).toBe("one\ngrün red\n");
    expect(deltas(rpc, "b")).toBe("one\ngrün red\n");
  });

  it("of many lines is cut to its end, and all of it is in a file that only the user can read", async () => {
    const rpc = start(OWN_TMP);
    const data = await bash(rpc, "seq 1 30000", { id: "b" });
    expect(data).toMatchObject({ truncated: true, totalLines: 30000, totalBytes: 168894, exitCode: 0 });
    expect(String(data.output)).toMatch(/^\d+\n[\s\S]*\n30000$/);
    expect(Buffer.byteLength(String(data.output))).toBe(data.outputBytes);
    expect(data.outputBytes).toBeLessThanOrEqual(50 * 1024);
    const file = String(data.fullOutputPath);
    expect(readFileSync(file, "utf8").split("\n").slice(0, 3)).toEqual(["1", "2", "3"]);
    expect(statSync(file)).toMatchObject({ size: 168894 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await messagesOf(rpc)).toMatchObject([{ truncated: true, fullOutputPath: file }]);
  });

  it("floods neither the host nor the memory: what is not told says so", async () => {
    const rpc = start(OWN_TMP);
    const before = rpc.stdoutBytes;
    const data = await bash(rpc, "yes 'a line of a flood' | head -c 100000000", { id: "b" });
    expect(data).toMatchObject({ truncated: true, totalBytes: 100_000_000, exitCode: 0 });
    expect(deltas(rpc, "b")).toMatch(/\n\[\d+ bytes skipped\]\n/);
    expect(rpc.stdoutBytes - before).toBeLessThan(30_000_000);
    expect(residentMb(rpc.pid)).toBeLessThan(200);
  });

  it("goes on while the host does not read, and the answer comes when it does", async () => {
    const rpc = start(OWN_TMP);
    await stateOf(rpc);
    rpc.pauseReading();
    rpc.send({ id: "b", type: "bash", command: "seq 1 2000000; touch done" });
    await expect.poll(() => existsSync(join(rpc.sandbox.cwd, "done")), { timeout: 15_000 }).toBe(true);
    rpc.resumeReading();
    expect(await rpc.waitFor(isAnswer("b"))).toMatchObject({ data: { totalLines: 2_000_000, exitCode: 0 } });
  });
});

/** Resident memory, where the system tells it. */
function residentMb(pid: number): number {
  if (process.platform !== "linux") return 0;
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

describe("a command that cannot be run", () => {
  const refusal = async (rpc: RpcProcess, command: string): Promise<string> => {
    const answer = await rpc.call({ type: "bash", command });
    expect(answer.success).toBe(false);
    expect(await messagesOf(rpc)).toEqual([]);
    return String(answer.error);
  };
  const withShell = (shellPath: string): RpcProcess =>
    start({ agentFiles: { "settings.json": JSON.stringify({ shellPath }) }, files: { "plain.txt": "text" } });

  it("because of a NUL says so", async () => {
    expect(await refusal(start(), "echo a\0b")).toContain("NUL");
  });

  it("because there is no such shell names it and the setting", async () => {
    const error = await refusal(withShell("/no/such/shell"), "true");
    expect(error).toContain("/no/such/shell does not exist");
    expect(error).toContain("shellPath");
  });

  it("because the shell is no program names it", async () => {
    expect(await refusal(withShell("./plain.txt"), "true")).toContain("plain.txt may not be executed");
  });

  it("because its folder is gone names the folder", async () => {
    const rpc = start();
    await stateOf(rpc);
    rmdirSync(rpc.sandbox.cwd);
    expect(await refusal(rpc, "true")).toContain(`folder ${rpc.sandbox.cwd} does not exist`);
    mkdirSync(rpc.sandbox.cwd);
    expect(await bash(rpc, "pwd")).toMatchObject({ output: `${rpc.sandbox.cwd}\n` });
  });

  it("because it is too long says what to do", async () => {
    expect(await refusal(start(), `true ${"x".repeat(300_000)}`)).toContain("write it to a file");
  });
});

describe("the end of the agent", () => {
  it("answers a command that is running, and ends it", async () => {
    const rpc = start();
    rpc.send({ id: "b", type: "bash", command: "echo begun; sleep 600" });
    await rpc.waitFor("bash_execution_update");
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.frames.at(-1)).toMatchObject({ id: "b", success: true, data: { cancelled: true, output: "begun\n" } });
  });

  it("waits for a command with --finish-on-eof", async () => {
    const rpc = start({ args: ["--no-session", "--finish-on-eof"] });
    rpc.send({ id: "b", type: "bash", command: "sleep 0.3; echo finished" });
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.frames.at(-1)).toMatchObject({ id: "b", data: { cancelled: false, output: "finished\n" } });
  });
});
