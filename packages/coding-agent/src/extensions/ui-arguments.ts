import type { DialogOptions } from "../session/ports.ts";

/**
 * What extensions give to `ctx.ui`, which nobody has checked before. What can only mean one thing is taken; the rest is
 * refused with an error that names the method, the argument and the value.
 */

const TEXT_LIKE = new Set(["number", "boolean", "bigint"]);

function wrong(argument: string, expected: string, value: unknown): TypeError {
  return new TypeError(`ctx.ui.${argument} must be ${expected}, got ${described(value)}`);
}

/** A text; nothing is the empty text, an error is its message. */
export function textOf(argument: string, value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (value instanceof Error) return value.message;
  if (TEXT_LIKE.has(typeof value)) return String(value);
  throw wrong(argument, "a string", value);
}

/** The same where nothing means something of its own. */
export function optionalText(argument: string, value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : textOf(argument, value);
}

/** What a status or widget is found again by. */
export function keyOf(argument: string, value: unknown): string {
  if (value === undefined || value === null) throw wrong(argument, "a string", value);
  return textOf(argument, value);
}

export function choicesOf(argument: string, value: unknown): (string | { label: string; description?: string })[] {
  return itemsOf(argument, value).map((item, index) => {
    const place = `${argument}[${index}]`;
    const { label, description } = isObject(item) ? item : {};
    if (label === undefined) {
      if (isObject(item)) throw wrong(place, 'a string or an object with a "label"', item);
      return textOf(place, item);
    }
    return { label: textOf(`${place}.label`, label), description: optionalText(`${place}.description`, description) };
  });
}

/** A text is its lines. */
export function linesOf(argument: string, value: unknown): string[] {
  const items = typeof value === "string" ? value.split("\n") : itemsOf(argument, value);
  return items.map((line, index) => textOf(`${argument}[${index}]`, line));
}

const NOTIFY_TYPES = ["info", "warning", "error"] as const;

/** Other words (some extensions say "success") are plain information. */
export function notifyTypeOf(value: unknown): (typeof NOTIFY_TYPES)[number] | undefined {
  return value === undefined || value === null ? undefined : (NOTIFY_TYPES.find((type) => type === value) ?? "info");
}

const PLACEMENTS = ["aboveEditor", "belowEditor"] as const;

/** Undefined, the usual place, for places that only a terminal has. */
export function placementOf(value: unknown): (typeof PLACEMENTS)[number] | undefined {
  const wanted = isObject(value) ? value.placement : value;
  return PLACEMENTS.find((placement) => placement === wanted);
}

export function dialogOptionsOf(argument: string, value: unknown): DialogOptions {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw wrong(argument, "an object", value);
  const { signal, timeout, onTimeout } = value;
  if (isGiven(signal) && !isSignal(signal)) throw wrong(`${argument}.signal`, "an AbortSignal", signal);
  if (isGiven(timeout) && typeof timeout !== "number") throw wrong(`${argument}.timeout`, "a number", timeout);
  if (isGiven(onTimeout) && typeof onTimeout !== "function")
    throw wrong(`${argument}.onTimeout`, "a function", onTimeout);
  return {
    signal: isGiven(signal) ? signal : undefined,
    timeout: isGiven(timeout) ? timeout : undefined,
    onTimeout: isGiven(onTimeout) ? () => void onTimeout.call(value) : undefined,
  };
}

function isGiven<T>(value: T): value is NonNullable<T> {
  return value !== undefined && value !== null;
}

function isSignal(value: unknown): value is AbortSignal {
  return isObject(value) && typeof value.aborted === "boolean" && typeof value.addEventListener === "function";
}

/** Lists of any kind, a Set too, but not the letters of a text. */
function itemsOf(argument: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return Array.from(value);
  if (isObject(value) && typeof value[Symbol.iterator] === "function")
    return [...(value as Iterable<unknown> & object)];
  throw wrong(argument, "an array", value);
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const LONGEST_QUOTE = 60;

function described(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "string") return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
  return `a string (${JSON.stringify(value.length > LONGEST_QUOTE ? `${value.slice(0, LONGEST_QUOTE)}...` : value)})`;
}
