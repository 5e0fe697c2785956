import { statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "./args.ts";
import { fileExists } from "./config/json-file.ts";
import { agentFolder, type Env, resolvePath } from "./config/paths.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import { openModels, type SessionModels } from "./session-models.ts";

/** What the files, the environment and the command line say, read once. */
export interface SetUp {
  run: RunArgs;
  cwd: string;
  agentDir: string;
  settings: Settings;
  /** Somebody has said something about approvals that could not be read. */
  approvalsUnread: boolean;
  models: SessionModels;
  /** What could not be used, one sentence each. */
  problems: string[];
}

export interface SetUpInputs {
  run: RunArgs;
  env: Env;
  cwd: string;
  clock: Clock;
}

export async function openSetUp(inputs: SetUpInputs): Promise<SetUp | { error: string }> {
  const { env, clock } = inputs;
  const { options } = inputs.run;
  const cwd = options.cwd === undefined ? inputs.cwd : resolvePath(options.cwd, inputs.cwd, env);
  if (!isFolder(cwd)) return { error: `Error: --cwd "${cwd}" is not a folder` };
  const agentDir = agentFolder(env, cwd);
  const settingsFor = (projectTrust: RunArgs["projectTrust"]) =>
    loadSettings({
      dialect: inputs.run.dialect.name,
      rpc: inputs.run.mode === "rpc",
      agentDir,
      cwd,
      projectTrust,
      env,
      flags: inputs.run.settings,
    });
  const first = settingsFor(inputs.run.projectTrust);
  const run = await withTrust(inputs.run, first.settings, agentDir, cwd);
  // Who trusts the project more, or less, sees other settings of it.
  const loaded = run === inputs.run ? first : settingsFor(run.projectTrust);
  const { settings } = loaded;
  const models = await openModels({ options, settings, agentDir, cwd, env, clock });
  const problems = [...loaded.problems, ...models.problems];
  return { run, cwd, agentDir, settings, approvalsUnread: loaded.isUnread("approval"), models, problems };
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
