import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "../args.ts";
import { type Env, resolvePath } from "../config/paths.ts";
import { log } from "../lib/log.ts";
import { type AgentCommand, startAgent } from "./agent-process.ts";
import type { ModelServer } from "./model-server.ts";
import type { Transcript } from "./parse.ts";
import { playTranscript } from "./play.ts";
import { type Story, shippedStories, storiesIn } from "./stories.ts";

/** `tiller transcript run`: plays stories against an agent and tells which hold. */

export interface TranscriptInputs {
  /** What stood behind the command. */
  words: readonly string[];
  run: RunArgs;
  env: Env;
  cwd: string;
  clock: Clock;
  /** The file of this program. */
  programName: string;
  print(text: string): void;
}

export interface Verdict {
  name: string;
  title: string;
  ok: boolean;
  /** The first difference. */
  problem?: string;
}

const USAGE = 'Error: use it as `tiller transcript run [FILE ...] [--agent "COMMAND"] [--json]`';

/** Resolves to the exit code: 0 when all hold, 1 when one does not, 2 when it was not asked for rightly. */
export async function runTranscripts(inputs: TranscriptInputs): Promise<number> {
  const { words, run, cwd, env, print } = inputs;
  const [action, ...paths] = words;
  const command = agentCommand(inputs);
  if (action !== "run" || !command) {
    log(USAGE, "");
    return 2;
  }
  for (const warning of run.warnings) log(warning);
  const stories =
    paths.length > 0
      ? storiesIn(
          paths.map((path) => resolvePath(path, cwd, env)),
          cwd,
        )
      : shippedStories();
  if (!stories) {
    log("Error: this build has no stories of its own; name a file or a folder that holds *.rpc.txt", "");
    return 2;
  }
  const verdicts: Verdict[] = [];
  for (const story of stories) {
    const verdict = await judge(story, command);
    verdicts.push(verdict);
    if (!run.options.json) print(verdictText(verdict));
  }
  const failed = verdicts.filter(({ ok }) => !ok).length;
  print(
    run.options.json ? JSON.stringify(verdicts, undefined, 2) : `${verdicts.length - failed} passed, ${failed} failed`,
  );
  return failed > 0 ? 1 : 0;
}

/** Undefined when `--agent` names none. */
function agentCommand({ run, cwd, env, clock, programName }: TranscriptInputs): AgentCommand | undefined {
  const around = { machine: env, clock };
  const { agent } = run.options;
  if (agent === undefined) return { file: process.execPath, args: [programName], isOther: false, ...around };
  const [file, ...args] = commandWords(agent).map((word) =>
    /^\.{1,2}\//.test(word) ? resolvePath(word, cwd, env) : word,
  );
  return file === undefined ? undefined : { file, args, isOther: true, ...around };
}

/** `node "my agent.js" --x` in three words; no shell has a part in it. */
export function commandWords(text: string): string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|[^\s"']+/g)].map(
    ([whole, double, single]) => double ?? single ?? whole,
  );
}

async function judge(story: Story, command: AgentCommand): Promise<Verdict> {
  const { name, transcript, problem, extensionsFolder } = story;
  const told = { name, title: transcript?.title ?? "" };
  if (!transcript) return { ...told, ok: false, problem };
  let server: ModelServer | undefined;
  try {
    server = command.isOther ? await modelServer(transcript, command.clock) : undefined;
    const started: AgentCommand = { ...command, ...(server && { provider: server.provider }) };
    const start = (setting: Parameters<typeof startAgent>[1]) => startAgent(started, setting);
    await playTranscript(transcript, { start, clock: command.clock, extensionsFolder });
    return { ...told, ok: true };
  } catch (error) {
    return { ...told, ok: false, problem: (error as Error).message };
  } finally {
    await server?.close();
  }
}

/** Another agent cannot be asked to play a script, but every one of them can be told of a server. */
async function modelServer({ model }: Transcript, clock: Clock): Promise<ModelServer | undefined> {
  if (model.length === 0) return undefined;
  const { serveModel } = await import("./model-server.ts");
  return serveModel(model, clock);
}

function verdictText({ name, title, ok, problem = "" }: Verdict): string {
  if (ok) return `ok    ${name}: ${title}`;
  return [
    `FAIL  ${name}${title === "" ? "" : `: ${title}`}`,
    ...problem.split("\n").map((line) => `      ${line}`),
  ].join("\n");
}
