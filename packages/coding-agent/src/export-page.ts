import { basename } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { type Env, resolvePath, sessionFileName } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { targetProblem, usualNameProblem, writeProblem } from "./export/page-target.ts";
import { linesOfLog } from "./export/session-text.ts";
import { type ExportedSession, NothingToExport, writePage } from "./export/write-page.ts";
import { exportRedactor } from "./export-redaction.ts";
import type { Machinery } from "./run-machinery.ts";
import { beginsConversation } from "./session/store/entry-rules.ts";
import { textOf } from "./session/store/session-head.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import { createBlobReader } from "./session-blobs.ts";

/** Composition of everything that turns a session into a page. Loaded with the first export. */

declare const __TILLER_VERSION__: string;

export interface ExportSurroundings {
  dialect: DialectName;
  cwd: string;
  env: Env;
  agentDir: string;
  settings: Pick<Settings, "get">;
  clock: Clock;
  /** `--api-key` */
  apiKey?: string;
  /** `--no-redact` */
  noRedact?: boolean;
}

export interface Exported {
  /** As it was given, or the usual name: relative to the working folder. */
  path: string;
  entries: number;
  damagedLines: number;
}

/** `outputPath`: undefined or empty means the usual name, made of that of the session file. */
export async function exportPage(
  session: ExportedSession,
  { outputPath, sessionName }: { outputPath: string | undefined; sessionName: string },
  surroundings: ExportSurroundings,
): Promise<Exported | { refused: string }> {
  const { dialect, cwd, env, clock } = surroundings;
  const path = outputPath || pageName(dialect, sessionName);
  const target = resolvePath(path, cwd, env);
  const problem = outputPath ? targetProblem(target) : usualNameProblem(target);
  if (problem !== undefined) return { refused: problem };
  const redact = surroundings.noRedact ? undefined : await exportRedactor(surroundings);
  const exported = new Date(clock.now()).toISOString();
  try {
    return { path, ...(await writePage(target, session, { version: __TILLER_VERSION__, exported, redact })) };
  } catch (error) {
    return { refused: error instanceof NothingToExport ? error.message : writeProblem(target, error) };
  }
}

/** Hosts of other systems look for the name that these give. */
function pageName(dialect: DialectName, sessionName: string): string {
  return `${dialect === "union" ? "tiller" : dialect}-session-${basename(sessionName, ".jsonl")}.html`;
}

export interface OpenSessionParts extends ExportSurroundings {
  store: SessionStore;
  /** Undefined when no model is chosen: then nobody would be told anything. */
  machinery: (() => Promise<Machinery>) | undefined;
}

/** The session that is open, also one without a file. */
export async function exportOpenSession(
  outputPath: string | undefined,
  { store, machinery, ...surroundings }: OpenSessionParts,
): Promise<{ path: string } | { refused: string }> {
  const { log, leafId, sessionFile, sessionId, name } = store;
  if (!hasConversation(log)) return { refused: new NothingToExport().message };
  const { timestamp, cwd, version } = log.header;
  const session: ExportedSession = {
    head: { id: sessionId, cwd, created: textOf(timestamp) ?? "", version, ...(name !== undefined && { title: name }) },
    lines: linesOfLog(log),
    readBlob: sessionFile === undefined ? undefined : createBlobReader(blobPlaces(sessionFile, log.header)),
    known: { leafId, ...(name !== undefined && { name }), ...(machinery && (await toldOf(machinery))) },
  };
  const created = Date.parse(timestamp);
  const sessionName = sessionFile ?? sessionFileName(Number.isNaN(created) ? 0 : created, sessionId);
  const exported = await exportPage(session, { outputPath, sessionName }, surroundings);
  return "refused" in exported ? exported : { path: exported.path };
}

/** What the model is told first. */
async function toldOf(machinery: () => Promise<Machinery>): Promise<ExportedSession["known"]> {
  const loaded = await machinery();
  const tools = loaded.tools().map(({ name, description, parameters }) => ({ name, description, parameters }));
  return { systemPrompt: loaded.systemPrompt(), tools };
}

/** A copy has the same images as what it was copied from. */
export function blobPlaces(path: string, { parentSession }: { parentSession?: string }): string[] {
  return typeof parentSession === "string" ? [path, parentSession] : [path];
}

function hasConversation(log: SessionStore["log"]): boolean {
  for (let at = 0; at < log.length; at++) if (beginsConversation(log.kind(at), log.role(at))) return true;
  return false;
}
