import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";

async function startMock() {
  const mock = spawn(process.execPath, ["bench/mock-llm.mjs"], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void mock.kill());
  const [line] = await once(mock.stdout, "data");
  const { port } = JSON.parse(String(line));
  return (content: string) =>
    fetch(`http://127.0.0.1:${port}/v1/messages`, {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content }] }),
    });
}

test.each([429, 500, 529])("a request that shall fail with %i does so once", async (status) => {
  const ask = await startMock();
  expect((await ask(`fail=${status} key=one`)).status).toBe(status);
  expect(await (await ask(`fail=${status} key=one`)).text()).toContain("recovered-one");
  expect((await ask(`fail=${status} key=two`)).status).toBe(status);
});

test("one that shall be cut off has a beginning and no end", async () => {
  const ask = await startMock();
  const cut = await ask("fail=cut key=one");
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow();
  expect(await (await ask("fail=cut key=one")).text()).toContain("message_stop");
});
