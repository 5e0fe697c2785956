import type { Clock } from "@tiller/protocol/clock";
import { type Dialect, hasEvent } from "@tiller/protocol/dialects/dialect";
import type { AgentMessage } from "@tiller/protocol/message";
import type { UpdateMode } from "@tiller/protocol/state";
import { toJson } from "../../lib/wire-json.ts";
import type { EventPlace, SessionEvent, SessionListener } from "../../session/session-event.ts";
import type { FrameWriter } from "./frame-writer.ts";

type Update = Extract<SessionEvent, { type: "message_update" }>;
type DeltaUpdate = Extract<Update["event"], { delta: string }>;

/** Turns a session's events into frames, each with its `seq` and the place it belongs to. */
export interface EventFrames {
  take: SessionListener;
  mode: UpdateMode;
  /** Undefined: all events are sent. Else these, and those that hosts wait for. */
  only: ReadonlySet<string> | undefined;
}

/** Sent whatever the host has chosen: somebody waits for them, or has asked for them in another way. */
const UNFILTERED: ReadonlySet<string> = new Set([
  "prompt_result",
  "session_settled",
  "extension_error",
  "subagent_lifecycle",
  "subagent_progress",
  "subagent_event",
]);

export interface EventFramesOptions {
  writer: FrameWriter;
  dialect: Dialect;
  clock: Clock;
  mode: UpdateMode;
}

const THIN = '{"role":"assistant","content":[]}';

/** Above this size of the message, whole snapshots are sent at most this often. */
const SMALL_MESSAGE = 2048;
const SNAPSHOT_INTERVAL_MS = 1000 / 30;
/** And of a huge one no more than this per millisecond, so that output does not grow with the square of the message. */
const SNAPSHOT_RATE = 8 * 1024;

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

export function createEventFrames({ writer, dialect, clock, mode: initialMode }: EventFramesOptions): EventFrames {
  let mode = initialMode;
  let only: ReadonlySet<string> | undefined;
  let seq = 0;
  let merged: Merged | undefined;
  let flushing = false;
  let cancelTimer: (() => void) | undefined;
  let lastSize = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let around: Wrapping = NO_WRAPPING;
  let told: { message: AgentMessage; json: string } | undefined;

  const stamp = (place: EventPlace | undefined): string => {
    seq += 1;
    return `${placeJson(place)},"seq":${seq}}`;
  };

  const sendPlain = (event: { type: string }, place: EventPlace | undefined): void => {
    const json = eventJson(event);
    writer.raw(json.slice(0, -1) + stamp(place));
  };

  /** A message that comes whole is told twice in a row, as its start and as its end; what it says is put into JSON once. */
  const sendWhole = (event: WholeMessage, place: EventPlace | undefined): void => {
    const isKnown = event.type === "message_end" && told?.message === event.message;
    const json = isKnown ? `{"type":"message_end","message":${told?.json}}` : eventJson(event);
    const isStart = event.type === "message_start" && json.startsWith(START_HEAD);
    told = isStart ? { message: event.message, json: json.slice(START_HEAD.length, -1) } : undefined;
    writer.raw(json.slice(0, -1) + stamp(place));
  };

  const sendUpdate = (event: Update["event"], snapshot: Update["snapshot"], place: EventPlace | undefined): void => {
    const message = snapshot();
    const whole = toJson(message);
    const inner = withPartial(event, whole);
    const usage = toJson(message.usage);
    writer.raw(
      `{"type":"message_update","message":${whole},"assistantMessageEvent":${inner},"usage":${usage}${stamp(place)}`,
    );
    lastSize = whole.length;
    lastAt = clock.now();
  };

  const flush = (): void => {
    cancelTimer?.();
    cancelTimer = undefined;
    flushing = false;
    if (!merged) return;
    const { type, contentIndex, delta, snapshot, place } = merged;
    merged = undefined;
    sendUpdate({ type, contentIndex, delta }, snapshot, place);
  };

  /** At the end of this tick; but not while the host is behind, and not more often than a large message allows. */
  const flushSoon = (): void => {
    if (flushing) return;
    flushing = true;
    queueMicrotask(flushWhenDue);
  };
  const flushWhenDue = (): void => {
    if (!flushing) return;
    const due = lastAt + Math.max(SNAPSHOT_INTERVAL_MS, lastSize / SNAPSHOT_RATE) - clock.now();
    if (writer.busy && writer.waiting > 0) void writer.flushed().then(flushWhenDue);
    else if (lastSize > SMALL_MESSAGE && due > 0) cancelTimer = clock.after(due, flush);
    else flush();
  };

  const takeSnapshotUpdate = (
    { event, snapshot }: Update,
    place: EventPlace | undefined,
  ): undefined | Promise<void> => {
    if (!("delta" in event)) {
      flush();
      sendUpdate(event, snapshot, place);
      return writer.room();
    }
    if (merged && (merged.type !== event.type || merged.contentIndex !== event.contentIndex)) flush();
    if (merged) merged.delta += event.delta;
    else merged = { type: event.type, contentIndex: event.contentIndex, delta: event.delta, snapshot, place };
    flushSoon();
    // A host that reads slowly gets fewer frames; one that does not read at all stops the model in the end.
    return writer.busy && merged.delta.length > MOST_MERGED ? writer.flushed() : undefined;
  };

  /** Every token at once. This runs once per token, so what stands around the token is put together once per block. */
  const takeDelta = ({ event }: Update, place: EventPlace | undefined): undefined | Promise<void> => {
    if ("delta" in event) {
      const isFirst =
        event.type !== around.type || event.contentIndex !== around.contentIndex || place?.messageId !== around.id;
      if (isFirst) around = wrapping(event, place);
      seq += 1;
      writer.raw(`${around.head}${toJson(event.delta)}${around.tail}${seq}}`);
      if (isFirst) writer.hurry();
    } else {
      const inner = withPartial(event, THIN);
      writer.raw(`{"type":"message_update","message":${THIN},"assistantMessageEvent":${inner}${stamp(place)}`);
    }
    return writer.room();
  };

  return {
    get mode() {
      return mode;
    },
    set mode(next) {
      // Deltas that wait are told now: later the message would be ahead of them.
      flush();
      mode = next;
    },
    get only() {
      return only;
    },
    set only(types) {
      flush();
      only = types;
    },
    take(event, place) {
      if (!hasEvent(dialect, event.type)) return undefined;
      if (only && !only.has(event.type) && !UNFILTERED.has(event.type)) return undefined;
      if (event.type !== "message_update") {
        flush();
        if (event.type === "message_start") lastSize = 0;
        // One that streams is another one when it ends.
        if (isWhole(event)) sendWhole(event, place);
        else sendPlain(event, place);
        // Whoever watches a tool, or has run it, need not wait until the model is asked again.
        if (event.type === "tool_execution_end") writer.hurry();
        return writer.room();
      }
      return mode === "delta" ? takeDelta(event, place) : takeSnapshotUpdate(event, place);
    },
  };
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

/** What stands before and after the text in the frames of one block. */
interface Wrapping {
  type: string;
  contentIndex: number;
  /** Of the message. */
  id: string | undefined;
  head: string;
  tail: string;
}

const NO_WRAPPING: Wrapping = { type: "", contentIndex: -1, id: undefined, head: "", tail: "" };

function wrapping({ type, contentIndex }: DeltaUpdate, place: EventPlace | undefined): Wrapping {
  return {
    type,
    contentIndex,
    id: place?.messageId,
    head: `{"type":"message_update","message":${THIN},"assistantMessageEvent":{"type":"${type}","contentIndex":${contentIndex},"delta":`,
    tail: `,"partial":${THIN}}${placeJson(place)},"seq":`,
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
