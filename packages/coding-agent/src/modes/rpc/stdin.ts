import { fstatSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

/** Standard input, opened directly where that is possible: `process.stdin` costs several milliseconds at start. */
export function openStdin(): Readable {
  const kind = fstatSync(0);
  if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd: 0, readable: true, writable: false });
  return process.stdin;
}
