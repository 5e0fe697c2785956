import { describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { useAskedModel } from "./asked-model.ts";
import { PLAYED } from "./extension-stories.ts";
import { ofType } from "./looking.ts";
import { proves } from "./proofs.ts";

/** Tools that the host lends, in every dialect. */

const echo = {
  name: "echo_host",
  label: "Echo Host",
  description: "Echo a value from the embedding host",
  parameters: {
    type: "object",
    properties: { message: { type: "string" } },
    required: ["message"],
    additionalProperties: false,
  },
};
const text = (said: string): object => ({ content: [{ type: "text", text: said }] });
const answer = (rpc: RpcProcess, call: Frame, fields: object): void =>
  rpc.send({ type: "host_tool_result", id: call.id, ...fields });

const start = useRpc();
const model = useAskedModel();

describe.each(PLAYED)("in the dialect %s", (dialect) => {
  const begin = (...script: string[]): RpcProcess => start({ script, args: ["--no-session", "--dialect", dialect] });

  proves(
    ["xcsh.host-tools.command", "xcsh.host-tools.names"],
    "the host lends tools and reads their names",
    async () => {
      const rpc = begin('text "hi"');
      expect(await rpc.call({ id: "req_3", type: "set_host_tools", tools: [echo] })).toEqual({
        id: "req_3",
        type: "response",
        command: "set_host_tools",
        success: true,
        data: { toolNames: ["echo_host"] },
      });
    },
  );

  proves(
    ["xcsh.host-tools.call", "xcsh.host-tools.update", "xcsh.host-tools.result", "xcsh.host-tools.same-transport"],
    "a call goes to the host, its progress and its result come back",
    async () => {
      const rpc = begin('toolCall echo_host {"message":"hello"} id toolu_123', 'expect toolResult "done" + text "ok"');
      await rpc.call({ type: "set_host_tools", tools: [echo] });
      await rpc.call({ type: "prompt", message: "go" });
      const call = await rpc.waitFor("host_tool_call");
      expect(call).toEqual({
        type: "host_tool_call",
        id: expect.any(String),
        toolCallId: "toolu_123",
        toolName: "echo_host",
        arguments: { message: "hello" },
      });
      rpc.send({ type: "host_tool_update", id: call.id, partialResult: text("working") });
      expect(await rpc.waitFor("tool_execution_update")).toMatchObject({ partialResult: text("working") });
      answer(rpc, call, { result: text("done") });
      await rpc.waitFor("agent_settled");
      expect(ofType(rpc.frames, "tool_execution_end")).toMatchObject([{ result: text("done"), isError: false }]);
      expect(ofType(rpc.frames, "agent_end").at(-1)).toMatchObject({ messages: { length: 4 } });
    },
  );

  proves("xcsh.host-tools.error", "the host can say that it has failed", async () => {
    const rpc = begin('toolCall echo_host {"message":"a"}', 'expect toolResult "no" isError true + text "ok"');
    await rpc.call({ type: "set_host_tools", tools: [echo] });
    await rpc.call({ type: "prompt", message: "go" });
    answer(rpc, await rpc.waitFor("host_tool_call"), { result: text("no"), isError: true });
    await rpc.waitFor("agent_settled");
    expect(ofType(rpc.frames, "tool_execution_end")).toMatchObject([{ result: text("no"), isError: true }]);
  });

  proves("xcsh.host-tools.cancel", "an abort withdraws the call", async () => {
    const rpc = begin('toolCall echo_host {"message":"a"}');
    await rpc.call({ type: "set_host_tools", tools: [echo] });
    await rpc.call({ type: "prompt", message: "go" });
    const call = await rpc.waitFor("host_tool_call");
    await rpc.call({ type: "abort" });
    const cancel = await rpc.waitFor("host_tool_cancel");
    expect(cancel).toEqual({ type: "host_tool_cancel", id: expect.any(String), targetId: call.id });
    expect(cancel.id).not.toBe(call.id);
    expect(await rpc.waitFor("tool_execution_end")).toMatchObject({
      isError: true,
      result: text('Host tool "echo_host" was aborted'),
    });
  });
});

/** The tools of a request to the model. */
const offered = (): Frame[] => list(at(model.requests().at(-1)?.body, "tools")) as Frame[];

describe("what a model is really sent", () => {
  proves(
    ["xcsh.host-tools.definition", "xcsh.host-tools.next-call", "xcsh.host-tools.replaces"],
    "has the tools that the host lends at that time, with their description and schema",
    async () => {
      const rpc = model.start({ args: ["--no-session"] });
      await rpc.prompt("before");
      expect(offered().map(({ name }) => name)).toEqual(["read", "bash", "edit", "write"]);
      await rpc.call({ type: "set_host_tools", tools: [echo] });
      await rpc.prompt("with one");
      const { name, description, parameters: input_schema } = echo;
      expect(offered().find((tool) => tool.name === name)).toMatchObject({ description, input_schema });
      await rpc.call({ type: "set_host_tools", tools: [{ ...echo, name: "other" }] });
      await rpc.prompt("with another");
      expect(offered().map((tool) => tool.name)).toEqual(["read", "bash", "edit", "write", "other"]);
    },
  );

  it("has no hidden tools", async () => {
    const rpc = model.start({ args: ["--no-session", "--no-tools"] });
    await rpc.call({ type: "set_host_tools", tools: [echo, { ...echo, name: "quiet", hidden: true }] });
    await rpc.prompt("go");
    expect(offered().map((tool) => tool.name)).toEqual(["echo_host"]);
  });
});
