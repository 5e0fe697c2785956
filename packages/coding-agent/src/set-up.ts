import { statSync } from "node:fs";
import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "./args.ts";
import { agentFolder, type Env, resolvePath } from "./config/paths.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import { openModels, type SessionModels } from "./session-models.ts";

/** What the files, the environment and the command line say, read once. */
export interface SetUp {
  run: RunArgs;
  cwd: string;
  agentDir: string;
  settings: Settings;
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
  const loaded = loadSettings({
    dialect: inputs.run.dialect.name,
    rpc: inputs.run.mode === "rpc",
    agentDir,
    cwd,
    projectTrust: inputs.run.projectTrust,
    env,
    flags: inputs.run.settings,
  });
  const { settings } = loaded;
  const run = withTrust(inputs.run, settings);
  const models = await openModels({ options, settings, agentDir, cwd, env, clock });
  return { run, cwd, agentDir, settings, models, problems: [...loaded.problems, ...models.problems] };
}

/** A user who trusts all projects, or none, has said so once and for all. */
function withTrust(run: RunArgs, settings: Settings): RunArgs {
  const { approve, noApprove } = run.options;
  const general = settings.get("defaultProjectTrust");
  if (approve || noApprove || general === "ask" || general === undefined) return run;
  return { ...run, projectTrust: general === "always" ? "code" : "none" };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
