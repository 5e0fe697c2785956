import type { Frame } from "./events.ts";

/** How an agent ended. `error` when it could not be started, or when what it wrote made no sense. */
export interface AgentExit {
  code: number | null;
  signal: string | null;
  error?: Error;
}

export interface TransportHandlers {
  onFrame(frame: Frame): void;
  /** A line on stdout that is no frame: agents and their extensions print all kinds of things. */
  onNoise(line: string): void;
  /** Once, after the last frame. */
  onExit(exit: AgentExit): void;
}

/** The way to one agent: a process over pipes, or whatever speaks frames. It can be used once. */
export interface Transport {
  start(handlers: TransportHandlers): void;
  send(frame: object): void;
  /** The client has more than it can take; a transport may go on for a little while. */
  pause(): void;
  resume(): void;
  /** Ends the agent; resolves when it is gone. */
  stop(): Promise<void>;
  /** The end of what was written to stderr. */
  stderr(): string;
}
