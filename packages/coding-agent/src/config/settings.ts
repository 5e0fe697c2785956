import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { below } from "../lib/below.ts";
import { fileExists } from "./json-file.ts";
import { type Env, PROJECT_FOLDERS, YAML_FOLDERS } from "./paths.ts";
import { checkSettingText, shownValue } from "./setting-value.ts";
import { type FileReader, fileLayer, type Layer, placed, type SettingProblem } from "./settings-file.ts";
import type { SettingKey, SettingValue } from "./settings-schema.ts";
import { SETTING_RULES, VARIABLE_SETTINGS } from "./settings-table.generated.ts";

/**
 * The settings of this process. Weakest to strongest: built-in default, default of the dialect, user files, project files,
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
  /** Given when there is a file that needs it. */
  readYaml?: FileReader;
}

export interface Settings {
  get<K extends SettingKey>(key: K): SettingValue<K>;
  origin(key: SettingKey): SettingOrigin;
}

/** Where a value comes from. */
export interface SettingOrigin {
  kind: "default" | "dialect" | Layer["kind"];
  /** The dialect, the path of the file, or the variable. */
  name?: string;
  /** In the file. */
  line?: number;
  column?: number;
}

export interface LoadedSettings {
  settings: Settings;
  /** What could not be used, one sentence each, for stderr. The rest is loaded all the same. */
  problems: string[];
  /** The same in its parts. */
  findings: SettingProblem[];
  /** Somebody has said something about these settings that could not be read. */
  isUnread(group: "approval"): boolean;
}

export function loadSettings(inputs: SettingsInputs): LoadedSettings {
  const layers = [...fileLayers(inputs), ...environmentLayers(inputs), flagLayer(inputs)];
  const settings = settingsOf(layers, inputs);
  const findings = layers.flatMap((layer) =>
    layer.problems.map((problem) => (hides("approval", layer, problem) ? withConsequence(problem) : problem)),
  );
  return {
    settings,
    problems: findings.map(({ message }) => message),
    findings,
    isUnread: (group) => layers.some((layer) => layer.problems.some((problem) => hides(group, layer, problem))),
  };
}

/** What could not be read may have been about this group: the key is one of it, or the whole file is left out. */
function hides(group: string, { mayMention }: Layer, { level, key }: SettingProblem): boolean {
  if (key === undefined) return mayMention?.(group) === true;
  return level === "error" && key.split(".", 1)[0] === group;
}

/** Who reads that a key is ignored would not look for the reason of all those questions there. */
function withConsequence(problem: SettingProblem): SettingProblem {
  const { message } = problem;
  const joint = message.endsWith("?") ? " Until" : "; until";
  return { ...problem, message: `${message}${joint} it is mended every tool call needs an approval` };
}

function settingsOf(
  layers: readonly Layer[],
  { dialect, projectTrust }: Pick<SettingsInputs, "dialect" | "projectTrust">,
): Settings {
  const strongest = new Map<string, Layer>();
  const builtIn = (key: SettingKey): unknown =>
    SETTING_RULES[key]?.dialectDefaults?.[dialect] ?? SETTING_RULES[key]?.default;
  const current = (key: SettingKey): unknown => strongest.get(key)?.values.get(key)?.value ?? builtIn(key);
  for (const layer of layers) {
    for (const key of layer.values.keys() as Iterable<SettingKey>) {
      const isLooser = layer.kind === "project" && projectTrust !== "code" && looserThan(current(key), layer, key);
      if (!isLooser) strongest.set(key, layer);
    }
  }
  const all = (key: SettingKey): unknown[] =>
    layers.flatMap((layer) => (layer.values.get(key)?.value as unknown[] | undefined) ?? []);
  return {
    // Every value was checked against its row before it came in, which is what the type of the row says.
    get: <K extends SettingKey>(key: K) => (SETTING_RULES[key]?.addsUp ? all(key) : current(key)) as SettingValue<K>,
    origin(key) {
      const layer = strongest.get(key);
      if (layer) return originIn(layer, key);
      return builtIn(key) === SETTING_RULES[key]?.default ? { kind: "default" } : { kind: "dialect", name: dialect };
    },
  };
}

/** A project that nobody trusts must not loosen what protects the user from it. */
function looserThan(current: unknown, layer: Layer, key: SettingKey): boolean {
  const { stricterOnly, values } = SETTING_RULES[key] ?? {};
  const { value, path = [] } = layer.values.get(key) ?? {};
  // The higher the looser.
  const place = (of: unknown): number => (values ? values.indexOf(String(of)) : Number(of) || Number.POSITIVE_INFINITY);
  if (!stricterOnly || place(value) <= place(current)) return false;
  const text = `${key} is ${shownValue(value)}, which is looser than ${shownValue(current)}; of a project it counts only with --approve`;
  layer.problems.push(placed(layer, path, { level: "warning", key, text }));
  return true;
}

/** The place in the file is looked for only now: a start does not need it. */
function originIn({ kind, name, values, locate }: Layer, key: string): SettingOrigin {
  const path = values.get(key)?.path;
  return { kind, name, ...(path && locate?.(path)) };
}

type Place = Pick<SettingsInputs, "agentDir" | "cwd" | "projectTrust" | "readYaml">;

export interface SettingsFile {
  scope: "user" | "project";
  path: string;
  /** Another system's own file. */
  isYaml?: true;
}

/** The files that are looked for, weakest first; of the project none when it is distrusted. */
export function settingsFiles(place: Place): SettingsFile[] {
  const { agentDir, cwd, projectTrust, readYaml } = place;
  const yaml = readYaml ? yamlFiles(place) : [];
  const user: SettingsFile[] = [
    ...yaml.filter(({ scope }) => scope === "user"),
    { scope: "user", path: below(agentDir, JSON_NAME) },
  ];
  if (projectTrust === "none") return user;
  const project = PROJECT_FOLDERS.map(
    (folder): SettingsFile => ({ scope: "project", path: below(cwd, `${folder}/${JSON_NAME}`) }),
  );
  return [...user, ...yaml.filter(({ scope }) => scope === "project"), ...project];
}

const JSON_NAME = "settings.json";
const YAML_NAME = "config.yml";

/** Those of omp and xcsh that are there. */
export function yamlFiles({ agentDir, cwd }: Pick<Place, "agentDir" | "cwd">): SettingsFile[] {
  const files: SettingsFile[] = [
    { scope: "user", path: below(agentDir, YAML_NAME), isYaml: true },
    ...YAML_FOLDERS.map(
      (folder): SettingsFile => ({ scope: "project", path: below(cwd, `${folder}/${YAML_NAME}`), isYaml: true }),
    ),
  ];
  return files.filter(({ path }) => fileExists(path));
}

function fileLayers(inputs: SettingsInputs): Layer[] {
  const { rpc, projectTrust, readYaml } = inputs;
  return settingsFiles(inputs).map(({ scope, path, isYaml }) => {
    const programs = scope === "user" || projectTrust === "code";
    return fileLayer(path, { kind: scope, rpc, programs, ...(isYaml && { isForeign: true, read: readYaml }) });
  });
}

function environmentLayers({ env, rpc }: SettingsInputs): Layer[] {
  const layers: Layer[] = [];
  for (const [name, setting] of Object.entries(VARIABLE_SETTINGS)) {
    const text = env[name];
    const row = SETTING_RULES[setting];
    if (!text || !row || (rpc && row.resetInRpc)) continue;
    const layer: Layer = { kind: "environment", name, values: new Map(), problems: [] };
    const checked = checkSettingText(row, text);
    if (checked.ok) layer.values.set(setting, { value: checked.value });
    else {
      const { expected } = checked;
      const message = `${name} is ${shownValue(text)}, expected ${expected}`;
      layer.problems.push({ level: "error", source: name, key: setting, value: text, expected, message });
    }
    layers.push(layer);
  }
  return layers;
}

function flagLayer({ flags }: SettingsInputs): Layer {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  const values = new Map(given.map(([key, value]) => [key, { value }]));
  return { kind: "command line", name: "command line", values, problems: [] };
}
