import type { AgentTool } from "@tiller/agent/types";
import { ProviderError, type ProviderErrorKind } from "@tiller/ai/errors";
import { type Answer, abortedError, type Exchange } from "@tiller/ai/http/call";
import { joinedPayload, parsedText } from "@tiller/ai/http/payload";
import type { Between } from "@tiller/ai/http/traffic";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { RunShell } from "../session/bash-runner.ts";
import type { JobEnding, JobWork } from "../tools/tool.ts";
import { type Bytes, bytesOf, type Thrown, toBuffer } from "./format.ts";
import { openHeaders, openUrl } from "./redact.ts";
import type { Tape, WorldCall } from "./tape.ts";

/** Where the parts of the program meet the tape: tools, shell commands, jobs, the network. */
export interface Recording extends Pick<Tape, "clock" | "openInput" | "openOutput"> {
  ids: IdSource;
  /** For what is not done in a replay. */
  liveClock: Clock;
  /** A tool that does nothing but talk to the session: it is run in a replay too. */
  isRun(name: string): boolean;
  /** `isOurs` is said of calls that only talk to the session, the models and the host: they are made in a replay too. */
  tool(tool: AgentTool, isOurs: (args: Record<string, unknown>) => boolean): AgentTool;
  /** The tools of extensions, none of which is run in a replay. */
  others(tools: NamedTools | undefined): NamedTools | undefined;
  shell(run: RunShell): RunShell;
  job(work: JobWork): JobWork;
  /** Anything else that is asked of the machine; `about` is what is written down of the question. */
  look<In extends unknown[], Out>(
    name: string,
    look: (...args: In) => Promise<Out>,
    about: (...args: In) => unknown,
  ): (...args: In) => Promise<Out>;
  /** `tell` reaches the host from now on. */
  listen(tell: (message: string) => void): void;
  /** The exit code that the process shall have. */
  end(code: number): Promise<number>;
}

interface NamedTools {
  names(): readonly string[];
  tool(name: string): AgentTool | undefined;
}

/** Tools that do nothing but talk to the session. */
const SESSION_TOOLS = new Set(["todo", "task", "poll", "cancel_job"]);

export function isRunInReplay(name: string): boolean {
  return SESSION_TOOLS.has(name);
}

export function recordedTool(tape: Tape): Recording["tool"] {
  return (tool, isOurs) => {
    if (SESSION_TOOLS.has(tool.name)) return tool;
    return {
      ...tool,
      execute(call) {
        const { toolCallId, args } = call;
        if (isOurs(args)) return tool.execute(call);
        return tape.call({
          name: `tool ${tool.name}`,
          args: { toolCallId, ...args },
          run: (tell) => tool.execute({ ...call, onUpdate: tell }),
          hear: call.onUpdate,
        });
      },
    };
  };
}

/** Each tool is wrapped once: it is known by its identity. */
export function recordedOthers(record: Recording["tool"]): Recording["others"] {
  const wrapped = new WeakMap<AgentTool, AgentTool>();
  return (tools) =>
    tools && {
      names: tools.names,
      tool(name) {
        const tool = tools.tool(name);
        if (!tool) return undefined;
        const known = wrapped.get(tool) ?? record(tool, () => false);
        wrapped.set(tool, known);
        return known;
      },
    };
}

export function recordedShell(tape: Tape): Recording["shell"] {
  return (run) => (command, onText, signal, isExcluded) =>
    tape.call({
      name: "shell",
      args: { command },
      run: (tell) =>
        run(
          command,
          (text) => {
            tell(text);
            return undefined;
          },
          signal,
          isExcluded,
        ),
      hear: (text: string) => void onText(text),
    });
}

export function recordedJob(tape: Tape): Recording["job"] {
  return (work) => ({
    command: work.command,
    output: () => tape.value(work.output),
    run: (signal) =>
      tape.call<JobEnding>({
        name: "job",
        args: { command: work.command },
        run: () => work.run(signal),
        hear: () => undefined,
      }),
  });
}

export function recordedLook(tape: Tape): Recording["look"] {
  return (name, look, about) =>
    (...args) =>
      tape.call({ name, args: about(...args), run: () => look(...args), hear: () => undefined });
}

/** What comes of a request, one after the other. */
type Arrival = { status: number; statusText: string; headers: Answer["headers"] } | { piece: Bytes };

/** Requests to models and for lists of models. */
export function recordedTraffic(tape: Tape, liveClock: Clock): Between {
  return (request, send) =>
    new Promise((resolve, reject) => {
      const body = createBody(request.signal);
      const hear = (arrival: Arrival): void => {
        if ("piece" in arrival) body.push(toBuffer(arrival.piece));
        else resolve({ ...arrival, body: body.body });
      };
      const fail = (error: unknown): void => {
        reject(error);
        body.fail(error);
      };
      request.signal.addEventListener("abort", () => fail(abortedError()), { once: true });
      tape.call(requestCall(request, send, liveClock, body, hear)).then(body.end, fail);
    });
}

function requestCall(
  request: Exchange,
  send: (request: Exchange) => Promise<Answer>,
  liveClock: Clock,
  body: Body,
  hear: (arrival: Arrival) => void,
): WorldCall<void> {
  const { method, url, headers } = request;
  const sent = request.body === undefined ? {} : { body: parsedText(joinedPayload(request.body).toString("utf8")) };
  return {
    name: "request",
    args: { method, url: openUrl(url), headers: openHeaders(headers), ...sent },
    hear,
    async run(tell) {
      const answer = await send({ ...request, clock: liveClock });
      const { status, statusText } = answer;
      tell({ status, statusText, headers: openHeaders(answer.headers) });
      // What nobody waits for is not read: a slow reader holds the sender back.
      for (;;) {
        const wish = await body.wanted();
        if (wish !== "more") {
          if (wish === "release") answer.body.release();
          else answer.body.destroy();
          return;
        }
        const piece = await answer.body.next();
        if (!piece) return;
        tell({ piece: bytesOf(piece) });
      }
    },
    packError: (error) => {
      const { message, kind, status, retryAfterMs } = error as ProviderError;
      return { message, kind, status, retryAfterMs };
    },
    unpackError: ({ message, kind, status, retryAfterMs }: Thrown) =>
      typeof kind === "string"
        ? new ProviderError(kind as ProviderErrorKind, message, {
            status: status as number | undefined,
            retryAfterMs: retryAfterMs as number | undefined,
          })
        : new Error(message),
    isOwn: (error) => request.signal.aborted && error instanceof ProviderError && error.kind === "aborted",
  };
}

type Wish = "more" | "release" | "destroy";
interface Body {
  body: Answer["body"];
  push(piece: Buffer): void;
  end(): void;
  fail(error: unknown): void;
  /** Resolves when the reader wants something. */
  wanted(): Promise<Wish>;
}

/** A body whose pieces come from the tape. */
function createBody(signal: AbortSignal): Body {
  const pieces: Buffer[] = [];
  let over: { error?: unknown } | undefined;
  let wish: Wish | undefined;
  let waiter: { resolve(piece: Buffer | undefined): void; reject(error: unknown): void } | undefined;
  let onWish: ((wish: Wish) => void) | undefined;
  const want = (next: Wish): void => {
    wish = next;
    onWish?.(next);
    onWish = undefined;
  };
  const settle = (): void => {
    const waiting = waiter;
    if (!waiting || (pieces.length === 0 && !over)) return;
    waiter = undefined;
    if (pieces.length > 0) waiting.resolve(pieces.shift());
    else if (over?.error === undefined) waiting.resolve(undefined);
    else waiting.reject(over.error);
  };
  const finish = (how: { error?: unknown }): void => {
    over ??= how;
    settle();
  };
  const leave = (how: Wish): void => {
    pieces.length = 0;
    finish({});
    want(how);
  };
  return {
    body: {
      next: () =>
        new Promise((resolve, reject) => {
          waiter = { resolve, reject };
          if (pieces.length === 0 && !over) want("more");
          settle();
        }),
      release: () => leave("release"),
      destroy: () => leave("destroy"),
    },
    push(piece) {
      wish = wish === "more" ? undefined : wish;
      if (!over) pieces.push(piece);
      settle();
    },
    end: () => finish({}),
    fail(error) {
      finish({ error });
      if (signal.aborted) want("destroy");
    },
    wanted: () =>
      new Promise((resolve) => {
        if (wish !== undefined) resolve(wish);
        else onWish = resolve;
      }),
  };
}
