import { statSync } from "node:fs";
import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "../args.ts";
import { agentFolder, type Env, locksFolder, resolvePath, sessionFolder, sessionsRoot } from "../config/paths.ts";
import { loadSettings } from "../config/settings.ts";
import type { FileReader } from "../config/settings-file.ts";
import { log } from "../lib/log.ts";
import { oneLine } from "../lib/visible.ts";
import { SessionFileError } from "../session/store/file-errors.ts";
import { findSession, type SessionPlaces } from "../session/store/find-session.ts";
import { type SessionPlace, sessionFiles } from "../session/store/session-folders.ts";
import { allSessions, sessionTable } from "./list-sessions.ts";
import { readWhole } from "./read-whole.ts";
import { repairFile } from "./repair-file.ts";
import { describeSession, descriptionText } from "./show-session.ts";
import { checkFile, checksText } from "./verify-files.ts";

/** `tiller sessions`: what is in the session files, for people. */

export interface SessionsInputs {
  /** What stood behind the command: an action and what it is done to. */
  words: readonly string[];
  run: RunArgs;
  /** Where there is a file that needs it. */
  readYaml?: FileReader;
  env: Env;
  cwd: string;
  clock: Clock;
}

/** What to print, what to complain about, and the exit code. */
export interface Outcome {
  code: number;
  out?: string;
  errors?: readonly string[];
}

interface ActionInputs {
  words: readonly string[];
  places: SessionPlaces;
  /** This project, or all with `--all`. */
  place: SessionPlace;
  isJson: boolean;
  clock: Clock;
  locksFolder: string;
}

interface Action {
  usage: string;
  /** How many words it takes. */
  least: number;
  most: number;
  run(inputs: ActionInputs): Promise<Outcome> | Outcome;
}

const ACTIONS: Readonly<Record<string, Action>> = {
  list: { usage: "list [TEXT]", least: 0, most: Number.POSITIVE_INFINITY, run: list },
  show: { usage: "show PATH|ID", least: 1, most: 1, run: show },
  verify: { usage: "verify [PATH|ID ...]", least: 0, most: Number.POSITIVE_INFINITY, run: verify },
  repair: { usage: "repair PATH|ID", least: 1, most: 1, run: repair },
};

/** Resolves to the exit code. */
export async function runSessions(inputs: SessionsInputs & { print(text: string): void }): Promise<number> {
  const { code, out, errors = [] } = await sessionsOutcome(inputs);
  if (out !== undefined) inputs.print(out);
  for (const error of errors) log(error.split("\n"), "");
  return code;
}

export async function sessionsOutcome(inputs: SessionsInputs): Promise<Outcome> {
  const { run, env, clock } = inputs;
  const { options } = run;
  const [name = "list", ...words] = inputs.words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action || words.length < action.least || words.length > action.most) {
    return { code: 2, errors: [usageText(name, action)] };
  }
  const cwd = options.cwd === undefined ? inputs.cwd : resolvePath(options.cwd, inputs.cwd, env);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return failed(`--cwd "${cwd}" is not a folder`);
  const agentDir = agentFolder(env, cwd);
  const { dialect, projectTrust, settings: flags } = run;
  const { settings, problems } = loadSettings({
    dialect: dialect.name,
    rpc: true,
    agentDir,
    cwd,
    projectTrust,
    env,
    flags,
    readYaml: inputs.readYaml,
  });
  const sessionDir = sessionFolder({ agentDir, cwd, env, sessionDir: settings.get("sessionDir") });
  const root = sessionsRoot(agentDir);
  const outcome = await action.run({
    words,
    places: { sessionDir, sessionsRoot: root, resolve: (path) => resolvePath(path, cwd, env) },
    place: options.all ? { root } : { folder: sessionDir },
    isJson: options.json === true,
    clock,
    locksFolder: locksFolder(agentDir),
  });
  const warnings = [...run.warnings, ...problems].map((problem) => `tiller: ${oneLine(problem)}`);
  return { ...outcome, errors: [...warnings, ...(outcome.errors ?? [])] };
}

function usageText(name: string, action: Action | undefined): string {
  if (action) return `Error: use it as \`tiller sessions ${action.usage}\``;
  const uses = Object.values(ACTIONS).map(({ usage }) => `  tiller sessions ${usage}`);
  return [`Error: \`tiller sessions\` cannot "${name}"; it can:`, ...uses].join("\n");
}

async function list({ words, place, isJson }: ActionInputs): Promise<Outcome> {
  const text = words.join(" ");
  const sessions = await allSessions(place, text);
  return { code: 0, out: isJson ? json(sessions) : sessionTable(sessions, { text, place }) };
}

function show({ words: [given = ""], places, isJson }: ActionInputs): Outcome {
  return withSession(given, places, (path) => {
    const description = describeSession(path, readWhole(path));
    if (!description) return failed(`${path} is no session file: it has no session header`);
    return { code: 0, out: isJson ? json(description) : descriptionText(description) };
  });
}

function verify({ words, places, place, isJson }: ActionInputs): Outcome {
  const found = words.map((given) => findSession(given, places));
  const errors = found.flatMap((one) => ("error" in one ? [`Error: ${one.error}`] : []));
  const named = found.flatMap((one) => ("path" in one ? [one.path] : []));
  const paths = words.length > 0 ? named : [...sessionFiles(place)].map(({ path }) => path).sort();
  const checks = paths.map((path) => checkFile(path));
  const isWhole = errors.length === 0 && checks.every(({ ok }) => ok);
  return { code: isWhole ? 0 : 1, out: isJson ? json(checks) : checksText(checks), errors };
}

function repair({ words: [given = ""], places, clock, locksFolder }: ActionInputs): Outcome {
  return withSession(given, places, (path) => {
    const repaired = repairFile(path, () => readWhole(path), { clock, locksFolder });
    return "error" in repaired ? failed(repaired.error) : { code: 0, out: repaired.text };
  });
}

function withSession(given: string, places: SessionPlaces, act: (path: string) => Outcome): Outcome {
  const found = findSession(given, places);
  if ("error" in found) return failed(found.error);
  try {
    return act(found.path);
  } catch (error) {
    if (error instanceof SessionFileError) return failed(error.message);
    return failed(`${found.path} cannot be read: ${(error as Error).message}`);
  }
}

function failed(reason: string): Outcome {
  return { code: 1, errors: [`Error: ${reason}`] };
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}
