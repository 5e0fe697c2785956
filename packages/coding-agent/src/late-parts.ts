import { readFileSync, statSync } from "node:fs";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import { createActiveTools } from "./active-tools.ts";
import type { RunArgs } from "./args.ts";
import { type Env, resolvePath } from "./config/paths.ts";
import { latePer } from "./lib/late.ts";
import { shellOf } from "./part-settings.ts";
import type { RunShell } from "./session/bash-runner.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { RunMachinery } from "./session/session-run.ts";
import type { DiskSettings } from "./session/store/session-disk.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import type { SetUp } from "./set-up.ts";

/** Parts that are loaded when they are first needed: whoever only starts the process does not wait for them. */

/** What everything stands on: how the process was started, and what was read of its configuration. */
export interface Ground extends SetUp {
  run: RunArgs;
  env: Env;
  clock: Clock;
  ids: IdSource;
}

/** What a run needs, made for the folder that the session is about. */
export function lateMachinery(ground: Ground, store: SessionStore, models: ModelControl): () => Promise<RunMachinery> {
  const { env, clock, cwd, settings } = ground;
  const { options } = ground.run;
  const { names: toolNames } = createActiveTools(options);
  return latePer(
    () => store.cwd,
    async (folder) => {
      const { createMachinery } = await import("./run-machinery.ts");
      return createMachinery({
        cwd: folder,
        env,
        clock,
        shell: shellOf(settings, cwd, env),
        messages: () => store.messages,
        model: () => models.model,
        thinkingLevel: () => models.thinkingLevel,
        credentials: ground.models.source.credentials,
        toolNames,
        systemPrompt: {
          base: options.systemPrompt === undefined ? undefined : textOrFile(options.systemPrompt, cwd, env),
          append: (options.appendSystemPrompt ?? []).map((given) => textOrFile(given, cwd, env)),
        },
        request: {
          patience: {
            firstByteMs: settings.get("retry.provider.timeoutMs"),
            idleMs: settings.get("retry.provider.idleTimeoutMs"),
          },
          cacheRetention: settings.get("cacheRetention"),
          get sessionId() {
            return store.sessionId;
          },
        },
      });
    },
  );
}

/** The shell commands of the host. */
export function lateShell({ run, env, clock, cwd, settings }: Ground, store: SessionStore): RunShell {
  const load = latePer(
    () => store.cwd,
    async (folder) => {
      const { createShellCommands } = await import("./shell-command.ts");
      const shell = shellOf(settings, cwd, env);
      return createShellCommands({ cwd: folder, env, clock, shell, keepsState: run.dialect.keepsShellState });
    },
  );
  return async (...command) => (await load())(...command);
}

/** Gives the session in the store the disk that it still lacks. */
export async function attachDisk(store: SessionStore, disk: DiskSettings): Promise<void> {
  const { createSessionDisk } = await import("./session/store/session-disk.ts");
  if (store.needsDisk) store.attach(createSessionDisk({ ...disk, path: store.sessionFile ?? "" }));
}

/** An option that takes a text also takes the path of a file with the text. */
function textOrFile(given: string, cwd: string, env: Env): string {
  const path = given.length < 1024 && !given.includes("\n") ? resolvePath(given, cwd, env) : undefined;
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : given;
}
