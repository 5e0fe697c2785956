import type { IncomingMessage, ServerResponse } from "node:http";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { failureOfError } from "./apis/openai-chat/endings.ts";
import { cutWords } from "./cut-words.ts";
import { ProviderError } from "./errors.ts";
import { failureOf, unexpectedAnswer } from "./http/failure.ts";
import { asStream, testServers } from "./http/test-servers.ts";
import type { Delta } from "./provider.ts";
import { redactError, redactQuoted, redactResponse, type SecretHolder, secretsOf } from "./redact.ts";
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
  expect(redactQuoted(text, secretsOf(request))).toBe(clean);
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

/** All that stands in base64, and what pages and addresses write otherwise. */
const SIGNS = "q7+Zr/Lx=W2&m<Vb9_T-k4";
const inPage = SIGNS.replace(/[&<]/g, (sign) => `&#${sign.charCodeAt(0)};`).replaceAll("+", "&plus;");

test.each([
  ["itself", SIGNS],
  ["in an address", encodeURIComponent(SIGNS)],
  ["in an address, in small letters", encodeURIComponent(SIGNS).replace(/%../g, (sign) => sign.toLowerCase())],
  ["in an address of an address", encodeURIComponent(encodeURIComponent(SIGNS))],
  ["in a page", SIGNS.replaceAll("&", "&amp;").replaceAll("<", "&lt;")],
  ["in a page, by numbers", inPage],
  ["in a page, by numbers to sixteen", SIGNS.replace(/\W/g, (sign) => `&#x${sign.charCodeAt(0).toString(16)};`)],
  ["in JSON", SIGNS.replaceAll("/", "\\/").replaceAll("<", "\\u003c").replaceAll("&", "\\u0026")],
  ["in JSON in JSON", SIGNS.replaceAll("/", String.raw`\\/`)],
  ["cut", SIGNS.slice(0, -2)],
  ["cut in an address", encodeURIComponent(SIGNS).slice(0, -6)],
])("a key is found %s", (_name, text) => {
  expect(redactQuoted(`<p>no ${text} here`, [SIGNS])).toBe("<p>no [hidden] here");
});

test("of two keys that begin in the same way neither leaves its end", () => {
  const [one, other] = ["sk-proj-AAAAAAAAAAAA", "sk-proj-BBBBBBBBBBBBBB"];
  expect(redactQuoted(`${one} ${other} ${other.slice(0, -1)}`, [other, one])).toBe("[hidden] [hidden] [hidden]");
});

test("neither words nor what leads to a key are taken for its beginning", () => {
  const text = "Bearer tokens, api-key=none, https://box and sk-live";
  expect(redactQuoted(text, ["Bearer abcdefgh1234", "api-key=abcdefgh1234", "https://host/x", KEY])).toBe(text);
});

test("a text without an end is worked off at once", () => {
  const clean = redactQuoted(`${SIGNS} `.repeat(10_000_000 / SIGNS.length), secretsOf({ apiKey: SIGNS }));
  expect(clean.length).toBeLessThan(64 * 1024);
  expect(clean).not.toContain(SIGNS.slice(0, 8));
});

const servers = testServers();
afterEach(() => servers.closeAll());

const FAMILIES = ["anthropic-messages", "openai-completions", "openai-responses", "google-generative-ai"];
/** Of a length that no limit is a multiple of. */
const LONG_KEY = "Kd83+hf/Q0ppWz71Lmv29Xbc4TRy=";

/** What a server says that quotes the key again and again, in each way that it can be told. */
const quoted = (req: IncomingMessage): string => {
  const { authorization, "x-api-key": key, "x-goog-api-key": google } = req.headers;
  return `${authorization ?? key ?? google} `.repeat(5000);
};
const WAYS: [name: string, answer: (res: ServerResponse, words: string) => void][] = [
  ["a bare text", (res, words) => res.writeHead(400).end(words)],
  ["JSON", (res, words) => res.writeHead(400).end(JSON.stringify({ error: { message: words.slice(0, 50_000) } }))],
  ["a page", (res, words) => res.writeHead(400, { "content-type": "text/html" }).end(`<html><p>${words}`)],
  ["JSON with status 200", (res, words) => res.end(JSON.stringify({ error: { message: words.slice(0, 50_000) } }))],
  ["no event", (res, words) => res.writeHead(200, asStream).end(`x ${words}\n\n`)],
  [
    "an event",
    (res, words) => {
      const error = { message: words, code: 400, metadata: { raw: words } };
      res.writeHead(200, asStream).end(`data: ${JSON.stringify({ type: "error", error })}\n\n`);
    },
  ],
  ["a redirect", (res, words) => res.writeHead(302, { location: `/${words.slice(0, 6000)}` }).end()],
];
const all = FAMILIES.flatMap((api) => WAYS.map(([name, answer]) => [api, name, answer] as const));

test.each(all)("%s: a key that a server says many times in %s is nowhere in the error", async (api, _name, answer) => {
  const baseUrl = await servers.http((req, res) => answer(res, quoted(req)));
  const model = testModel({ api, baseUrl });
  const deltas = await collect(streamAssistant(testRequest({ model, apiKey: LONG_KEY })));
  const last = deltas.at(-1);
  const message = last?.type === "error" ? last.error.message : "";
  expect(message).toContain("[hidden]");
  expect(message).not.toContain(LONG_KEY.slice(0, 4));
});

/** Its beginning is the same however it is spelled, occurs nowhere else, and is no name of what follows, as in `key=`. */
const anyKey = fc
  .tuple(fc.stringMatching(/^[A-Z]{4}$/), fc.stringMatching(/^[a-z0-9+/&<_%"-]{4,60}=?$/))
  .map(([begin, rest]) => begin + rest);
const SPELLED: readonly ((key: string) => string)[] = [
  (key) => key,
  encodeURIComponent,
  (key) => encodeURIComponent(encodeURIComponent(key)),
  (key) => key.replace(/[^A-Za-z0-9]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  (key) => key.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;"),
  (key) => JSON.stringify(key).slice(1, -1),
  (key) => key.replace(/[^A-Za-z0-9]/g, (sign) => String.raw`\u00${sign.charCodeAt(0).toString(16)}`),
];

test("wherever a text is cut, no four characters of a key are left, and no eight where nothing marks the end", () => {
  fc.assert(
    fc.property(
      anyKey,
      fc.constantFrom(...SPELLED),
      fc.nat(500),
      fc.constantFrom("", "...", "…", ' (an "end")'),
      (key, spelled, at, end) => {
        const text = `no: ${spelled(key)}, `.repeat(9);
        const cut = end.startsWith(" ") ? cutWords(text, at) : text.slice(0, at);
        const clean = redactQuoted(cut + end, secretsOf({ apiKey: key }));
        expect(clean).not.toContain(end === "" ? spelled(key.slice(0, 8)) : key.slice(0, 4));
      },
    ),
  );
});

test.each([
  ["token-abc123", "400: Unexpected token"],
  ["none-needed", "tool_choice must be auto or none"],
  ["database_password", "no such table in mydata"],
])("the last word of an error is no beginning of the key %s", (apiKey, text) => {
  const secrets = secretsOf({ apiKey });
  expect(redactQuoted(text, secrets)).toBe(text);
  for (const cut of [`${text}…`, `${text}...`, `no: ${apiKey.slice(0, 10)}`])
    expect(redactQuoted(cut, secrets)).toMatch(/\[hidden\](?:…|\.\.\.)?$/);
});

const KNOWN = {
  "x-api-version": "2023-06-01",
  referer: "https://openrouter.ai/x",
  authorization: "Bearer 0000-1111-2222",
};

test.each<[request: SecretHolder, text: string]>([
  [{ headers: KNOWN }, "api-version must be one of 2023"],
  [{ headers: KNOWN }, "unsupported value: 0000"],
  [{ headers: KNOWN }, "see https://open..."],
  [{ headers: KNOWN }, "see https://openrouter.ai/docs for the list of models"],
  [{ headers: KNOWN }, "the header begins with Bearer..."],
  [{ apiKey: "gpt-5-proxy-key" }, "the model does not exist: gpt-5"],
])("%j: what is said with the first characters of a known value stays: %s", (request, text) => {
  expect(redactQuoted(text, secretsOf(request))).toBe(text);
});

test.each([
  ["https://me:secret12@box/v1", "no: https://me:s...", "no: [hidden]..."],
  ["https://box/hooks/a1b2c3d4", "no: https://box/hook…", "no: [hidden]…"],
  ["https://box/hooks/a1b2c3d4", "no: https://box/hooks/a1b2", "no: [hidden]"],
  ["Bearer a1b2c3d4e5f6", "no: Bearer a1b2…", "no: [hidden]…"],
  ["postgres://user:longpassword12345/abcdefgh@host/db", "no: postgres://user:longpassword12345…", "no: [hidden]…"],
  ["vmess://eyJhZGQiOiIxLjIuMy40IiwicG9ydCI6", "no: vmess://eyJhZGQiOiIxLjIu…", "no: [hidden]…"],
  ["a1b2c3d4e5f6g7h8=zzzzzzzz", "no: a1b2c3d4e5f6g7h8…", "no: [hidden]…"],
])("of the value %s its beginning is hidden: %s", (value, text, clean) => {
  expect(redactQuoted(text, [value])).toBe(clean);
});

test("what is longer than anybody reads is cut with a mark, so that four characters of a key before it are hidden", () => {
  const text = `${"-".repeat(64 * 1024 - 4)}${KEY}`;
  expect(redactQuoted(text, [KEY])).toBe(`${"-".repeat(64 * 1024 - 4)}[hidden]…`);
});

test("wherever we cut what a server says, no four characters of a key are left", () => {
  const answer = { status: 400, statusText: "Bad Request", headers: {} };
  const ways: readonly ((words: string) => ProviderError)[] = [
    (words) => failureOf({ ...answer, body: words }, 0),
    (words) => failureOf({ ...answer, body: JSON.stringify({ error: { message: words } }) }, 0),
    (words) => failureOf({ ...answer, body: `<html><p>${words}` }, 0),
    (words) => failureOf({ ...answer, status: 302, headers: { location: `/${words}` }, body: "" }, 0),
    (words) => unexpectedAnswer("host", { ...answer, status: 200, body: JSON.stringify({ error: words }) }),
    (words) => failureOfError({ message: "no", metadata: { raw: words } }),
    (words) => failureOfError({ words, metadata: { raw: { words } } }),
  ];
  fc.assert(
    fc.property(anyKey, fc.nat(60), fc.constantFrom(...ways), (key, pad, way) => {
      const words = "-".repeat(pad) + ` no: ${key.replace("<", "l")},`.repeat(300);
      const { message } = redactError(way(words), { apiKey: key.replace("<", "l") });
      expect(message).toContain("[hidden]");
      expect(message).not.toContain(key.slice(0, 4));
    }),
  );
});

test("a server that calls its answer by the key", async () => {
  const chunk = {
    id: LONG_KEY,
    model: `m ${LONG_KEY}`,
    choices: [{ delta: { content: "Hi." }, finish_reason: "stop" }],
  };
  const baseUrl = await servers.http((_req, res) =>
    res.writeHead(200, asStream).end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`),
  );
  const model = testModel({ api: "openai-completions", baseUrl });
  const deltas = await collect(streamAssistant(testRequest({ model, apiKey: LONG_KEY })));
  expect(deltas).toContainEqual(expect.objectContaining({ type: "response", id: "[hidden]", model: "m [hidden]" }));
  expect(JSON.stringify(deltas)).not.toContain(LONG_KEY);
});

const PADDED = `${btoa("a key of a vendor who likes base64 1")}==`;

test.each<[story: string, request: SecretHolder, text: string]>([
  [
    "words of headers that say how to answer",
    { headers: { accept: "application/json", "anthropic-beta": "interleaved-thinking-2025" } },
    "application/json is wanted; interleaved-thinking-2025 is not supported",
  ],
  ["words that begin as a short key does", { apiKey: "anything1" }, "anything goes"],
])("is told as it was: %s", (_story, request, text) => {
  expect(redactQuoted(text, secretsOf(request))).toBe(text);
});

test("a key in base64 is hidden also when it is cut", () => {
  const cut = PADDED.slice(0, -6);
  expect(redactQuoted(`Invalid key: ${cut}...`, secretsOf({ apiKey: PADDED }))).toBe("Invalid key: [hidden]...");
});

test("the name of the model that was asked is no secret, whatever the key is", () => {
  const request = { apiKey: "lmstudio" };
  const said = (model: string): Delta => ({ type: "response", model });
  const asked = "lmstudio-community/qwen";
  expect(redactResponse(said(asked), request, asked)).toEqual(said(asked));
  expect(redactResponse(said("lmstudio"), request, asked)).toEqual(said("[hidden]"));
});

test("a row of backslashes in a key holds nobody up", () => {
  const text = "\\".repeat(64 * 1024);
  expect(redactQuoted(text, secretsOf({ apiKey: `key${"\\".repeat(16)}1234` }))).toBe(text);
});
