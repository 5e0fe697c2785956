import { expect, test } from "vitest";
import { ProviderError } from "./errors.ts";
import { redactError, redactText, type SecretHolder, secretsOf } from "./redact.ts";
import { streamAssistant } from "./stream.ts";
import { collect, testModel, testRequest } from "./testing.ts";

const KEY = "sk-planted-12345";

const asked = (baseUrl: string, options?: object) => ({ model: testModel({ baseUrl, compat: { options } }) });

test.each<[request: SecretHolder, text: string, clean: string]>([
  [{ apiKey: KEY }, `Incorrect key ${KEY}, see docs`, "Incorrect key [hidden], see docs"],
  [{ apiKey: KEY }, `${KEY} ${KEY}`, "[hidden] [hidden]"],
  [{ headers: { authorization: `Bearer ${KEY}` } }, `bad token "${KEY}"`, 'bad token "[hidden]"'],
  [{ headers: { authorization: `Bearer ${KEY}` } }, `got Bearer ${KEY}`, "got [hidden]"],
  [{ headers: { authorization: `Basic ${btoa(`me:${KEY}`)}` } }, `login me:${KEY} failed`, "login [hidden] failed"],
  [{ headers: { authorization: `Basic ${btoa(`me:${KEY}`)}` } }, `sent ${btoa(`me:${KEY}`)}`, "sent [hidden]"],
  [
    asked(`http://box/v1?api-version=2025-01-01&code=${KEY}`),
    `GET /v1?api-version=2025-01-01&code=${KEY}`,
    "GET /v1?api-version=2025-01-01&[hidden]",
  ],
  [{ baseUrl: `http://me:${KEY}%21@box` }, `${KEY}! or me:${KEY}%21`, "[hidden] or [hidden]"],
  [asked("http://box", { headers: { "x-key": KEY }, list: [KEY] }), `no ${KEY}`, "no [hidden]"],
  // Where something is may be said.
  [
    asked("http://box", { region: "eu-central-1", secretAccessKey: KEY }),
    `${KEY} in eu-central-1`,
    "[hidden] in eu-central-1",
  ],
  [{ options: { baseURL: `https://box/?k=${KEY}` } }, `https://box/?k=${KEY}`, "https://box/?[hidden]"],
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
