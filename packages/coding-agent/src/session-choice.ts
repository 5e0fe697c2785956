import { statSync } from "node:fs";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import type { CliOptions } from "./cli-options.ts";
import { type Env, resolvePath, sessionsRoot } from "./config/paths.ts";
import { findSession, newestSession, sessionWithId } from "./session/store/find-session.ts";
import { readHead } from "./session/store/session-head.ts";

/** Which session the command line asks for. Loaded only when it asks for one: see `choosesSession`. */
export type SessionChoice =
  | { kind: "new"; id?: string; name?: string }
  /** A file that does not exist is started there. */
  | { kind: "open"; path: string; name?: string }
  | { kind: "fork"; path: string; id?: string; name?: string }
  | { error: string };

export interface ChoiceInputs {
  options: CliOptions;
  dialect: Dialect;
  agentDir: string;
  /** The folder of this project. */
  sessionDir: string;
  cwd: string;
  env: Env;
}

export function chooseSession(inputs: ChoiceInputs): SessionChoice {
  const { options, sessionDir } = inputs;
  const refusal = contradiction(options) ?? misfit(options);
  if (refusal !== undefined) return { error: `Error: ${refusal}` };
  const name = options.name === undefined ? {} : { name: options.name.trim() };
  const id = options.sessionId === undefined ? {} : { id: options.sessionId };

  if (options.fork !== undefined) return forked(options.fork, inputs, { ...id, ...name });
  const named = options.session ?? (options.resume === true ? undefined : options.resume);
  if (named !== undefined) return opened(named, inputs, name);
  const path = options.noSession ? undefined : existing(options, sessionDir);
  return path === undefined ? { kind: "new", ...id, ...name } : { kind: "open", path, ...name };
}

/** The session that goes on although nobody named a file. */
function existing(options: CliOptions, sessionDir: string): string | undefined {
  if (options.continue || options.resume) return newestSession(sessionDir);
  // A host that gives the same id at each start means the same session.
  return options.sessionId === undefined ? undefined : sessionWithId(options.sessionId, sessionDir);
}

function opened(given: string, inputs: ChoiceInputs, name: { name?: string }): SessionChoice {
  const found = find(given, inputs);
  if ("error" in found) return found;
  const facts = statSync(found.path, { throwIfNoEntry: false });
  if (facts && !facts.isFile()) return { error: `Error: ${found.path} is not a file; a session is one` };
  return { kind: "open", path: found.path, ...name };
}

function forked(given: string, inputs: ChoiceInputs, rest: { id?: string; name?: string }): SessionChoice {
  const { id } = rest;
  const taken = id === undefined ? undefined : sessionWithId(id, inputs.sessionDir);
  if (taken !== undefined) return { error: `Error: --session-id ${id} is taken by ${taken}; a copy needs another id` };
  const found = find(given, inputs);
  if ("error" in found) return found;
  const facts = statSync(found.path, { throwIfNoEntry: false });
  if (!facts) return { error: missingText(given, inputs.dialect) };
  if (!facts.isFile() || !readHead(found.path)) {
    return { error: `Error: ${found.path} is no session file, so there is nothing to copy` };
  }
  return { kind: "fork", path: found.path, ...rest };
}

function find(given: string, { dialect, agentDir, sessionDir, cwd, env }: ChoiceInputs) {
  const found = findSession(given, {
    sessionDir,
    sessionsRoot: sessionsRoot(agentDir),
    resolve: (path) => resolvePath(path, cwd, env),
  });
  if ("path" in found) return found;
  return { error: found.reason === "none" ? missingText(given, dialect) : `Error: ${found.error}` };
}

/** In the words of the system that is spoken. */
function missingText(given: string, dialect: Dialect): string {
  return dialect.name === "xcsh" ? `Session "${given}" not found.` : `No session found matching '${given}'`;
}

type Choice = "fork" | "session" | "continue" | "resume" | "sessionId" | "noSession";

/** What cannot both be meant, and why. */
const CONTRADICTIONS: readonly (readonly [Choice, readonly Choice[], string])[] = [
  [
    "fork",
    ["session", "continue", "resume", "noSession"],
    "it starts a new session file with a copy, the other says which session it is to be",
  ],
  ["noSession", ["session", "continue", "resume"], "without a session file there is none to go on with"],
  ["session", ["continue", "resume"], "each says which session to open; give one of them"],
  ["sessionId", ["session", "continue", "resume"], "it is for a new session, the other opens an existing one"],
];

const FLAGS: Readonly<Record<Choice, string>> = {
  fork: "--fork",
  session: "--session",
  continue: "--continue",
  resume: "--resume",
  sessionId: "--session-id",
  noSession: "--no-session",
};

function contradiction(options: CliOptions): string | undefined {
  for (const [one, others, why] of CONTRADICTIONS) {
    const other = options[one] === undefined ? undefined : others.find((name) => options[name] !== undefined);
    if (other) return `${FLAGS[one]} cannot be used with ${FLAGS[other]}: ${why}`;
  }
  // Without a value --resume is another name of --continue.
  const isTwice = options.continue && typeof options.resume === "string";
  return isTwice ? `--continue cannot be used with --resume ${options.resume}: give one of them` : undefined;
}

/** It becomes part of a file name. */
const ID = /^[A-Za-z0-9_-]{1,128}$/;

function misfit({ sessionId, name }: CliOptions): string | undefined {
  if (sessionId !== undefined && !ID.test(sessionId)) {
    return `--session-id cannot be "${sessionId}"; expected up to 128 letters, digits, - and _`;
  }
  return name !== undefined && name.trim() === "" ? "--name cannot be empty" : undefined;
}
