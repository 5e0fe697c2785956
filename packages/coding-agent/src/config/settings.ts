import { join } from "node:path";
import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { VARIABLES } from "./env.ts";
import { fileExists, readJsonFile } from "./json-file.ts";
import { type Env, PROJECT_FOLDERS } from "./paths.ts";
import { checkSettingText, checkSettingValue, isPlainObject, shownValue } from "./setting-value.ts";
import { FOREIGN_KEYS, SETTING_ROWS, type SettingKey, type SettingRow, type SettingValue } from "./settings-schema.ts";

/**
 * The settings of this process. Weakest to strongest: built-in default, default of the dialect, user file, project files,
 * environment, command line. They are read once and never written.
 */

export type SettingOverrides = { [K in SettingKey]?: SettingValue<K> };

/** none: the project's file is not read. text: read, but what names a program is left out. code: all of it counts. */
export type ProjectTrust = "none" | "text" | "code";

export interface SettingsInputs {
  dialect: DialectName;
  /** True in RPC mode, where workflow settings of the user do not reach the host. */
  rpc: boolean;
  agentDir: string;
  cwd: string;
  projectTrust: ProjectTrust;
  env: Env;
  /** From the command line, checked there. */
  flags: SettingOverrides;
}

export interface Settings {
  get<K extends SettingKey>(key: K): SettingValue<K>;
  /** Where the value comes from: `default`, a file, a variable or `command line`. */
  source(key: SettingKey): string;
}

export interface LoadedSettings {
  settings: Settings;
  /** What could not be used, one sentence each, for stderr. The rest is loaded all the same. */
  problems: string[];
}

/** What one source says, by key; and what is wrong with it. */
interface Layer {
  source: string;
  values: Map<string, unknown>;
  problems: string[];
}

interface LayerRules {
  rpc: boolean;
  /** False for a project that may bring text but not programs. */
  programs: boolean;
}

export function loadSettings(inputs: SettingsInputs): LoadedSettings {
  const layers = [
    userLayer(inputs),
    ...projectLayers(inputs),
    ...environmentLayers(inputs),
    { source: "command line", values: new Map(Object.entries(inputs.flags)), problems: [] },
  ];
  const found = new Map<string, { value: unknown; source: string }>();
  for (const layer of layers) {
    for (const [key, value] of layer.values) if (value !== undefined) found.set(key, { value, source: layer.source });
  }
  return { settings: settingsOf(found, inputs.dialect), problems: layers.flatMap((layer) => layer.problems) };
}

function settingsOf(found: ReadonlyMap<string, { value: unknown; source: string }>, dialect: DialectName): Settings {
  const builtIn = (key: SettingKey): unknown =>
    SETTING_ROWS[key]?.dialectDefaults?.[dialect] ?? SETTING_ROWS[key]?.default;
  return {
    // Every value was checked against its row before it came in, which is what the type of the row says.
    get: <K extends SettingKey>(key: K) => (found.get(key)?.value ?? builtIn(key)) as SettingValue<K>,
    source: (key) => found.get(key)?.source ?? "default",
  };
}

function userLayer({ agentDir, rpc }: SettingsInputs): Layer {
  const path = join(agentDir, "settings.json");
  const layer = fileLayer(path, { rpc, programs: true });
  const yaml = join(agentDir, "config.yml");
  if (layer.values.size === 0 && fileExists(yaml) && !fileExists(path)) {
    layer.problems.push(`${yaml}: YAML is not read yet; put the settings into ${path}`);
  }
  return layer;
}

function projectLayers({ cwd, rpc, projectTrust }: SettingsInputs): Layer[] {
  if (projectTrust === "none") return [];
  const rules = { rpc, programs: projectTrust === "code" };
  return PROJECT_FOLDERS.map((folder) => fileLayer(join(cwd, folder, "settings.json"), rules));
}

function fileLayer(path: string, rules: LayerRules): Layer {
  const layer: Layer = { source: path, values: new Map(), problems: [] };
  const { object, problem } = readJsonFile(path);
  if (problem) layer.problems.push(problem);
  if (!object) return layer;
  const unknown: string[] = [];
  readObject(layer, rules, object, "", unknown);
  if (unknown.length > 0) layer.problems.push(`${path}: not known and ignored: ${unknown.join(", ")}`);
  return layer;
}

/** Nested objects and dotted keys mean the same. */
function readObject(layer: Layer, rules: LayerRules, object: object, prefix: string, unknown: string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (value === null) continue;
    const given = prefix + name;
    const key = knownKey(given);
    const row = key === undefined ? undefined : SETTING_ROWS[key];
    const nested = isPlainObject(value) && row?.type !== "map" && row?.type !== "any" && hasKeysBelow(given);
    if (nested) readObject(layer, rules, value, `${given}.`, unknown);
    else if (key !== undefined && row) take(layer, rules, { given, key, row, value });
    else if (!isForeign(given)) unknown.push(given);
  }
}

function take(
  layer: Layer,
  rules: LayerRules,
  { given, key, row, value }: { given: string; key: string; row: SettingRow; value: unknown },
): void {
  if (row.resetInRpc && rules.rpc) return;
  if (row.needsTrust && !rules.programs) {
    layer.problems.push(`${layer.source}: ${given} can start programs, so it counts only with --approve`);
    return;
  }
  // The new name of a key beats the old one, whichever comes first in the file.
  if (given !== key && layer.values.has(key)) return;
  const checked = checkSettingValue(row, value);
  if (checked.ok) layer.values.set(key, checked.value);
  else layer.problems.push(`${layer.source}: ${given} is ${shownValue(value)}, expected ${checked.expected}`);
}

function environmentLayers({ env, rpc }: SettingsInputs): Layer[] {
  const layers: Layer[] = [];
  for (const [name, { setting }] of Object.entries(VARIABLES)) {
    const text = setting === undefined ? undefined : env[name];
    const row = setting === undefined ? undefined : SETTING_ROWS[setting];
    if (!text || !row || !setting || (rpc && row.resetInRpc)) continue;
    const checked = checkSettingText(row, text);
    const problems = checked.ok ? [] : [`${name} is ${shownValue(text)}, expected ${checked.expected}`];
    layers.push({ source: name, values: new Map(checked.ok ? [[setting, checked.value]] : []), problems });
  }
  return layers;
}

function knownKey(given: string): SettingKey | undefined {
  if (Object.hasOwn(SETTING_ROWS, given)) return given as SettingKey;
  const renamed = Object.entries(SETTING_ROWS).find(([, row]) => row.formerly?.includes(given));
  return renamed?.[0] as SettingKey | undefined;
}

function hasKeysBelow(given: string): boolean {
  const below = `${given}.`;
  return Object.entries(SETTING_ROWS).some(
    ([key, row]) => key.startsWith(below) || row.formerly?.some((old) => old.startsWith(below)),
  );
}

function isForeign(given: string): boolean {
  return FOREIGN_KEYS.includes(given.split(".", 1)[0] ?? given);
}
