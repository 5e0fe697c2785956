import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { assistant, FakeAgent } from "../../../../test/support/fake-agent.ts";
import type { Frame } from "../client/events.ts";
import { type ChatInputs, runChat } from "./chat.ts";

const breathe = () => new Promise((resolve) => setImmediate(resolve));
const MODEL = { provider: "offline", id: "scout" };

function answers({ type }: Frame): unknown {
  switch (type) {
    case "get_state":
      return { model: MODEL, thinkingLevel: "off", isSettled: true, todoPhases: [] };
    case "prompt":
      return { disposition: "started" };
    case "get_commands":
      return { commands: [{ name: "review", description: "looks at it", source: "prompt" }] };
    case "get_available_models":
      return { models: [MODEL, { provider: "acme", id: "large-1" }] };
    case "set_model":
      return { provider: "acme", id: "large-1" };
    case "abort_bash":
      return {};
    default:
      return undefined;
  }
}

/** A chat with an agent that the test plays. */
async function chatWith(options: Partial<ChatInputs> = {}, answer: (command: Frame) => unknown = answers) {
  const agent = new FakeAgent(answer);
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    raw: [] as boolean[],
    setRawMode: (on: boolean) => input.raw.push(on),
  });
  const output = new PassThrough();
  let shown = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  let interrupt: () => void = () => undefined;
  const code = runChat({
    agent: { transport: () => agent },
    input,
    output,
    isTerminal: false,
    hasColours: false,
    first: "",
    version: "1.0",
    onInterrupt: (listener) => {
      interrupt = listener;
      return () => undefined;
    },
    ...options,
  });
  await breathe();
  const type = async (text: string) => {
    input.write(text);
    await breathe();
    await breathe();
  };
  /** What was shown since the last look. */
  const look = async () => {
    await breathe();
    const text = shown.replaceAll("\r\u001b[K", "|");
    shown = "";
    return text;
  };
  const over = (index: number, fields: object = {}) =>
    agent.say({
      type: "prompt_result",
      id: agent.asked("prompt")[index]?.id,
      status: "completed",
      agentInvoked: true,
      ...fields,
    });
  return { agent, input, code, type, look, over, interrupt: () => interrupt() };
}

const says = (delta: string) => ({
  type: "message_update",
  message: { role: "assistant", content: [] },
  assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta },
});

describe("lines from a pipe", () => {
  it("are prompts, one after the other, and the end of input is the end", async () => {
    const { agent, input, code, type, look, over } = await chatWith();
    expect(await look()).toBe("Tiller 1.0, offline/scout, not kept. /help lists the commands, /quit leaves.\n");
    await type("one\n\ntwo\n");
    expect(agent.asked("prompt").map(({ message }) => message)).toEqual(["one"]);
    agent.say(says("first"));
    over(0);
    await breathe();
    expect(agent.asked("prompt").map(({ message }) => message)).toEqual(["one", "two"]);
    input.end();
    await breathe();
    agent.say(says("second"), { type: "message_end", message: assistant("second") });
    over(1, { status: "error", error: { message: "no key" } });
    expect(await code).toBe(0);
    expect(await look()).toBe("first\nsecond\nerror: no key\n");
    expect(agent.stopped).toBe(1);
  });

  it("answer questions, and are asked again when they do not fit", async () => {
    const { agent, input, type, look, over, code } = await chatWith({ first: "go" });
    await look();
    const base = { type: "extension_ui_request", title: "Which?" };
    agent.say({ ...base, id: "1", method: "select", options: ["main", "next"] });
    expect(await look()).toBe("? Which?\n  1. main\n  2. next\n  (a number; nothing to leave it)\n");
    await type("7\nnext\n");
    expect(await look()).toContain("1. main");
    agent.say({ ...base, id: "2", method: "confirm", message: "Sure" }, { ...base, id: "3", method: "input" });
    await type("perhaps\ny\nsome text\n");
    agent.say(
      { ...base, id: "4", method: "editor" },
      { type: "extension_ui_request", id: "5", method: "cancel", targetId: "4" },
    );
    agent.say({ ...base, id: "6", method: "select", options: ["a"] });
    input.end();
    await breathe();
    expect(agent.asked("extension_ui_response").map(({ type: _, ...answer }) => answer)).toEqual([
      { id: "1", value: "next" },
      { id: "2", confirmed: true },
      { id: "3", value: "some text" },
      { id: "6", cancelled: true },
    ]);
    over(0);
    expect(await code).toBe(0);
  });
});

describe("nobody who reads", () => {
  it("is the end of the chat, and of its agent", async () => {
    const broken = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
    const output = new Writable({ write: (_chunk, _encoding, done) => done(broken) });
    const { agent, code } = await chatWith({ output });
    expect(await code).toBe(1);
    expect(agent.stopped).toBe(1);
  });

  it("also when the agent has nothing to say about itself", async () => {
    let asked = 0;
    const { code, look } = await chatWith({}, ({ type }) => {
      if (type === "get_state") asked += 1;
      return asked === 2 ? new Error("no state") : undefined;
    });
    expect(await code).toBe(1);
    expect(await look()).toBe("no state\n");
  });
});

describe("commands of the chat", () => {
  it("answer, choose, refuse and leave", async () => {
    const { agent, type, look, code } = await chatWith();
    await look();
    await type("/help\n");
    const help = await look();
    expect(help).toMatch(/^\/help +this list\n/);
    expect(help).toContain("/review  looks at it");
    await type("/models\n/model\n/model large\n/model nope\n/todos\n/thinking\n");
    expect(await look()).toBe(
      'offline/scout\nacme/large-1\noffline/scout\nacme/large-1\nno model has "nope" in its name; /models lists them\nthere is no plan\noff\n',
    );
    expect(agent.asked("set_model")).toMatchObject([{ provider: "acme", modelId: "large-1" }]);
    await type("/quit\n");
    expect(await code).toBe(0);
  });

  it("go to the agent when the chat does not know them", async () => {
    const { agent, type } = await chatWith();
    await type("/review src\n");
    expect(agent.asked("prompt")).toMatchObject([{ message: "/review src", streamingBehavior: "steer" }]);
  });

  it("with an exclamation mark run in the shell", async () => {
    const { agent, type, look } = await chatWith({}, (command) =>
      command.type === "bash" ? { output: "x", exitCode: 2 } : answers(command),
    );
    await look();
    await type("!make\n");
    expect(agent.asked("bash")).toMatchObject([{ command: "make" }]);
    expect(await look()).toBe("exit code 2\n");
  });
});

describe("a person at a terminal", () => {
  it("steers by writing while the agent works, and is not interrupted", async () => {
    const { agent, input, type, look, over } = await chatWith({ isTerminal: true });
    expect(input.raw).toEqual([true]);
    expect(await look()).toMatch(/leaves\.\n> $/);
    await type("go\r");
    await look();
    agent.say(says("work"));
    await type("st");
    agent.say(says("ing"));
    expect(await look()).toBe("work\n> st");
    await type("op\r");
    expect(await look()).toBe("|> stop\ning");
    expect(agent.asked("prompt").map(({ message }) => message)).toEqual(["go", "stop"]);
    over(0);
    over(1);
    expect(await look()).toBe("\n> ");
  });

  it("ends the line, the run and the chat with Ctrl-C", async () => {
    const { agent, input, type, look, over, code } = await chatWith({ isTerminal: true });
    await type("half a line\u0003");
    await type("go\r");
    await look();
    await type("\u0003");
    expect(agent.asked("abort")).toHaveLength(1);
    expect(await look()).toBe("(Ctrl-C again to leave)\n");
    over(0, { status: "aborted" });
    expect(await look()).toBe("(aborted)\n> ");
    await type("again\r");
    await type("\u0003\u0003");
    expect(await code).toBe(130);
    expect(input.raw).toEqual([true, false]);
    expect(agent.asked("prompt").map(({ message }) => message)).toEqual(["go", "again"]);
  });

  it("gets back what was to change the course of a run that is given up", async () => {
    const { agent, type, look, over } = await chatWith({ isTerminal: true }, (command) =>
      command.type === "clear_queue" ? { steering: ["rather this"], followUp: [] } : answers(command),
    );
    await type("go\r");
    await type("rather this\r");
    await look();
    await type("\u0003");
    expect(agent.sent.slice(-2).map((frame) => frame.type)).toEqual(["clear_queue", "abort"]);
    over(0, { status: "aborted" });
    over(1, { status: "aborted" });
    expect(await look()).toBe("(Ctrl-C again to leave)\n(aborted)\n> rather this");
  });

  it("leaves with Ctrl-D on an empty line only", async () => {
    const { type, code, agent } = await chatWith({ isTerminal: true });
    await type("x\u0004");
    expect(agent.stopped).toBe(0);
    await type("\u007f\u0004");
    expect(await code).toBe(0);
  });

  it("gets a text to go on with from an extension", async () => {
    const { agent, look } = await chatWith({ isTerminal: true });
    await look();
    agent.say({ type: "extension_ui_request", id: "1", method: "set_editor_text", text: "Explain \u001b[2J" });
    expect(await look()).toBe("|> Explain ");
  });
});

describe("an agent that goes", () => {
  it("takes the chat with it, and says why", async () => {
    const { agent, code, look } = await chatWith({ first: "go" });
    agent.errors = "out of memory";
    agent.exit(1);
    expect(await code).toBe(1);
    expect(await look()).toContain("Agent process exited with code 1. Stderr: out of memory\n");
  });

  it("is not there at all", async () => {
    const { code, look } = await chatWith({ agent: { command: "/no/such/agent" } });
    expect(await code).toBe(1);
    expect(await look()).toContain("could not be started: spawn /no/such/agent ENOENT");
  });

  it("by SIGINT, as the chat does", async () => {
    const { interrupt, code } = await chatWith();
    interrupt();
    interrupt();
    expect(await code).toBe(130);
  });
});
