import { statSync } from "node:fs";
import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "./args.ts";
import { agentFolder, type Env, resolvePath } from "./config/paths.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import { openModels, type SessionModels } from "./session-models.ts";

/** What the files, the environment and the command line say, read once. */
export interface SetUp {
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
  const { run, env, clock } = inputs;
  const { options } = run;
  const cwd = options.cwd === undefined ? inputs.cwd : resolvePath(options.cwd, inputs.cwd, env);
  if (!isFolder(cwd)) return { error: `Error: --cwd "${cwd}" is not a folder` };
  const agentDir = agentFolder(env, cwd);
  const loaded = loadSettings({
    dialect: run.dialect.name,
    rpc: run.mode === "rpc",
    agentDir,
    cwd,
    projectTrust: run.projectTrust,
    env,
    flags: run.settings,
  });
  const { settings } = loaded;
  const models = await openModels({ options, settings, agentDir, cwd, env, clock });
  return { cwd, agentDir, settings, models, problems: [...loaded.problems, ...models.problems] };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
