import type { LlmMessage } from "@tiller/protocol/message";
import type { Payload } from "../http/payload.ts";
import { beginning, createPreparer, type HistoryRules, oddNames, type Preparer, type Reader } from "./history.ts";
import { wellFormed } from "./wire-values.ts";

/**
 * A conversation in the words of an API. All of it goes with every request, and all but its end went with the request
 * before: what can no longer change is kept as the bytes it was sent as. The outcome is the same as without that memory.
 *
 * A conversation is known again by the identity of its messages, which nobody changes. Any other beginning (a
 * compaction, a fork, another model) is made anew.
 */
export interface WireHistory<W> {
  /** The messages that are settled, as JSON, with a comma behind each of them. */
  settled: Payload;
  /** The end: at least the last two messages from our side, so that a family can put its marks on them. */
  open: W[];
}

export interface WireForm<W> {
  rules: HistoryRules;
  /** All that `append` goes by, beside the reader. */
  options?: unknown;
  /**
   * Adds the next prepared messages: one of the user, or an answer with the results of its calls. What comes from our side
   * may become part of the message before it if that came from our side too, an answer part of an answer before it.
   */
  append(wire: W[], turn: readonly LlmMessage[]): void;
}

/** What was settled of a conversation. */
interface Known {
  key: string;
  preparer: Preparer;
  /** Everything up to the answer that showed that the turn before it is over. */
  seen: LlmMessage[];
  /** How many of these are among the bytes. The next one is an answer. */
  settled: number;
  bytes: GrowingBytes;
}

/** The beginning of an answer that follows what came from our side. Nothing that comes later changes what stands before. */
interface Cut {
  /** Among the messages, among the open ones, among the ids that were given out. */
  at: number;
  wire: number;
  given: number;
}

/** In messages of the wire. */
const BATCH = 256;

export function toWireHistory<W>(messages: readonly LlmMessage[], reader: Reader, form: WireForm<W>): WireHistory<W> {
  const key = keyOf(reader, form);
  const known = recall(messages, key) ?? begin(key, reader, form.rules);
  const { names } = known.preparer;
  names.takeBack();
  const open: W[] = [];
  /** The last cut; and the one before it, which can be settled: two messages from our side stand behind it. */
  let cut: Cut | undefined;
  let ripe: Cut | undefined;
  let before: LlmMessage["role"] | undefined;
  for (let at = known.settled; at < messages.length; at++) {
    const here: Cut = { at, wire: open.length, given: names.given };
    const turn = known.preparer.prepare(messages, at);
    const first = turn[0];
    if (!first) continue;
    if (before === undefined && known.settled === 0) form.append(open, beginning(first, form.rules));
    form.append(open, turn);
    if (first.role === "assistant" && before !== undefined && before !== "assistant" && open.length > here.wire) {
      ripe = cut;
      cut = here;
    }
    // One piece for many turns is made faster; all of them at once would be in memory three times.
    if (ripe && cut && ripe.wire >= BATCH) {
      settle(known, messages, open, ripe, cut);
      ripe = undefined;
    }
    before = turn.at(-1)?.role;
  }
  if (ripe && cut) settle(known, messages, open, ripe, cut);
  if (known.settled > 0) remember(known);
  return { settled: known.bytes.pieces(), open };
}

function keyOf<W>({ provider, api, id, input }: Reader, { rules, options }: WireForm<W>): string {
  const { callIds, tools, ...others } = rules;
  return JSON.stringify([
    provider,
    api,
    id,
    input,
    others,
    oddNames(tools),
    callIds,
    callIds?.forbidden.source,
    options,
  ]);
}

function begin(key: string, reader: Reader, rules: HistoryRules): Known {
  return { key, preparer: createPreparer(reader, rules), seen: [], settled: 0, bytes: growingBytes() };
}

/** Turns what stands before the cut into bytes. The later cut, `next`, moves with what is left. */
function settle<W>(known: Known, messages: readonly LlmMessage[], open: W[], cut: Cut, next: Cut): void {
  known.bytes.add(wellFormed(`${JSON.stringify(open.slice(0, cut.wire)).slice(1, -1)},`));
  open.splice(0, cut.wire);
  known.preparer.names.settle(cut.given);
  for (let at = known.seen.length; at <= next.at; at++) known.seen.push(messages[at]!);
  known.settled = cut.at;
  next.wire -= cut.wire;
  next.given -= cut.given;
}

/** By the first message of a conversation: with the conversation, what is known of it is given up. */
const conversations = new WeakMap<LlmMessage, Known>();
/** Their first messages, the last used first. A compaction leaves a beginning behind that may be kept for long. */
let recent: WeakRef<LlmMessage>[] = [];
const MOST_CONVERSATIONS = 4;

function recall(messages: readonly LlmMessage[], key: string): Known | undefined {
  const known = messages[0] && conversations.get(messages[0]);
  if (known?.key !== key) return undefined;
  const { seen } = known;
  for (let i = 0; i < seen.length; i++) if (seen[i] !== messages[i]) return undefined;
  return known;
}

function remember(known: Known): void {
  const first = known.seen[0]!;
  conversations.set(first, known);
  if (recent[0]?.deref() === first) return;
  const others = recent.filter((ref) => ref.deref() !== undefined && ref.deref() !== first);
  recent = [new WeakRef(first), ...others];
  for (const ref of recent.splice(MOST_CONVERSATIONS)) {
    const forgotten = ref.deref();
    if (forgotten) conversations.delete(forgotten);
  }
}

/** In bytes. A short conversation needs little, a long one few pieces. */
const SMALLEST_PIECE = 16 * 1024;
const LARGEST_PIECE = 256 * 1024;

interface GrowingBytes {
  add(text: string): void;
  /** What there is by now; later additions do not change it. Little is a text: that leaves together with the headers. */
  pieces(): Payload;
}

function growingBytes(): GrowingBytes {
  let short = "";
  const full: Buffer[] = [];
  let last = Buffer.alloc(0);
  let used = 0;
  const addBytes = (text: string): void => {
    const size = Buffer.byteLength(text);
    if (used + size > last.length) {
      if (used > 0) full.push(last.subarray(0, used));
      last = Buffer.allocUnsafeSlow(Math.max(Math.min(2 * last.length, LARGEST_PIECE), SMALLEST_PIECE, size));
      used = 0;
    }
    used += last.write(text, used);
  };
  return {
    add(text) {
      short += text;
      if (used === 0 && short.length <= SMALLEST_PIECE) return;
      addBytes(short);
      short = "";
    },
    pieces: () => (used === 0 ? (short === "" ? [] : [short]) : [...full, last.subarray(0, used)]),
  };
}

/** The body of a request: its fields, of which there is at least one, and the conversation behind them, after `lead`. */
export function jsonBody<W>(fields: object, name: string, history: WireHistory<W>, lead: readonly W[] = []): Payload {
  const { settled, open } = history;
  const start = `${openObject(fields)},"${name}":[`;
  if (settled.length === 0) return [wellFormed(`${start}${JSON.stringify([...lead, ...open]).slice(1)}}`)];
  const leading = lead.map((message) => `${JSON.stringify(message)},`).join("");
  return [wellFormed(start + leading), ...settled, wellFormed(`${JSON.stringify(open).slice(1)}}`)];
}

/** By the list: tools and the parts of a system prompt are the same from request to request, and most of its fields' text. */
const knownLists = new WeakMap<readonly unknown[], string>();

/** The JSON of an object with plain names, but for its last brace. */
function openObject(fields: object): string {
  let json = "";
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    if (value === undefined) continue;
    json += `${json === "" ? "{" : ","}"${name}":${Array.isArray(value) ? listJson(value) : JSON.stringify(value)}`;
  }
  return json;
}

function listJson(list: readonly unknown[]): string {
  const known = knownLists.get(list);
  if (known !== undefined) return known;
  const json = JSON.stringify(list);
  knownLists.set(list, json);
  return json;
}
