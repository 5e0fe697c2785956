import { statSync } from "node:fs";
import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "./args.ts";
import { agentFolder, type Env, resolvePath } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { openModels, type SessionModels } from "./session-models.ts";
import { loadTrustedSettings } from "./trusted-settings.ts";

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
  const loaded = await loadTrustedSettings({ run: inputs.run, agentDir, cwd, env });
  const { settings, run } = loaded;
  const models = await openModels({ options, settings, agentDir, cwd, env, clock });
  const problems = [...loaded.problems, ...models.problems];
  return { run, cwd, agentDir, settings, approvalsUnread: loaded.isUnread("approval"), models, problems };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
