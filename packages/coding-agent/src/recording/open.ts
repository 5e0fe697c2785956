import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, sep } from "node:path";
import type { Readable, Writable } from "node:stream";
import { putBetween } from "@tiller/ai/http/traffic";
import type { Env } from "../config/paths.ts";
import { createIdSource, randomHex, sleep, systemClock } from "../lib/clock.ts";
import { log } from "../lib/log.ts";
import { captureFiles, recordSyncs, redirectFiles, removeFolder, unpackFiles } from "./files.ts";
import { FORMAT, type Head, type LoadedRecording, readRecording } from "./format.ts";
import { createLiveHost } from "./host-lines.ts";
import { createLogWriter } from "./log-writer.ts";
import { createPlayer, type Player } from "./player.ts";
import { seededRandom } from "./random.ts";
import { createRecorder } from "./recorder.ts";
import { createRedaction, openArgv, openEnv } from "./redact.ts";
import {
  isRunInReplay,
  type Recording,
  recordedJob,
  recordedLook,
  recordedOthers,
  recordedShell,
  recordedTool,
  recordedTraffic,
} from "./seams.ts";
import type { Tape } from "./tape.ts";

/** Puts a tape between the program and the world: one that records, or one that plays. */

export interface Streams {
  openStdin(): Readable;
  openStdout(): Writable;
}

export interface RecordInputs extends Streams {
  folder: string;
  argv: readonly string[];
  programName: string;
  env: Env;
  cwd: string;
  version: string;
}

const liveClock = systemClock;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** The exit code when the host or the program did something else than was recorded. */
export const DIVERGED = 3;
const FLUSH_MS = 800;
const FLUSH_LOOK_MS = 5;

/** What every tape gives to the parts of the program. */
function seamsOf(tape: Tape, seed: string): Omit<Recording, "listen" | "end"> {
  putBetween(recordedTraffic(tape, liveClock));
  recordSyncs(tape);
  const { clock, openInput, openOutput } = tape;
  return {
    clock,
    openInput,
    openOutput,
    liveClock,
    ids: createIdSource(clock, seededRandom(seed)),
    isRun: isRunInReplay,
    tool: recordedTool(tape),
    others: recordedOthers(recordedTool(tape)),
    shell: recordedShell(tape),
    job: recordedJob(tape),
    look: recordedLook(tape),
  };
}

/** Problems that come before somebody can be told wait for that. */
function createTeller(): { tell(message: string): void; listen: Recording["listen"] } {
  let waiting: string[] = [];
  let listener: ((message: string) => void) | undefined;
  return {
    tell(message) {
      log(message);
      if (listener) listener(message);
      else waiting.push(message);
    },
    listen(next) {
      listener = next;
      for (const message of waiting) next(message);
      waiting = [];
    },
  };
}

export function openRecord(inputs: RecordInputs): Recording | { error: string } {
  const { folder, env, cwd, programName } = inputs;
  const startedAt = liveClock.now();
  const argv = withoutOption(inputs.argv, "--record");
  const head: Head = {
    format: FORMAT,
    version: inputs.version,
    startedAt,
    seed: randomHex(32),
    argv: openArgv(argv),
    programName,
    cwd,
    env: openEnv(env),
  };
  const redact = createRedaction(env, argv);
  const teller = createTeller();
  const lost = (error: Error): void =>
    teller.tell(`The recording in ${folder} ends here, the session goes on: ${error.message}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (readdirSync(folder).length > 0) {
      return { error: `Error: --record ${folder}: the folder is not empty; name a new one` };
    }
    const writer = createLogWriter(folder, head, redact, lost);
    const recorder = createRecorder({ ...inputs, writer, startedAt, liveClock, signals: SIGNALS });
    const seams = seamsOf(recorder, head.seed);
    const running = { tools: 0 };
    const isReal = ownPlaces(programName);
    captureFiles({
      folder,
      env,
      redact,
      list: writer.file,
      // What tools look at is not read again in a replay.
      isLeftOut: (path) =>
        isReal(path) || isBelow(path, folder) || (running.tools > 0 && isBelow(path, cwd) && !isBelow(path, env.HOME)),
    });
    return {
      ...seams,
      tool: (tool, isOurs) => counted(seams.tool(tool, isOurs), running),
      listen: teller.listen,
      async end(code) {
        recorder.exit(code);
        return code;
      },
    };
  } catch (error) {
    return { error: `Error: --record ${folder}: ${(error as Error).message}` };
  }
}

function counted<Tool extends ReturnType<Recording["tool"]>>(tool: Tool, running: { tools: number }): Tool {
  return {
    ...tool,
    async execute(call: Parameters<Tool["execute"]>[0]) {
      running.tools += 1;
      try {
        return await tool.execute(call);
      } finally {
        running.tools -= 1;
      }
    },
  };
}

export interface OpenedReplay {
  head: Head;
  recording: Recording;
  player: Player;
  /** The folder as it was read. */
  loaded: LoadedRecording;
}

export interface ReplayInputs extends Streams {
  folder: string;
  programName: string;
  version: string;
  /** Undefined: whoever is at stdin and stdout is the host. Else the recorded one is, and nothing is written. */
  onDifference?(text: string): void;
}

export function openReplay(inputs: ReplayInputs): OpenedReplay | { error: string } {
  const { folder, onDifference } = inputs;
  const loaded = readRecording(folder);
  if ("error" in loaded) return { error: `Error: cannot replay ${folder}: ${loaded.error}` };
  const { head } = loaded;
  if (head.version !== inputs.version) {
    log(`${folder} was recorded by version ${head.version}, this is ${inputs.version}: it may do other things`);
  }
  const root = unpackFiles(folder, [head.cwd, head.env.HOME ?? "/", tmpdir()]);
  process.once("exit", () => removeFolder(root));
  const teller = createTeller();
  let isDifferent = false;
  const output = onDifference ? undefined : inputs.openStdout();
  const player = createPlayer({
    ...loaded,
    startedAt: head.startedAt,
    liveClock,
    redact: createRedaction({}, []),
    ...(onDifference ? {} : { host: createLiveHost(inputs.openStdin()) }),
    // The writer uses its bytes again once the recorded host has taken them; this one may not have.
    onWrite: (chunk) => void output?.write(Buffer.from(chunk)),
    onOtherCall: (text) => log(`replay: ${text}`),
    onDifference(text) {
      isDifferent = true;
      if (onDifference) onDifference(text);
      else teller.tell(`The replay has left the recording at ${text}`);
    },
  });
  redirectFiles(root, ownPlaces(inputs.programName));
  const recording: Recording = {
    ...seamsOf(player, head.seed),
    listen: teller.listen,
    async end(code) {
      player.exit(code);
      const end = liveClock.now() + FLUSH_MS;
      while (output && output.writableLength > 0 && liveClock.now() < end) await sleep(liveClock, FLUSH_LOOK_MS);
      return isDifferent ? DIVERGED : code;
    },
  };
  player.start();
  return { head, recording, player, loaded };
}

/** The program itself is no part of what it looks at. */
function ownPlaces(programName: string): (path: string) => boolean {
  const program = dirname(realpathSync(programName));
  const own = [program, dirname(program), dirname(process.execPath), "/proc", "/dev", "/sys"];
  return (path) => own.some((place) => isBelow(path, place)) || path.includes(`${sep}node_modules${sep}`);
}

function isBelow(path: string, folder: string | undefined): boolean {
  return (
    folder !== undefined && (path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`))
  );
}

function withoutOption(argv: readonly string[], option: string): string[] {
  return argv.filter((arg, index) => arg !== option && argv[index - 1] !== option && !arg.startsWith(`${option}=`));
}
