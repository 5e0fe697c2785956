import { eventSchema, explainEvent, explainFrame, explainResult } from "@tiller/protocol/check";
import { COMMANDS, type CommandType } from "@tiller/protocol/commands/index";
import { EVENT_ENVELOPE, EVENTS, type EventType } from "@tiller/protocol/events";
import { FRAMES, type FrameType } from "@tiller/protocol/frames";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { brief, type Frame } from "./frame.ts";

/**
 * Is a frame on stdout what the protocol tables say? One sentence if not. The schema library is the judge; the
 * product's own explainer only words the verdict, so that a hole in it hides nothing.
 */

interface Judge {
  Check(value: unknown): boolean;
}

const judges = new Map<string, Judge>();

function fits(name: string, schema: () => TSchema, value: unknown): boolean {
  let judge = judges.get(name);
  if (!judge) {
    judge = Compile(schema()) as Judge;
    judges.set(name, judge);
  }
  return judge.Check(value);
}

function stray(frame: Frame, known: readonly string[]): string | undefined {
  const extra = Object.keys(frame).find((key) => !known.includes(key));
  return extra && `${frame.type}: the field "${extra}" is not in the table`;
}

function checkEvent(type: EventType, frame: Frame): string | undefined {
  if (!fits(`event ${type}`, () => eventSchema(type), frame))
    return explainEvent(type, frame) ?? `${type} does not fit`;
  return stray(frame, ["type", ...Object.keys(EVENT_ENVELOPE), ...Object.keys(EVENTS[type].fields)]);
}

function checkFrame(type: FrameType, frame: Frame): string | undefined {
  const row = FRAMES[type];
  if (row.direction !== "out") return `${type} is a frame that hosts send, not we`;
  return fits(`frame ${type}`, () => row.schema, frame)
    ? undefined
    : (explainFrame(type, frame) ?? `${type} does not fit`);
}

function checkResponse(frame: Frame): string | undefined {
  const problem = checkFrame("response", frame) ?? stray(frame, ["type", "id", "command", "success", "data", "error"]);
  if (problem || frame.success !== true) return problem;
  if (!Object.hasOwn(COMMANDS, String(frame.command))) return `a success of "${frame.command}", which is no command`;
  const command = frame.command as CommandType;
  const result: TSchema | undefined = COMMANDS[command].result;
  if (result && fits(`result ${command}`, () => result, frame.data)) return undefined;
  return explainResult(command, frame.data) ?? (result && `the data of ${command} does not fit`);
}

export function checkSchema(frame: Frame): string | undefined {
  const type = String(frame.type);
  const problem = checkByType(type, frame);
  return problem && `${problem}\n  ${brief(frame, 400)}`;
}

function checkByType(type: string, frame: Frame): string | undefined {
  if (type === "response") return checkResponse(frame);
  if (Object.hasOwn(EVENTS, type)) return checkEvent(type as EventType, frame);
  if (Object.hasOwn(FRAMES, type)) return checkFrame(type as FrameType, frame);
  return `"${type}" is neither an event nor a frame of the tables`;
}
