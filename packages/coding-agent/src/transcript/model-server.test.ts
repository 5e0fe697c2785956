import { type IncomingMessage, request } from "node:http";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { type ModelServer, serveModel } from "./model-server.ts";

let server: ModelServer | undefined;
afterEach(() => server?.close());

/** Resolves when the head of the answer is there. */
async function ask(method: string, path: string, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(`${server?.provider.baseUrl}${path}`, { method }, resolve).on("error", reject).end(body);
  });
}

async function answer(body = "{}"): Promise<[status: number | undefined, text: string]> {
  const response = await ask("POST", "/v1/messages?beta=true", body);
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return [response.statusCode, text];
}

test("plays the turns in their order, and says when there are no more", async () => {
  server = await serveModel(
    [
      'text "one" chunk 1 pace 1',
      'error 529 "busy"',
      'expect user "two" + text "2"',
      'expect messages 9 + text "half" + cut',
      'text "half" + error 500 "broken"',
      'error network "gone"',
    ],
    systemClock,
  );
  const [status, text] = await answer();
  expect(status).toBe(200);
  expect([...text.matchAll(/"text":"(.)"/g)].map(([, piece]) => piece)).toEqual(["o", "n", "e"]);
  expect(text).toMatch(/event: message_stop\n.*\n\n$/);
  expect(await answer()).toEqual([529, '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}']);
  expect(await answer('{"messages":[{"role":"user","content":"three"}]}')).toEqual([
    400,
    expect.stringContaining("Script turn 3 does not fit the conversation."),
  ]);
  const [, half] = await answer();
  expect([half.includes('"half"'), half.includes("message_stop")]).toEqual([true, false]);
  expect((await answer())[1]).toMatch(/"half"(.|\n)*event: error\n.*"message":"broken"/);
  await expect(answer()).rejects.toThrow("socket hang up");
  expect(await answer()).toEqual([400, expect.stringContaining("this is call 7 of the model")]);
});

test("refuses what is no question to a model", async () => {
  server = await serveModel(['text "hi"'], systemClock);
  expect((await ask("GET", "/v1/messages")).resume().statusCode).toBe(404);
  expect((await ask("POST", "/v1/models")).resume().statusCode).toBe(404);
  expect((await answer("{"))[0]).toBe(400);
  expect((await answer())[1]).toContain('"hi"');
});

test("its end cuts what hangs, also what hears no abort, and leaves no timer", async () => {
  const open = new Set<object>();
  const clock = {
    now: systemClock.now,
    after(ms: number, fn: () => void) {
      const timer = {};
      open.add(timer);
      const cancel = systemClock.after(ms, fn);
      return () => {
        open.delete(timer);
        cancel();
      };
    },
  };
  server = await serveModel(['text "a" + delay 0 + hang', 'ignoreAbort + text "b" + delay 600000 + text "c"'], clock);
  const responses = [await ask("POST", "/v1/messages", "{}"), await ask("POST", "/v1/messages", "{}")];
  const cut = responses.map((response) => new Promise((resolve) => response.once("error", resolve).resume()));
  await server.close();
  for (const reason of await Promise.all(cut)) expect(String(reason)).toContain("aborted");
  expect(open.size).toBe(0);
  server = undefined;
});
