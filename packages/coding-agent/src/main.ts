import { dialectForProgram } from "@tiller/protocol/dialects/index";
import { parseArgs, type RunArgs } from "./args.ts";
import { type Env, resolvePath } from "./config/paths.ts";
import { createSession } from "./create-session.ts";
import { createIdSource, systemClock } from "./lib/clock.ts";
import { log } from "./lib/log.ts";
import { MODES, type ModeInputs } from "./modes/index.ts";
import { openStdout } from "./modes/rpc/frame-writer.ts";
import { openStdin } from "./modes/rpc/stdin.ts";
import type { Head } from "./recording/format.ts";
import type { OpenedReplay } from "./recording/open.ts";
import type { Recording } from "./recording/seams.ts";

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
    print(versionText(programName));
    return 0;
  }
  if (parsed.kind === "help") {
    const { helpText, subCommandHelp } = await import("./help.ts");
    print(parsed.command ? subCommandHelp(parsed.command) : helpText(__TILLER_VERSION__));
    return 0;
  }
  if (parsed.kind === "error") {
    log(parsed.message.split("\n"), "");
    return parsed.exitCode;
  }
  const { run } = parsed;
  if (parsed.kind !== "run") {
    const { runSubCommand } = await import("./sub-commands.ts");
    const tape = tapeInputs(programName);
    const play = ({ head, recording }: OpenedReplay) => playBack(head, recording, print);
    return runSubCommand({ parsed, argv, env, cwd, print, tape, play });
  }
  if (run.options.record !== undefined) {
    const { openRecord } = await import("./recording/open.ts");
    const folder = resolvePath(run.options.record, cwd, env);
    const recording = openRecord({ ...tapeInputs(programName), folder, argv, env, cwd });
    return "error" in recording ? refused(recording.error) : start({ run, env, cwd, print, recording });
  }
  if (run.options.replay !== undefined) {
    const { openReplay } = await import("./recording/open.ts");
    const folder = resolvePath(run.options.replay, cwd, env);
    const opened = openReplay({ ...tapeInputs(programName), folder });
    return "error" in opened ? refused(opened.error) : playBack(opened.head, opened.recording, print);
  }
  return start({ run, env, cwd, print });
}

/** Under another program's name it says whose version this is: it is no old one of that program, to be brought up to date. */
function versionText(programName: string): string {
  return dialectForProgram(programName).name === "union" ? __TILLER_VERSION__ : `${__TILLER_VERSION__} (tiller)`;
}

/** What a recording needs of this process. */
function tapeInputs(programName: string) {
  return { programName, version: __TILLER_VERSION__, openStdin, openStdout };
}

function refused(reason: string): number {
  log(reason, "");
  return 2;
}

/** Starts as the recorded process was started, whatever the command line of this one says beside. */
async function playBack(
  { argv, programName, env, cwd }: Head,
  recording: Recording,
  print: Start["print"],
): Promise<number> {
  const parsed = parseArgs(argv, programName);
  if (parsed.kind !== "run") {
    return refused(`Error: the command line of the recording cannot be started again: ${JSON.stringify(argv)}`);
  }
  return start({ run: parsed.run, env, cwd, print, recording });
}

interface Start extends Pick<Surroundings, "env" | "cwd" | "print"> {
  run: RunArgs;
  /** Everything that comes from outside is recorded or played back. */
  recording?: Recording;
}

async function start(inputs: Start): Promise<number> {
  const code = await runMode(inputs);
  return inputs.recording ? inputs.recording.end(code) : code;
}

/** From what is asked for to a running mode. */
async function runMode({ run, env, cwd, print, recording }: Start): Promise<number> {
  const clock = recording?.clock ?? systemClock;
  const files = await filesFor(run, cwd, env);
  if ("error" in files) {
    log(files.error, "");
    return 1;
  }
  const ids = recording?.ids ?? createIdSource(clock);
  const created = await createSession({ run, env, cwd, clock, ids, recording });
  if ("error" in created) {
    log(created.error.split("\n"), "");
    return created.exitCode ?? 1;
  }
  const told = [...run.warnings, ...created.problems, ...created.notices];
  for (const line of told) log(line);
  if (run.options.listModels !== undefined) {
    const { listModels } = run.options;
    const { modelTable } = await import("./model-list.ts");
    await created.session.models.refresh();
    print(modelTable(created.session.models.available(), { search: listModels === true ? "" : listModels }));
    return 0;
  }
  const { settings, notices } = created;
  return MODES[run.mode]({
    session: created.session,
    dialect: run.dialect,
    clock,
    version: __TILLER_VERSION__,
    maxLineBytes: settings.get("input.maxLineBytes"),
    updates: settings.get("updates.mode"),
    finishOnEof: run.options.finishOnEof ?? false,
    ids,
    emitTitle: settings.get("rpc.emitTitle"),
    notices,
    messages: created.run.prompts,
    files,
    header: created.header,
    told,
    recording,
  });
}

/** RPC mode takes none, so that most starts do not need what reads them. */
async function filesFor(run: RunArgs, cwd: string, env: Env): Promise<ModeInputs["files"] | { error: string }> {
  if (run.files.length === 0) return { text: "", images: [] };
  const { readFileArguments } = await import("./file-arguments.ts");
  return readFileArguments(run.files, workingFolder(run, cwd, env), env);
}

function workingFolder({ options }: RunArgs, cwd: string, env: Env): string {
  return options.cwd === undefined ? cwd : resolvePath(options.cwd, cwd, env);
}
