import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { constants, createGzip, gzipSync } from "node:zlib";
import { anthropicMessages } from "./anthropic-messages.ts";
import { type Dialect, type Piece, render } from "./dialect.ts";
import { googleGenerativeAi } from "./google-generative-ai.ts";
import { openaiCompletions } from "./openai-completions.ts";
import { openaiResponses } from "./openai-responses.ts";
import { fail, type Reply } from "./reply.ts";

/**
 * A model on loopback that says what the test told it to, in the wire format that the path of the request belongs to. One
 * reply per request, in order; a request without a reply left is answered with a 500 that says so.
 */

export const DIALECTS: readonly Dialect[] = [anthropicMessages, openaiCompletions, openaiResponses, googleGenerativeAi];

const MODEL_IDS = ["mock-1"];

export interface MockLlmOptions {
  /** Requests with another key are refused as the vendor would, and use up no reply. */
  requireKey?: string;
  /** PEM. With it the server speaks TLS. */
  certificate?: { cert: string; key: string };
  /** For requests without a reply left, instead of the 500. */
  otherwise?: Reply | (() => Reply);
}

export interface SeenRequest {
  method: string;
  /** With its query. */
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
  /** The port of the client: the same for requests over one connection. */
  clientPort: number | undefined;
  /** The client went away before the answer was complete. */
  aborted: boolean;
}

export interface MockLlm {
  /** The address of the server, which is the `baseUrl` of an Anthropic provider; see `baseUrlOf` for the others. */
  baseUrl: string;
  /** The `baseUrl` for an API family, as the vendor's own SDK would be given it. */
  baseUrlOf(family: string): string;
  /** What was asked of the models, in order. Questions for the list of models are kept in `listings`. */
  requests: SeenRequest[];
  listings: SeenRequest[];
  /** Appends replies for the requests to come. */
  reply(...replies: Reply[]): void;
  /** The content of a models.json: `mock/mock-1` is this server in the Anthropic dialect, `mock-FAMILY/mock-1` in another. */
  modelsJson(): string;
  /** Closes the connections over which nothing is being said, so that the next request needs another one. */
  hangUp(): void;
  close(): Promise<void>;
}

interface Desk {
  replies: Reply[];
  requests: SeenRequest[];
  listings: SeenRequest[];
  requireKey: string | undefined;
  otherwise: (() => Reply) | undefined;
}

export async function startMockLlm(options: MockLlmOptions = {}): Promise<MockLlm> {
  const { requireKey, otherwise: given } = options;
  const otherwise = given === undefined || typeof given === "function" ? given : () => given;
  const desk: Desk = { replies: [], requests: [], listings: [], requireKey, otherwise };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // A client that goes away while it is read or answered is no failure of the server.
    answer(desk, request, response).catch(() => response.destroy());
  };
  const { certificate } = options;
  const server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `${certificate ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    baseUrlOf: (family) => baseUrl + dialectOf(family).basePath,
    requests: desk.requests,
    listings: desk.listings,
    reply: (...more) => void desk.replies.push(...more),
    modelsJson: () => modelsJson(baseUrl, options.requireKey ?? "mock-key"),
    hangUp: () => server.closeIdleConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function dialectOf(family: string): Dialect {
  const dialect = DIALECTS.find((candidate) => candidate.family === family);
  if (dialect) return dialect;
  throw new Error(`no dialect for "${family}"; there are ${DIALECTS.map(({ family: name }) => name).join(", ")}`);
}

function modelsJson(baseUrl: string, apiKey: string): string {
  const model = { reasoning: true, input: ["text", "image"], contextWindow: 200_000, maxTokens: 8192 };
  const providers = DIALECTS.map(({ provider, family, basePath }) => [
    provider,
    { baseUrl: baseUrl + basePath, apiKey, api: family, models: MODEL_IDS.map((id) => ({ id, ...model })) },
  ]);
  return JSON.stringify({ providers: Object.fromEntries(providers) });
}

async function answer(desk: Desk, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "", url: path = "", headers } = request;
  const clientPort = request.socket.remotePort;
  const seen: SeenRequest = { method, path, headers, body: await readBody(request), clientPort, aborted: false };
  const { pathname, searchParams } = new URL(path, "http://mock");
  const isListing = method === "GET" && pathname.endsWith("/models");
  const dialect = isListing ? listingDialect(pathname, headers) : DIALECTS.find(({ path: own }) => own.test(pathname));
  (isListing ? desk.listings : desk.requests).push(seen);
  response.on("close", () => {
    seen.aborted = !response.writableFinished;
  });
  if (dialect === undefined || (!isListing && method !== "POST")) {
    return refuse(
      openaiCompletions,
      fail(404, "not_found", `the mock server has nothing at ${method} ${path}`),
      response,
    );
  }
  if (desk.requireKey !== undefined && dialect.keyIn(headers, searchParams) !== desk.requireKey) {
    return refuse(dialect, dialect.wrongKey, response);
  }
  if (isListing) return sendJson(response, 200, dialect.modelList(MODEL_IDS));
  const tooMany = fail(500, "api_error", `the test has no reply for request ${desk.requests.length}`);
  const reply = desk.replies.shift() ?? desk.otherwise?.() ?? tooMany;
  const model = /\/models\/([^/]+):/.exec(pathname)?.[1] ?? String(seen.body.model ?? "mock-1");
  await give(reply, dialect, { model, body: seen.body }, response);
}

/** Two vendors have their list at the same place; Anthropic's clients always name the version they speak. */
function listingDialect(pathname: string, headers: IncomingMessage["headers"]): Dialect {
  if (pathname.includes("/v1beta/")) return googleGenerativeAi;
  return headers["anthropic-version"] === undefined ? openaiCompletions : anthropicMessages;
}

async function give(
  reply: Reply,
  dialect: Dialect,
  asked: { model: string; body: Record<string, unknown> },
  response: ServerResponse,
): Promise<void> {
  if (reply.delayHead === Number.POSITIVE_INFINITY) return;
  if (typeof reply.delayHead === "number") await wait(reply.delayHead);
  else await reply.delayHead;
  if (reply.body !== undefined) sendBody(reply, reply.body, response);
  else if (reply.status !== undefined && reply.status !== 200) refuse(dialect, reply, response);
  else await play(reply, render(dialect, reply, asked), response);
}

function refuse(dialect: Dialect, reply: Reply, response: ServerResponse): void {
  const status = reply.status ?? 500;
  const error = reply.error ?? { type: "api_error", message: "mock error" };
  sendJson(response, status, dialect.errorBody(status, error), reply.headers);
}

function sendJson(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

function sendBody(reply: Reply, body: string | Uint8Array, response: ServerResponse): void {
  response.writeHead(reply.status ?? 200, { ...(reply.gzip ? GZIP : {}), ...reply.headers });
  response.end(reply.gzip ? gzipSync(body) : body);
}

const GZIP = { "content-encoding": "gzip" };
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Line {
  /** Resolves when the client can take more, or is gone. */
  send(data: string | Uint8Array): Promise<void>;
  /** What was sent is on its way. */
  flushed(): Promise<void>;
  end(): void;
}

function lineTo(response: ServerResponse, zip: boolean): Line {
  const gzip = zip ? createGzip({ flush: constants.Z_SYNC_FLUSH }) : undefined;
  gzip?.pipe(response);
  const out = gzip ?? response;
  const gone = new Promise<void>((resolve) => response.once("close", resolve));
  let last: Promise<void> = Promise.resolve();
  return {
    async send(data) {
      last = new Promise((resolve) => void out.write(data, () => resolve()));
      if (out.writableNeedDrain) await Promise.race([last, gone]);
    },
    flushed: () => Promise.race([last, gone]),
    end: () => void out.end(),
  };
}

async function play(reply: Reply, pieces: readonly Piece[], response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", ...(reply.gzip ? GZIP : {}), ...reply.headers });
  const line = lineTo(response, reply.gzip ?? false);
  let pause: number | undefined;
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (typeof piece === "string") await sendAll(line, piece, pause, response);
    else if (piece.type === "raw") {
      for (let i = 0; i < (piece.times ?? 1); i++) await sendAll(line, piece.data, pause, response);
    } else if (piece.type === "delay") await wait(piece.ms);
    else if (piece.type === "until") await piece.promise;
    else if (piece.type === "drip") pause = piece.ms;
    else if (piece.type === "stall") return;
    else if (piece.type === "cut") {
      await line.flushed();
      response.destroy();
      return;
    } else break;
  }
  line.end();
}

async function sendAll(
  line: Line,
  data: string | Uint8Array,
  pause: number | undefined,
  response: ServerResponse,
): Promise<void> {
  if (data.length === 0 || response.destroyed) return;
  if (pause === undefined) {
    await line.send(data);
    return;
  }
  for (const byte of Buffer.from(data)) {
    await wait(pause);
    if (response.destroyed) return;
    await line.send(Uint8Array.of(byte));
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
}
