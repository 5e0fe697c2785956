/**
 * Looks through JSON without making anything of it, so that bytes of a file can be sent on as they are. It accepts what
 * `JSON.parse` accepts (whether the bytes are UTF-8 is for the caller to look at), several times faster. It is
 * written for that: one loop, bytes compared as numbers, and hardly a call.
 */

/** Deeper than this is left to the caller, who parses it. */
const DEEPEST = 512;

/** Whether the value at each depth, from 1 on, is an object. One for all calls, they do not overlap. */
const isObject = new Uint8Array(DEEPEST + 1);

/** Characters of a string that mean only themselves. */
const PLAIN = new Uint8Array(256);
PLAIN.fill(1, 0x20, 0x80);
PLAIN[0x22] = 0;
PLAIN[0x5c] = 0;

const SPACE = new Uint8Array(256);
for (const c of " \t\n\r") SPACE[c.charCodeAt(0)] = 1;

/**
 * Where the value that begins at `start` ends (exclusive), or -1 if no whole value stands there, or one that this
 * reader does not follow: too deep, or with something in it that must not be sent on as it is, which is raw U+2028 or
 * U+2029, and a text that stands for an image elsewhere. Behind
 * `end` there has to be a line end sooner or later, or the end of the bytes.
 */
export function jsonEnd(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    // A value is due here.
    let c = bytes[at]!;
    while (SPACE[c] === 1) c = bytes[++at]!;
    if (at >= end) return -1;
    if (c === 0x22) at = stringEnd(bytes, at, end);
    else if (c === 0x7b || c === 0x5b) {
      if (depth === DEEPEST) return -1;
      depth += 1;
      isObject[depth] = c === 0x7b ? 1 : 0;
      c = bytes[++at]!;
      while (SPACE[c] === 1) c = bytes[++at]!;
      if (c !== (isObject[depth] === 1 ? 0x7d : 0x5d)) {
        if (isObject[depth] === 1) at = keyEnd(bytes, at, end);
        if (at < 0) return -1;
        continue;
      }
      depth -= 1;
      at += 1;
    } else at = scalarEnd(bytes, at, end);
    if (at < 0) return -1;
    // A value has ended, and with it perhaps those around it.
    for (;;) {
      if (depth === 0) return at <= end ? at : -1;
      c = bytes[at]!;
      while (SPACE[c] === 1) c = bytes[++at]!;
      at += 1;
      if (c === 0x2c) break;
      if (c !== (isObject[depth] === 1 ? 0x7d : 0x5d)) return -1;
      depth -= 1;
    }
    if (isObject[depth] === 1) at = keyEnd(bytes, at, end);
    if (at < 0) return -1;
  }
}

/** Behind `"key":`. */
function keyEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (SPACE[bytes[at]!] === 1) at += 1;
  if (bytes[at] !== 0x22) return -1;
  at = stringEnd(bytes, at, end);
  if (at < 0) return -1;
  while (SPACE[bytes[at]!] === 1) at += 1;
  return bytes[at] === 0x3a ? at + 1 : -1;
}

/** `from` is the opening quote; the result is behind the closing one. */
function stringEnd(bytes: Uint8Array, from: number, end: number): number {
  if (bytes[from + 1] === BLOB_MARK[0] && isBlob(bytes, from + 1)) return -1;
  let at = from;
  for (;;) {
    let c = bytes[++at]!;
    while (PLAIN[c] === 1) c = bytes[++at]!;
    if (at >= end) return -1;
    if (c === 0x22) return at + 1;
    if (c === 0x5c) {
      at = escapeEnd(bytes, at + 1);
      if (at < 0) return -1;
    } else if (c < 0x80 || isLineBreak(bytes, at)) return -1;
  }
}

/** How omp and xcsh begin a text that stands for an image outside of the file. */
const BLOB_MARK = Buffer.from("blob:sha256:");

function isBlob(bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < BLOB_MARK.length; i++) if (bytes[at + i] !== BLOB_MARK[i]) return false;
  return true;
}

/** U+2028 and U+2029 are E2 80 A8 and E2 80 A9. */
function isLineBreak(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xe2 && bytes[at + 1] === 0x80 && (bytes[at + 2]! & 0xfe) === 0xa8;
}

const ESCAPED = new Uint8Array(256);
for (const c of '"\\/bfnrt') ESCAPED[c.charCodeAt(0)] = 1;
const HEX = new Uint8Array(256);
for (const c of "0123456789abcdefABCDEF") HEX[c.charCodeAt(0)] = 1;

/** The last byte of the escape; `at` is behind the backslash. */
function escapeEnd(bytes: Uint8Array, at: number): number {
  if (ESCAPED[bytes[at]!] === 1) return at;
  if (bytes[at] !== 0x75) return -1;
  for (let i = at + 1; i <= at + 4; i++) if (HEX[bytes[i]!] !== 1) return -1;
  return at + 4;
}

const WORDS = ["true", "false", "null"].map((word) => Uint8Array.from(word, (c) => c.charCodeAt(0)));

function scalarEnd(bytes: Uint8Array, from: number, end: number): number {
  const first = bytes[from]!;
  if (first === 0x2d || isDigit(first)) return numberEnd(bytes, from, end);
  for (const word of WORDS) {
    if (word[0] !== first) continue;
    for (let i = 1; i < word.length; i++) if (bytes[from + i] !== word[i]) return -1;
    return from + word.length;
  }
  return -1;
}

function numberEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = bytes[from] === 0x2d ? from + 1 : from;
  at = bytes[at] === 0x30 ? at + 1 : digitsEnd(bytes, at, end);
  if (at > 0 && bytes[at] === 0x2e) at = digitsEnd(bytes, at + 1, end);
  if (at > 0 && (bytes[at]! | 0x20) === 0x65) {
    const sign = bytes[at + 1];
    at = digitsEnd(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1, end);
  }
  return at;
}

/** At least one digit. */
function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  if (!isDigit(bytes[from]!)) return -1;
  let at = from + 1;
  while (at < end && isDigit(bytes[at]!)) at += 1;
  return at;
}

function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39;
}
