/** Time and ids come from outside, so that tests can hold them still. The real ones live in `coding-agent/src/lib/clock.ts`. */

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Runs `fn` once after `ms`; returns a function that cancels it. `isIdle`: no process is kept alive for it. */
  after(ms: number, fn: () => void, isIdle?: boolean): () => void;
}

export interface IdSource {
  /** A session id: UUIDv7, sortable by time. */
  uuid(): string;
  /** An entry id: 8 hex characters. */
  short(): string;
  /** A counted id within this process: `prompt-1`, `prompt-2`, ... */
  count(prefix: string): string;
  /** A number from 0 to 1, drawn by lot. */
  lot(): number;
}
