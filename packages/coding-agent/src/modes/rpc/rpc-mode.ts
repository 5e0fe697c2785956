import type { Readable, Writable } from "node:stream";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import { MAX_FRAME_BYTES, MAX_REASSEMBLED_FRAME_BYTES, PROTOCOL_VERSIONS } from "@tiller/protocol/frame-limits";
import type { ReadyFrame } from "@tiller/protocol/frames";
import type { UpdateMode } from "@tiller/protocol/state";
import { sleep, sleepAwake } from "../../lib/clock.ts";
import { createLineSplitter } from "../../lib/jsonl.ts";
import { log } from "../../lib/log.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import type { SessionEvent } from "../../session/session-event.ts";
import { createDispatcher } from "./dispatcher.ts";
import { createEventFrames, type EventFrames } from "./event-frames.ts";
import { createFrameWriter, type FrameWriter, openStdout } from "./frame-writer.ts";
import { createHandlers } from "./handlers/index.ts";
import { createHostSide } from "./host-side.ts";
import { createIntake } from "./intake.ts";
import { createLanes } from "./lanes.ts";
import { openStdin } from "./stdin.ts";
import { createTransport } from "./transport.ts";
import type { UiBridgeOptions } from "./ui-bridge.ts";

export interface RpcModeOptions {
  session: AgentSession;
  dialect: Dialect;
  clock: Clock;
  version: string;
  maxLineBytes: number;
  updates: UpdateMode;
  /** Let the running prompt finish when stdin closes, instead of ending it. */
  finishOnEof: boolean;
  /** What the host shall know first of all, e.g. that the offline model answers. */
  notices: readonly string[];
  ids: IdSource;
  /** Where everything that comes from outside is recorded or played back: instead of the standard streams. */
  recording?: RecordedStreams;
  /** `setTitle` requests of extensions are sent. */
  emitTitle: boolean;
}

export interface RecordedStreams {
  openInput(): Readable;
  openOutput(): Writable;
  /** What the host shall know of it. */
  listen(tell: (message: string) => void): void;
}

/** How long closing may take when the host does not read. */
const CLOSING_MS = 800;
const CLOSING_WITH_EXTENSIONS_MS = 5000;
/** How long the command of an extension may go on after the extension wanted the process to end. */
const LAST_WORDS_MS = 1000;

const EOF_REASON = "Request was aborted: stdin was closed (start with --finish-on-eof to let a running prompt finish)";

/** Joins reader, dispatcher, session and writer, and ends them in order. Resolves to the exit code. */
export async function runRpcMode(options: RpcModeOptions): Promise<number> {
  const { session, dialect, clock, version, maxLineBytes } = options;
  const asks = session.extensions ?? session.askThrough;
  const dialogs = asks && (await import("./ui-bridge.ts"));
  // A session that goes on goes on with its numbers.
  if (session.isContinued) await session.journal.load();
  return new Promise((exit) => {
    const writer = createFrameWriter(options.recording?.openOutput() ?? openStdout(), (error) =>
      leave(...lostHost(error)),
    );
    const frames = createEventFrames({
      writer,
      dialect,
      clock,
      mode: options.updates,
      journal: session.journal,
      sessionId: () => session.state().sessionId,
    });
    writer.beforeWrite = frames.beforeWrite;
    const lanes = createLanes();
    const intake = createIntake({ writer, lanes, clock });
    const bridge = dialogs?.createUiBridge(bridgeOptions(options, writer, frames));
    const transport = createTransport(session, writer, frames);
    const facts = { version, dialect, limits: limits(options), pendingDialogs: bridge?.pending };
    const refuse = (command: string, id: unknown, error: string): void =>
      writer.frame({ id, type: "response", command, success: false, error });
    const host = createHostSide({
      session,
      write: writer.frame,
      ids: options.ids,
      clock,
      refuse,
    });
    const dispatcher = createDispatcher({
      handlers: createHandlers({ session, frames, facts, dialect, host, transport, ui: bridge }),
      dialect,
      lanes,
      // Where nobody asks, nobody waits for an answer to a dialog.
      answers: {
        ...host.answers,
        extension_ui_response: bridge?.answer ?? (() => undefined),
        rpc_chunk: ({ id }) => refuse("rpc_chunk", id, noChunks(maxLineBytes)),
      },
      write(response) {
        writer.frame(response);
        transport.answered();
      },
      writeJson: writer.raw,
      writePieces: writer.pieces,
      room: intake.answered,
    });
    const splitter = createLineSplitter({
      maxBytes: maxLineBytes,
      onLine: dispatcher.line,
      onTooLong: (_bytes, begin) => dispatcher.tooLong(maxLineBytes, begin),
    });

    let leaving = false;
    /** The code that an extension wants, which may want it while we leave. */
    let wantedCode: number | undefined;
    const leave = async (code: number, reason: string): Promise<void> => {
      if (leaving) return;
      leaving = true;
      // Nothing new is begun: what was read until now still gets its answer.
      input.pause();
      bridge?.close();
      host.close();
      const closed = close(reason);
      // Extensions may have something to put away.
      const patience = session.extensions ? CLOSING_WITH_EXTENSIONS_MS : CLOSING_MS;
      await Promise.race([closed, sleepAwake(clock, patience)]);
      exit(wantedCode ?? code);
    };

    /** What was read is started before the session ends, so that every command and prompt still gets its answer. */
    const close = async (reason: string): Promise<void> => {
      // A summary may take for ever, and what was read behind it waits for it.
      session.giveUpWaiting();
      await lanes.started();
      await session.dispose(reason);
      await lanes.drained();
      await writer.flushed();
    };

    if (dialect.sendsReady) writer.frame(ready(options));
    session.subscribe(frames.take);
    if (dialect.answersFailedSends) session.subscribe((event) => answerFailedSend(event, writer.frame));
    for (const message of options.notices) frames.take({ type: "notice", level: "warning", message }, undefined);
    options.recording?.listen(
      (message) => void frames.take({ type: "notice", level: "warning", source: "recording", message }, undefined),
    );
    /** For an extension: when the answer to what is being done is out, and nothing else is going on. */
    const shutdown = async (code?: number): Promise<void> => {
      wantedCode ??= code;
      await lanes.started();
      if (code === undefined) {
        // The command that wants it may have a little to do yet; it may also never end.
        await Promise.race([session.waitForIdle(), sleep(clock, LAST_WORDS_MS)]);
        await session.waitForIdle(false);
      }
      await leave(code ?? 0, "Request was aborted: an extension ended the process");
    };

    const input = options.recording?.openInput() ?? openStdin();
    input.on("data", (chunk: Buffer) => {
      // Who is leaving takes nothing on any more; what was read before still gets its answer.
      if (leaving) return;
      splitter.push(chunk);
      const held = intake.took(chunk.length);
      if (!held) return;
      input.pause();
      void held.then(() => input.resume());
    });
    input.on("end", async () => {
      splitter.end();
      // Nobody will answer any more.
      bridge?.close();
      host.close();
      if (options.finishOnEof) {
        await lanes.started();
        await session.waitForIdle();
        // Who wants the end of it may read as slowly as it likes; who is gone ends us by that.
        await writer.flushed();
      }
      await leave(0, EOF_REASON);
    });
    input.on("error", (error) => {
      log(`stdin failed: ${error.message}`);
      void leave(0, EOF_REASON);
    });
    onSignals(session, clock, leave);
    if (bridge) session.askThrough?.(bridge);
    // Last: whoever hears that a session begins may want to end it.
    if (bridge) session.extensions?.begin({ ui: bridge, mode: "rpc", shutdown: (code) => void shutdown(code) });
  });
}

/** A host that is gone closes its pipes, which is as good as EOF; anything else (a full disk) is worth a word. */
function lostHost(error: NodeJS.ErrnoException): [code: number, reason: string] {
  if (error.code === "EPIPE") return [0, "Request was aborted: the host stopped reading"];
  log(`stdout cannot be written: ${error.message}`);
  return [1, `Request was aborted: stdout cannot be written (${error.message})`];
}

/** What an extension wanted to send, and the command as which hosts of omp know it. */
const SENDS: Readonly<Record<string, string>> = {
  send_message: "extension_send",
  send_user_message: "extension_send_user",
};

/** No command has asked for it: the answer has no id. */
function answerFailedSend(event: SessionEvent, write: (frame: object) => void): undefined {
  const command = event.type === "extension_error" ? SENDS[event.event] : undefined;
  if (event.type === "extension_error" && command !== undefined)
    write({ type: "response", command, success: false, error: event.error });
  return undefined;
}

const FRAME_LIMITS = { maxFrameBytes: MAX_FRAME_BYTES, maxReassembledFrameBytes: MAX_REASSEMBLED_FRAME_BYTES };

function limits({ maxLineBytes }: RpcModeOptions): ReadyFrame["limits"] {
  return { maxLineBytes, ...FRAME_LIMITS };
}

function ready(options: RpcModeOptions): ReadyFrame {
  const { version, dialect } = options;
  return {
    type: "ready",
    version,
    dialect: dialect.name,
    protocolVersion: 1,
    supportedProtocolVersions: [...PROTOCOL_VERSIONS],
    ...FRAME_LIMITS,
    limits: limits(options),
  };
}

function noChunks(maxLineBytes: number): string {
  return `Only answers and events come in chunks: send the command as one line of up to ${maxLineBytes} bytes`;
}

function bridgeOptions(
  { ids, clock, dialect, emitTitle }: RpcModeOptions,
  writer: FrameWriter,
  frames: EventFrames,
): UiBridgeOptions {
  return {
    write: writer.frame,
    ids,
    clock,
    emitTitle,
    announcesCancel: dialect.sendsDialogCancel,
    onSurprise: (message) =>
      void frames.take({ type: "notice", level: "warning", source: "extensions", message }, undefined),
  };
}

/** The two halves of one Ctrl-C, our SIGINT and the host's `abort`, arrive within this time, in either order. */
const ONE_CTRL_C_MS = 500;

type Leave = (code: number, reason: string) => Promise<void>;

/** A terminal sends SIGINT to parent and child alike: during a run it means "abort"; idle, or the second one, "go". */
function onSignals(session: AgentSession, clock: Clock, leave: Leave): void {
  let aborting = false;
  /** When the host ended a run by itself; a SIGINT right after is the other half of the same Ctrl-C. */
  let hostAbortedAt = Number.NEGATIVE_INFINITY;
  session.subscribe((event) => {
    const isAborted = event.type === "prompt_result" && event.status === "aborted" && !event.limit;
    if (isAborted && !aborting) hostAbortedAt = clock.now();
    return undefined;
  });
  process.on("SIGINT", async () => {
    if (aborting) return leave(130, "Request was aborted: SIGINT");
    const { isStreaming, isCompacting } = session.state();
    if (!isStreaming && !isCompacting) {
      const isSecondHalf = clock.now() - hostAbortedAt < ONE_CTRL_C_MS;
      hostAbortedAt = Number.NEGATIVE_INFINITY;
      return isSecondHalf ? undefined : leave(130, "Request was aborted: SIGINT");
    }
    aborting = true;
    await session.abort();
    aborting = false;
  });
  // A bug. The host still gets the endings it waits for, and stderr says what happened.
  const onBug = (error: unknown, event: "unhandled_rejection" | "uncaught_exception"): void => {
    if (session.extensions?.takeError(error, event)) return;
    log(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    void leave(1, "Request was aborted: internal error, see stderr");
  };
  process.on("uncaughtException", (error) => onBug(error, "uncaught_exception"));
  process.on("unhandledRejection", (error) => onBug(error, "unhandled_rejection"));
  process.on("SIGTERM", () => leave(143, "Request was aborted: SIGTERM"));
  process.on("SIGHUP", () => leave(129, "Request was aborted: SIGHUP"));
}
