import { isInput, type LogLine, toBuffer } from "./format.ts";

/** Are the frames those of the recording, byte for byte? How many were written at once does not matter. */
export interface FrameCheck {
  readonly count: number;
  /** The first difference, once. */
  take(chunk: string | Buffer): string | undefined;
  /** What the recording has and did not come. */
  missing(): string | undefined;
  /** They cannot be the same any more, and that is all right. */
  stop(): void;
}

export function createFrameCheck(log: readonly LogLine[], redact: (text: string) => string): FrameCheck {
  const expected = recordedFrames(log);
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  let isOver = false;
  const look = (line: string): string | undefined => {
    const frame = expected[count];
    count += 1;
    if (isOver || frame?.text === redact(line)) return undefined;
    isOver = true;
    const where = frame ? `frame ${count} (log.jsonl:${frame.line})` : `frame ${count}`;
    return `${where}: expected ${frame ? around(frame.text, line) : "no more frames"}, got ${around(line, frame?.text ?? "")}`;
  };
  return {
    get count() {
      return count;
    },
    take(chunk) {
      let problem: string | undefined;
      rest = Buffer.concat([rest, typeof chunk === "string" ? Buffer.from(chunk) : chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        problem ??= look(rest.subarray(0, end).toString("utf8"));
        rest = rest.subarray(end + 1);
      }
      return problem;
    },
    missing() {
      const frame = expected[count];
      if (isOver || !frame) return undefined;
      return `frame ${count + 1} (log.jsonl:${frame.line}): expected ${around(frame.text, "")}, got no more frames`;
    },
    stop() {
      isOver = true;
    },
  };
}

/** Each with the line of the log that it begins in. */
export function recordedFrames(log: readonly LogLine[]): { text: string; line: number }[] {
  const frames: { text: string; line: number }[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let from = 0;
  for (const [index, line] of log.entries()) {
    if (isInput(line) || line.act !== "write") continue;
    if (rest.length === 0) from = index + 1;
    rest = Buffer.concat([rest, toBuffer(line)]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      frames.push({ text: rest.subarray(0, end).toString("utf8"), line: from });
      rest = rest.subarray(end + 1);
      from = index + 1;
    }
  }
  return frames;
}

const SHOWN = 200;

/** The part in which two texts differ. */
function around(text: string, other: string): string {
  let same = 0;
  while (same < text.length && text[same] === other[same]) same += 1;
  const from = Math.max(0, same - SHOWN / 2);
  const shown = text.slice(from, from + SHOWN);
  return `${from > 0 ? "…" : ""}${shown}${from + SHOWN < text.length ? "…" : ""}`;
}
