import type { Readable } from "node:stream";
import { createLineSplitter } from "../lib/jsonl.ts";
import { type InputLine, isInput, type LogLine, parsed, toBuffer } from "./format.ts";

/** What a host has said, and what it says now, line by line: how bytes were cut is nobody's fault. */

/** By the index of a `host` line in the log: the lines that are complete with it. */
export function recordedHostLines(log: readonly LogLine[]): Map<number, string[]> {
  const found = new Map<number, string[]>();
  let rest = Buffer.alloc(0);
  for (const [index, line] of log.entries()) {
    if (!isInput(line) || line.in !== "host") continue;
    const pieces = Buffer.concat([rest, toBuffer(line)])
      .toString("latin1")
      .split("\n");
    rest = Buffer.from(pieces.pop() ?? "", "latin1");
    found.set(
      index,
      pieces.map((piece) => Buffer.from(piece, "latin1").toString("utf8").replace(/\r$/, "")),
    );
  }
  return found;
}

export function isHostEnd(line: LogLine): line is InputLine {
  return isInput(line) && (line.in === "host-end" || line.in === "host-error");
}

/** The same command, whatever the host calls it this time and in whichever order its fields stand. */
export function isSameCommand(expected: string, got: string): { same: boolean; sameId: boolean } {
  if (expected === got) return { same: true, sameId: true };
  const [a, b] = [parsed(expected) as Fields | undefined, parsed(got) as Fields | undefined];
  if (!a || !b) return { same: false, sameId: true };
  return { same: sorted({ ...a, id: 0 }) === sorted({ ...b, id: 0 }), sameId: a.id === b.id };
}

type Fields = Record<string, unknown>;

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The host that is there. */
export interface LiveHost {
  /** Resolves to so many lines, or to fewer when no more will come. */
  take(count: number): Promise<string[]>;
  /** Resolves when it has closed its side: with the first line that came instead, if one did. */
  ended(): Promise<string | undefined>;
  /** From now on lines are handed on as they come. */
  freely(onLine: (line: string) => void, onEnd: () => void): void;
}

const LONGEST_LINE_BYTES = 256 * 1024 * 1024;

export function createLiveHost(input: Readable): LiveHost {
  const lines: string[] = [];
  let isOver = false;
  let look: () => void = () => undefined;
  const splitter = createLineSplitter({
    maxBytes: LONGEST_LINE_BYTES,
    onLine: (line) => void lines.push(line),
    onTooLong: () => undefined,
  });
  const close = (): void => {
    if (isOver) return;
    splitter.end();
    isOver = true;
    look();
  };
  input.on("data", (chunk: Buffer) => {
    splitter.push(chunk);
    look();
  });
  input.on("end", close);
  input.on("error", close);

  const until = (isEnough: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      look = () => {
        if (isEnough()) resolve();
      };
      look();
    });
  return {
    async take(count) {
      await until(() => isOver || lines.length >= count);
      return lines.splice(0, count);
    },
    async ended() {
      await until(() => isOver || lines.length > 0);
      return lines.shift();
    },
    freely(onLine, onEnd) {
      look = () => {
        for (const line of lines.splice(0)) onLine(line);
        if (isOver) onEnd();
      };
      look();
    },
  };
}
