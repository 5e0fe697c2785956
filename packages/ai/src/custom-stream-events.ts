import type { AssistantMessage, StopReason, Usage } from "@tiller/protocol/message";
import { isRecord } from "./custom-fields.ts";
import { ProviderError } from "./errors.ts";
import { kindOfText } from "./http/error-kind.ts";
import type { Delta } from "./provider.ts";

/**
 * Folds assistant message events of somebody else into deltas. Beginnings and ends may be missing, and what a block has
 * in the end counts: the part that was not told as it grew is told then.
 */
export interface EventFold {
  readonly isOver: boolean;
  take(event: unknown): Delta[];
  /** The events are over and this is the whole message. */
  finish(message: AssistantMessage): Delta[];
  closeAll(): Delta[];
}

type Kind = "text" | "thinking" | "toolCall";

interface Block {
  kind: Kind;
  isOpen: boolean;
  isClosed: boolean;
  /** What was told of it. */
  told: string;
  /** What came before its name was known. */
  early: string;
}

type Loose = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, Kind>> = { text: "text", thinking: "thinking", toolcall: "toolCall" };

export function createEventFold(): EventFold {
  const blocks = new Map<number, Block>();
  let over = false;

  const blockAt = (index: number, kind: Kind): Block => {
    const known = blocks.get(index);
    if (known) return known;
    const block: Block = { kind, isOpen: false, isClosed: false, told: "", early: "" };
    blocks.set(index, block);
    return block;
  };
  /** A call is opened when its name is known, or when nothing more will tell it. */
  const open = (index: number, block: Block, content: Loose, out: Delta[], isLast = false): void => {
    if (block.isOpen) return;
    const { kind } = block;
    if (kind === "toolCall") {
      const { id, name } = content;
      if (!isLast && (!isName(id) || !isName(name))) return;
      out.push({
        type: "open",
        index,
        block: { type: kind, id: isName(id) ? id : `call_${index}`, name: isName(name) ? name : "" },
      });
    } else out.push({ type: "open", index, block: { type: kind } });
    block.isOpen = true;
    grow(index, block, block.early, out);
  };
  const grow = (index: number, block: Block, text: string, out: Delta[]): void => {
    if (text === "" || block.isClosed) return;
    if (!block.isOpen) {
      block.early += text;
      return;
    }
    block.told += text;
    out.push({ type: "grow", index, text });
  };
  const close = (index: number, block: Block, content: Loose, out: Delta[]): void => {
    if (block.isClosed) return;
    open(index, block, content, out, true);
    const whole = wholeOf(block.kind, content);
    if (block.told === "") grow(index, block, whole, out);
    else if (block.kind !== "toolCall" && whole.startsWith(block.told))
      grow(index, block, whole.slice(block.told.length), out);
    block.isClosed = true;
    const signature = SIGNATURES[block.kind].map((field) => content[field]).find(isName);
    out.push({
      type: "close",
      index,
      ...(signature === undefined ? {} : { signature }),
      ...(content.redacted === true ? { redacted: true } : {}),
    });
  };
  const closeAll = (): Delta[] => {
    const out: Delta[] = [];
    for (const [index, block] of blocks) if (block.isOpen) close(index, block, {}, out);
    return out;
  };
  /** Every block of the message that has not been told to its end. */
  const complete = (message: Loose, out: Delta[]): void => {
    for (const [index, content] of (Array.isArray(message.content) ? message.content : []).entries()) {
      if (!isRecord(content)) continue;
      const kind = Object.values(KINDS).find((known) => known === content.type);
      if (kind) close(index, blockAt(index, kind), content, out);
    }
    out.push(...closeAll(), ...usageOf(message.usage), ...responseOf(message));
  };
  const end = (message: Loose, reason: unknown): Delta[] => {
    over = true;
    const out: Delta[] = [];
    complete(message, out);
    const stopReason = (isName(reason) ? reason : message.stopReason) as StopReason | undefined;
    if (stopReason === "aborted")
      out.push({ type: "error", error: new ProviderError("aborted", "Request was aborted") });
    else if (stopReason === "error") out.push({ type: "error", error: failureOf(errorText(message)) });
    else
      out.push({ type: "done", stopReason: stopReason === "length" || stopReason === "toolUse" ? stopReason : "stop" });
    return out;
  };
  const step = (event: Loose, kind: Kind, phase: string): Delta[] => {
    const out: Delta[] = [];
    const index = Number(event.contentIndex ?? 0);
    const block = blockAt(index, kind);
    const content = { ...contentAt(event.partial, index), ...extraOf(event) };
    if (phase === "end") close(index, block, content, out);
    else {
      open(index, block, content, out);
      if (phase === "delta" && typeof event.delta === "string") grow(index, block, event.delta, out);
    }
    return out;
  };

  return {
    get isOver() {
      return over;
    },
    take(event) {
      if (over || !isRecord(event) || typeof event.type !== "string") return [];
      if (event.type === "done") return end(asRecord(event.message ?? event.partial), event.reason);
      if (event.type === "error") return end(failure(event), event.reason === "aborted" ? "aborted" : "error");
      const [name = "", phase = ""] = event.type.split("_");
      const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
      return kind ? step(event, kind, phase) : [];
    },
    finish: (message) => end(asRecord(message), undefined),
    closeAll,
  };
}

const SIGNATURES: Readonly<Record<Kind, readonly string[]>> = {
  text: ["textSignature"],
  thinking: ["thinkingSignature"],
  toolCall: ["thoughtSignature"],
};

/** The error of an event may be a message, an Error or a text. */
function failure({ error, partial }: Loose): Loose {
  if (error instanceof Error) return { ...asRecord(partial), errorMessage: error.message };
  return typeof error === "string" ? { ...asRecord(partial), errorMessage: error } : asRecord(error ?? partial);
}

function failureOf(text: string): ProviderError {
  return new ProviderError(kindOfText(text), text);
}

function errorText({ errorMessage }: Loose): string {
  return isName(errorMessage) ? errorMessage : "The provider failed without saying why";
}

/** What an event says beside the message so far. */
function extraOf({ type, content, toolCall, id, toolName }: Loose): Loose {
  if (isRecord(toolCall)) return toolCall;
  if (type === "text_end" && typeof content === "string") return { text: content };
  if (type === "thinking_end" && typeof content === "string") return { thinking: content };
  return type === "toolcall_start" && isName(id) && isName(toolName) ? { id, name: toolName } : {};
}

function contentAt(partial: unknown, index: number): Loose {
  const content = asRecord(partial).content;
  return asRecord(Array.isArray(content) ? content[index] : undefined);
}

function wholeOf(kind: Kind, content: Loose): string {
  if (kind === "toolCall") return isRecord(content.arguments) ? JSON.stringify(content.arguments) : "";
  const whole = content[kind];
  return typeof whole === "string" ? whole : "";
}

const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "reasoning"] as const;

function usageOf(usage: unknown): Delta[] {
  if (!isRecord(usage)) return [];
  const counts: Partial<Pick<Usage, (typeof COUNTS)[number]>> = {};
  for (const name of COUNTS) {
    const count = usage[name];
    if (typeof count === "number" && Number.isFinite(count) && count >= 0) counts[name] = count;
  }
  return Object.keys(counts).length === 0 ? [] : [{ type: "usage", ...counts }];
}

function responseOf({ responseId, responseModel }: Loose): Delta[] {
  if (!isName(responseId) && !isName(responseModel)) return [];
  return [
    {
      type: "response",
      ...(isName(responseId) ? { id: responseId } : {}),
      ...(isName(responseModel) ? { model: responseModel } : {}),
    },
  ];
}

function asRecord(value: unknown): Loose {
  return isRecord(value) ? value : {};
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
