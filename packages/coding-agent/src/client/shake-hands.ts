import type { CommandResults } from "@tiller/protocol/plain-types.generated";
import type { CallOptions } from "./call.ts";
import { MAX_FRAME_BYTES, MAX_REASSEMBLED_BYTES } from "./chunks.ts";
import { ClientError, stderrNote } from "./errors.ts";
import type { Frame } from "./events.ts";

/** What is known of the agent once it has answered for the first time. */
export interface Greeting {
  /** The frame that some agents begin with. */
  ready?: Frame;
  /** Tiller only. */
  capabilities?: CommandResults["get_capabilities"];
  /** It ends each prompt with a `prompt_result`. */
  hasResults?: boolean;
  sessionFile?: string;
}

export interface Hands {
  request(type: string, params: object, options?: CallOptions): Promise<unknown>;
  ready(): Frame | undefined;
  timeoutMs: number;
  stderr(): string;
}

/**
 * Asks what the agent is, in a way that all of them understand: a question that only some know, and behind it one that all
 * know. Its answer says that the agent is there, with or without a `ready`, and that no other answer to the first will come.
 */
export async function shakeHands({ request, ready, timeoutMs, stderr }: Hands): Promise<Greeting> {
  const notLonger = new AbortController();
  const known = request("get_capabilities", {}, { timeoutMs: 0, signal: notLonger.signal }).then(
    (data) => (isCapabilities(data) ? data : undefined),
    () => undefined,
  );
  let state: unknown;
  try {
    state = await request("get_state", {}, { timeoutMs });
  } catch (error) {
    throw error instanceof ClientError && error.code === "timeout" ? tooLate(timeoutMs, stderr()) : error;
  } finally {
    notLonger.abort();
  }
  const capabilities = await known;
  const sessionFile = (state as { sessionFile?: unknown } | undefined)?.sessionFile;
  const frame = ready();
  return {
    ...(frame && { ready: frame }),
    ...(capabilities && { capabilities }),
    ...(typeof sessionFile === "string" && { sessionFile }),
    hasResults: capabilities !== undefined && capabilities.dialect !== "pi",
  };
}

/** Some agents answer whatever they are asked. */
function isCapabilities(data: unknown): data is CommandResults["get_capabilities"] {
  return Array.isArray((data as { commands?: unknown } | undefined)?.commands);
}

/** Frames in pieces are understood only in these sizes. */
export function acceptsVersion2(ready: Frame | undefined): boolean {
  const versions = ready?.supportedProtocolVersions;
  return (
    Array.isArray(versions) &&
    versions.includes(2) &&
    ready?.maxFrameBytes === MAX_FRAME_BYTES &&
    ready?.maxReassembledFrameBytes === MAX_REASSEMBLED_BYTES
  );
}

function tooLate(ms: number, stderr: string): ClientError {
  const text = `Timeout waiting for agent to become ready: no answer after ${ms} ms.${stderrNote(stderr)}`;
  return new ClientError("timeout", text, { stderr });
}
