import type { FileHandle } from "node:fs/promises";
import type { ByteSource } from "./text-window.ts";

/** Texts that are not read from a file as they stand in it. */

export function fileSource(file: FileHandle): ByteSource {
  return { read: async (into) => (await file.read(into, 0, into.length)).bytesRead };
}

export function textSource(text: string): ByteSource {
  const bytes = Buffer.from(text);
  let position = 0;
  return {
    async read(into) {
      const copied = bytes.copy(into, 0, position);
      position += copied;
      return copied;
    },
  };
}

/** UTF-16, as some Windows programs write, turned into UTF-8. The mark in front goes. */
export function utf16Source(file: FileHandle, encoding: "utf-16le" | "utf-16be"): ByteSource {
  const decoder = new TextDecoder(encoding);
  let ready = Buffer.alloc(0);
  let ended = false;
  return {
    async read(into) {
      // A third of the room: a unit of two bytes becomes three at most.
      const chunk = Buffer.allocUnsafe(Math.max(2, Math.floor(into.length / 3)));
      while (ready.length === 0 && !ended) {
        const { bytesRead } = await file.read(chunk, 0, chunk.length);
        ended = bytesRead === 0;
        ready = Buffer.from(decoder.decode(chunk.subarray(0, bytesRead), { stream: !ended }));
      }
      const copied = ready.copy(into);
      ready = ready.subarray(copied);
      return copied;
    },
  };
}
