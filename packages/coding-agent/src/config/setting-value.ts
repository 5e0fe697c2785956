import type { SettingRule } from "./settings-schema.ts";

/** Whether a value fits its row: the value to use, or what was expected in words. */
export type CheckedValue = { ok: true; value: unknown } | { ok: false; expected: string };

const isText = (value: unknown): value is string => typeof value === "string";

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function expectedText(row: SettingRule): string {
  switch (row.type) {
    case "boolean":
      return "true or false";
    case "integer":
      return `a whole number of at least ${row.min ?? 0}`;
    case "number":
      return `a number of at least ${row.min ?? 0}`;
    case "string":
      return "a text";
    case "choice":
      return `one of ${(row.values ?? []).join(", ")}`;
    case "strings":
      return "a list of texts";
    case "map":
      return "an object";
    case "any":
      return "any value";
  }
}

function fits(row: SettingRule, value: unknown): boolean {
  switch (row.type) {
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return typeof value === "number" && Number.isSafeInteger(value) && value >= (row.min ?? 0);
    case "number":
      return typeof value === "number" && Number.isFinite(value) && value >= (row.min ?? 0);
    case "string":
      return isText(value);
    case "choice":
      return isText(value) && (row.values ?? []).includes(value);
    case "strings":
      return Array.isArray(value) && value.every(isText);
    case "map":
      return isPlainObject(value);
    case "any":
      return true;
  }
}

/** Checks a value that came as JSON. */
export function checkSettingValue(row: SettingRule, raw: unknown): CheckedValue {
  const value = isText(raw) && row.valueAliases && Object.hasOwn(row.valueAliases, raw) ? row.valueAliases[raw] : raw;
  return fits(row, value) ? { ok: true, value } : { ok: false, expected: expectedText(row) };
}

const WORDS: Readonly<Record<string, boolean>> = {
  "1": true,
  true: true,
  yes: true,
  on: true,
  "0": false,
  false: false,
  no: false,
  off: false,
};

/** Reads a yes-or-no from an environment variable or `--set`; undefined when it is neither. */
export function booleanOfText(text: string): boolean | undefined {
  const word = text.trim().toLowerCase();
  return Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
}

function listOfText(text: string): unknown {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Checks a value that came as text, from the environment or the command line. */
export function checkSettingText(row: SettingRule, text: string): CheckedValue {
  switch (row.type) {
    case "boolean":
      return checkSettingValue(row, booleanOfText(text));
    case "integer":
      return checkSettingValue(row, /^-?\d+$/.test(text.trim()) ? Number(text) : text);
    case "number":
      return checkSettingValue(row, text.trim() === "" ? text : Number(text));
    case "strings":
      return checkSettingValue(row, text.trim().startsWith("[") ? jsonOrText(text) : listOfText(text));
    case "map":
    case "any":
      return checkSettingValue(row, jsonOrText(text));
    default:
      return checkSettingValue(row, text);
  }
}

/** A value as it stands in a message: short enough for one line. */
export function shownValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
