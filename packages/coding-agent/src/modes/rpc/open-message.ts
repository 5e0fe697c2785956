import type { AssistantMessage } from "@tiller/protocol/message";
import type { EventPlace, SessionEvent } from "../../session/session-event.ts";

type UpdateEvent = Extract<SessionEvent, { type: "message_update" }>["event"];
export type DeltaEvent = Extract<UpdateEvent, { delta: string }>;

/**
 * What was told of the message that is being streamed. No journal keeps it, because the end of the message tells it all;
 * until then a host that has missed something of it gets it from here.
 */
export interface OpenMessage {
  /** One piece of a block; `seq` is the number it was told under. */
  delta(seq: number, event: DeltaEvent, place: EventPlace | undefined): void;
  /** Any other increment. */
  other(seq: number, event: UpdateEvent, place: EventPlace | undefined): void;
  /** The message as it is by now. */
  snapshot: (() => AssistantMessage) | undefined;
  /** It has ended, or another one begins. */
  clear(): void;
  readonly told: readonly ToldUpdates[];
}

/** Increments with numbers that follow each other: pieces of one block, or a single one of another kind. */
export interface ToldUpdates {
  firstSeq: number;
  event: UpdateEvent;
  place: EventPlace | undefined;
  /** Of a block, one for each number. */
  deltas: string[];
  /** Of a block in place of them, when there were many: where each ends in the text. */
  joined?: { text: string; ends: Uint32Array };
}

/** So many small texts are kept apart before they become one. */
const MANY = 512;

export function createOpenMessage(): OpenMessage {
  let told: ToldUpdates[] = [];
  let block: ToldUpdates | undefined;
  return {
    snapshot: undefined,
    // This runs once per token.
    delta(seq, event, place) {
      const isNext =
        block !== undefined &&
        block.deltas.length < MANY &&
        block.firstSeq + block.deltas.length === seq &&
        block.event.type === event.type &&
        (block.event as DeltaEvent).contentIndex === event.contentIndex;
      if (!isNext) {
        if (block?.deltas.length === MANY) join(block);
        block = { firstSeq: seq, event, place: place && { ...place }, deltas: [] };
        told.push(block);
      }
      block?.deltas.push(event.delta);
    },
    other(seq, event, place) {
      block = undefined;
      told.push({ firstSeq: seq, event, place: place && { ...place }, deltas: [] });
    },
    clear() {
      told = [];
      block = undefined;
    },
    get told() {
      return told;
    },
  };
}

function join(block: ToldUpdates): void {
  const { deltas } = block;
  const ends = new Uint32Array(deltas.length);
  let end = 0;
  for (let at = 0; at < ends.length; at++) {
    end += deltas[at]?.length ?? 0;
    ends[at] = end;
  }
  block.joined = { text: deltas.join(""), ends };
  block.deltas = [];
}
