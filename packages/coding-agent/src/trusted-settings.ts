import { join } from "node:path";
import type { RunArgs } from "./args.ts";
import { fileExists } from "./config/json-file.ts";
import { agentFolder, type Env, resolvePath } from "./config/paths.ts";
import { type LoadedSettings, loadSettings, type Settings } from "./config/settings.ts";

export interface TrustedSettingsInputs {
  run: RunArgs;
  agentDir: string;
  cwd: string;
  env: Env;
}

/** The settings, and the command line with what the user has decided about this project. */
export async function loadTrustedSettings(inputs: TrustedSettingsInputs): Promise<LoadedSettings & { run: RunArgs }> {
  const { run: given, agentDir, cwd, env } = inputs;
  const settingsFor = ({ mode, dialect, projectTrust, settings: flags }: RunArgs): LoadedSettings =>
    loadSettings({ dialect: dialect.name, rpc: mode === "rpc", agentDir, cwd, projectTrust, env, flags });
  const first = settingsFor(given);
  const run = await withTrust(given, first.settings, agentDir, cwd);
  // Who trusts the project more, or less, sees other settings of it.
  return { ...(run === given ? first : settingsFor(run)), run };
}

/** The same for who reads the settings later. */
export async function trustedRun(run: RunArgs, env: Env, startFolder: string): Promise<RunArgs> {
  const { cwd: named } = run.options;
  const cwd = named === undefined ? startFolder : resolvePath(named, startFolder, env);
  return (await loadTrustedSettings({ run, agentDir: agentFolder(env, cwd), cwd, env })).run;
}

/** A user may have decided about this project before, or about all of them once and for all. */
async function withTrust(run: RunArgs, settings: Settings, agentDir: string, cwd: string): Promise<RunArgs> {
  const { approve, noApprove } = run.options;
  if (approve || noApprove) return run;
  if (fileExists(join(agentDir, "trust.json"))) {
    const { isRemembered } = await import("./extensions/loading/trust.ts");
    if (isRemembered(agentDir, cwd)) return { ...run, projectTrust: "code" };
  }
  const general = settings.get("defaultProjectTrust");
  if (general === "ask") return run;
  return { ...run, projectTrust: general === "always" ? "code" : "none" };
}
