import { loadSettings, type SettingOrigin, type SettingsInputs, settingsFiles } from "../config/settings.ts";
import type { SettingProblem } from "../config/settings-file.ts";
import { SETTING_ROWS, type SettingKey } from "../config/settings-schema.ts";
import { repeatedKeys } from "./repeated-keys.ts";

/** One setting: what it is and why. */
export interface ReportedSetting {
  key: string;
  /** Absent: nobody has set it and it has no default. In RPC mode, which is what hosts get. */
  value?: unknown;
  source: SettingOrigin;
  default?: unknown;
  /** later: the capability behind it is not built yet. */
  status: "works" | "later";
  /** In the other modes, where a user's workflow settings count, it is something else. */
  outsideRpc?: { value?: unknown; source: SettingOrigin };
  summary: string;
}

export interface ConfigReport {
  /** No file and no variable has a mistake in it. */
  ok: boolean;
  /** All that are looked for, weakest first. */
  files: { scope: "user" | "project"; path: string }[];
  settings: ReportedSetting[];
  problems: SettingProblem[];
}

/** Everything that `tiller config` can tell. The files are read twice: once as RPC mode does, once as the others do. */
export function configReport(inputs: Omit<SettingsInputs, "rpc">): ConfigReport {
  const rpc = loadSettings({ ...inputs, rpc: true }).settings;
  // Here the workflow settings are looked at too, so that mistakes in them are found.
  const { settings: others, findings } = loadSettings({ ...inputs, rpc: false });
  const files = settingsFiles(inputs);
  const repeated = files.flatMap(({ path, isYaml }) => (isYaml ? [] : repeatedKeys(path)));
  const settings = (Object.keys(SETTING_ROWS) as SettingKey[]).map((key): ReportedSetting => {
    const { default: builtIn, status, summary } = SETTING_ROWS[key]!;
    const [source, elsewhere] = [rpc.origin(key), others.origin(key)];
    const differs = elsewhere.kind !== source.kind;
    return {
      key,
      value: rpc.get(key),
      source,
      default: builtIn,
      status,
      ...(differs && { outsideRpc: { value: others.get(key), source: elsewhere } }),
      summary,
    };
  });
  return {
    ok: !findings.some(({ level }) => level === "error"),
    files: files.map(({ scope, path }) => ({ scope, path })),
    settings,
    problems: [...findings, ...repeated],
  };
}
