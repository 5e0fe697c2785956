import { expect, onTestFinished } from "vitest";
import { say, startMockLlm } from "../support/mock-llm.ts";
import { useRpc } from "../support/rpc-process.ts";
import { proves } from "./proofs.ts";

/** What a prompt carries to the model. What it looks like on the wire is told by the transcripts. */

const start = useRpc();

async function modelWithEyes() {
  const llm = await startMockLlm();
  onTestFinished(() => llm.close());
  const models = JSON.parse(llm.modelsJson());
  models.providers.mock.models[0].input = ["text", "image"];
  const rpc = start({
    args: ["--no-session", "--model", "mock/mock-1"],
    agentFiles: { "models.json": JSON.stringify(models) },
  });
  return {
    llm,
    rpc,
    sent: () => llm.requests.map(({ body }) => body.messages as { role: string; content: unknown }[]),
  };
}

proves("pi.prompt.command", "the message reaches the model as the words of the user", async () => {
  const { llm, rpc, sent } = await modelWithEyes();
  llm.reply(say("good day"), say("indeed"));
  await rpc.prompt("hello");
  await rpc.prompt("nice weather");
  expect(sent()[1]).toMatchObject([
    { role: "user", content: [{ type: "text", text: "hello" }] },
    { role: "assistant", content: [{ type: "text", text: "good day" }] },
    { role: "user", content: [{ type: "text", text: "nice weather" }] },
  ]);
});

proves(
  ["pi.prompt.images", "pi.images.format"],
  "pictures reach the model beside the words, in their order",
  async () => {
    const { llm, rpc, sent } = await modelWithEyes();
    llm.reply(say("two pictures"));
    const images = [
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
      { type: "image", data: "R0lGODlhAQABAAAAACw=", mimeType: "image/gif" },
    ];
    await rpc.prompt("what is this?", { images });
    expect(sent()[0]).toMatchObject([
      {
        role: "user",
        content: [
          { type: "text", text: "what is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          { type: "image", source: { type: "base64", media_type: "image/gif", data: "R0lGODlhAQABAAAAACw=" } },
        ],
      },
    ]);
  },
);

proves("pi.images.prompt-optional", "no list, an empty list and null all mean: no picture", async () => {
  const { llm, rpc, sent } = await modelWithEyes();
  llm.reply(say("one"), say("two"), say("three"));
  await rpc.prompt("hi");
  await rpc.prompt("hi", { images: [] });
  await rpc.prompt("hi", { images: null });
  const users = sent()[2]?.filter(({ role }) => role === "user");
  expect(users).toMatchObject(Array(3).fill({ content: [{ type: "text", text: "hi" }] }));
  expect(JSON.stringify(sent())).not.toContain('"image"');
});
