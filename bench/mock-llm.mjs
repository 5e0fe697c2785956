#!/usr/bin/env node
// A model on loopback that speaks the Anthropic Messages API, and OpenAI Chat Completions for the first kind of answer below.
// Prints {"port":N} and ends when its stdin does.
//
// It keeps no script: the prompt says what to answer, the last one in the request counts. Of a long request only the end
// is looked at; reading 20 MB must not take longer than sending them.
//   deltas=N                  N pieces of text of four characters, all in one write
//   deltas=N by=B every=MS    B pieces every MS milliseconds
//   calls=N run=WORDS         N turns that call the tool `bash`, one after the other; then one piece of text.
//                             `_` in WORDS stands for a blank
//   fail=WHAT key=KEY         fails the first time that it sees this KEY, with the status WHAT, or, for `cut`, in the middle
//                             of an answer; after that the answer is the text `recovered-KEY`
//
// GET /seen tells what it has seen since the last time: how many requests, the bytes of the longest, and how many paced
// answers were broken off by who had asked.
import http from "node:http";

const LOOKED_AT = 1_000_000;
const LONGEST_PLAN = 200;

/** Three characters that vary, then a blank; a line break now and then, so that there is something to escape. */
function pieceText(i) {
  const word = ((i * 7919) % 46_656).toString(36).padStart(3, "0");
  return word + (i % 16 === 15 ? "\n" : " ");
}

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const pieceEvent = (i) =>
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: pieceText(i) } });

const usage = { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
const START =
  event({
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "mock-1",
      content: [],
      stop_reason: null,
      usage,
    },
  }) + event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });

const endFor = (count) =>
  event({ type: "content_block_stop", index: 0 }) +
  event({ type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: count } }) +
  event({ type: "message_stop" });

const chatEvent = (fields) =>
  `data: ${JSON.stringify({ id: "chat_1", object: "chat.completion.chunk", created: 1, model: "mock-1", ...fields })}\n\n`;
const chatPiece = (delta, finish_reason = null) => chatEvent({ choices: [{ index: 0, delta, finish_reason }] });
const chatEnd = (count) =>
  chatPiece({}, "stop") +
  chatEvent({ choices: [], usage: { prompt_tokens: 10, completion_tokens: count, total_tokens: 10 + count } }) +
  "data: [DONE]\n\n";

/** How an answer looks in each API. */
const FORMS = {
  "/v1/messages": { begin: START, piece: pieceEvent, end: endFor },
  "/v1/chat/completions": {
    begin: chatPiece({ role: "assistant", content: "" }),
    piece: (i) => chatPiece({ content: pieceText(i) }),
    end: chatEnd,
  },
};

/** Whole answers, made once each: the mock shall never be what is measured. */
const whole = new Map();
function wholeAnswer(path, count) {
  const key = `${path} ${count}`;
  if (!whole.has(key)) {
    const { begin, piece, end } = FORMS[path];
    const pieces = Array.from({ length: count }, (_, i) => piece(i));
    whole.set(key, Buffer.from(begin + pieces.join("") + end(count)));
  }
  return whole.get(key);
}

let seen;
function forgetSeen() {
  seen = { requests: 0, longest: 0, brokenOff: 0 };
}
forgetSeen();

function tellSeen(response) {
  response.end(JSON.stringify(seen));
  forgetSeen();
}

function sendPaced(response, { count, by, every }) {
  let sent = 0;
  response.write(START);
  const timer = setInterval(() => {
    let text = "";
    for (const until = Math.min(count, sent + by); sent < until; sent++) text += pieceEvent(sent);
    response.write(text);
    if (sent < count) return;
    clearInterval(timer);
    response.end(endFor(count));
  }, every);
  response.on("close", () => {
    clearInterval(timer);
    if (sent < count) seen.brokenOff++;
  });
}

/** A turn that calls a tool, while the conversation has fewer results than were asked for. */
function callAnswer(body) {
  const [, count = 0, words = ""] = lastOf(body, "calls=", /calls=(\d+) run=([^\s"\\]+)/);
  if (count === 0) return undefined;
  const done = body.split('"tool_result"').length - 1;
  if (done >= Number(count)) return undefined;
  const input = JSON.stringify({ command: words.replaceAll("_", " ") });
  const block = { type: "tool_use", id: `call_${done}`, name: "bash", input: {} };
  return (
    START.slice(0, START.indexOf("event: content_block_start")) +
    event({ type: "content_block_start", index: 0, content_block: block }) +
    event({ type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: input } }) +
    event({ type: "content_block_stop", index: 0 }) +
    event({ type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } }) +
    event({ type: "message_stop" })
  );
}

const FAILURES = {
  429: { type: "rate_limit_error", message: "Too many requests" },
  500: { type: "api_error", message: "Internal server error" },
  529: { type: "overloaded_error", message: "Overloaded" },
};
const failedKeys = new Set();

/** Answers a request that is to fail, or that has failed before; false for any other. */
function answerFailing(body, response) {
  const [, what, key] = lastOf(body, "fail=", /fail=(\w+) key=(\w+)/);
  if (key === undefined) return false;
  if (failedKeys.has(key)) {
    const text = event({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: `recovered-${key}` },
    });
    response.writeHead(200, SSE);
    response.end(START + text + endFor(1));
    return true;
  }
  failedKeys.add(key);
  if (what === "cut") {
    response.writeHead(200, SSE);
    const pieces = Array.from({ length: 100 }, (_, i) => pieceEvent(i));
    response.write(START + pieces.join(""), () => response.destroy());
  } else {
    response.writeHead(Number(what), { "content-type": "application/json" });
    response.end(JSON.stringify({ type: "error", error: FAILURES[what] }));
  }
  return true;
}

/** The parts of the last place in `body` that begins with `word`. */
function lastOf(body, word, pattern) {
  const at = body.lastIndexOf(word);
  return at === -1 ? [] : (pattern.exec(body.slice(at, at + LONGEST_PLAN)) ?? []);
}

function planOf(body) {
  const [, count = 1, by = 0, every = 0] = lastOf(body, "deltas=", /deltas=(\d+)(?: by=(\d+) every=(\d+))?/);
  return { count: Number(count), by: Number(by), every: Number(every) };
}

const SSE = { "content-type": "text/event-stream", "cache-control": "no-cache" };

const server = http.createServer((request, response) => {
  if (request.url === "/seen") return tellSeen(response);
  const path = request.url.endsWith("/chat/completions") ? "/v1/chat/completions" : "/v1/messages";
  const pieces = [];
  let kept = 0;
  let length = 0;
  seen.requests++;
  request.on("data", (piece) => {
    length += piece.length;
    pieces.push(piece);
    kept += piece.length;
    while (kept - pieces[0].length >= LOOKED_AT) kept -= pieces.shift().length;
  });
  request.on("end", () => {
    seen.longest = Math.max(seen.longest, length);
    const body = Buffer.concat(pieces).toString("latin1");
    if (answerFailing(body, response)) return;
    const plan = planOf(body);
    response.writeHead(200, SSE);
    const call = callAnswer(body);
    if (call) response.end(call);
    else if (plan.every > 0) sendPaced(response, plan);
    else response.end(wholeAnswer(path, plan.count));
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
