import { request } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fail, type MockLlm, say, startMockLlm, useTool } from "./mock-llm.ts";

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
});
afterEach(() => llm.close());

interface Answer {
  status: number | undefined;
  retryAfter: string | undefined;
  text: string;
  broken: boolean;
}

function ask(body: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${llm.baseUrl}/v1/messages`, { method: "POST" }, (response) => {
      let text = "";
      const done = (broken: boolean): void =>
        resolve({ status: response.statusCode, retryAfter: response.headers["retry-after"], text, broken });
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => done(false));
      response.on("error", () => done(true));
    });
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify(body));
  });
}

const eventTypes = (text: string): string[] => [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1] ?? "");

test("replies come in order, requests are recorded", async () => {
  llm.reply(say("hello", 3), useTool("read", { path: "a" }));
  const first = await ask({ model: "mock-1" });
  expect(eventTypes(first.text)).toEqual([
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
  ]);
  expect((await ask({})).text).toContain('"stop_reason":"tool_use"');
  expect(llm.requests.map((seen) => [seen.method, seen.path, seen.body])).toEqual([
    ["POST", "/v1/messages", { model: "mock-1" }],
    ["POST", "/v1/messages", {}],
  ]);
});

test("an error status keeps its headers", async () => {
  llm.reply(fail(429, "rate_limit_error", "slow down", { "retry-after": "2" }));
  const answer = await ask({});
  expect([answer.status, answer.retryAfter]).toEqual([429, "2"]);
  expect(answer.text).toContain("slow down");
});

test("a cut breaks the connection after what came before", async () => {
  llm.reply({ steps: [{ type: "text", text: "half" }, { type: "delay", ms: 1 }, { type: "cut" }] });
  const answer = await ask({});
  expect(answer.broken).toBe(true);
  expect(answer.text).toContain("half");
});

test("a request too many is told so", async () => {
  expect((await ask({})).text).toContain("no reply for request 1");
});
