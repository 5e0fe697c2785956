import { nearNames } from "../lib/near-name.ts";
import { FOREIGN_KEYS } from "./foreign-keys.ts";
import { LARGEST_FILE, readJsonFile } from "./json-file.ts";
import type { Place } from "./json-place.ts";
import { checkSettingValue, isPlainObject, shownValue } from "./setting-value.ts";
import type { SettingKey, SettingRule } from "./settings-schema.ts";
import { SETTING_RULES } from "./settings-table.generated.ts";

/** What one source of settings says, and what is wrong with it. */
export interface Layer {
  kind: "user" | "project" | "environment" | "command line";
  /** The path of the file, the variable or `command line`. */
  name: string;
  values: Map<string, Given>;
  problems: SettingProblem[];
  locate?(path: readonly string[]): Place | undefined;
  /** Of a file that is ignored as a whole: whether it may have said something about this. */
  mayMention?(word: string): boolean;
}

export interface Given {
  value: unknown;
  /** The keys that lead to it in the file, from the outside in. */
  path?: readonly string[];
}

/** One thing that could not be used. The rest is loaded all the same. */
export interface SettingProblem {
  /** warning: nothing is wrong with it, it is left out on purpose. */
  level: "error" | "warning";
  /** The path of the file, or the variable. */
  source: string;
  line?: number;
  column?: number;
  /** As it stands in the file. */
  key?: string;
  value?: unknown;
  expected?: string;
  /** All of it in one sentence, with the place. */
  message: string;
}

export interface FileRules {
  kind: "user" | "project";
  /** Workflow settings are left out. */
  rpc: boolean;
  /** False for a project that may bring text but not programs. */
  programs: boolean;
  /** Another system's own file: what it says of other things is passed over. */
  isForeign?: boolean;
  /** Not a JSON file. */
  read?: FileReader;
}

/** Reads an object from a file of at most so many bytes. */
export type FileReader = typeof readJsonFile;

/** The reader of YAML takes the square of the length for some of it. */
const LARGEST_FOREIGN = 64 * 1024;

/** So many unknown keys of a file are named; the others are counted. */
const MOST_NAMED = 20;

export function fileLayer(path: string, rules: FileRules): Layer {
  const { object, locate, problem, place, text } = (rules.read ?? readJsonFile)(
    path,
    rules.isForeign ? LARGEST_FOREIGN : LARGEST_FILE,
  );
  const layer: Layer = { kind: rules.kind, name: path, values: new Map(), problems: [], locate };
  if (problem !== undefined) {
    layer.problems.push({ level: "error", source: path, ...place, message: problem });
    // A file that cannot even be read may say anything; one in a wide encoding has zeros between its letters.
    layer.mayMention = (word) => text === undefined || text.replaceAll("\0", "").includes(word);
  }
  if (!object) return layer;
  const reading: Reading = { layer, rules, unknown: 0, unnamed: [] };
  readObject(reading, object, []);
  const { unnamed } = reading;
  if (unnamed.length === 0) return layer;
  const message = `${path}: ${unnamed.length} more keys are no settings and are ignored`;
  layer.problems.push({ level: "error", source: path, message });
  layer.mayMention = (word) => unnamed.some((key) => key.split(".", 1)[0] === word);
  return layer;
}

/** What is on the way while a file is read. */
interface Reading {
  layer: Layer;
  rules: FileRules;
  /** So many keys that nobody knows were named. */
  unknown: number;
  /** Those beyond. */
  unnamed: string[];
}

/** Nested objects and dotted keys mean the same. */
function readObject(reading: Reading, object: object, outer: readonly string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === null) continue;
    const path = [...outer, name];
    const given = path.join(".");
    const key = knownKey(given);
    const row = key === undefined ? undefined : SETTING_RULES[key];
    const nested = isPlainObject(value) && row?.type !== "map" && row?.type !== "any" && keysBelow(given).length > 0;
    if (nested) readObject(reading, value, path);
    else if (key !== undefined && row) {
      take(reading, { path, given, key, row, value });
      if (row.type === "any" && isPlainObject(value)) readObject(reading, onlyKnown(value, given), path);
    } else if (!reading.rules.isForeign && !isForeign(given)) complain(reading, path, given, value);
  }
}

/** Of an object that is a value, what has become a key of its own since. */
function onlyKnown(object: object, given: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => knownKey(`${given}.${name}`) !== undefined));
}

function complain(reading: Reading, path: readonly string[], given: string, value: unknown): void {
  reading.unknown++;
  if (reading.unknown > MOST_NAMED) reading.unnamed.push(given);
  else reading.layer.problems.push(unknownKey(reading.layer, path, given, value));
}

interface Found {
  path: readonly string[];
  given: string;
  key: string;
  row: SettingRule;
  value: unknown;
}

function take({ layer, rules }: Reading, { path, given, key, row, value }: Found): void {
  if (row.resetInRpc && rules.rpc) return;
  if (row.needsTrust && !rules.programs) {
    const text = `${given} ${row.needsTrust}, so of a project it counts only with --approve`;
    layer.problems.push(placed(layer, path, { level: "warning", key: given, text }));
    return;
  }
  // The new name of a key beats the old one, whichever comes first in the file.
  if (given !== key && layer.values.has(key)) return;
  const checked = checkSettingValue(row, value);
  if (checked.ok) layer.values.set(key, { value: checked.value, path });
  else layer.problems.push(misfit(layer, path, given, value, checked.expected));
}

/** The value of a key that nobody knows is not shown: it may be a password in the wrong file. */
function unknownKey(layer: Layer, path: readonly string[], given: string, value: unknown): SettingProblem {
  const below = keysBelow(given);
  if (below.length > 0) {
    return misfit(layer, path, given, value, `an object with ${below.join(", ")}`);
  }
  const expected = expectedInstead(given);
  const text = `${given} is no setting and is ignored; ${expected}`;
  return placed(layer, path, { level: "error", key: given, expected, text });
}

function expectedInstead(given: string): string {
  const [near] = nearNames(given, Object.keys(SETTING_RULES));
  if (near !== undefined) return `did you mean ${near}?`;
  const outer = given.slice(0, Math.max(0, given.lastIndexOf(".")));
  const siblings = outer === "" ? [] : keysBelow(outer);
  return siblings.length > 0 ? `in ${outer} there are ${siblings.join(", ")}` : "`tiller config` lists all";
}

function misfit(layer: Layer, path: readonly string[], key: string, value: unknown, expected: string): SettingProblem {
  const text = `${key} is ${shownValue(value)}, expected ${expected}`;
  return placed(layer, path, { level: "error", key, value, expected, text });
}

type Unplaced = Pick<SettingProblem, "level" | "key" | "value" | "expected"> & { text: string };

export function placed(layer: Layer, path: readonly string[], { text, ...problem }: Unplaced): SettingProblem {
  const place = layer.locate?.(path);
  const where = place ? `${layer.name}:${place.line}:${place.column}` : layer.name;
  return { ...problem, source: layer.name, ...place, message: `${where}: ${text}` };
}

/** The key by its name of today or an old one. */
export function knownKey(given: string): SettingKey | undefined {
  if (Object.hasOwn(SETTING_RULES, given)) return given as SettingKey;
  formerNames ??= new Map(
    Object.entries(SETTING_RULES).flatMap(([key, row]) => row.formerly?.map((old) => [old, key as SettingKey]) ?? []),
  );
  return formerNames.get(given);
}

/** Made when a file has a key that is none of today. */
let formerNames: Map<string, SettingKey> | undefined;

/** What may stand in the object of this name: the next part of each key, old names too. */
function keysBelow(given: string): string[] {
  const below = `${given}.`;
  const names = Object.entries(SETTING_RULES).flatMap(([key, row]) => [key, ...(row.formerly ?? [])]);
  const parts = names.flatMap((name) => (name.startsWith(below) ? [name.slice(below.length)] : []));
  return [...new Set(parts.map((part) => part.split(".", 1)[0] ?? part))];
}

function isForeign(given: string): boolean {
  return FOREIGN_KEYS.includes(given.split(".", 1)[0] ?? given);
}
