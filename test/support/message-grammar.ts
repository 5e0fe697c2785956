import { isTooDeep } from "../../packages/protocol/src/depth.ts";
import { at, brief, type Frame, isRecord, list, sameJson } from "./frame.ts";

/**
 * One assistant message from message_start to message_end: `start`, blocks that are opened, grow and are closed, then
 * `done` or `error`. The joined deltas must be what message_end says.
 */

interface Block {
  kind: "text" | "thinking" | "toolcall";
  joined: string;
  closed: boolean;
}

/** Where a block keeps its text, and what the block is called in a message. */
const KINDS = {
  text: { contentType: "text", field: "text" },
  thinking: { contentType: "thinking", field: "thinking" },
  toolcall: { contentType: "toolCall", field: undefined },
} as const;

const SUB_EVENT = /^(text|thinking|toolcall)_(start|delta|end)$/;

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    // Arguments that nobody could pass on are as good as broken.
    return isTooDeep(value) ? undefined : value;
  } catch {
    return undefined; // a model may write broken arguments; then there is nothing to compare with
  }
}

export class AssistantMessageGrammar {
  private readonly blocks: Block[] = [];
  private started = false;
  private final: Frame | undefined;
  private readonly mayBeReplaced: boolean;

  constructor(mayBeReplaced = false) {
    this.mayBeReplaced = mayBeReplaced;
  }

  /** One message_update frame; a sentence when it is out of order. */
  update(frame: Frame): string | undefined {
    const event = frame.assistantMessageEvent;
    if (!isRecord(event) || typeof event.type !== "string") return "message_update without an assistantMessageEvent";
    if (this.final) return `"${event.type}" after "${this.final.type}", which must be the last update of a message`;
    if (!this.started) {
      if (event.type !== "start") return `"${event.type}" before "start", which must follow message_start`;
      this.started = true;
      return undefined;
    }
    if (event.type === "start") return `a second "start" in one message`;
    if (event.type === "done" || event.type === "error") return this.finish(event);
    return this.blockEvent(event, event.type, frame);
  }

  /** The message_end frame. */
  end(message: unknown): string | undefined {
    if (!this.final) return `message_end without "done" or "error" before it`;
    if (this.mayBeReplaced) return undefined;
    const stopReason = at(message, "stopReason");
    if (this.final.reason !== stopReason) {
      return `"${this.final.type}" said reason "${this.final.reason}", message_end says stopReason "${stopReason}"`;
    }
    const content = list(at(message, "content"));
    if (content.length !== this.blocks.length) {
      return `message_end has ${content.length} blocks, ${this.blocks.length} were streamed`;
    }
    return firstProblem(this.blocks, (block, index) => compare(block, content[index], `block ${index} of message_end`));
  }

  private finish(event: Frame): string | undefined {
    this.final = event;
    const open = this.blocks.findIndex((block) => !block.closed);
    return open < 0 ? undefined : `"${event.type}" while block ${open} (${this.blocks[open]?.kind}) is still open`;
  }

  private blockEvent(event: Frame, type: string, frame: Frame): string | undefined {
    const match = SUB_EVENT.exec(type);
    if (!match) return `unknown assistantMessageEvent "${type}"`;
    const kind = match[1] as Block["kind"];
    const index = event.contentIndex;
    if (typeof index !== "number") return `${type} without contentIndex`;
    if (match[2] === "start") {
      if (index !== this.blocks.length) return `${type} opens block ${index}, the next one is ${this.blocks.length}`;
      this.blocks.push({ kind, joined: "", closed: false });
      return undefined;
    }
    const block = this.blocks[index];
    if (!block || block.closed) return `${type} for block ${index}, which is not open`;
    if (block.kind !== kind) return `${type} for block ${index}, which is a ${block.kind} block`;
    return match[2] === "delta" ? grow(block, event, frame, index) : close(block, event);
  }
}

function firstProblem<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index);
    if (problem) return problem;
  }
  return undefined;
}

function grow(block: Block, event: Frame, frame: Frame, index: number): string | undefined {
  if (typeof event.delta !== "string") return `${event.type} without delta`;
  block.joined += event.delta;
  return firstProblem([at(frame, "message", "content", index), at(event, "partial", "content", index)], (snapshot) =>
    block.kind === "toolcall" || snapshot === undefined ? undefined : compare(block, snapshot, "the partial message"),
  );
}

function close(block: Block, event: Frame): string | undefined {
  block.closed = true;
  if (block.kind === "toolcall") return compare(block, event.toolCall, "toolcall_end");
  if (event.content === block.joined || at(event, "redacted") === true) return undefined;
  return `${event.type} says ${brief(event.content)}, the deltas join to ${brief(block.joined)}`;
}

function compare(block: Block, content: unknown, where: string): string | undefined {
  const { contentType, field } = KINDS[block.kind];
  if (at(content, "type") !== contentType)
    return `${where} is a "${at(content, "type")}", streamed was a ${block.kind}`;
  if (field) {
    if (at(content, "redacted") === true || at(content, field) === block.joined) return undefined;
    return `${where} says ${brief(at(content, field))}, the deltas join to ${brief(block.joined)}`;
  }
  const streamed = parseJson(block.joined);
  if (!isRecord(streamed) || sameJson(streamed, at(content, "arguments"))) return undefined;
  return `${where} has arguments ${brief(at(content, "arguments"))}, the deltas join to ${brief(block.joined)}`;
}
