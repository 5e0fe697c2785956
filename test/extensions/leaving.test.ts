import { expect, test } from "vitest";
import { command, extension, useBad, worksStill } from "./bad-support.ts";

/** What belongs to one session does not get into another, and nobody leaves against a guard. */

const start = useBad();

test("a session that was refused leaves nothing for the next one", async () => {
  const rpc = start(
    extension(
      `let isOpen = false; pi.on("session_before_switch", () => ({ cancel: !isOpen })); ${command("open", "isOpen = true;")}
       ${command("ns", `await ctx.newSession({ setup: async (sm) => { sm.appendMessage({ role: "user", content: "FROM SETUP", timestamp: 1 }); } });`)}`,
    ),
  );
  await rpc.call({ type: "prompt", message: "/ns" });
  await rpc.waitFor("prompt_result");
  await rpc.call({ type: "prompt", message: "/open" });
  expect((await rpc.call({ type: "new_session" })).data).toEqual({ cancelled: false });
  expect((await rpc.call({ type: "get_messages" })).data).toEqual({ messages: [] });
});

test("a setup that throws is told, and the session begins all the same", async () => {
  const rpc = start(
    extension(
      `pi.on("session_start", (e, ctx) => ctx.ui.notify("start " + e.reason));
       ${command("ns", `await ctx.newSession({ setup: async () => { throw new Error("no luck"); } });`)}`,
    ),
    { script: ['text "aye"'] },
  );
  await rpc.waitFor((frame) => frame.message === "start startup");
  await rpc.call({ type: "prompt", message: "/ns" });
  await rpc.waitFor((frame) => frame.message === "start new");
  expect(await rpc.waitFor("extension_error")).toMatchObject({ event: "command", error: "no luck" });
  await worksStill(rpc);
});

test("an abort while a guard of the tree asks moves nothing", async () => {
  const rpc = start(
    extension(`pi.on("session_before_tree", async (e, ctx) => ({ cancel: !(await ctx.ui.confirm("Go?", "?")) }));`),
    { script: ['text "aye"'] },
  );
  await worksStill(rpc);
  const { data } = await rpc.call({ type: "get_fork_messages" });
  const [first] = (data as { messages: { entryId: string }[] }).messages;
  rpc.send({ id: "n", type: "navigate_tree", entryId: first?.entryId });
  await rpc.waitFor((frame) => frame.method === "confirm");
  await rpc.call({ type: "abort" });
  expect(await rpc.waitFor((frame) => frame.id === "n")).toMatchObject({ data: { cancelled: true } });
  const { messages } = (await rpc.call({ type: "get_messages" })).data as { messages: unknown[] };
  expect(messages).toHaveLength(2);
});

test("process.exit(0) ends the process also while the model says nothing", async () => {
  const rpc = start(extension(`pi.on("turn_start", () => { setTimeout(() => process.exit(0), 50); });`), {
    script: ["hang"],
  });
  rpc.send({ id: "p", type: "prompt", message: "go" });
  expect(await rpc.waitExit(9000)).toEqual({ code: 0, signal: null });
  expect(rpc.frames.filter(({ type }) => type === "prompt_result")).toHaveLength(1);
});

test("a prompt for a run that is over when its handlers are done begins a run of its own", async () => {
  const rpc = start(
    extension(
      `pi.on("input", async (e, ctx) => { if (e.text === "later") await ctx.ui.confirm("Now?", "?"); return undefined; });`,
    ),
    { script: ['text "one" + delay 500', 'text "aye"'] },
  );
  rpc.send({ id: "p", type: "prompt", message: "go" });
  await rpc.waitFor("message_update");
  rpc.send({ id: "q", type: "prompt", message: "later", streamingBehavior: "followUp" });
  const { id } = await rpc.waitFor((frame) => frame.method === "confirm");
  await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === "p");
  rpc.send({ type: "extension_ui_response", id, confirmed: true });
  expect(await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === "q")).toMatchObject({
    status: "completed",
  });
});
