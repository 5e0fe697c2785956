import type { Frame } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";

/** Words in which the stories about the host's side are told. */

export const echo = {
  name: "echo_host",
  description: "Echo a value from the embedding host",
  parameters: { type: "object", properties: { message: { type: "string" } } },
};

export const text = (said: string): { content: { type: string; text: string }[] } => ({
  content: [{ type: "text", text: said }],
});

/** Lends `echo_host`, prompts, and resolves to the call that comes. */
export async function called(rpc: RpcProcess): Promise<Frame> {
  await rpc.call({ type: "set_host_tools", tools: [echo] });
  await rpc.call({ type: "prompt", message: "go" });
  return rpc.waitFor("host_tool_call");
}

export const answer = (rpc: RpcProcess, { id }: Frame, result: object): void =>
  rpc.send({ type: "host_tool_result", id, result });
