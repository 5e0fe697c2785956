import { StringDecoder } from "node:string_decoder";
import { ProviderError } from "../errors.ts";

/**
 * Server-sent events: bytes to the `data` of each event. Names of events are not kept, as every API we speak repeats them
 * inside the data; `id` and `retry` are for those who ask for them. A line ends with LF or CR LF.
 *
 * Written for bursts: a piece is cut at its blank lines by one call, which costs a third of looking at every line.
 */
export interface SseDecoder {
  /** The events that are complete with this piece, whatever its borders are. */
  push(bytes: Uint8Array): string[];
  /** The stream has ended: an event whose lines are complete but whose blank line is missing still counts. */
  end(): string[];
}

/** Longer than any image a model sends; without an end to it a server could fill the memory. */
const LONGEST_EVENT = 32 * 1024 * 1024;
const TOO_LONG = `The server sent an event longer than ${LONGEST_EVENT} characters`;

/** As long as a blank line, with the end of the line before it. */
const SEAM = 3;

/** `onMark` hears where the stream is (`id`), and how many milliseconds to wait before asking for the rest of it (`retry`). */
export function createSseDecoder(onMark?: OnMark): SseDecoder {
  const decoder = new StringDecoder("utf8");
  /** The beginning of an event whose end has not arrived. */
  let rest = "";
  /** Its last characters, as a blank line may come in two pieces. To ask `rest` itself would copy it every time. */
  let tail = "";
  let fresh = true;

  const read = (blocks: readonly string[]): string[] => {
    if (onMark) for (const block of blocks) tellMarks(block, onMark);
    return dataOfEach(blocks);
  };
  const decode = (bytes: Uint8Array): string => {
    const text = decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (!fresh || text === "") return text;
    fresh = false;
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  };

  return {
    push(bytes) {
      const piece = decode(bytes);
      if (!hasBlankLine(piece) && !hasBlankLine(tail + piece.slice(0, SEAM))) {
        rest += piece;
        tail = (tail + piece.slice(-SEAM)).slice(-SEAM);
        if (rest.length > LONGEST_EVENT) throw new ProviderError("malformed", TOO_LONG);
        return [];
      }
      const blocks = blocksOf(rest, piece);
      rest = blocks.pop() ?? "";
      tail = rest.slice(-SEAM);
      return read(blocks);
    },
    end() {
      const text = rest.replaceAll("\r\n", "\n");
      rest = "";
      return text.endsWith("\n") ? read([text.slice(0, -1)]) : [];
    },
  };
}

function hasBlankLine(text: string): boolean {
  return text.includes("\n\n") || text.includes("\n\r\n");
}

/** A burst is cut as it has come: to put what was left over before it would copy all of it. */
function blocksOf(rest: string, piece: string): string[] {
  const isBlankBetween = rest.endsWith("\n") && piece.startsWith("\n");
  if (isBlankBetween || piece.includes("\r") || rest.includes("\r")) {
    return (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
  }
  const blocks = piece.split("\n\n");
  blocks[0] = rest + blocks[0];
  return blocks;
}

const MARKS = ["id", "retry"] as const;
type OnMark = (name: (typeof MARKS)[number], value: string) => void;

function tellMarks(block: string, onMark: OnMark): void {
  for (const line of block.split("\n")) {
    for (const name of MARKS) if (line.startsWith(`${name}:`)) onMark(name, line.slice(name.length + 1).trim());
  }
}

function dataOfEach(blocks: readonly string[]): string[] {
  const events: string[] = [];
  for (const block of blocks) {
    const start = block.startsWith("data:") ? 0 : block.indexOf("\ndata:") + 1;
    if (start === 0 && !block.startsWith("data:")) continue;
    events.push(block.includes("\n", start) ? joinedData(block) : lineData(block, start));
  }
  return events;
}

function lineData(line: string, start: number): string {
  return line.slice(line.startsWith(" ", start + 5) ? start + 6 : start + 5);
}

/** An event may have several lines of data. */
function joinedData(block: string): string {
  const lines = block.split("\n").filter((line) => line.startsWith("data:"));
  return lines.map((line) => lineData(line, 0)).join("\n");
}

/** The data of an event as an object; undefined when it is none. */
export function parseEventObject(data: string): object | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
