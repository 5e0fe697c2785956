import { isRecord } from "../support/frame.ts";

/** What a line of input must be answered with, worked out from the documentation and nothing else. */

/** `command` and, if it is echoed, the JSON of the id. */
export type Expected = string;

export const answerKey = (command: unknown, id?: unknown): Expected =>
  `${command} ${id === undefined ? "" : JSON.stringify(id)}`;

const ANSWER_FRAMES = new Set(["extension_ui_response", "host_tool_update", "host_tool_result", "host_uri_result"]);
const LF = 10;

/** In the order of the lines; blank ones and answers that nobody waits for get none. */
export function expectedAnswers(bytes: Buffer, commands: ReadonlySet<string>, isFirst = false): Expected[] {
  const answers: Expected[] = [];
  for (let from = 0; from <= bytes.length; ) {
    const found = bytes.indexOf(LF, from);
    const end = found < 0 ? bytes.length : found;
    const text = bytes.toString("utf8", from, end);
    const answer = answerTo(isFirst && from === 0 ? text.replace(/^\uFEFF/, "") : text, commands);
    if (answer !== undefined) answers.push(answer);
    from = end + 1;
  }
  return answers;
}

function answerTo(text: string, commands: ReadonlySet<string>): Expected | undefined {
  if (text.trim() === "") return undefined;
  const value = parsed(text);
  if (!isRecord(value) || typeof value.type !== "string") return answerKey("parse");
  const { type, id } = value;
  const isId = typeof id === "string" || isRepeatable(id, text);
  if (id !== undefined && id !== null && !isId) return answerKey(type);
  if (commands.has(type)) return answerKey(type, isId ? id : undefined);
  return ANSWER_FRAMES.has(type) ? undefined : answerKey(type);
}

/** A number that a double does not hold, so that it would come back as another one, is refused. */
function isRepeatable(id: unknown, text: string): boolean {
  if (typeof id !== "number" || !Number.isFinite(id)) return false;
  if (Number.isSafeInteger(id)) return true;
  const ids = [...text.matchAll(/"id"\s*:\s*(-?[\d.eE+-]+)/g)].map(([, number]) => number ?? "");
  const meant = ids.filter((number) => Number(number) === id);
  return meant.length > 0 && meant.every((number) => isSame(number, JSON.stringify(id)));
}

/** Worked out with whole numbers of any size. */
function isSame(one: string, other: string): boolean {
  const read = (number: string) => {
    const [, sign, whole, fraction = "", exponent = "0"] = /^(-?)(\d+)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
    return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length };
  };
  const [a, b] = [read(one), read(other)];
  const least = Math.min(a.exponent, b.exponent);
  const [left, right] = [a, b].map(({ digits, exponent }) => digits * 10n ** BigInt(exponent - least));
  return left === right;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
