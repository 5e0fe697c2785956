import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "../args.ts";
import type { SubCommand } from "../cli-options.ts";
import type { Env } from "../config/paths.ts";
import { log } from "../lib/log.ts";
import { isAskingOff } from "../session-models.ts";
import { openSetUp } from "../set-up.ts";
import { reportText } from "./check.ts";
import { listModels } from "./list-models.ts";
import { runDoctor } from "./run-doctor.ts";

export interface SubCommandInputs {
  command: SubCommand;
  /** What stood behind the command. */
  words: readonly string[];
  run: RunArgs;
  env: Env;
  cwd: string;
  clock: Clock;
  version: string;
  print(text: string): void;
}

/** Resolves to the exit code. */
export async function runDoctorOrModels(inputs: SubCommandInputs): Promise<number> {
  const { command, words, run, env, clock, version, print } = inputs;
  const { options } = run;
  const setUp = await openSetUp(inputs);
  if ("error" in setUp) {
    log(setUp.error.split("\n"), "");
    return 1;
  }
  const isOffline = isAskingOff(options, env);
  if (command === "doctor") {
    const report = await runDoctor({ setUp, version, env, clock, isOffline });
    print(options.json ? JSON.stringify(report, undefined, 2) : reportText(report));
    return report.ok ? 0 : 1;
  }
  for (const problem of [...run.warnings, ...setUp.problems]) log(problem);
  print(await listModels({ setUp, env, clock, search: words.join(" "), isAll: options.all === true, isOffline }));
  return 0;
}
