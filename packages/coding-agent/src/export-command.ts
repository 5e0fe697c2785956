import { statSync } from "node:fs";
import type { Clock } from "@tiller/protocol/clock";
import type { RunArgs } from "./args.ts";
import { agentFolder, type Env, resolvePath, sessionFolder, sessionsRoot } from "./config/paths.ts";
import { loadSettings } from "./config/settings.ts";
import type { FileReader } from "./config/settings-file.ts";
import { linesOfFile } from "./export/session-text.ts";
import { NothingToExport } from "./export/write-page.ts";
import { blobPlaces, exportPage } from "./export-page.ts";
import { log } from "./lib/log.ts";
import { oneLine } from "./lib/visible.ts";
import { FILE_VERSION } from "./session/store/begin-session.ts";
import { notAFile, reasonOf } from "./session/store/file-errors.ts";
import { findSession } from "./session/store/find-session.ts";
import { readHead, type SessionHead } from "./session/store/session-head.ts";
import { createBlobReader } from "./session-blobs.ts";

/** `tiller export FILE`, and `--export FILE` as in other systems: a session file as a page. */

export interface ExportInputs {
  /** The session, and where the page goes if it is said without `--out`. */
  words: readonly string[];
  run: RunArgs;
  /** Where there is a file that needs it. */
  readYaml?: FileReader;
  env: Env;
  cwd: string;
  clock: Clock;
}

/** What to print, what to complain about, and the exit code. */
export interface ExportOutcome {
  code: number;
  out?: string;
  errors: readonly string[];
}

/** Resolves to the exit code. */
export async function runExport(inputs: ExportInputs & { print(text: string): void }): Promise<number> {
  const { code, out, errors } = await exportOutcome(inputs);
  if (out !== undefined) inputs.print(out);
  for (const error of errors) log(error, "");
  return code;
}

const USAGE = "Error: use it as `tiller export FILE|ID [--out PATH] [--no-redact]`";

export async function exportOutcome(inputs: ExportInputs): Promise<ExportOutcome> {
  const { run, env, clock, words } = inputs;
  const { options, dialect, projectTrust, settings: flags } = run;
  const [given, outWord, ...rest] = words;
  if (!given || rest.length > 0 || (outWord !== undefined && options.out !== undefined)) {
    return { code: 2, errors: [USAGE] };
  }
  const cwd = options.cwd === undefined ? inputs.cwd : resolvePath(options.cwd, inputs.cwd, env);
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return failed(`--cwd "${cwd}" is not a folder`);
  const agentDir = agentFolder(env, cwd);
  const place = {
    dialect: dialect.name,
    rpc: false,
    agentDir,
    cwd,
    projectTrust,
    env,
    flags,
    readYaml: inputs.readYaml,
  };
  const { settings, problems } = loadSettings(place);
  const sessionDir = sessionFolder({ agentDir, cwd, env, sessionDir: settings.get("sessionDir") });
  const resolve = (path: string): string => resolvePath(path, cwd, env);
  const found = findSession(given, { sessionDir, sessionsRoot: sessionsRoot(agentDir), resolve });
  if ("error" in found) return failed(found.error);
  const { path } = found;
  const head = headOf(path);
  if ("problem" in head) return failed(head.problem);
  const outcome = await exportPage(
    { head, lines: linesOfFile(path), readBlob: createBlobReader(blobPlaces(path, head)) },
    { outputPath: options.out ?? outWord, sessionName: path },
    { dialect: dialect.name, cwd, env, agentDir, settings, clock, noRedact: options.noRedact },
  );
  const warnings = [...run.warnings, ...problems].map((problem) => `tiller: ${oneLine(problem)}`);
  if ("refused" in outcome)
    return { code: 1, errors: [...warnings, `Error: ${refusalText(outcome.refused, head, path)}`] };
  const { damagedLines } = outcome;
  if (damagedLines > 0) warnings.push(`tiller: ${path}: ${damagedLines} damaged lines are not in the page`);
  return { code: 0, out: options.json ? JSON.stringify(outcome) : `Exported to: ${outcome.path}`, errors: warnings };
}

/** A file whose header is damaged may have entries all the same. */
function headOf(path: string): SessionHead | { problem: string } {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return { problem: `${path} does not exist` };
    if (!found.isFile()) return { problem: notAFile(path, found).message };
    return readHead(path) ?? { id: "", cwd: "", created: "", version: FILE_VERSION };
  } catch (error) {
    return { problem: `${path} cannot be read: ${reasonOf(error)}` };
  }
}

function refusalText(refused: string, { id }: SessionHead, path: string): string {
  if (refused !== new NothingToExport().message) return refused;
  return id === "" ? `${path} is no session file: it has neither a header nor an entry` : `${path}: ${refused}`;
}

function failed(reason: string): ExportOutcome {
  return { code: 1, errors: [`Error: ${reason}`] };
}
