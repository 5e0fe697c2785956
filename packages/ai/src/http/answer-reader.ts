/** Reads one HTTP/1.1 answer from the bytes of a connection, however they are cut. Pure: RFC 9112 as far as answers go. */

export type AnswerHeaders = Readonly<Record<string, string | undefined>>;

export interface AnswerHead {
  status: number;
  statusText: string;
  /** By lower-case name; what came several times is joined by commas. */
  headers: AnswerHeaders;
}

export interface AnswerParts {
  head(head: AnswerHead): void;
  piece(bytes: Buffer): void;
}

export interface AnswerReader {
  /** Throws when this is no answer. What stands behind the answer is not looked at. */
  push(bytes: Buffer): void;
  /** The connection has ended: whether that was the end of the answer as well. */
  close(): boolean;
  readonly isOver: boolean;
  /** Another request may be sent over the same connection. */
  readonly keepsAlive: boolean;
  /** Of the last bytes, those that do not belong to the answer. */
  readonly behind: Buffer | undefined;
}

/** An answer that does not follow the rules of HTTP. */
export class BadAnswer extends Error {
  readonly code = "ERR_BAD_ANSWER";
}

const LF = 10;
/** Of all lines before the body and of all around its pieces that are not yet whole. */
const LONGEST_HEAD = 64 * 1024;
const STATUS_LINE = /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/;
const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):(.*)$/;
const CHUNK_LINE = /^0*([\da-f]{1,13})[ \t]*(?:;.*)?$/i;
const PRINTABLE = /^[\t\x20-\x7e\x80-\xff]*$/;
const LENGTH = /^\d{1,15}$/;
/** Others may come several times and mean a list. */
const FIRST_COUNTS: ReadonlySet<string> = new Set(["content-type", "retry-after", "location"]);

type State = "status" | "headers" | "length" | "close" | "chunk" | "chunk end" | "trailers" | "over";

/** `isTunnel`: a proxy was asked for a way through, and what follows its consent is not an answer any more. */
export function createAnswerReader(parts: AnswerParts, { isTunnel = false } = {}): AnswerReader {
  let state: State = "status";
  let line = "";
  let headLength = 0;
  let version = "1";
  let status = 0;
  let statusText = "";
  let headers: Record<string, string | undefined> = {};
  let lastName: string | undefined;
  let keepsAlive = false;
  /** Of the body, or of its piece. */
  let left = 0;
  let isChunked = false;
  let bytes: Buffer = NOTHING;
  let at = 0;

  /** Without its end; undefined when that is still to come. */
  const nextLine = (): string | undefined => {
    const lf = bytes.indexOf(LF, at);
    const end = lf === -1 ? bytes.length : lf;
    headLength += end - at + 1;
    if (headLength > LONGEST_HEAD) throw new BadAnswer(`a head of more than ${LONGEST_HEAD} bytes`);
    line += bytes.toString("latin1", at, end);
    at = end + 1;
    if (lf === -1) return undefined;
    const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
    line = "";
    return whole;
  };
  const readStatus = (text: string): void => {
    // Some servers end a body with a line end too many.
    if (text === "") return;
    const found = STATUS_LINE.exec(text);
    if (!found || !PRINTABLE.test(text)) throw new BadAnswer(`${quoted(text)} is no HTTP/1.1 status line`);
    version = found[1]!;
    status = Number(found[2]);
    statusText = found[3] ?? "";
    headers = Object.create(null);
    lastName = undefined;
    state = "headers";
  };
  const readHeader = (text: string): void => {
    const [, name, value = ""] = HEADER_LINE.exec(text) ?? [];
    // An old way to go on on the next line.
    const isMore = name === undefined && lastName !== undefined && /^[ \t]/.test(text);
    if ((name === undefined && !isMore) || !PRINTABLE.test(text)) throw new BadAnswer(`${quoted(text)} is no header`);
    if (name !== undefined) lastName = name.toLowerCase();
    addHeader(headers, lastName!, isMore ? text.trim() : value.trim(), isMore);
  };
  /** How long the body is, and whether the connection can be used after it. */
  const endHead = (): void => {
    if (status === 101) throw new BadAnswer("it goes on in another protocol");
    // Not the answer yet: it says that it is coming.
    if (status < 200) {
      state = "status";
      return;
    }
    const connection = tokens(headers.connection);
    keepsAlive = version === "1" ? !connection.includes("close") : connection.includes("keep-alive");
    const codings = tokens(headers["transfer-encoding"]).filter((coding) => coding !== "identity");
    const length = headers["content-length"];
    if (isTunnel && status < 300) {
      keepsAlive = false;
      state = "over";
    } else if (status === 204 || status === 304) state = "over";
    else if (codings.length > 0) {
      const unknown = codings.find((coding) => coding !== "chunked");
      if (unknown !== undefined) throw new BadAnswer(`the transfer-encoding ${quoted(unknown)}`);
      // Who says it twice, says a length as well or speaks an old version may mean something else: what follows is not trusted
      // to be another answer.
      if (codings.length > 1 || length !== undefined || version === "0") keepsAlive = false;
      isChunked = true;
      state = "chunk";
    } else if (length !== undefined) {
      left = lengthIn(length);
      state = left === 0 ? "over" : "length";
    } else {
      keepsAlive = false;
      state = "close";
    }
    // It did not wait for the request, and may answer that as well.
    if (status === 408) keepsAlive = false;
    headLength = 0;
    parts.head({ status, statusText, headers });
  };
  const readChunkSize = (text: string): void => {
    const size = CHUNK_LINE.exec(text)?.[1];
    if (size === undefined) throw new BadAnswer(`${quoted(text)} is no size of a piece`);
    headLength = 0;
    left = Number.parseInt(size, 16);
    state = left === 0 ? "trailers" : "length";
  };
  const onLine: Partial<Record<State, (text: string) => void>> = {
    status: readStatus,
    headers: (text) => (text === "" ? endHead() : readHeader(text)),
    chunk: readChunkSize,
    "chunk end": (text) => {
      if (text !== "") throw new BadAnswer("a piece is longer than was said");
      headLength = 0;
      state = "chunk";
    },
    trailers: (text) => {
      if (text === "") state = "over";
    },
  };
  const giveBody = (): void => {
    const size = state === "close" ? bytes.length - at : Math.min(left, bytes.length - at);
    const piece = bytes.subarray(at, at + size);
    at += size;
    left -= size;
    if (state === "length" && left === 0) state = isChunked ? "chunk end" : "over";
    parts.piece(piece);
  };

  return {
    push(next) {
      bytes = next;
      at = 0;
      while (at < bytes.length && state !== "over") {
        const read = onLine[state];
        if (!read) {
          giveBody();
          continue;
        }
        const text = nextLine();
        if (text !== undefined) read(text);
      }
    },
    close() {
      if (state === "close") state = "over";
      return state === "over";
    },
    get isOver() {
      return state === "over";
    },
    get keepsAlive() {
      return keepsAlive;
    },
    get behind() {
      return at < bytes.length ? bytes.subarray(at) : undefined;
    },
  };
}

const NOTHING = Buffer.alloc(0);

function addHeader(headers: Record<string, string | undefined>, name: string, value: string, isMore: boolean): void {
  const known = headers[name];
  if (known === undefined) headers[name] = value;
  else if (isMore) headers[name] = `${known} ${value}`;
  else if (!FIRST_COUNTS.has(name)) headers[name] = `${known}, ${value}`;
}

/** A length that was said twice must be the same. */
function lengthIn(text: string): number {
  const said = new Set(text.split(",").map((length) => length.trim()));
  const [length = ""] = said;
  if (said.size > 1 || !LENGTH.test(length)) throw new BadAnswer(`the content-length ${quoted(text)}`);
  return Number(length);
}

function tokens(list: string | undefined): string[] {
  return list === undefined
    ? []
    : list
        .toLowerCase()
        .split(/[\s,]+/)
        .filter((token) => token !== "");
}

const LONGEST_QUOTE = 60;

function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}...` : text);
}
