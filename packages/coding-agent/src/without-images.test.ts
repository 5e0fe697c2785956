import type { LlmMessage } from "@tiller/protocol/message";
import { expect, test } from "vitest";
import { withoutImages } from "./without-images.ts";

const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
const note = { type: "text", text: "(image left out: the setting images.blockImages)" };
const said = (content: unknown) => ({ role: "user", content, timestamp: 1 }) as LlmMessage;

test("a note stands where an image was, of a person and of a tool; the rest is as it was", () => {
  const result = {
    role: "toolResult",
    toolCallId: "1",
    toolName: "read",
    content: [image],
    isError: false,
    timestamp: 2,
  };
  const words = [said("look"), said([{ type: "text", text: "at this" }]), { role: "assistant", content: [] } as never];
  const shown = withoutImages([...words, said([{ type: "text", text: "and" }, image]), result as LlmMessage]);
  expect(shown.slice(0, 3).map((message, i) => message === words[i])).toEqual([true, true, true]);
  expect(shown.slice(3).map(({ content }) => content)).toEqual([[{ type: "text", text: "and" }, note], [note]]);
});
