import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { randomHex } from "../lib/clock.ts";
import { TOKEN_VARIABLE } from "./end-processes.ts";

/** Where a command starts. */
export interface ShellPlace {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Lets folder and exported variables survive from one command to the next although each has a shell of its own: at its end a
 * shell writes down both, and the next one starts with them. A command that sets a trap for its own end, replaces the shell
 * by another program or is killed outright leaves everything as it was.
 */
export interface ShellState {
  prepare(command: string): PreparedCommand;
}

export interface PreparedCommand {
  place: ShellPlace;
  /** With the note-taking in front, on the same line, so that line numbers in messages stay right. */
  command: string;
  /** After the end of the command: takes over what was written down. Returns the folder of the next command. */
  finish(): string;
}

/** Not the user's: our mark, and what every shell sets anew. */
const OWN_VARIABLES = new Set([TOKEN_VARIABLE, "_", "SHLVL", "PWD"]);

export function createShellState(initial: ShellPlace): ShellState {
  let place = initial;
  return {
    prepare(command) {
      // A folder that is gone would keep every later command from starting, also the `cd` that leaves it.
      if (!isFolder(place.cwd)) place = { ...place, cwd: nearestFolder(place.cwd, initial.cwd) };
      const file = join(tmpdir(), `tiller-shell-${randomHex(24)}`);
      const isWatched = createPrivate(file);
      return {
        place,
        command: isWatched ? `${noteTaking(file)}; ${command}` : command,
        finish() {
          if (isWatched) place = readNotes(file, place);
          return isFolder(place.cwd) ? place.cwd : nearestFolder(place.cwd, initial.cwd);
        },
      };
    },
  };
}

/** An environment may hold secrets: nobody else may read the file, not even for a moment. */
function createPrivate(file: string): boolean {
  try {
    writeFileSync(file, "", { mode: 0o600, flag: "wx" });
    return true;
  } catch (error) {
    // No room for it: then nothing survives, and the command runs all the same.
    if (!(error instanceof Error && "code" in error)) throw error;
    return false;
  }
}

function noteTaking(file: string): string {
  const notes = `{ printf '%s\\0' "$PWD"; env -0; } >|${quoted(file)} 2>/dev/null`;
  return `trap ${quoted(notes)} EXIT`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function readNotes(file: string, before: ShellPlace): ShellPlace {
  const [cwd = "", ...variables] = takeText(file).split("\0").slice(0, -1);
  const pairs = variables.map((text) => [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)] as const);
  const env = Object.fromEntries(pairs.filter(([name]) => !OWN_VARIABLES.has(name)));
  // A nested agent is also somebody's child: the mark it was given stays.
  const mark = before.env[TOKEN_VARIABLE];
  return {
    cwd: isFolder(cwd) ? cwd : before.cwd,
    env: pairs.length === 0 ? before.env : { ...env, ...(mark === undefined ? {} : { [TOKEN_VARIABLE]: mark }) },
  };
}

/** Empty when the command has removed the file. */
function takeText(file: string): string {
  if (!existsSync(file)) return "";
  const text = readFileSync(file, "utf8");
  rmSync(file, { force: true });
  return text;
}

/** The session's own folder; else what is left of the way to the given one. */
function nearestFolder(path: string, home: string): string {
  if (isFolder(home)) return home;
  const above = dirname(path);
  return above === path || isFolder(above) ? above : nearestFolder(above, home);
}

function isFolder(path: string): boolean {
  return path !== "" && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}
