import { EventGrammar, type GrammarOptions } from "./event-grammar.ts";
import { brief, type Frame, isRecord } from "./frame.ts";
import { mutateFromEnv } from "./mutate.ts";
import { checkSchema } from "./schema-check.ts";

/** Everything a test expects of stdout without asking: lines of JSON objects, in a legal order, shaped like the tables. */

export interface StdoutCheckOptions extends GrammarOptions {
  grammar?: boolean;
  schema?: boolean;
  /** The process has no chance to tell how its run ends. */
  endsAnywhere?: boolean;
}

const LF = 0x0a;

export class StdoutCheck {
  readonly problems: string[] = [];
  readonly grammar: EventGrammar;
  private readonly options: StdoutCheckOptions;
  /** Changes frames before anyone sees them: the mutation run finds out with it which tests notice. */
  private readonly mutate = mutateFromEnv();
  private readonly decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  private rest: Uint8Array[] = [];
  /** Chunks of a frame that is not complete yet. */
  private chunks: Frame[] = [];

  constructor(options: StdoutCheckOptions) {
    this.options = options;
    this.grammar = new EventGrammar(options);
  }

  /** Bytes as they come; returns the frames that are complete with them. */
  push(chunk: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let from = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, from)) {
      this.rest.push(chunk.subarray(from, end));
      const frame = this.line(Buffer.concat(this.rest));
      if (frame) frames.push(frame);
      const whole = frame?.type === "rpc_chunk" ? this.joined(frame) : undefined;
      if (whole) frames.push(whole);
      this.rest = [];
      from = end + 1;
    }
    if (from < chunk.length) this.rest.push(chunk.subarray(from));
    return frames;
  }

  /** What came so far ends in the middle of a frame. */
  get isInFrame(): boolean {
    return this.rest.length > 0;
  }

  /** After the last byte of a process that was allowed to finish. */
  finish(): void {
    if (this.rest.length > 0)
      this.problems.push(`stdout ended without LF: ${brief(Buffer.concat(this.rest).toString())}`);
    const isOver = this.options.grammar === false || this.options.endsAnywhere;
    const problem = isOver ? undefined : this.grammar.finish();
    if (problem) this.problems.push(problem);
  }

  /** The frame that this chunk completes. */
  private joined(chunk: Frame): Frame | undefined {
    this.chunks.push(chunk);
    const [{ chunkId, count, byteLength } = chunk] = this.chunks;
    const isNext = chunk.chunkId === chunkId && chunk.index === this.chunks.length - 1 && chunk.count === count;
    if (!isNext) this.note(`a chunk out of order: ${brief(chunk)}`);
    if (this.chunks.length !== count) return undefined;
    const bytes = Buffer.concat(this.chunks.splice(0).map(({ data }) => Buffer.from(String(data), "base64")));
    if (bytes.length !== byteLength) this.note(`chunks of ${byteLength} bytes have ${bytes.length}`);
    return this.line(bytes);
  }

  private line(bytes: Uint8Array): Frame | undefined {
    if (this.chunks.length > 0 && bytes.length > 0 && !Buffer.from(bytes).includes('"rpc_chunk"')) {
      this.note(`a frame between the chunks of another: ${brief(Buffer.from(bytes).toString())}`);
    }
    const parsed = this.parse(bytes);
    if (!parsed) return undefined;
    const frame = this.mutate?.(parsed) ?? parsed;
    this.note(this.options.grammar === false ? undefined : this.grammar.check(frame));
    this.note(this.options.schema === false ? undefined : checkSchema(frame));
    return frame;
  }

  private parse(bytes: Uint8Array): Frame | undefined {
    try {
      const text = this.decoder.decode(bytes);
      if (/[\r\u2028\u2029]/.test(text)) this.note(`a raw CR, U+2028 or U+2029 in a line: ${brief(text)}`);
      const value: unknown = JSON.parse(text);
      if (isRecord(value)) return value as Frame;
      this.note(`a line that is no object: ${brief(text)}`);
    } catch (error) {
      this.note(
        `a line that is no JSON (${(error as Error).message}): ${brief(Buffer.from(bytes).toString("latin1"))}`,
      );
    }
    return undefined;
  }

  private note(problem: string | undefined): void {
    if (problem) this.problems.push(problem);
  }
}
