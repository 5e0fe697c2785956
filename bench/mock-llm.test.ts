import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

async function startMock() {
  const mock = spawn(process.execPath, ["bench/mock-llm.mjs"], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void mock.kill());
  const [line] = await once(mock.stdout, "data");
  const { port } = JSON.parse(String(line));
  const post = (path: string, content: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content }] }),
      signal: signal ?? null,
    });
  const ask = (content: string, signal?: AbortSignal) => post("/v1/messages", content, signal);
  const askChat = (content: string) => post("/v1/chat/completions", content);
  const seen = async (): Promise<unknown> => (await fetch(`http://127.0.0.1:${port}/seen`)).json();
  return { ask, askChat, seen };
}

test.each([429, 500, 529])("a request that shall fail with %i does so once", async (status) => {
  const { ask } = await startMock();
  expect((await ask(`fail=${status} key=one`)).status).toBe(status);
  expect(await (await ask(`fail=${status} key=one`)).text()).toContain("recovered-one");
  expect((await ask(`fail=${status} key=two`)).status).toBe(status);
});

test("one that shall be cut off has a beginning and no end", async () => {
  const { ask } = await startMock();
  const cut = await ask("fail=cut key=one");
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow();
  expect(await (await ask("fail=cut key=one")).text()).toContain("message_stop");
});

test("it tells what it has seen since it told the last time", async () => {
  const { ask, seen } = await startMock();
  const nothing = { requests: 0, longest: 0, brokenOff: 0 };
  await (await ask("deltas=2 by=1 every=1")).text();
  await (await ask("longer")).text();
  expect(await seen()).toEqual({ requests: 2, longest: 64, brokenOff: 0 });
  expect(await seen()).toEqual(nothing);
  const leaving = new AbortController();
  await ask("deltas=1000 by=1 every=1000", leaving.signal);
  expect(await seen()).toMatchObject({ requests: 1, brokenOff: 0 });
  leaving.abort();
  await expect.poll(seen).toEqual({ ...nothing, brokenOff: 1 });
});

test("it answers in the words of the API that is asked", async () => {
  const { askChat } = await startMock();
  const events = (await (await askChat("deltas=2")).text()).split("\n\n").filter((event) => event !== "");
  expect(events.at(-1)).toBe("data: [DONE]");
  const chunks = events.slice(0, -1).map((event) => JSON.parse(event.slice("data: ".length)));
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toHaveLength(8);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 2 } });
});
