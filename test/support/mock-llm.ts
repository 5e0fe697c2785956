import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A model on loopback that speaks the Anthropic Messages stream and says what the test told it to. One reply per
 * request, in order; a request without a reply left is answered with a 500 that says so.
 */

export type ReplyStep =
  | { type: "text"; text: string /** Characters per delta; default: all at once. */; size?: number }
  | { type: "thinking"; text: string; signature?: string }
  | {
      type: "toolUse";
      name: string;
      input: unknown;
      id?: string /** Sent instead of the JSON of `input`. */;
      rawInput?: string;
    }
  | { type: "delay"; ms: number }
  /** An `error` event inside the stream. */
  | { type: "errorEvent"; kind: string; message: string }
  /** The connection breaks here. */
  | { type: "cut" }
  /** The stream ends here, politely, but without its closing events. */
  | { type: "endEarly" }
  /** Nothing more comes, and the connection stays open. */
  | { type: "stall" }
  /** Bytes as they are. */
  | { type: "raw"; data: string };

export interface Reply {
  steps?: ReplyStep[];
  /** Anything but 200 is answered with a JSON error. */
  status?: number;
  error?: { type: string; message: string };
  headers?: Record<string, string>;
  stopReason?: string;
  usage?: { input_tokens?: number; output_tokens?: number };
}

export interface SeenRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
  /** The client went away before the answer was complete. */
  aborted: boolean;
}

export const say = (text: string, size?: number): Reply => ({ steps: [{ type: "text", text, size }] });
export const useTool = (name: string, input: unknown): Reply => ({ steps: [{ type: "toolUse", name, input }] });
export const fail = (status: number, type: string, message: string, headers: Record<string, string> = {}): Reply => ({
  status,
  error: { type, message },
  headers,
});

export interface MockLlm {
  /** For `baseUrl` of a provider; the client adds `/v1/messages`. */
  baseUrl: string;
  requests: SeenRequest[];
  /** Appends replies for the requests to come. */
  reply(...replies: Reply[]): void;
  /** The content of a models.json that makes `mock/mock-1` this server. */
  modelsJson(): string;
  close(): Promise<void>;
}

const event = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function pieces(text: string, size: number): string[] {
  const parts: string[] = [];
  for (let i = 0; i < text.length; i += size) parts.push(text.slice(i, i + size));
  return parts;
}

/** The events of one content block. */
function block(index: number, contentBlock: object, deltas: object[]): string {
  return [
    event("content_block_start", { index, content_block: contentBlock }),
    ...deltas.map((delta) => event("content_block_delta", { index, delta })),
    event("content_block_stop", { index }),
  ].join("");
}

function blockOf(step: ReplyStep, index: number): string | undefined {
  if (step.type === "text") {
    const deltas = pieces(step.text, step.size ?? Math.max(1, step.text.length));
    return block(
      index,
      { type: "text", text: "" },
      deltas.map((text) => ({ type: "text_delta", text })),
    );
  }
  if (step.type === "thinking") {
    const signature = { type: "signature_delta", signature: step.signature ?? "c2lnbmVk" };
    const thinking = { type: "thinking_delta", thinking: step.text };
    return block(index, { type: "thinking", thinking: "", signature: "" }, [thinking, signature]);
  }
  if (step.type !== "toolUse") return undefined;
  const json = step.rawInput ?? JSON.stringify(step.input);
  const deltas = pieces(json, 8).map((part) => ({ type: "input_json_delta", partial_json: part }));
  return block(index, { type: "tool_use", id: step.id ?? `toolu_mock_${index}`, name: step.name, input: {} }, deltas);
}

/** Resolves to true when the stream was ended on the way. */
async function playStep(step: ReplyStep, index: number, response: ServerResponse): Promise<boolean> {
  const content = blockOf(step, index);
  if (content !== undefined) response.write(content);
  else if (step.type === "raw") response.write(step.data);
  else if (step.type === "delay") await wait(step.ms);
  else if (step.type === "errorEvent")
    response.write(event("error", { error: { type: step.kind, message: step.message } }));
  if (step.type === "cut") response.destroy();
  if (step.type === "endEarly") response.end();
  return step.type === "cut" || step.type === "endEarly" || step.type === "stall";
}

async function play(reply: Reply, response: ServerResponse): Promise<void> {
  const usage = { input_tokens: reply.usage?.input_tokens ?? 10, output_tokens: 1 };
  response.writeHead(200, { "content-type": "text/event-stream", ...reply.headers });
  response.write(event("message_start", { message: { id: "msg_mock", role: "assistant", content: [], usage } }));
  const steps = reply.steps ?? [];
  let index = 0;
  for (const step of steps) {
    if (response.destroyed || (await playStep(step, index, response))) return;
    if (blockOf(step, index) !== undefined) index += 1;
  }
  const usesTool = steps.some((step) => step.type === "toolUse");
  const stop_reason = reply.stopReason ?? (usesTool ? "tool_use" : "end_turn");
  response.write(
    event("message_delta", { delta: { stop_reason }, usage: { output_tokens: reply.usage?.output_tokens ?? 5 } }),
  );
  response.end(event("message_stop", {}));
}

function refuse(reply: Reply, response: ServerResponse): void {
  response.writeHead(reply.status ?? 500, { "content-type": "application/json", ...reply.headers });
  response.end(JSON.stringify({ type: "error", error: reply.error ?? { type: "api_error", message: "mock error" } }));
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
}

export async function startMockLlm(): Promise<MockLlm> {
  const replies: Reply[] = [];
  const requests: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const seen: SeenRequest = { method, path, headers, body: await readBody(request), aborted: false };
    requests.push(seen);
    response.on("close", () => {
      seen.aborted = !response.writableFinished;
    });
    const reply = replies.shift() ?? fail(500, "api_error", `the test has no reply for request ${requests.length}`);
    if (reply.status !== undefined && reply.status !== 200) refuse(reply, response);
    else await play(reply, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    requests,
    reply: (...more) => void replies.push(...more),
    modelsJson: () =>
      JSON.stringify({
        providers: {
          mock: {
            baseUrl,
            apiKey: "mock-key",
            api: "anthropic-messages",
            models: [{ id: "mock-1", reasoning: true, contextWindow: 200_000, maxTokens: 8192 }],
          },
        },
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
