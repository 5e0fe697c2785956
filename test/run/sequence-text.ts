import { brief, type Frame } from "../support/frame.ts";
import type { Sequence } from "./sequence.ts";

/** A sequence as a story in the manner of test/transcripts, to read and to play again by hand. */
export function sequenceText({ model, args, steps, ending, dialogs }: Sequence, frames: readonly Frame[] = []): string {
  const lines = [`args  ${args.join(" ")}`, ...model.map((line) => `model ${line}`)];
  if (dialogs) {
    lines.push(
      "extension run/ask-anywhere.ts",
      `env   ASK_IN=${dialogs.where.join(",")}`,
      `env   ASK_PLAN=${dialogs.plan}`,
    );
    lines.push(`host  ${dialogs.manners.map((manner) => JSON.stringify(manner)).join(" ")}`);
  }
  for (const { pauseMs, action } of steps) {
    if (pauseMs > 0) lines.push(`wait  ${pauseMs}`);
    if ("stopReadingMs" in action) lines.push(`deaf  ${action.stopReadingMs}`);
    else lines.push(`>  ${typeof action.send === "string" ? action.send : JSON.stringify(action.send)}`);
  }
  lines.push(`end   ${ending}`);
  const told = frames.filter((frame) => frame.type !== "message_update").map((frame) => `<  ${brief(frame, 180)}`);
  return [...lines, ...told].join("\n");
}
