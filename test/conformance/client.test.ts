import { COMMANDS } from "@tiller/protocol/commands/index";
import { expect } from "vitest";
import type { ClientOptions } from "../../packages/coding-agent/src/client/client-options.ts";
import { RpcClient } from "../../packages/coding-agent/src/modes/rpc/rpc-client.ts";
import { FakeAgent } from "../support/fake-agent.ts";
import { proves } from "./proofs.ts";

/** What the documents say of RpcClient, under the path that they name. The client's own tests stand beside it. */

const breathe = () => new Promise((resolve) => setImmediate(resolve));

async function started(agent: FakeAgent, options: ClientOptions = {}): Promise<RpcClient> {
  const client = new RpcClient({ transport: () => agent, ...options });
  await client.start();
  return client;
}

proves(["omp.client.wrapper", "omp.client.spawns"], "it starts the CLI it is given with --mode rpc", async () => {
  const client = new RpcClient({ cliPath: "/bin/echo", provider: "p", model: "m", args: ["--no-session"] });
  await expect(client.start()).rejects.toThrow("Stdout: --mode rpc --provider p --model m --no-session");
});

proves(
  ["omp.client.request-ids", "omp.correlation.client-relies"],
  "requests are counted, and answers found by id",
  async () => {
    const agent = new FakeAgent();
    const client = await started(agent);
    expect(agent.sent.map(({ id }) => id)).toEqual(["req_1", "req_2", "req_3"]);
    const [first, second] = [client.getSessionStats(), client.getSessionStats()];
    const answer = (id: string) => ({
      id,
      type: "response",
      command: "get_session_stats",
      success: true,
      data: { id },
    });
    agent.say(answer("req_5"), answer("req_4"));
    expect(await Promise.all([first, second])).toEqual([{ id: "req_4" }, { id: "req_5" }]);
  },
);

proves("omp.client.known-events", "listeners hear only events that it knows", async () => {
  const agent = new FakeAgent();
  const client = await started(agent);
  const heard: string[] = [];
  client.onEvent(({ type }) => heard.push(type));
  client.onUnknownFrame(({ type }) => heard.push(`unknown: ${type}`));
  agent.say({ type: "agent_start" }, { type: "of_tomorrow" }, { type: "message_end", message: { role: "user" } });
  expect(heard).toEqual(["agent_start", "unknown: of_tomorrow", "message_end"]);
});

proves(["omp.client.every-command", "omp.client.raw-frames"], "every command can be sent, and any other", async () => {
  const agent = new FakeAgent(() => ({}));
  const client = await started(agent);
  const since = agent.sent.length;
  for (const method of Object.values(client.commands)) await (method as (params: object) => Promise<unknown>)({});
  await client.setInterruptMode("wait");
  await client.setSessionName("a name");
  await client.request("of_tomorrow", { field: 1 });
  const sent = agent.sent.slice(since);
  // The client asks by itself which session there is after one that changes it.
  const others = (types: readonly string[]) => types.filter((type) => type !== "get_state");
  expect(agent.asked("get_state").length).toBeGreaterThan(1);
  expect(others(sent.map(({ type }) => type))).toEqual([
    ...others(Object.keys(COMMANDS)),
    "set_interrupt_mode",
    "set_session_name",
    "of_tomorrow",
  ]);
  expect(sent.at(-1)).toMatchObject({ type: "of_tomorrow", field: 1 });
});

proves(
  ["xcsh.client.custom-tools", "xcsh.client.answers-host-calls"],
  "tools of the host run by themselves",
  async () => {
    const agent = new FakeAgent();
    const client = await started(agent);
    const ended: string[] = [];
    const tool = { description: "d", parameters: {} };
    await client.setCustomTools([
      { name: "echo", ...tool, execute: ({ text }) => String(text) },
      {
        name: "slow",
        ...tool,
        execute: (_, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              ended.push("slow");
              resolve("too late");
            });
          }),
      },
    ]);
    expect(agent.asked("set_host_tools")[0]).toMatchObject({ tools: [{ name: "echo" }, { name: "slow" }] });
    const call = (id: string, toolName: string) => ({
      type: "host_tool_call",
      id,
      toolCallId: id,
      toolName,
      arguments: { text: "hi" },
    });
    agent.say(call("1", "slow"), call("2", "echo"), { type: "host_tool_cancel", id: "3", targetId: "1" });
    await breathe();
    const result = { content: [{ type: "text", text: "hi" }] };
    expect(agent.asked("host_tool_result")).toEqual([{ type: "host_tool_result", id: "2", result }]);
    expect(ended).toEqual(["slow"]);
  },
);
