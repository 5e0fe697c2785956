import { answer } from "@tiller/ai/testing";
import { expect, test } from "vitest";
import { createAssistantMessageEventStream, EventStream } from "./event-stream.ts";

const message = answer([{ type: "text", text: "Hi" }]);

test("events come in order, before and while somebody waits, and the result is the message", async () => {
  const stream = createAssistantMessageEventStream();
  stream.push({ type: "start", partial: message });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const event of stream) seen.push(event.type);
  })();
  await Promise.resolve();
  stream.push({ type: "text_start", contentIndex: 0, partial: message });
  stream.push({ type: "done", reason: "stop", message });
  stream.push({ type: "start", partial: message });
  stream.end();
  await reading;
  expect(seen).toEqual(["start", "text_start", "done"]);
  expect(await stream.result()).toBe(message);
});

test("a failure is a result, too", async () => {
  const failed = { ...message, stopReason: "error" as const, errorMessage: "no" };
  const stream = createAssistantMessageEventStream();
  stream.push({ type: "error", reason: "error", error: failed });
  expect(await stream.result()).toBe(failed);
});

test("a stream may be ended with a result, and whoever waits is let go", async () => {
  const stream = new EventStream<number, string>(
    () => false,
    () => "",
  );
  const next = stream[Symbol.asyncIterator]().next();
  stream.end("over");
  expect(await next).toEqual({ done: true, value: undefined });
  expect(await stream.result()).toBe("over");
});
