/**
 * Bytes in, lines out. LF is the only separator: U+2028 and U+2029 are ordinary characters, a CR before the LF is
 * dropped, characters may be cut anywhere between two chunks, and the last line needs no LF. A line over the cap is
 * reported once and reading goes on after its LF.
 */
export interface LineSplitter {
  push(chunk: Uint8Array): void;
  /** No more bytes: gives out what is left. */
  end(): void;
}

export interface LineSplitterOptions {
  maxBytes: number;
  onLine(line: string): void;
  /** A line grew over the cap; `bytes` is how much of it had been read when that was noticed, `begin` how it begins. */
  onTooLong(bytes: number, begin: string): void;
}

/** So much of a line that is skipped is told. */
const BEGIN_BYTES = 1024;

const LF = 10;
const BOM = "\uFEFF";

export function createLineSplitter({ maxBytes, onLine, onTooLong }: LineSplitterOptions): LineSplitter {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let skipping = false;
  let first = true;

  const give = (line: string): void => {
    let text = line;
    if (first && text.startsWith(BOM)) text = text.slice(1);
    first = false;
    onLine(text.endsWith("\r") ? text.slice(0, -1) : text);
  };

  const keep = (part: Buffer): void => {
    if (skipping || part.length === 0) return;
    if (waitingBytes + part.length > maxBytes) {
      onTooLong(waitingBytes + part.length, beginOf([...waiting, part]));
      skipping = true;
      waiting = [];
      waitingBytes = 0;
      return;
    }
    waiting.push(part);
    waitingBytes += part.length;
  };

  const giveWaiting = (): void => {
    const whole = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, waitingBytes);
    waiting = [];
    waitingBytes = 0;
    give(whole.toString("utf8"));
  };

  /** Closes the line that earlier chunks began; returns where the next one starts. */
  const closeWaiting = (chunk: Buffer, end: number): number => {
    keep(chunk.subarray(0, end));
    if (skipping) skipping = false;
    else giveWaiting();
    return end + 1;
  };

  /** Lines that lie wholly inside one chunk: decoded together, because LF never occurs inside a character. */
  const giveWhole = (chunk: Buffer, start: number, end: number): void => {
    if (end - start <= maxBytes) {
      for (const line of chunk.toString("utf8", start, end).split("\n")) give(line);
      return;
    }
    for (let at = start; at <= end; ) {
      const lf = chunk.indexOf(LF, at);
      const stop = lf === -1 || lf > end ? end : lf;
      if (stop - at > maxBytes) onTooLong(stop - at, beginOf([chunk.subarray(at, stop)]));
      else give(chunk.toString("utf8", at, stop));
      at = stop + 1;
    }
  };

  return {
    push(bytes) {
      const chunk = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const last = chunk.lastIndexOf(LF);
      if (last === -1) {
        keep(chunk);
        return;
      }
      let start = 0;
      if (waitingBytes > 0 || skipping) start = closeWaiting(chunk, chunk.indexOf(LF));
      if (start <= last) giveWhole(chunk, start, last);
      keep(chunk.subarray(last + 1));
    },
    end() {
      if (waitingBytes > 0) giveWaiting();
      skipping = false;
    },
  };
}

/** A character that is cut at its end is dropped. */
function beginOf(parts: readonly Buffer[]): string {
  const some: Buffer[] = [];
  for (let at = 0, bytes = 0; at < parts.length && bytes < BEGIN_BYTES; at++) {
    const part = parts[at]!.subarray(0, BEGIN_BYTES - bytes);
    some.push(part);
    bytes += part.length;
  }
  return Buffer.concat(some)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
}
