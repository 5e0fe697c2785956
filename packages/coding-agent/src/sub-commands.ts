import type { ParsedArgs } from "./args.ts";
import type { SubCommand } from "./cli-options.ts";
import type { Env } from "./config/paths.ts";
import { systemClock } from "./lib/clock.ts";
import type { ReplayCommandInputs } from "./recording/sub-command.ts";
import { type TrustedRun, trustedRun } from "./trusted-settings.ts";

export interface SubCommandsInputs {
  parsed: Extract<ParsedArgs, { kind: SubCommand }>;
  argv: readonly string[];
  env: Env;
  cwd: string;
  print(text: string): void;
  /** What a recording needs of this process. */
  tape: Pick<ReplayCommandInputs, "programName" | "version" | "openStdin" | "openStdout">;
  /** Starts as the recorded process was started. */
  play: ReplayCommandInputs["play"];
}

/** The words that may stand first on the command line, each with its own room. Resolves to the exit code. */
export async function runSubCommand(inputs: SubCommandsInputs): Promise<number> {
  const { parsed, argv, env, cwd, print, tape, play } = inputs;
  const { kind, words } = parsed;
  // What a project may say is the same as for a start.
  const readsSettings = kind === "sessions" || kind === "config" || kind === "export";
  const { run, readYaml }: Partial<TrustedRun> & Pick<TrustedRun, "run"> = readsSettings
    ? await trustedRun(parsed.run, env, cwd)
    : { run: parsed.run };
  const { programName, version } = tape;
  const clock = systemClock;
  if (kind === "sessions") {
    const { runSessions } = await import("./sessions/sub-command.ts");
    return runSessions({ words, run, readYaml, env, cwd, clock, print });
  }
  if (kind === "schema") {
    const { runSchema } = await import("./schema-command.ts");
    return runSchema({ words, print });
  }
  if (kind === "config") {
    const { runConfig } = await import("./config-command/sub-command.ts");
    return runConfig({ words, run, readYaml, env, cwd, print });
  }
  if (kind === "export") {
    const { runExport } = await import("./export-command.ts");
    return runExport({ words, run, readYaml, env, cwd, clock, print });
  }
  if (kind === "chat") {
    const { runChatCommand } = await import("./chat/sub-command.ts");
    const streams = { input: tape.openStdin(), output: tape.openStdout() };
    return runChatCommand({ argv: argv.slice(1), words, programName, env, version, ...streams });
  }
  if (kind === "transcript") {
    const { runTranscripts } = await import("./transcript/sub-command.ts");
    return runTranscripts({ words, run, env, cwd, clock, programName, print });
  }
  if (kind === "replay") {
    const { runReplay } = await import("./recording/sub-command.ts");
    return runReplay({ ...tape, words, run, env, cwd, print, play });
  }
  const { runDoctorOrModels } = await import("./doctor/sub-command.ts");
  return runDoctorOrModels({ command: kind, words, run, env, cwd, clock, version, print });
}
