import { COMMAND_TABLE } from "@tiller/protocol/command-table.generated";
import type { CommandType } from "@tiller/protocol/commands/index";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import { toJson } from "../../lib/wire-json.ts";
import type { CommandId } from "../../session/session-event.ts";
import type { Answer, Call, Handlers } from "./answer.ts";
import type { Lanes } from "./lanes.ts";
import { withoutNulls } from "./without-nulls.ts";

/** One line in, its answer out: parse, classify, check, pick the lane, call the handler, write the response. */
export interface Dispatcher {
  line(text: string): void;
  /** A line was longer than the reader allows; `begin` is how it begins. */
  tooLong(maxBytes: number, begin: string): void;
}

export interface DispatcherOptions {
  /** Those of the commands that this version has; the table says what the others wait for. */
  handlers: Partial<Handlers>;
  dialect: Dialect;
  lanes: Lanes;
  /** Frames by which a host answers our own requests. Each gets the whole frame; none is ever answered. */
  answers: Readonly<Record<string, (frame: Record<string, unknown>) => void>>;
  write(response: object): void;
  /** A response that is already JSON. */
  writeJson(response: string): void;
  writePieces(response: Iterable<Buffer | string>): void;
  /** A promise while so many answers wait for the host that the next command must wait too. */
  room(): undefined | Promise<void>;
}

type Frame = Record<string, unknown> & { type: string };

/** A command with the handler that is typed for it; the check before the call makes the parameters fit. */
type AnyHandler = (params: Frame, call: Call) => Answer<unknown> | Promise<Answer<unknown>>;

export function createDispatcher({
  handlers,
  dialect,
  lanes,
  answers,
  write,
  writeJson,
  writePieces,
  room,
}: DispatcherOptions): Dispatcher {
  const fail = (command: string, id: CommandId | undefined, error: string): void =>
    write({ id, type: "response", command, success: false, error });
  const failParse = (reason: string): void => fail("parse", undefined, `Failed to parse command: ${reason}`);

  let lastCommand = "";
  let lastData = "";
  let lastTail = "";
  /** Everything behind the id. The same data often comes again, and is then not put together again. */
  const tailOf = (command: string, dataJson: string): string => {
    if (dataJson !== lastData || command !== lastCommand) {
      lastCommand = command;
      lastData = dataJson;
      lastTail = `"type":"response","command":"${command}","success":true,"data":${dataJson}}`;
    }
    return lastTail;
  };

  const respond = (frame: Frame, answer: Answer<unknown>): undefined | Promise<void> => {
    const id = frame.id as CommandId | undefined;
    if ("refused" in answer) {
      fail(frame.type, id, answer.refused);
      return undefined;
    }
    if ("dataJson" in answer) {
      const tail = tailOf(frame.type, answer.dataJson);
      writeJson(id === undefined ? `{${tail}` : `{"id":${idJson(id)},${tail}`);
      return room();
    }
    if ("dataPieces" in answer) {
      const head = toJson({ id, type: "response", command: frame.type, success: true });
      writePieces(around(`${head.slice(0, -1)},"data":`, answer.dataPieces, "}"));
      return room();
    }
    if ("now" in answer) {
      const made = answer.now();
      if ("refused" in made) return respond(frame, made);
      write({ id, type: "response", command: frame.type, success: true, data: made.data });
      made.behind();
      return room();
    }
    // Its turn is taken before the answer is written, so that both leave together; its first event still comes behind it.
    const job =
      "job" in answer ? start(answer.job).catch((error: unknown) => fail(frame.type, id, textOf(error))) : null;
    write({ id, type: "response", command: frame.type, success: true, data: answer.data });
    return job ?? room();
  };

  const unexpected = (frame: Frame, error: unknown): void => {
    if (dialect.unexpectedExceptionAsParse) failParse(textOf(error));
    else fail(frame.type, frame.id as CommandId | undefined, textOf(error));
  };

  /** The handler that was called last, as long as nothing else has had its turn. */
  let justCalled: AnyHandler | undefined;
  const forgetCalled = (): void => {
    justCalled = undefined;
  };
  const isCalledAgain = (handler: AnyHandler): boolean => {
    if (justCalled === handler) return true;
    if (justCalled === undefined) queueMicrotask(forgetCalled);
    justCalled = handler;
    return false;
  };
  const inTurn: Call["inTurn"] = (work) =>
    lanes.inTurn(() => {
      forgetCalled();
      return work();
    });

  const call = (frame: Frame, handler: AnyHandler): undefined | Promise<void> => {
    const again = isCalledAgain(handler);
    let release = (): void => undefined;
    const hold = (): void => {
      release = lanes.hold();
    };
    try {
      const answer = handler(frame, { id: frame.id as CommandId | undefined, again, inTurn, hold });
      if (!(answer instanceof Promise)) return respond(frame, answer);
      return answer.then(
        (settled) => {
          const rest = respond(frame, settled);
          release();
          return rest;
        },
        (error: unknown) => {
          unexpected(frame, error);
          release();
        },
      );
    } catch (error) {
      unexpected(frame, error);
      return undefined;
    }
  };

  const explain = async (frame: Frame): Promise<void> => {
    const { explainCommand } = await import("@tiller/protocol/check");
    fail(frame.type, frame.id as CommandId | undefined, explainCommand(frame.type as CommandType, frame));
  };

  const command = (frame: Frame): void => {
    const row = COMMAND_TABLE[frame.type as CommandType];
    const lane = lanes[row.lane];
    const handler = handlers[frame.type as CommandType] as AnyHandler | undefined;
    const fits = row.check(frame) || row.check(withoutNulls(frame, row.optional));
    if (!fits) lane(() => explain(frame).catch((error: unknown) => unexpected(frame, error)));
    else if (handler) lane(() => call(frame, handler));
    else lane(() => respond(frame, { refused: missing(frame.type, row.opens) }));
  };

  /** Whoever has asked for what the line was to answer does not wait for it. */
  const endRequest = async (begin: string, reason: string): Promise<void> => {
    const { inPlaceOf } = await import("./skipped-answer.ts");
    for (const frame of inPlaceOf(begin, `The answer of the host was not read: ${reason}`))
      answers[frame.type]?.(frame);
  };

  return {
    line(text) {
      if (text.trim() === "") return;
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (error) {
        return failParse(textOf(error));
      }
      if (!isFrame(value)) return failParse(`expected a JSON object with a "type", got ${shown(text)}`);
      if (value.id === null) delete value.id;
      if (!isId(value.id, text)) return fail(value.type, undefined, idProblem(value.id, text));
      if (Object.hasOwn(COMMAND_TABLE, value.type)) return command(value);
      const answer = Object.hasOwn(answers, value.type) ? answers[value.type] : undefined;
      if (answer) {
        forgetCalled();
        return answer(value);
      }
      const id = dialect.echoesIdOnUnknownCommand ? (value.id as CommandId | undefined) : undefined;
      fail(value.type, id, `Unknown command: ${value.type}`);
    },
    tooLong(maxBytes, begin) {
      const reason = `the line is longer than ${maxBytes} bytes (setting input.maxLineBytes); it was skipped`;
      failParse(reason);
      void endRequest(begin, reason);
    },
  };
}

/** In a turn of its own: the job's first event comes after its answer and after all answers that are due before it. */
async function start(job: () => Promise<void>): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await job();
}

function* around(head: string, pieces: Iterable<Buffer | string>, tail: string): Generator<Buffer | string> {
  yield head;
  yield* pieces;
  yield tail;
}

function isFrame(value: unknown): value is Frame {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && typeof (value as Frame).type === "string"
  );
}

/** Anything else could not be echoed in the shape that clients expect. */
function isId(id: unknown, line: string): boolean {
  return id === undefined || typeof id === "string" || (Number.isFinite(id) && rounded(id, line) === undefined);
}

/**
 * A number as the line writes it, if it loses digits when it is read: the answer would carry the id of another command.
 * Whole numbers, as far as a double has them all, are not looked for.
 */
function rounded(id: unknown, line: string): string | undefined {
  if (typeof id !== "number" || !Number.isFinite(id) || Number.isSafeInteger(id)) return undefined;
  // 17 digits are how many programs write a double. Of a whole number they are rather those of an integer that none holds.
  const told = [String(id), ...(Number.isInteger(id) ? [] : [id.toPrecision(17)])].map(decimal);
  let isFound = false;
  const marked = line.replace(/("id"\s*:\s*)(-?\d[\d.eE+-]*)/g, (field, name: string, number: string) => {
    if (Number(number) !== id) return field;
    isFound = true;
    return told.includes(decimal(number)) ? field : `${name}"${number}"`;
  });
  if (!isFound) return String(id);
  if (marked === line) return undefined;
  // It may be the id of an object inside that was written so.
  const { id: own } = JSON.parse(marked) as Frame;
  return typeof own === "string" ? own : undefined;
}

/** The same for all ways to write a number: its digits without zeros around them, and their place. */
function decimal(number: string): string {
  const [digits = "", exponent = "0"] = number.toLowerCase().split("e");
  const fraction = digits.split(".")[1] ?? "";
  const significant = digits.replace(".", "").replace(/^(-?)0+/, "$1");
  // Looked for once in each row of zeros, not from each of them.
  const short = significant.replace(/(?<!0)0+$/, "");
  return `${short}e${Number(exponent) - fraction.length + significant.length - short.length}`;
}

function idProblem(id: unknown, line: string): string {
  const told = rounded(id, line);
  if (told === undefined) return `"id" must be a string or a number, got ${kindOf(id)}`;
  return `id ${shown(told)} cannot be repeated exactly: use a string`;
}

/** The usual id needs no escaping. */
function idJson(id: CommandId): string {
  return typeof id === "string" && /^[\w.:-]*$/.test(id) ? `"${id}"` : toJson(id);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : String(value);
}

function missing(command: string, opens: string | undefined): string {
  return `${command} is not available in this version (not built yet: ${opens ?? "its capability"})`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function shown(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}
