import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { ImageContent, TextContent } from "@tiller/protocol/content";
import type { HostToolCall, HostToolCancel } from "@tiller/protocol/host-tools";
import type { ToolResult } from "@tiller/protocol/tool";
import { imageProblem } from "../../lib/image-problem.ts";
import { wrongField } from "../../lib/wrong-field.ts";
import type { RunHostTool } from "../../session/host-tools.ts";
import { createPendingRequests } from "./pending-requests.ts";

/** Calls of the host's tools, as frames. */
export interface HostToolBridge {
  run: RunHostTool;
  /** Takes a `host_tool_result`; gives back what is wrong with it. Of a call that nobody waits for it is ignored. */
  result(frame: Frame): string | undefined;
  /** The same for a `host_tool_update`. */
  update(frame: Frame): string | undefined;
  /** The host is gone: nobody will answer any more. */
  close(): void;
}

type Frame = Readonly<Record<string, unknown>>;
/** What the model reads instead of a result. */
type Settled = { result: ToolResult } | { failure: string };

export interface HostToolBridgeOptions {
  write(frame: HostToolCall | HostToolCancel): void;
  ids: IdSource;
  clock: Clock;
}

const NO_ID = '"id" must be the id of a host_tool_call';
const GONE = "RPC client disconnected before host tool execution completed";

export function createHostToolBridge({ write, ids, clock }: HostToolBridgeOptions): HostToolBridge {
  const calls = createPendingRequests<Settled>("host", ids, clock);
  const names = new Map<string, string>();
  let isClosed = false;

  const giveUp = (targetId: string, failure: string): Settled => {
    names.delete(targetId);
    write({ type: "host_tool_cancel", id: ids.count("host"), targetId });
    return { failure };
  };

  return {
    async run({ toolName, toolCallId, args, signal, onUpdate, timeoutMs }) {
      if (isClosed) throw new Error(GONE);
      if (signal.aborted) throw new Error(abortedText(toolName));
      let callId = "";
      try {
        const settled = await calls.open({
          send(id) {
            callId = id;
            names.set(id, toolName);
            write({ type: "host_tool_call", id, toolCallId, toolName, arguments: args });
          },
          signal,
          onAbort: (id) => giveUp(id, abortedText(toolName)),
          ...(timeoutMs !== undefined && {
            timeoutMs,
            onTimeout: (id: string) => giveUp(id, `Host tool "${toolName}" did not answer within ${timeoutMs} ms`),
          }),
          onUpdate: (partial) => onUpdate(partial as ToolResult),
        });
        if ("failure" in settled) throw new Error(settled.failure);
        return settled.result;
      } finally {
        names.delete(callId);
      }
    },
    result(frame) {
      const { id, isError } = frame;
      if (typeof id !== "string") return NO_ID;
      const name = names.get(id);
      if (name === undefined) return undefined;
      // From here on it is over: what is wrong with another answer in the same breath is nobody's business.
      names.delete(id);
      const result = readToolResult(frame.result);
      const wrong = wrongField(frame, { isError: "yesOrNo" });
      if (typeof result !== "string" && wrong === undefined) {
        calls.settle(id, isError === true ? { failure: textOf(result) || "Host tool execution failed" } : { result });
        return undefined;
      }
      // Nobody shall wait for an answer that the host believes to have given.
      const problem = wrong ?? `"result" ${result}`;
      calls.settle(id, { failure: `Host tool "${name}" answered badly: ${problem}` });
      return problem;
    },
    update(frame) {
      const { id } = frame;
      if (typeof id !== "string") return NO_ID;
      if (!names.has(id)) return undefined;
      const partial = readToolResult(frame.partialResult);
      // The call goes on: only what it said of its progress is lost.
      if (typeof partial === "string") return `"partialResult" ${partial}`;
      calls.update(id, partial);
      return undefined;
    },
    close() {
      isClosed = true;
      calls.rejectAll(new Error(GONE));
    },
  };
}

function abortedText(toolName: string): string {
  return `Host tool "${toolName}" was aborted`;
}

function textOf({ content }: ToolResult): string {
  return content
    .map((block) => (block.type === "text" ? block.text : ""))
    .filter((text) => text !== "")
    .join("\n")
    .trim();
}

/** Or what is wrong with it. */
export function readToolResult(given: unknown): ToolResult | string {
  if (typeof given !== "object" || given === null) return 'must be an object with "content"';
  const { content, details } = given as { content?: unknown; details?: unknown };
  if (!Array.isArray(content)) return 'has no "content", which must be a list of text and image blocks';
  const blocks: (TextContent | ImageContent)[] = [];
  for (const [index, block] of content.entries()) {
    const read = contentBlock(block);
    if (!read) return `has something else than a text or image block at content[${index}]`;
    const problem = read.type === "image" ? imageProblem(read) : undefined;
    if (problem !== undefined) return `has an image at content[${index}] that no model can see: ${problem}`;
    blocks.push(read);
  }
  return { content: blocks, ...(details === undefined ? {} : { details }) };
}

function contentBlock(given: unknown): TextContent | ImageContent | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { type, text, data, mimeType } = given as Record<string, unknown>;
  if (type === "text" && typeof text === "string") return { type, text: text.toWellFormed() };
  if (type === "image" && typeof data === "string" && typeof mimeType === "string") return { type, data, mimeType };
  return undefined;
}
