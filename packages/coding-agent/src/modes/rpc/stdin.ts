import { close, createReadStream, fstatSync, open, read } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

/** As they were at the start: where extensions are loaded others cannot reach stdin through them any more. */
const OWN = { open, close, read };
const own = Object.getOwnPropertyDescriptor(process, "stdin");
/** Under Bun a socket over a pipe says "end" before it has read anything, and the property has no getter to keep. */
const ownOfBun = process.versions.bun === undefined ? undefined : process.stdin;

/** Standard input, opened directly where that is possible: `process.stdin` costs several milliseconds at start. */
export function openStdin(): Readable {
  if (ownOfBun) return ownOfBun;
  const kind = fstatSync(0);
  if (kind.isFIFO() || kind.isSocket()) return new Socket({ fd: 0, readable: true, writable: false });
  if (kind.isFile()) return createReadStream("", { fd: 0, autoClose: false, fs: OWN });
  return own?.get?.call(process) ?? process.stdin;
}
