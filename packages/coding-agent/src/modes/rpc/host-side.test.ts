import { expect, test } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import { createHostTools } from "../../session/host-tools.ts";
import { createHostUris } from "../../session/host-uris.ts";
import { createHostSide } from "./host-side.ts";

test("who lends something and is gone before it is there leaves nobody waiting", async () => {
  const tools = createHostTools({ isTaken: () => false, onAdded: () => undefined });
  const uris = createHostUris();
  const frames: object[] = [];
  const host = createHostSide({
    session: { hostTools: async () => tools, hostUris: async () => uris } as unknown as AgentSession,
    write: (frame) => frames.push(frame),
    ids: { uuid: () => "", short: () => "", lot: () => 0, count: (prefix) => prefix },
    clock: new FakeClock(),
    refuse: () => undefined,
  });
  const lent = Promise.all([
    host.setTools({ tools: [{ name: "ask", description: "Asks", parameters: {} }] }),
    host.setUriSchemes({ schemes: [{ scheme: "db" }] }),
  ]);
  host.close();
  expect(await lent).toEqual([{ toolNames: ["ask"] }, { schemes: ["db"] }]);
  const { signal } = new AbortController();
  const call = tools.tool("ask")!.execute({ toolCallId: "c", args: {}, signal, onUpdate: () => undefined });
  await expect(call).rejects.toThrow("RPC client disconnected before host tool execution completed");
  await expect(uris.find("db://orders")!.read(signal)).rejects.toThrow(
    "RPC client disconnected before host URI request",
  );
  expect(frames).toEqual([]);
});
