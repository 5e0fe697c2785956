import { parseArgs } from "./args.ts";
import type { Env } from "./config/paths.ts";
import { createSession } from "./create-session.ts";
import { createIdSource, systemClock } from "./lib/clock.ts";
import { log } from "./lib/log.ts";
import { runRpcMode } from "./modes/rpc/rpc-mode.ts";

declare const __TILLER_VERSION__: string;

export interface Surroundings {
  argv: readonly string[];
  /** The name the program was started under: a link called `pi` speaks pi. */
  programName: string;
  env: Env;
  cwd: string;
  /** Prints for people; only for what does not speak the protocol: --help, --version and the sub-commands. */
  print(text: string): void;
}

/** From the command line to a running mode. Resolves to the exit code. */
export async function main({ argv, programName, env, cwd, print }: Surroundings): Promise<number> {
  const parsed = parseArgs(argv, programName);
  if (parsed.kind === "version") {
    print(__TILLER_VERSION__);
    return 0;
  }
  if (parsed.kind === "help") {
    const { helpText } = await import("./help.ts");
    print(helpText(__TILLER_VERSION__));
    return 0;
  }
  if (parsed.kind === "error") {
    log(parsed.message, "");
    return parsed.exitCode;
  }
  const { run } = parsed;
  const { dialect } = run;
  const clock = systemClock;
  if (parsed.kind === "sessions") {
    const { runSessions } = await import("./sessions/sub-command.ts");
    return runSessions({ words: parsed.words, run, env, cwd, clock, print });
  }
  if (parsed.kind !== "run") {
    const { runSubCommand } = await import("./doctor/sub-command.ts");
    return runSubCommand({
      command: parsed.kind,
      words: parsed.words,
      run,
      env,
      cwd,
      clock,
      version: __TILLER_VERSION__,
      print,
    });
  }
  const created = await createSession({ run, env, cwd, clock, ids: createIdSource(clock) });
  if ("error" in created) {
    log(created.error, "");
    return 1;
  }
  for (const line of [...run.warnings, ...created.problems, ...created.notices]) log(line);
  if (run.options.listModels !== undefined) {
    const { listModels } = run.options;
    const { modelTable } = await import("./model-list.ts");
    await created.session.models.refresh();
    print(modelTable(created.session.models.available(), { search: listModels === true ? "" : listModels }));
    return 0;
  }
  const { session, settings, notices } = created;
  return runRpcMode({
    session,
    dialect,
    clock,
    version: __TILLER_VERSION__,
    maxLineBytes: settings.get("input.maxLineBytes"),
    updates: settings.get("updates.mode"),
    finishOnEof: run.options.finishOnEof ?? false,
    notices,
  });
}
