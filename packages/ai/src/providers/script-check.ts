import type { ProviderErrorKind } from "../errors.ts";
import type { Expect, OnEnd, Script, Step, Turn } from "./script-types.ts";

/** Checks a script by hand-made rules, so that every complaint names the turn, the step and the field. Pure. */

export class ScriptError extends Error {
  readonly code = "script_error";
  constructor(message: string) {
    super(message);
    this.name = "ScriptError";
  }
}

/** Says what the value should have been; undefined when it is fine. */
type Check = (value: unknown) => string | undefined;
type Fields = Readonly<Record<string, Check>>;

const ON_END: Readonly<Record<OnEnd, true>> = { error: true, "repeat-last": true, loop: true };
const ERROR_KINDS: Readonly<Record<ProviderErrorKind, true>> = {
  aborted: true,
  auth: true,
  rate_limit: true,
  overloaded: true,
  server: true,
  overflow: true,
  bad_request: true,
  network: true,
  stalled: true,
  content_filter: true,
  malformed: true,
};

const text: Check = (value) => (typeof value === "string" ? undefined : "a text");
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");
const yes: Check = (value) => (value === true ? undefined : "true");
const count: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1 ? undefined : "a whole number from 1 on";
const amount: Check = (value) => (Number.isFinite(value) && Number(value) >= 0 ? undefined : "a number from 0 on");
const rate: Check = (value) => (Number.isFinite(value) && Number(value) > 0 ? undefined : "a number above 0");
const httpStatus: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 599 ? undefined : "an HTTP status";
const object: Check = (value) => (isObject(value) ? undefined : "an object");
const texts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? undefined : "a list of texts";
const textOrPieces: Check = (value) => (text(value) && texts(value) ? "a text or a list of texts" : undefined);
const pattern: Check = (value) => text(value) ?? regularExpression(String(value));
const oneOf = (names: Readonly<Record<string, true>>): Check => {
  return (value) =>
    typeof value === "string" && Object.hasOwn(names, value) ? undefined : `one of ${Object.keys(names).join(", ")}`;
};
const textMatch: Check = (value) => {
  const known =
    text(value) === undefined || shape({}, { equals: text, includes: text, matches: pattern })(value) === undefined;
  const single = !isObject(value) || Object.keys(value).length === 1;
  return known && single ? undefined : 'a text or one of {"equals"}, {"includes"}, {"matches"}';
};

const RATE: Fields = { pace: amount, perSecond: rate };
const PIECES: Fields = { chunk: count, times: count, ...RATE };

/** One row per kind of step: its fields. The first field names the kind and must be there. */
const STEPS: Readonly<Record<string, Fields>> = {
  text: { text: textOrPieces, ...PIECES, newBlock: flag },
  thinking: { thinking: textOrPieces, ...PIECES, newBlock: flag, signature: text, redacted: flag },
  toolCall: { toolCall: shape({ name: text }, { arguments: object, id: text }), ...PIECES },
  toolCallRaw: { toolCallRaw: shape({ name: text, json: text }, { id: text }), ...PIECES },
  endless: { endless: text, ...RATE },
  error: { error: shape({}, { message: text, status: httpStatus, kind: oneOf(ERROR_KINDS), retryAfterMs: amount }) },
  usage: {
    usage: shape({}, { input: amount, output: amount, cacheRead: amount, cacheWrite: amount, reasoning: amount }),
  },
  stopReason: { stopReason: oneOf({ stop: true, length: true, toolUse: true }) },
  delay: { delay: amount },
  cut: { cut: yes },
  hang: { hang: yes },
  ignoreAbort: { ignoreAbort: yes },
  repeat: { repeat: count, steps: (value) => (Array.isArray(value) ? undefined : "a list of steps") },
  // Last, because the kinds above may have a pace of their own.
  pace: { pace: amount },
  perSecond: { perSecond: rate },
};

const EXPECT: Fields = {
  user: textMatch,
  toolResult: textMatch,
  toolName: text,
  isError: flag,
  system: textMatch,
  tools: texts,
  messages: amount,
};

const TURN: Fields = {
  expect: object,
  repeat: count,
  steps: (value) => (Array.isArray(value) ? undefined : "a list of steps"),
};
const SCRIPT: Fields = {
  $schema: text,
  description: text,
  onEnd: oneOf(ON_END),
  turns: (value) => (Array.isArray(value) && value.length > 0 ? undefined : "a list with at least one turn"),
};

/** A whole script, or only its list of turns. */
export function checkScript(value: unknown): Script {
  const script = Array.isArray(value) ? { turns: value } : value;
  if (!isObject(script))
    throw new ScriptError(`A script must be an object with "turns" or a list of turns, not ${show(value)}.`);
  if (!("turns" in script))
    throw new ScriptError('The script has no "turns": a list with one entry for each call of the model.');
  checkFields(script, SCRIPT, "Script", "a script");
  return { ...script, turns: (script.turns as unknown[]).map((turn, i) => checkTurn(turn, `Script turn ${i + 1}`)) };
}

/** Short forms: a text, a list of steps, or a single step. */
export function checkTurn(value: unknown, where: string): Turn {
  if (typeof value === "string" || (isObject(value) && !("steps" in value)))
    return { steps: [checkStep(value, `${where}, step 1`)] };
  if (Array.isArray(value)) return { steps: checkSteps(value, `${where}, step `) };
  if (!isObject(value))
    throw new ScriptError(`${where} must be a text, a list of steps or an object with "steps", not ${show(value)}.`);
  checkFields(value, TURN, where, "a turn");
  const turn: Turn = { ...value, steps: checkSteps(value.steps as unknown[], `${where}, step `) };
  if (value.expect !== undefined) turn.expect = checkExpect(value.expect, where);
  return turn;
}

export function checkExpect(value: unknown, where: string): Expect {
  checkFields(value as Record<string, unknown>, EXPECT, `${where}, expect`, "an expectation");
  return value as Expect;
}

function checkSteps(values: readonly unknown[], prefix: string): Step[] {
  return values.map((value, i) => checkStep(value, `${prefix}${i + 1}`));
}

export function checkStep(value: unknown, where: string): Step {
  if (typeof value === "string") return { text: value };
  if (!isObject(value)) throw new ScriptError(`${where} must be a text or an object, not ${show(value)}.`);
  const kind = Object.keys(STEPS).find((name) => name in value);
  if (kind === undefined) {
    throw new ScriptError(
      `${where} is of no known kind: ${show(value)}. A step has one of ${Object.keys(STEPS).join(", ")}.`,
    );
  }
  checkFields(value, STEPS[kind]!, where, `a ${kind} step`);
  if (kind === "repeat")
    return { repeat: value.repeat as number, steps: checkSteps(value.steps as unknown[], `${where}.`) };
  return value as Step;
}

function checkFields(value: Record<string, unknown>, fields: Fields, where: string, what: string): void {
  for (const [name, field] of Object.entries(value)) {
    const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!check)
      throw new ScriptError(`${where}: ${what} has no field "${name}". It may have ${Object.keys(fields).join(", ")}.`);
    const wanted = check(field);
    if (wanted !== undefined) throw new ScriptError(`${where}: "${name}" must be ${wanted}, not ${show(field)}.`);
  }
  if ("repeat" in fields && "repeat" in value && !("steps" in value))
    throw new ScriptError(`${where}: ${what} needs "steps".`);
}

/** An object with exactly these fields. */
function shape(required: Fields, optional: Fields): Check {
  const all: Fields = { ...required, ...optional };
  return (value) => {
    if (!isObject(value)) return `an object with ${Object.keys(all).join(", ")}`;
    for (const name of Object.keys(required)) if (!(name in value)) return `an object with a "${name}"`;
    for (const [name, field] of Object.entries(value)) {
      const check = Object.hasOwn(all, name) ? all[name] : undefined;
      if (!check) return `an object with ${Object.keys(all).join(", ")} (there is no "${name}")`;
      const wanted = check(field);
      if (wanted !== undefined) return `an object whose "${name}" is ${wanted}`;
    }
    return undefined;
  };
}

function regularExpression(source: string): string | undefined {
  try {
    new RegExp(source);
    return undefined;
  } catch (error) {
    return `a regular expression (${error instanceof Error ? error.message : String(error)})`;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
}
