import type { Clock } from "@tiller/protocol/clock";
import { type Dialect, hasEvent } from "@tiller/protocol/dialects/dialect";
import type { AgentMessage } from "@tiller/protocol/message";
import type { UpdateMode } from "@tiller/protocol/state";
import type { Late } from "../../lib/late.ts";
import { toJson } from "../../lib/wire-json.ts";
import type { SessionJournal } from "../../session/ports.ts";
import type { EventPlace, SessionEvent, SessionListener } from "../../session/session-event.ts";
import { LONGEST_TOKEN, type TokenWrapping } from "./frame-bytes.ts";
import type { FrameWriter } from "./frame-writer.ts";
import { createMessageJson } from "./message-json.ts";
import { createOpenMessage } from "./open-message.ts";
import type { RenderUpdate, replayAfter } from "./replay.ts";

type Update = Extract<SessionEvent, { type: "message_update" }>;
type DeltaUpdate = Extract<Update["event"], { delta: string }>;

/** Turns a session's events into frames, each with its `seq` and the place it belongs to. */
export interface EventFrames {
  take: SessionListener;
  mode: UpdateMode;
  /** Undefined: all events are sent. Else these, and those that hosts wait for. */
  only: ReadonlySet<string> | undefined;
  /** Frames are about to leave the process: what is to be kept of them is kept before. */
  beforeWrite(): void;
  /** What was told behind a number, without one nothing. Made now, so that it ends where the next frame begins. */
  told(journal: SessionJournal, replayAfter: ReplayAfter, after?: number): Told;
}

export interface Told {
  /** From this number on everything is kept. */
  oldest: number;
  latest: number;
  /** Something behind the number is not kept any more. */
  missed: boolean;
  frames: string[];
}

/** Put together of what is kept and of the message that is being streamed; loaded with the first that has missed something. */
export type ReplayAfter = typeof replayAfter;

/** Sent whatever the host has chosen: somebody waits for them, or has asked for them in another way. */
const UNFILTERED: ReadonlySet<string> = new Set([
  "prompt_result",
  "session_settled",
  "extension_error",
  "subagent_lifecycle",
  "subagent_progress",
  "subagent_event",
]);

/** Not kept: what comes after them tells more than they did. Of a message that is being streamed see `open-message.ts`. */
const PASSING: ReadonlySet<string> = new Set([
  "message_update",
  "tool_execution_update",
  "bash_execution_update",
  "subagent_progress",
  "subagent_event",
]);

/**
 * Not kept until the end of the turn: whoever watches a tool, or has run it, need not wait until the model is asked again, and
 * whoever waits for the end of a run not until everything behind it is done.
 */
const AWAITED: ReadonlySet<string> = new Set(["tool_execution_end", "agent_end"]);

/** So many events wait for the journal before it is loaded for their sake. */
const MOST_EARLY = 64;

export interface EventFramesOptions {
  writer: FrameWriter;
  dialect: Dialect;
  clock: Clock;
  mode: UpdateMode;
  /** Undefined where nobody can ask for what was told. */
  journal?: Late<SessionJournal>;
  /** Of the session that is open. */
  sessionId?(): string;
}

const THIN = '{"role":"assistant","content":[]}';

/** Above this size of the message, whole snapshots are sent at most this often. */
const SMALL_MESSAGE = 2048;
const SNAPSHOT_INTERVAL_MS = 1000 / 30;
/** And of a huge one no more than this per millisecond, so that output does not grow with the square of the message. */
const SNAPSHOT_RATE = 8 * 1024;

/**
 * The beginning and the end of a block cannot wait and cannot be joined. Of one message they repeat this many characters ahead
 * of that rate; then they are thin, as in delta mode, until a snapshot is due again.
 */
const MOST_AHEAD = 16 * 1024 * 1024;

/** What comes before the message in such a frame. */
const START_HEAD = '{"type":"message_start","message":';
type WholeMessage = Extract<SessionEvent, { type: "message_start" | "message_end" }>;

/** Characters that are joined before the model has to wait for the host. */
const MOST_MERGED = 64 * 1024;

/** Deltas of one block that wait to be sent as one. */
interface Merged {
  type: DeltaUpdate["type"];
  contentIndex: number;
  delta: string;
  snapshot: Update["snapshot"];
  place: EventPlace | undefined;
}

export function createEventFrames(options: EventFramesOptions): EventFrames {
  const { writer, dialect, clock, journal } = options;
  let { mode } = options;
  let only: ReadonlySet<string> | undefined;
  let seq = 0;
  let merged: Merged | undefined;
  let flushing = false;
  let cancelTimer: (() => void) | undefined;
  let lastSize = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  /** Characters of the open message that were repeated before they were due. */
  let ahead = 0;
  let block: Block | undefined;
  let told: { message: AgentMessage; json: string } | undefined;

  const open = createOpenMessage();
  const messageJson = createMessageJson();
  /** What was told before there was a journal. */
  const early: { seq: number; json: string; of: string | undefined }[] = [];

  const stamp = (place: EventPlace | undefined): string => {
    seq += 1;
    return `${placeJson(place)},"seq":${seq}}`;
  };

  /** The session may be another one by now, and have had its own numbers. */
  const follow = (begins: boolean): void => {
    const made = journal?.made;
    if (!made) return;
    if (early.length > 0) {
      // What was told of another session, which was left before it had a file, nobody can ask for.
      const now = options.sessionId?.();
      const own = early.splice(0).filter(({ of }) => of === now);
      seq = Math.max(seq, made.follow(own[0] ? own[0].seq - 1 : seq));
      for (const kept of own) made.append(kept.seq, kept.json);
    }
    seq = made.follow(seq, begins);
  };
  const keep = (json: string): void => {
    if (journal?.made) journal.made.append(seq, json);
    else if (journal && early.push({ seq, json, of: options.sessionId?.() }) === MOST_EARLY) void journal.load();
  };
  /** Kept before it is given away: the writer may write at once. */
  const send = (type: string, json: string): void => {
    if (!PASSING.has(type)) keep(json);
    writer.raw(json);
  };

  /** Once more, in the mode that the host has chosen by now; of many, the message stands in the newest alone. */
  const renderer = (): RenderUpdate => {
    const message = mode === "delta" ? undefined : open.snapshot?.();
    const whole = message && toJson(message);
    return ({ place }, event, told, behind) => {
      const end = `${placeJson(place)},"seq":${told}}`;
      const isThin = whole === undefined || behind * whole.length > MOST_AHEAD;
      return isThin ? thinFrame(event, end) : snapshotFrame(event, whole, message?.usage, end);
    };
  };

  const sendPlain = (event: { type: string }, place: EventPlace | undefined): void => {
    const json = eventJson(event);
    send(event.type, json.slice(0, -1) + stamp(place));
  };

  /** A message that comes whole is told twice in a row, as its start and as its end; what it says is put into JSON once. */
  const sendWhole = (event: WholeMessage, place: EventPlace | undefined): void => {
    const isKnown = event.type === "message_end" && told?.message === event.message;
    const json = isKnown ? `{"type":"message_end","message":${told?.json}}` : eventJson(event);
    const isStart = event.type === "message_start" && json.startsWith(START_HEAD);
    told = isStart ? { message: event.message, json: json.slice(START_HEAD.length, -1) } : undefined;
    send(event.type, json.slice(0, -1) + stamp(place));
  };

  /** How long the next snapshot of the message has to wait. */
  const untilDue = (): number =>
    lastSize > SMALL_MESSAGE
      ? lastAt + Math.max(SNAPSHOT_INTERVAL_MS, lastSize / SNAPSHOT_RATE) - clock.now()
      : Number.NEGATIVE_INFINITY;
  const sendUpdate = (event: Update["event"], snapshot: Update["snapshot"], place: EventPlace | undefined): void => {
    const isAhead = untilDue() > 0;
    const isLast = event.type === "done" || event.type === "error";
    if (isAhead && ahead > MOST_AHEAD && !isLast) writer.raw(thinFrame(event, stamp(place)));
    else {
      const message = snapshot();
      const whole = messageJson.of(message);
      writer.raw(snapshotFrame(event, whole, message.usage, stamp(place)));
      lastSize = whole.length;
      lastAt = clock.now();
      if (isAhead) ahead += lastSize;
    }
    note(event, snapshot, place);
  };
  const note = (event: Update["event"], snapshot: Update["snapshot"], place: EventPlace | undefined): void => {
    open.snapshot = snapshot;
    if ("delta" in event) open.delta(seq, event, place);
    else open.other(seq, event, place);
  };

  const blockOf = ({ type, contentIndex }: DeltaUpdate, place: EventPlace | undefined): Block => {
    const id = place?.messageId;
    const isSame = block?.type === type && block.contentIndex === contentIndex && block.id === id;
    if (!block || !isSame) block = { type, contentIndex, id, around: undefined, isShown: false };
    return block;
  };
  /** Somebody is waiting for the first piece of a block. */
  const showFirst = (of: Block): void => {
    if (!of.isShown) writer.hurry();
    of.isShown = true;
  };

  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    flushing = false;
    if (!merged) return;
    const { type, contentIndex, delta, snapshot, place } = merged;
    merged = undefined;
    sendUpdate({ type, contentIndex, delta }, snapshot, place);
    if (block) showFirst(block);
  };

  /** At the end of this tick; but not while the host is behind, and not more often than a large message allows. */
  const flushSoon = (): void => {
    if (flushing) return;
    flushing = true;
    queueMicrotask(flushWhenDue);
  };
  const flushWhenDue = (): void => {
    if (!flushing) return;
    const due = untilDue();
    if (writer.busy && writer.waiting > 0) void writer.flushed().then(flushWhenDue);
    else if (due > 0) cancelTimer = clock.after(due, flush);
    else flush();
  };

  const takeSnapshotUpdate = (
    { event, snapshot }: Update,
    place: EventPlace | undefined,
  ): undefined | Promise<void> => {
    if ("contentIndex" in event) messageJson.changed(event.contentIndex);
    else messageJson.clear();
    if (!("delta" in event)) {
      flush();
      sendUpdate(event, snapshot, place);
      return writer.room();
    }
    const isTurn = merged && (merged.type !== event.type || merged.contentIndex !== event.contentIndex);
    if (isTurn) flush();
    blockOf(event, place);
    if (merged) merged.delta += event.delta;
    else merged = { type: event.type, contentIndex: event.contentIndex, delta: event.delta, snapshot, place };
    flushSoon();
    // A host that reads slowly gets fewer frames; one that does not read at all stops the model in the end.
    if (writer.busy && merged.delta.length > MOST_MERGED) return writer.flushed();
    return isTurn ? writer.room() : undefined;
  };

  /** Every token at once. This runs once per token, so what stands around the token is put together once per block. */
  const takeDelta = ({ event, snapshot }: Update, place: EventPlace | undefined): undefined | Promise<void> => {
    if ("delta" in event) {
      const its = blockOf(event, place);
      its.around ??= wrapping(event, place);
      const { around } = its;
      seq += 1;
      if (event.delta.length <= LONGEST_TOKEN) writer.token(around, event.delta, seq);
      else writer.raw(`${around.head}${toJson(event.delta)}${around.tail}${seq}}`);
      open.delta(seq, event, place);
      showFirst(its);
    } else {
      writer.raw(thinFrame(event, stamp(place)));
      note(event, snapshot, place);
    }
    return writer.room();
  };

  /** Another one begins, or nothing. */
  const endMessage = (): void => {
    flush();
    open.clear();
    messageJson.clear();
    lastSize = 0;
    ahead = 0;
  };

  return {
    get mode() {
      return mode;
    },
    set mode(next) {
      // Deltas that wait are told now: later the message would be ahead of them.
      flush();
      messageJson.clear();
      mode = next;
    },
    get only() {
      return only;
    },
    set only(types) {
      flush();
      messageJson.clear();
      only = types;
    },
    beforeWrite: () => journal?.made?.flush(seq),
    told(kept, replayAfter, given) {
      flush();
      follow(false);
      kept.flush(seq);
      const after = given ?? seq;
      const { base, frames } = replayAfter(after, kept, open.told, renderer());
      return { oldest: base + 1, latest: seq, missed: after < base, frames };
    },
    take(event, place) {
      if (!hasEvent(dialect, event.type)) return undefined;
      // Also for a host that has chosen not to hear of it.
      if (event.type === "message_start" || event.type === "message_end") endMessage();
      if (only && !only.has(event.type) && !UNFILTERED.has(event.type)) return undefined;
      if (event.type !== "message_update") {
        flush();
        follow(event.type === "agent_start");
        // One that streams is another one when it ends.
        if (isWhole(event)) sendWhole(event, place);
        else sendPlain(event, place);
        if (AWAITED.has(event.type)) writer.hurry();
        return writer.room();
      }
      return mode === "delta" ? takeDelta(event, place) : takeSnapshotUpdate(event, place);
    },
  };
}

function snapshotFrame(event: Update["event"], message: string, usage: unknown, stamp: string): string {
  const inner = withPartial(event, message);
  return `{"type":"message_update","message":${message},"assistantMessageEvent":${inner},"usage":${toJson(usage)}${stamp}`;
}

function thinFrame(event: Update["event"], stamp: string): string {
  return `{"type":"message_update","message":${THIN},"assistantMessageEvent":${withPartial(event, THIN)}${stamp}`;
}

function isWhole(event: SessionEvent): event is WholeMessage {
  return (event.type === "message_start" || event.type === "message_end") && event.message.role !== "assistant";
}

/** What no JSON can hold must not cost a run its ending: the event is told without its fields. */
function eventJson(event: { type: string }): string {
  try {
    return toJson(event);
  } catch (error) {
    const message = `An event "${event.type}" cannot be told: ${error instanceof Error ? error.message : String(error)}`;
    return toJson({ type: "notice", level: "error", message });
  }
}

/** Which block pieces belong to. */
interface Block {
  type: string;
  contentIndex: number;
  /** Of the message. */
  id: string | undefined;
  /** What stands before and after the text in the frames of single pieces. */
  around: TokenWrapping | undefined;
  /** Its first piece has left. */
  isShown: boolean;
}

function wrapping({ type, contentIndex }: DeltaUpdate, place: EventPlace | undefined): TokenWrapping {
  return {
    head: Buffer.from(
      `{"type":"message_update","message":${THIN},"assistantMessageEvent":{"type":"${type}","contentIndex":${contentIndex},"delta":`,
    ),
    tail: Buffer.from(`,"partial":${THIN}}${placeJson(place)},"seq":`),
  };
}

/** The sub-event as JSON with the message so far; `done` and `error` carry the finished one already. */
function withPartial(event: Update["event"], partial: string): string {
  const json = toJson(event);
  return event.type === "done" || event.type === "error" ? json : `${json.slice(0, -1)},"partial":${partial}}`;
}

/** Written by hand: it stands in every frame, and its ids need no escaping. */
function placeJson(place: EventPlace | undefined): string {
  if (!place) return "";
  const turn = place.turnIndex === undefined ? "" : `,"turnIndex":${place.turnIndex}`;
  const message = place.messageId === undefined ? "" : `,"messageId":"${place.messageId}"`;
  return `,"promptId":"${place.promptId}"${turn}${message}`;
}
