import { expect, test } from "vitest";
import { ProviderError } from "./errors.ts";
import { redactError, redactText, secretsOf } from "./redact.ts";
import { streamAssistant } from "./stream.ts";
import { collect, testModel, testRequest } from "./testing.ts";

const KEY = "sk-planted-12345";

test.each<[request: { apiKey?: string; headers?: Record<string, string> }, text: string, clean: string]>([
  [{ apiKey: KEY }, `Incorrect key ${KEY}, see docs`, "Incorrect key [hidden], see docs"],
  [{ apiKey: KEY }, `${KEY} ${KEY}`, "[hidden] [hidden]"],
  [{ headers: { authorization: `Bearer ${KEY}` } }, `bad token "${KEY}"`, 'bad token "[hidden]"'],
  [{ headers: { authorization: `Bearer ${KEY}` } }, `got Bearer ${KEY}`, "got [hidden]"],
  // A short word is no secret, and a text full of holes helps nobody.
  [{ apiKey: "none" }, "none of the models", "none of the models"],
  [{}, "quota", "quota"],
])("secrets of %j leave a text", (request, text, clean) => {
  expect(redactText(text, secretsOf(request))).toBe(clean);
});

test("an error keeps everything but the secret, and is left alone when there is none in it", () => {
  const error = new ProviderError("auth", `no: ${KEY}`, { status: 401, retryAfterMs: 5, cause: new Error(KEY) });
  const clean = redactError(error, { apiKey: KEY });
  expect(clean).toMatchObject({ kind: "auth", message: "no: [hidden]", status: 401, retryAfterMs: 5 });
  expect(clean.cause).toBeUndefined();
  expect(`${clean.stack}`).not.toContain(KEY);
  expect(redactError(error, { apiKey: "another-key" })).toBe(error);
});

test("whatever a model's stream fails with has been through this", async () => {
  const model = testModel({ baseUrl: `not-a-url-${KEY}` });
  const deltas = await collect(streamAssistant(testRequest({ model, apiKey: KEY })));
  expect(deltas).toMatchObject([{ type: "error", error: { message: expect.stringContaining("[hidden]") } }]);
});
