import { afterEach, describe, expect, it } from "vitest";
import { FakeAgent } from "../../../../test/support/fake-agent.ts";
import type { ClientOptions } from "./client-options.ts";
import type { Frame } from "./events.ts";
import { RpcClient } from "./rpc-client.ts";

/** What goes wrong in a host must not end it, nor leave the agent waiting. */

const breathe = () => new Promise((resolve) => setImmediate(resolve));

async function started(agent: FakeAgent, options: ClientOptions = {}): Promise<RpcClient> {
  const client = new RpcClient({ transport: () => agent, ...options });
  await client.start();
  return client;
}

function endless(): object {
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  return circle;
}

const lost: unknown[] = [];
const hear = (error: unknown): void => void lost.push(error);
process.on("unhandledRejection", hear);
afterEach(() => {
  expect(lost.splice(0)).toEqual([]);
});

describe("what JSON cannot say", () => {
  it("is a rejection when it is sent, and nothing is left that waits", async () => {
    const agent = new FakeAgent();
    const client = await started(agent, { requestTimeoutMs: 1 });
    await expect(client.request("get_tree", { circle: endless() })).rejects.toThrow("get_tree cannot be sent: ");
    await expect(client.run("hi", { images: [endless() as never] }).result).rejects.toThrow("prompt cannot be sent: ");
    expect(await client.waitForIdle()).toBeUndefined();
    // Time for an answer that somebody has forgotten to be too late.
    await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("is a failure of the tool, and of the URL", async () => {
    const agent = new FakeAgent();
    const tool = { name: "odd", description: "d", parameters: {} };
    await started(agent, {
      tools: [{ ...tool, execute: () => ({ content: [], details: endless() as never }) }],
      uris: [{ scheme: "odd", read: () => ({ content: "", notes: 7n as never }) }],
    });
    agent.say({ type: "host_tool_call", id: "1", toolCallId: "c", toolName: "odd", arguments: {} });
    agent.say({ type: "host_uri_request", id: "2", operation: "read", url: "odd://x" });
    await breathe();
    expect(agent.asked("host_tool_result")).toMatchObject([
      { id: "1", isError: true, result: { content: [{ text: expect.stringContaining('"odd" answered with what') }] } },
    ]);
    expect(agent.asked("host_uri_result")).toMatchObject([
      { id: "2", isError: true, error: expect.stringContaining("odd://x cannot be sent") },
    ]);
  });
});

describe("a dialog whose callback fails", () => {
  const dialog = (id: string): Frame => ({ type: "extension_ui_request", id, method: "input", title: "?" });

  it("is answered by nobody, and the host is warned", async () => {
    const agent = new FakeAgent();
    const warned: string[] = [];
    const listen = ({ message }: Error): void => void warned.push(message);
    process.on("warning", listen);
    await started(agent, {
      onDialog: async () => {
        throw new Error("the terminal is closed");
      },
    });
    agent.say(dialog("1"));
    await breathe();
    process.off("warning", listen);
    expect(agent.asked("extension_ui_response")).toMatchObject([{ id: "1", cancelled: true }]);
    expect(warned).toEqual(["onDialog failed: the terminal is closed"]);
  });

  it("has nothing to answer when it was withdrawn, and that is no failure", async () => {
    const agent = new FakeAgent();
    await started(agent, {
      onDialog: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    });
    agent.say(dialog("1"), { type: "extension_ui_request", id: "2", method: "cancel", targetId: "1" });
    await breathe();
    expect(agent.asked("extension_ui_response")).toEqual([]);
  });
});

describe("frames that lack what they must have", () => {
  it("are noise", async () => {
    const agent = new FakeAgent(({ type }) => (type === "prompt" ? { disposition: "started" } : undefined));
    const client = await started(agent);
    const run = client.run("hi").result;
    await breathe();
    for (const type of ["message_start", "message_update", "message_end", "host_uri_request", "host_tool_call"]) {
      agent.say({ type });
      await breathe();
    }
    expect(client.getNoise().length).toBeGreaterThan(0);
    agent.say({ type: "prompt_result", id: agent.asked("prompt")[0]?.id, status: "completed", sessionSettled: true });
    expect((await run).status).toBe("completed");
  });
});

describe("idle", () => {
  const result = (id: unknown, sessionSettled: boolean): object => ({
    type: "prompt_result",
    id,
    status: "aborted",
    sessionSettled,
  });

  it("is an agent that was aborted, whatever still waits in its queue", async () => {
    const agent = new FakeAgent(({ type, streamingBehavior }) =>
      type === "prompt" ? { disposition: streamingBehavior ? "queued" : "started" } : undefined,
    );
    const client = await started(agent);
    await client.prompt("one");
    agent.say({ type: "agent_start" });
    await client.prompt("two", undefined, "followUp");
    const idle = client.waitForIdle(5000);
    agent.say({ type: "agent_end", messages: [] }, result(agent.asked("prompt")[0]?.id, false));
    expect(await idle).toBeUndefined();
  });

  it("is an agent that has settled, also when its agent_end did not come", async () => {
    const agent = new FakeAgent(({ type }) => (type === "prompt" ? { disposition: "started" } : undefined));
    const client = await started(agent);
    // Asked for right before the prompt.
    const idle = client.waitForIdle(5000);
    let isOver = false;
    void idle.then(() => {
      isOver = true;
    });
    await client.prompt("one");
    agent.say({ type: "agent_start" });
    await breathe();
    expect(isOver).toBe(false);
    agent.say(result(agent.asked("prompt")[0]?.id, true));
    expect(await idle).toBeUndefined();
  });
});

it("a shell command whose signal was aborted before is not sent", async () => {
  const agent = new FakeAgent();
  const client = await started(agent);
  await expect(client.bash("ls", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
  expect(agent.asked("bash")).toEqual([]);
});

it("the session that is there now is asked for after each change, for the next process", async () => {
  const agent = new FakeAgent(({ type }) => (type === "get_state" ? undefined : {}));
  const client = await started(agent);
  for (const change of ["new_session", "switch_session", "open_session", "fork", "branch", "clone", "handoff"]) {
    const before = agent.asked("get_state").length;
    await client.request(change);
    await breathe();
    expect([change, agent.asked("get_state").length - before]).toEqual([change, 1]);
  }
});
