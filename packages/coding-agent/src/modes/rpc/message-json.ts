import type { AssistantMessage } from "@tiller/protocol/message";
import { toJson } from "../../lib/wire-json.ts";

/**
 * The JSON of a message that is being streamed. It stands in every snapshot, so that a message of thousands of tool calls is
 * asked for thousands of times; a block changes only with an event that names it, and until then its JSON is kept.
 */
export interface MessageJson {
  of(message: AssistantMessage): string;
  /** This block may be another one by now. */
  changed(contentIndex: number): void;
  /** All of them may be. */
  clear(): void;
}

/** Strings are quoted in JSON, so this can only be the name and the empty list themselves. */
const EMPTY = '"content":[]';

export function createMessageJson(): MessageJson {
  let blocks: (string | undefined)[] = [];
  /** The first blocks as they stand in the list. The last one is not among them: it is the one that grows. */
  let head = "";
  let inHead = 0;
  const forgetHead = (): void => {
    head = "";
    inHead = 0;
  };
  return {
    of(message) {
      const { content } = message;
      for (let at = inHead; at < content.length; at++) blocks[at] ??= toJson(content[at]);
      for (; inHead < content.length - 1; inHead++) head += `${blocks[inHead]},`;
      const around = toJson({ ...message, content: [] });
      const at = around.indexOf(EMPTY) + EMPTY.length - 1;
      return `${around.slice(0, at)}${head}${blocks[inHead] ?? ""}${around.slice(at)}`;
    },
    changed(contentIndex) {
      blocks[contentIndex] = undefined;
      if (contentIndex < inHead) forgetHead();
    },
    clear() {
      blocks = [];
      forgetHead();
    },
  };
}
