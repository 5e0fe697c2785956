import { afterEach, beforeEach, expect, test } from "vitest";
import { FAMILIES, fourFamilies } from "../support/four-families.ts";
import { at } from "../support/frame.ts";
import { type MockLlm, say, startMockLlm, useTool } from "../support/mock-llm.ts";
import { useRpc } from "../support/rpc-process.ts";
import { refusedIn, saidIn } from "../support/wire-requests.ts";
import { WORDS } from "./family-words.ts";
import { ofType } from "./looking.ts";

/** Vendors refuse a whole request for one name of a tool that they do not like. The host's names are its own affair. */

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
// Hooks run last to first: the process, which `useRpc` ends, goes before the server it talks to.
afterEach(() => llm.close());
const start = useRpc();

const NAMES = ["a b", "日本", "my.tool", "x".repeat(300), "7up"];
const PLAIN = ["a_b", "__", "my_tool", "x".repeat(64), "_7up"];

test.each(FAMILIES)("$family hears names that it takes, the host hears its own", async ({ provider, family }) => {
  llm.reply(useTool("a_b", {}), say("Done."));
  const rpc = start({
    agentFiles: { "models.json": fourFamilies(llm) },
    args: ["--no-session", "--no-tools", "--set", "retry.enabled=false", "--model", `${provider}/mock-1`],
  });
  const tools = NAMES.map((name) => ({ name, description: "x", parameters: { type: "object", properties: {} } }));
  expect(await rpc.call({ type: "set_host_tools", tools })).toMatchObject({ data: { toolNames: NAMES } });
  await rpc.call({ type: "prompt", message: "go" });
  const call = await rpc.waitFor("host_tool_call");
  expect(call.toolName).toBe("a b");
  rpc.send({ type: "host_tool_result", id: call.id, result: { content: [{ type: "text", text: "ok" }] } });
  expect(await rpc.waitFor("prompt_result")).toMatchObject({ status: "completed" });
  expect(ofType(rpc.frames, "tool_execution_end")).toMatchObject([{ toolName: "a b", isError: false }]);
  const bodies = llm.requests.map(({ body }) => body);
  for (const body of bodies) {
    expect(WORDS[family]!.tools(body).map((tool) => at(tool, "name"))).toEqual(PLAIN);
    expect(refusedIn(family, body)).toEqual([]);
  }
  const calls = saidIn(family, bodies[1]!).filter(({ kind }) => kind === "call");
  expect(calls.map(({ name }) => name)).toEqual(["a_b"]);
});
