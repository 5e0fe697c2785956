import type { Clock } from "@tiller/protocol/clock";
import type { Message } from "./json-rpc.ts";

/** The way to a server. */
export interface Transport {
  send(message: Message, signal: AbortSignal): Promise<void>;
  /** What was agreed on in the handshake; from now on the server may speak by itself. */
  agreed(version: string): void;
  close(): void;
  /** What the server has said beside the protocol since this was last asked, to be put behind an error; may be empty. */
  said(): string;
}

export interface TransportEvents {
  clock: Clock;
  /** Whatever was said; false when it was no message. */
  onMessage(message: unknown): boolean;
  /** Nothing more will come, and why. Not called after `close`. */
  onEnd(error: Error): void;
  /** What is no business of others is taken out of words that are shown. */
  hide(text: string): string;
}

/** A longer message would only fill the memory. */
export const LONGEST_MESSAGE = 32 * 1024 * 1024;
