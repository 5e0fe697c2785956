import type { RunArgs } from "./args.ts";
import { fileExists } from "./config/json-file.ts";
import { agentFolder, type Env, resolvePath } from "./config/paths.ts";
import { type LoadedSettings, loadSettings, type Settings, yamlFiles } from "./config/settings.ts";
import type { FileReader } from "./config/settings-file.ts";
import { below } from "./lib/below.ts";

export interface TrustedSettingsInputs {
  run: RunArgs;
  agentDir: string;
  cwd: string;
  env: Env;
}

/** What is needed to read the same settings once more. */
export interface TrustedRun {
  run: RunArgs;
  readYaml: FileReader | undefined;
}

/** The settings, and the command line with what the user has decided about this project. */
export async function loadTrustedSettings(inputs: TrustedSettingsInputs): Promise<LoadedSettings & TrustedRun> {
  const { run: given, agentDir, cwd, env } = inputs;
  const readYaml = await yamlReader(agentDir, cwd);
  const settingsFor = ({ mode, dialect, projectTrust, settings: flags }: RunArgs): LoadedSettings =>
    loadSettings({ dialect: dialect.name, rpc: mode === "rpc", agentDir, cwd, projectTrust, env, flags, readYaml });
  const first = settingsFor(given);
  const run = await withTrust(given, first.settings, agentDir, cwd);
  // Who trusts the project more, or less, sees other settings of it.
  return { ...(run === given ? first : settingsFor(run)), run, readYaml };
}

/** The same for who reads the settings later. */
export async function trustedRun(run: RunArgs, env: Env, startFolder: string): Promise<TrustedRun> {
  const { cwd: named } = run.options;
  const cwd = named === undefined ? startFolder : resolvePath(named, startFolder, env);
  return loadTrustedSettings({ run, agentDir: agentFolder(env, cwd), cwd, env });
}

/** The reader is large, and few have such a file. */
async function yamlReader(agentDir: string, cwd: string): Promise<FileReader | undefined> {
  if (yamlFiles({ agentDir, cwd }).length === 0) return undefined;
  return (await import("./config/yaml-file.ts")).readYamlFile;
}

/** A user may have decided about this project before, or about all of them once and for all. */
async function withTrust(run: RunArgs, settings: Settings, agentDir: string, cwd: string): Promise<RunArgs> {
  const { approve, noApprove } = run.options;
  if (approve || noApprove) return run;
  if (fileExists(below(agentDir, "trust.json"))) {
    const { isRemembered } = await import("./extensions/loading/trust.ts");
    if (isRemembered(agentDir, cwd)) return { ...run, projectTrust: "code" };
  }
  const general = settings.get("defaultProjectTrust");
  if (general === "ask") return run;
  return { ...run, projectTrust: general === "always" ? "code" : "none" };
}
