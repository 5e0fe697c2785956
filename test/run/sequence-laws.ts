import { at, brief, type Frame, list, sameJson } from "../support/frame.ts";
import { isQuestion } from "./dialog-host.ts";
import type { Played } from "./play-sequence.ts";
import type { Sequence } from "./sequence.ts";

/**
 * What must hold after any sequence. The order and shape of the frames, an answer to each id and a clean exit are checked
 * by the harness for every process; these laws are about what the frames mean together.
 */

type Law = (played: Played, sequence: Sequence) => string | undefined;

export function brokenLaws(played: Played, sequence: Sequence): string[] {
  return Object.entries(LAWS).flatMap(([name, law]) => {
    const problem = law(played, sequence);
    return problem === undefined ? [] : [`${name}: ${problem}`];
  });
}

const LAWS: Readonly<Record<string, Law>> = {
  "each command is answered once, a prompt that failed late twice": ({ sent, frames }) => {
    for (const { id, type } of sent) {
      const answers = frames.filter((frame) => frame.type === "response" && frame.id === id);
      const isLateFailure = answers.length === 2 && answers[0]?.success === true && answers[1]?.success === false;
      if (answers.length !== 1 && !isLateFailure) return `${id} (${type}) has ${answers.length} answers`;
    }
    return undefined;
  },

  "each accepted prompt has one result": (played) => {
    for (const { id } of accepted(played, PROMPTS)) {
      const results = played.frames.filter((frame) => frame.type === "prompt_result" && frame.id === id);
      if (results.length !== 1) return `${id} has ${results.length} results`;
    }
    return undefined;
  },

  "each accepted message is delivered, given back or still queued, once": (played, { ending }) => {
    const delivered = deliveredTexts(played);
    const cleared = played.frames
      .filter((frame) => frame.type === "response" && frame.command === "clear_queue")
      .flatMap((frame) => [...list(at(frame, "data", "steering")), ...list(at(frame, "data", "followUp"))]);
    const dropped = ending !== "abort" && ending !== "settle" ? droppedAtExit(played) : [];
    const fate = [...delivered, ...cleared, ...dropped];
    for (const { message } of said(played)) {
      const times = fate.filter((text) => text === message).length;
      if (times !== 1)
        return `"${message}" was told ${times} times (${where(message, { delivered, cleared, dropped })})`;
    }
    const known = new Set(said(played).map(({ message }) => message));
    const strange = fate.find((text) => !known.has(text));
    return strange === undefined ? undefined : `"${strange}" was never accepted`;
  },

  "each queue delivers in the order of arrival": (played) => {
    const delivered = deliveredTexts(played);
    for (const queue of ["steer", "followUp"]) {
      const arrived = accepted(played, MESSAGES)
        .filter((command) => queueOf(command, played) === queue)
        .map(({ message }) => message);
      const seen = delivered.filter((text) => arrived.includes(text));
      const expected = arrived.filter((text) => seen.includes(text));
      if (!sameJson(seen, expected)) return `${queue}: ${seen} instead of ${expected}`;
    }
    return undefined;
  },

  "an abort ends every prompt that was sent before it": (played) => {
    for (const [place, command] of played.sent.entries()) {
      if (command.type !== "abort") continue;
      const answered = played.frames.findIndex((frame) => frame.type === "response" && frame.id === command.id);
      const late = accepted({ ...played, sent: played.sent.slice(0, place) }, PROMPTS)
        .filter(({ id }) => dispositionOf(id, played) === "started")
        .find(({ id }) => played.frames.findIndex((f) => f.type === "prompt_result" && f.id === id) > answered);
      if (late) return `${command.id} was answered before the result of ${late.id}`;
    }
    return undefined;
  },

  "get_state agrees with the events before it": ({ frames }) => {
    let queue: Frame = { steering: [], followUp: [] };
    let running = false;
    for (const frame of frames) {
      if (frame.type === "queue_update") queue = frame;
      else if (frame.type === "agent_start") running = true;
      else if (frame.type === "agent_end") running = frame.willRetry === true;
      else if (frame.type === "auto_retry_end" && frame.success === false) running = false;
      else if (frame.type === "response" && frame.command === "get_state" && frame.success === true) {
        const waiting = list(queue.steering).length + list(queue.followUp).length;
        const { pendingMessageCount, isStreaming } = frame.data as Record<string, unknown>;
        if (pendingMessageCount !== waiting) return `${frame.id} counts ${pendingMessageCount}, ${waiting} wait`;
        if (running && isStreaming !== true) return `${frame.id} says isStreaming ${isStreaming} during a run`;
      }
    }
    return undefined;
  },

  "the session is idle at the end": ({ end }) => {
    if (!end) return undefined;
    const { isStreaming, isSettled, pendingMessageCount } = end.state as Record<string, unknown>;
    const left = list(at(end.cleared, "steering")).length + list(at(end.cleared, "followUp")).length;
    if (isStreaming !== false) return `isStreaming is ${isStreaming}`;
    if (isSettled !== (left === 0)) return `isSettled is ${isSettled} with ${left} queued`;
    if (pendingMessageCount !== left) return `pendingMessageCount is ${pendingMessageCount}, ${left} came back`;
    const settled = at(end.stateAfterClear, "isSettled");
    return settled === true ? undefined : `isSettled is ${settled} after clear_queue`;
  },

  "the conversation and the file hold what was told": (played) => {
    const told = deliveredTexts(played);
    const filed = userTexts(played.kept);
    if (!sameJson(filed, told)) return `the file has ${filed}, told were ${told}`;
    if (!played.end) return undefined;
    const kept = userTexts(played.end.messages);
    // Of a conversation that was compacted the end is left.
    const expected = isCompacted(played) ? told.slice(told.length - kept.length) : told;
    return sameJson(kept, expected) ? undefined : `get_messages has ${kept}, told were ${told}`;
  },

  "every tool call in the conversation has one result behind it": ({ end }) => {
    let open: string[] = [];
    for (const message of end?.messages ?? []) {
      if (at(message, "role") === "toolResult") {
        const id = String(at(message, "toolCallId"));
        if (!open.includes(id)) return `a result for ${id}, which is not open`;
        open = open.filter((other) => other !== id);
        continue;
      }
      if (open.length > 0) return `no result for ${open} before a ${at(message, "role")} message`;
      if (at(message, "role") !== "assistant") continue;
      const calls = list(at(message, "content")).filter((block) => at(block, "type") === "toolCall");
      open = calls.map((call) => String(at(call, "id")));
    }
    return open.length === 0 ? undefined : `no result for ${open}`;
  },

  "what is asked is taken back at most once, and nothing stays open": ({ frames, end }) => {
    const open = new Set<unknown>();
    for (const frame of frames) {
      if (isQuestion(frame)) open.add(frame.id);
      if (frame.method === "cancel" && !open.delete(frame.targetId))
        return `${frame.targetId} was not there to take back`;
      const told = frame.command === "get_state" ? list(at(frame, "data", "pendingDialogs")) : [];
      const strange = told.find((dialog) => !open.has(at(dialog, "id")));
      if (strange) return `${frame.id} shows ${at(strange, "id")}, which is not open`;
    }
    const left = list(at(end?.stateAfterClear, "pendingDialogs"));
    return left.length === 0 ? undefined : `still open: ${brief(left)}`;
  },

  "no extension has failed": ({ frames }) => {
    const failed = frames.find((frame) => frame.type === "extension_error");
    return failed && brief(failed);
  },

  "the exit code is that of the ending": ({ exit }, { ending }) => {
    const code = ending === "SIGTERM" ? 143 : 0;
    return exit.code === code ? undefined : `${brief(exit)}, expected ${code}`;
  },
};

const PROMPTS = new Set(["prompt", "abort_and_prompt"]);
const MESSAGES = new Set([...PROMPTS, "steer", "follow_up"]);

/** The commands of these types whose first answer was yes. */
function accepted({ sent, frames }: Played, types: ReadonlySet<string>): Frame[] {
  return sent.filter(({ id, type }) => {
    const answer = frames.find((frame) => frame.type === "response" && frame.id === id);
    return types.has(String(type)) && answer?.success === true;
  });
}

/** Those that are for the model: what an extension deals with itself goes nowhere. */
function said(played: Played): Frame[] {
  return accepted(played, MESSAGES).filter(({ id }) => dispositionOf(id, played) !== "handled");
}

function dispositionOf(id: unknown, { frames }: Played): unknown {
  return at(
    frames.find((frame) => frame.type === "response" && frame.id === id),
    "data",
    "disposition",
  );
}

function queueOf({ id, type, streamingBehavior }: Frame, played: Played): unknown {
  if (dispositionOf(id, played) !== "queued") return undefined;
  return type === "steer" ? "steer" : type === "follow_up" ? "followUp" : streamingBehavior;
}

function deliveredTexts({ frames }: Played): unknown[] {
  return userTexts(frames.filter((frame) => frame.type === "message_start").map((frame) => frame.message));
}

function userTexts(messages: readonly unknown[]): unknown[] {
  return messages
    .filter((message) => at(message, "role") === "user")
    .map((message) => at(message, "content", 0, "text"));
}

function isCompacted({ frames }: Played): boolean {
  return frames.some((frame) => frame.type === "compaction_end" && frame.result !== undefined);
}

/** What the last change of the queues took out of them, when nothing else did. */
function droppedAtExit({ frames }: Played): unknown[] {
  const last = frames.findLastIndex((frame) => frame.type === "queue_update");
  const before = frames.slice(0, Math.max(last, 0)).findLast((frame) => frame.type === "queue_update");
  const isDelivery = frames.slice(last + 1).some((frame) => frame.type === "message_start");
  const isClearing = frames.slice(last + 1).some((frame) => frame.command === "clear_queue");
  if (isDelivery || isClearing) return [];
  return [...list(before?.steering), ...list(before?.followUp)];
}

function where(text: unknown, places: Record<string, unknown[]>): string {
  const found = Object.entries(places).flatMap(([name, texts]) => texts.filter((t) => t === text).map(() => name));
  return found.length === 0 ? "nowhere" : found.join(", ");
}
