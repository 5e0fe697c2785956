import { isAbsolute, join, resolve } from "node:path";

/** Where things are. Only names are worked out here; nothing is created. */

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The home folder, also without HOME. An account without any gets the root folder, as containers do: a place under the
 * shared temporary folder could be filled with configuration by somebody else.
 */
export function homeFolder(env: Env): string {
  // It may be written with a slash too many.
  if (env.HOME && isAbsolute(env.HOME)) return resolve(env.HOME);
  const { homedir, userInfo } = process.getBuiltinModule("node:os");
  for (const find of [() => env.USERPROFILE, homedir, () => userInfo().homedir]) {
    const found = attempt(find);
    if (found && isAbsolute(found)) return resolve(found);
  }
  return resolve("/");
}

/** `homedir` and `userInfo` throw for an account that is in no user database. */
function attempt(find: () => string | undefined): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}

/** `~` and `~/x` are the home folder's; everything else is taken relative to `base`. */
export function resolvePath(path: string, base: string, env: Env): string {
  if (path === "~") return homeFolder(env);
  if (path.startsWith("~/")) return join(homeFolder(env), path.slice(2));
  return resolve(base, path);
}

/** PI_CODING_AGENT_DIR, so that an existing set-up works at once; else TILLER_DIR; else `~/.tiller/agent`. */
export function agentFolder(env: Env, cwd: string): string {
  const named = env.PI_CODING_AGENT_DIR || env.TILLER_DIR;
  return named ? resolvePath(named, cwd, env) : join(homeFolder(env), ".tiller", "agent");
}

/** Project folders that may hold a settings.json, weakest first. */
export const PROJECT_FOLDERS = [".pi", ".tiller"] as const;

/** Where omp and xcsh keep settings in YAML, weakest first. */
export const YAML_FOLDERS = [".xcsh", ".omp"] as const;

/** A folder name on common file systems may have 255 bytes. */
const LONGEST_NAME = 200;

/** `/home/me/app` -> `--home-me-app--`. A very long path keeps its end; the session file itself names the whole path. */
export function cwdFolderName(cwd: string): string {
  let name = cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
  const tooLong = Buffer.byteLength(name) - LONGEST_NAME;
  // Cutting bytes may split a character; its remains decode to U+FFFD and are dropped.
  if (tooLong > 0)
    name = Buffer.from(name)
      .subarray(tooLong)
      .toString("utf8")
      .replace(/^\uFFFD+/, "");
  return `--${name}--`;
}

export interface SessionPlace {
  agentDir: string;
  cwd: string;
  /** The setting `sessionDir`, which already knows the option and the environment: files lie directly in it. */
  sessionDir: string | undefined;
  env: Env;
}

export function sessionFolder(place: SessionPlace): string {
  if (place.sessionDir) return resolvePath(place.sessionDir, place.cwd, place.env);
  return join(sessionsRoot(place.agentDir), cwdFolderName(place.cwd));
}

/** Has a folder for each project. */
export function sessionsRoot(agentDir: string): string {
  return join(agentDir, "sessions");
}

/** Tells which process is writing to which session. */
export function locksFolder(agentDir: string): string {
  return join(agentDir, "locks");
}

/** Has a folder for each session that has started sub-agents, with their conversations. */
export function subAgentsFolder(agentDir: string): string {
  return join(agentDir, "subagents");
}

/** What hosts were told of each session. */
export function journalsFolder(agentDir: string): string {
  return join(agentDir, "journals");
}

/** The notes that sessions were handed over with. */
export function handoffsFolder(agentDir: string): string {
  return join(agentDir, "handoffs");
}

/** Where deleted sessions go. */
export function trashFolder(agentDir: string): string {
  return join(agentDir, "trash");
}

/** `2026-11-15T18-41-02-460Z_ID.jsonl` */
export function sessionFileName(unixMs: number, sessionId: string): string {
  return `${new Date(unixMs).toISOString().replace(/[:.]/g, "-")}_${plainName(sessionId)}.jsonl`;
}

const LONGEST_ID = 128;

/** An id as the name of a file or folder. The id of a session that was opened is somebody's text: it may lead out of the folder. */
export function plainName(id: string): string {
  const plain = id.replace(/[^\w.-]+/g, "-").slice(0, LONGEST_ID);
  return /^\.*$/.test(plain) ? "session" : plain;
}
