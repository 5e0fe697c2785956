import { describe, expect, it } from "vitest";
import type { Frame } from "../support/frame.ts";
import { type RpcProcess, useProcessForAll, useRpc } from "../support/rpc-process.ts";

/** Whatever a host writes, it gets an answer that says what is wrong, and the next command works. */

const FINE = { args: ["--no-session"], script: ['text "fine"'] };
const start = useRpc(FINE);
const MIB = 1024 * 1024;

/** Sends a line as it stands; resolves to the first answer. */
async function answerTo(rpc: RpcProcess, line: string | Uint8Array): Promise<Frame> {
  const since = rpc.mark();
  rpc.send(line);
  rpc.send("\n");
  return await rpc.waitFor("response", { since });
}

async function expectToWork(rpc: RpcProcess): Promise<void> {
  expect(await rpc.call({ type: "get_state" })).toMatchObject({ success: true, data: { isStreaming: false } });
}

describe("a line that is no command", () => {
  const lines: [line: string, error: RegExp][] = [
    ["not json", /Unexpected token/],
    ['{"type":"get_state"', /JSON/],
    ['{"type":"get_state"}{"type":"get_state"}', /JSON/],
    ["null", /expected a JSON object with a "type", got null$/],
    ["[]", /got \[\]$/],
    ["42", /got 42$/],
    ['"x"', /got "x"$/],
    ["{}", /got \{\}$/],
    ['{"id":"1","type":7}', /got \{"id":"1","type":7\}$/],
    ["[".repeat(100_000), /JSON/],
  ];
  // One after the other in one process: each leaves it as it was.
  const rpcOf = useProcessForAll(FINE);
  for (const [line, error] of lines) {
    it(`is answered as a parse error without id: ${line.slice(0, 40)}`, async () => {
      const rpc = rpcOf();
      expect(await answerTo(rpc, line)).toEqual({
        type: "response",
        command: "parse",
        success: false,
        error: expect.stringMatching(error),
      });
      await expectToWork(rpc);
    });
  }

  it("is ignored when it is blank", async () => {
    const rpc = start();
    rpc.send("\n\r\n   \n\t\n");
    expect(await answerTo(rpc, '{"id":"1","type":"get_last_assistant_text"}')).toMatchObject({ id: "1" });
    expect(rpc.types()).toEqual(["ready", "response"]);
  });
});

describe("a command that cannot be carried out", () => {
  const commands: [what: string, command: { type: string } & Record<string, unknown>, error: string][] = [
    ["an unknown type", { type: "dance" }, "Unknown command: dance"],
    ["the name of something else", { type: "constructor" }, "Unknown command: constructor"],
    ["a missing field", { type: "set_model", provider: "a" }, 'set_model: "modelId" is missing, it must be a string'],
    ["a wrong type", { type: "prompt", message: 5 }, 'prompt: "message" must be a string, got a number (5)'],
    [
      "a value outside the list",
      { type: "set_steering_mode", mode: "some" },
      'set_steering_mode: "mode" must be "all" or "one-at-a-time", got a string ("some")',
    ],
    ["null where a value must be", { type: "prompt", message: null }, 'prompt: "message" must be a string, got null'],
  ];
  const rpcOf = useProcessForAll(FINE);
  for (const [what, command, error] of commands) {
    it(`says so: ${what}`, async () => {
      const rpc = rpcOf();
      const answer = await answerTo(rpc, JSON.stringify({ id: "1", ...command }));
      expect(answer).toMatchObject({ command: command.type, success: false, error });
      await expectToWork(rpc);
    });
  }

  it("but extra fields, and null in an optional one, are no reason to refuse it", async () => {
    const rpc = start();
    const { result } = await rpc.prompt("hi", {
      images: null,
      streamingBehavior: null,
      limits: { turns: null, tokens: 1_000_000, cost: null },
      colour: { deep: ["red"] },
    });
    expect(result.status).toBe("completed");
  });
});

describe("a long line", () => {
  it("of 64 MiB is a command like any other", async () => {
    const rpc = start();
    const answer = await rpc.call({ type: "get_state", padding: "x".repeat(64 * MIB) });
    expect(answer).toMatchObject({ success: true, data: { isStreaming: false } });
    await expectToWork(rpc);
  });

  const tooLong = {
    type: "response",
    command: "parse",
    success: false,
    error: "Failed to parse command: the line is longer than 2048 bytes (setting input.maxLineBytes); it was skipped",
  };
  const capped = ["--no-session", "--set", "input.maxLineBytes=2048"];

  it("over the cap is refused, and reading goes on after its end", async () => {
    const rpc = start({ args: capped });
    expect(await rpc.waitFor("ready")).toMatchObject({ limits: { maxLineBytes: 2048 } });
    expect(await answerTo(rpc, `{"type":"get_state","padding":"${"x".repeat(5000)}"}`)).toEqual(tooLong);
    expect(await answerTo(rpc, `{"id":"1","type":"get_last_assistant_text"}`)).toMatchObject({ id: "1" });
  });

  it("over the cap is refused before its end has come, and once only", async () => {
    const rpc = start({ args: capped });
    rpc.send("x".repeat(3000));
    expect(await rpc.waitFor("response")).toEqual(tooLong);
    rpc.send("x".repeat(3000));
    expect(await answerTo(rpc, 'x"}\n{"id":"1","type":"get_last_assistant_text"}')).toMatchObject({ id: "1" });
    expect(rpc.types()).toEqual(["ready", "response", "response"]);
  });
});

it("a result of a host tool that is too long to be read ends the call as failed", async () => {
  const script = [
    "toolCall echo {}",
    'expect toolResult "not read: the line is longer than 2048 bytes" isError true + text "I see"',
  ];
  const rpc = start({ script, args: ["--no-session", "--set", "input.maxLineBytes=2048"] });
  await rpc.call({
    type: "set_host_tools",
    tools: [{ name: "echo", description: "x", parameters: { type: "object" } }],
  });
  await rpc.call({ type: "prompt", message: "go" });
  const { id } = await rpc.waitFor("host_tool_call");
  const result = { content: [{ type: "text", text: "x".repeat(5000) }] };
  rpc.send({ type: "host_tool_result", id, result });
  expect(await rpc.waitFor("prompt_result")).toMatchObject({ status: "completed" });
});

describe("odd bytes", () => {
  it("that are no UTF-8 inside a text are replaced, the command is answered", async () => {
    const rpc = start();
    const line = Buffer.concat([
      Buffer.from('{"id":"1","type":"prompt","message":"a'),
      Buffer.from([0xff, 0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    expect(await answerTo(rpc, line)).toMatchObject({ id: "1", success: true });
    const user = await rpc.waitFor("message_end");
    expect(user.message).toMatchObject({ content: [{ type: "text", text: "a\uFFFD\uFFFD(" }] });
    await rpc.waitFor("session_settled");
  });

  it("that are no UTF-8 outside of one are a parse error", async () => {
    const rpc = start();
    expect(await answerTo(rpc, Uint8Array.from([0xff, 0xfe, 0x00, 0x80]))).toMatchObject({ command: "parse" });
    await expectToWork(rpc);
  });

  it("like U+2028 and U+2029 do not end a line on the way in, and stand escaped on the way out", async () => {
    const rpc = start({ script: ['expect user "one\u2028two\u2029three" + text "four\u2028five\u2029six"'] });
    const { frames } = await rpc.prompt("one\u2028two\u2029three");
    const ends = frames.filter((frame) => frame.type === "message_end");
    // That no raw one was on the wire is checked by the harness, for every line of every test.
    expect(ends).toMatchObject([
      { message: { content: [{ text: "one\u2028two\u2029three" }] } },
      { message: { content: [{ text: "four\u2028five\u2029six" }] } },
    ]);
  });

  it("like a byte order mark and a CR before the LF are dropped", async () => {
    const rpc = start();
    expect(await answerTo(rpc, '\uFEFF{"id":"1","type":"get_last_assistant_text"}\r')).toMatchObject({ id: "1" });
  });
});

describe("many commands", () => {
  it("in one write are all answered, in their order", async () => {
    const rpc = start();
    const count = 10_000;
    const commands = Array.from({ length: count }, (_, i) => {
      // Every hundredth one is wrong: explaining that takes longer, and must not let the next one pass.
      const fields = i % 100 === 7 ? { type: "set_thinking_level", level: i } : { type: "get_last_assistant_text" };
      return `${JSON.stringify({ id: i, ...fields })}\n`;
    });
    rpc.send(commands.join(""));
    await rpc.waitFor((frame) => frame.id === count - 1);
    const answers = rpc.frames.filter((frame) => frame.type === "response");
    expect(answers.map((frame) => frame.id)).toEqual(commands.map((_, i) => i));
    expect(answers.filter((frame) => frame.success === false)).toHaveLength(count / 100);
  });

  it("are all answered when stdin closes behind them, the last one without an LF", async () => {
    const rpc = start();
    const lines = Array.from({ length: 500 }, (_, i) => JSON.stringify({ id: i, type: "get_state" }));
    rpc.send(lines.join("\n"));
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.frames.flatMap((frame) => (frame.type === "response" ? [frame.id] : []))).toEqual(
      lines.map((_, i) => i),
    );
  });

  it("cut into single bytes are put together again", async () => {
    const rpc = start();
    for (const byte of Buffer.from('{"id":"größe","type":"get_last_assistant_text"}\n')) {
      rpc.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await rpc.waitFor("response")).toMatchObject({ id: "größe" });
  });
});

it("an unfinished line at the end of stdin that is no JSON is answered too", async () => {
  const rpc = start();
  rpc.send('{"type":"get_sta');
  rpc.closeStdin();
  expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
  expect(rpc.frames.at(-1)).toMatchObject({ type: "response", command: "parse", success: false });
});
