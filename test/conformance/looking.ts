import { at, type Frame, list } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";

/** What the conformance tests look for in frames. */

export const ofType = (frames: readonly Frame[], type: string): Frame[] =>
  frames.filter((frame) => frame.type === type);

/** The `assistantMessageEvent`s, all or those of one type. */
export const increments = (frames: readonly Frame[], type?: string): Frame[] =>
  ofType(frames, "message_update")
    .map((frame) => frame.assistantMessageEvent as Frame)
    .filter((event) => type === undefined || event.type === type);

/** The deltas of one block, joined. */
export const joined = (frames: readonly Frame[], type = "text_delta", contentIndex = 0): string =>
  increments(frames, type)
    .filter((event) => event.contentIndex === contentIndex)
    .map((event) => String(event.delta))
    .join("");

/** The message of the first `message_end` of that role. */
export function ended(frames: readonly Frame[], role: string): Frame {
  const found = ofType(frames, "message_end").find((frame) => at(frame, "message", "role") === role);
  if (!found) throw new Error(`no message_end of a ${role} message`);
  return found.message as Frame;
}

export const isEndOf =
  (role: string) =>
  (frame: Frame): boolean =>
    frame.type === "message_end" && at(frame, "message", "role") === role;

/** For `waitFor`: a `message_update` with such an increment. */
export const isIncrement =
  (type: string) =>
  (frame: Frame): boolean =>
    at(frame, "assistantMessageEvent", "type") === type;

export async function stateOf(rpc: RpcProcess): Promise<Frame> {
  return (await rpc.call({ type: "get_state" })).data as Frame;
}

export async function messagesOf(rpc: RpcProcess): Promise<Frame[]> {
  const { data } = await rpc.call({ type: "get_messages" });
  return list(at(data, "messages")) as Frame[];
}
