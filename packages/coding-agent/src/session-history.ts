import { type Stats, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Params, Result } from "@tiller/protocol/commands/index";
import {
  type Env,
  handoffsFolder,
  journalsFolder,
  plainName,
  resolvePath,
  sessionFileName,
  sessionsRoot,
  subAgentsFolder,
  trashFolder,
} from "./config/paths.ts";
import { makePrivateFolder } from "./lib/make-folder.ts";
import { oneLine } from "./lib/visible.ts";
import { blankField } from "./lib/wrong-field.ts";
import type { Adoption } from "./session/adopt-session.ts";
import type { SessionHistory } from "./session/agent-session.ts";
import { createHandoff, type HandoffOptions } from "./session/handoff.ts";
import type { SessionHooks } from "./session/ports.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createSessionCounter } from "./session/session-stats.ts";
import { createSessionSwitch, type Refused, type SessionSource } from "./session/session-switch.ts";
import { createSessionViews } from "./session/session-views.ts";
import { beginSession, newHeader } from "./session/store/begin-session.ts";
import { beginsConversation } from "./session/store/entry-rules.ts";
import { reasonOf } from "./session/store/file-errors.ts";
import { newestSession } from "./session/store/find-session.ts";
import { journalPath, removeJournal } from "./session/store/journal-file.ts";
import { listSessions } from "./session/store/listing.ts";
import { type OpenOptions, openSession, readSession } from "./session/store/open-session.ts";
import { createSessionDisk, type DiskSettings } from "./session/store/session-disk.ts";
import { readHead } from "./session/store/session-head.ts";
import type { OpenSession, SessionStore } from "./session/store/session-store.ts";
import { deleteSession } from "./session/store/trash.ts";
import { writeWholeFile } from "./session/store/whole-file.ts";
import { createTreeNavigation, type TreeNavigationOptions } from "./session/tree-navigation.ts";
import { createBlobReader } from "./session-blobs.ts";
import type { SessionChoice } from "./session-choice.ts";

/** What the command line has said about the model counts more than what the session says. */
type Keeps = Pick<Adoption, "keepsModel" | "keepsLevel">;

export interface HistoryOptions {
  store: SessionStore;
  hooks: SessionHooks | undefined;
  disk: DiskSettings;
  clock: Clock;
  ids: IdSource;
  agentDir: string;
  /** Where the session files of a working folder lie. */
  sessionDir(cwd: string): string;
  /** New sessions have a file. */
  keepsFiles: boolean;
  env: Env;
  emit(event: SessionEvent): unknown;
  stop(reason: string): Promise<void>;
  adopt(how: Adoption["how"], keeps?: Keeps): void;
  summarize: TreeNavigationOptions["summarize"];
  handoff: Pick<HandoffOptions, "isBusy" | "summarize" | "add">;
}

/** With the way in at the start of the process. */
export interface EnteringHistory extends SessionHistory {
  /** Puts the session that the command line asks for into the store. Gives back why that is not possible. */
  enter(choice: SessionChoice, keeps: Keeps): Promise<string | undefined>;
}

/** Everything about sessions that is not the conversation itself. Loaded with the first command that needs it. */
export function createSessionHistory(given: HistoryOptions): EnteringHistory {
  /** That the host has named meanwhile. */
  let folder: string | undefined;
  const options: HistoryOptions = { ...given, sessionDir: (cwd) => folder ?? given.sessionDir(cwd) };
  const { store, hooks, clock, ids, stop, adopt } = options;
  const counter = createSessionCounter();
  const absolute = (path: string): string => resolvePath(path, store.cwd, options.env);
  const isOpen = (path: string): boolean => isSameFile(path, store.sessionFile);
  const source = sessionSource(options, (chosen) => {
    folder = chosen;
  });
  const files = createSessionSwitch({
    store,
    source,
    hooks,
    clock,
    ids,
    stop,
    adopt,
    resolvePath: absolute,
    isOpen,
  });
  const tree = createTreeNavigation({
    store,
    hooks,
    stop: () => stop("Request was aborted: navigate_tree left its place"),
    summarize: options.summarize,
    onAppended: (entry) => void options.emit({ type: "entry_appended", entry }),
    adopt: () => adopt("tree"),
  });
  const handoff = createHandoff({
    store,
    files,
    ...options.handoff,
    keep: (notes) => (options.keepsFiles ? writeNotes(notes, options) : undefined),
  });
  return {
    files,
    tree,
    handoff,
    views: createSessionViews(store),
    async enter(choice, keeps) {
      const problem = await enter(choice, source, options);
      if (problem === undefined) adopt("kind" in choice && choice.kind === "open" ? "resume" : "fork", keeps);
      return problem;
    },
    counts: () => counter.counts(store.log),
    list: (query) => list(query, options, absolute),
    remove(sessionPath) {
      const blank = blankField("sessionPath", sessionPath, "the path of a session file");
      if (blank !== undefined) return { refused: blank };
      const path = absolute(sessionPath);
      if (isOpen(path)) return { refused: `${path} is the session that is open; switch to another one first` };
      return remove(path, options);
    },
  };
}

/** For whoever wants to read what a session was handed over with. */
function writeNotes(notes: string, { agentDir, clock, store }: HistoryOptions): string {
  const folder = handoffsFolder(agentDir);
  makePrivateFolder(folder);
  const path = join(folder, sessionFileName(clock.now(), store.sessionId).replace(/jsonl$/, "md"));
  writeFileSync(path, `${notes.trimEnd()}\n`, { mode: 0o600 });
  return path;
}

/** Puts the session that the command line asks for into the store. Gives back why that is not possible. */
async function enter(
  choice: SessionChoice,
  source: SessionSource,
  options: HistoryOptions,
): Promise<string | undefined> {
  const { store, clock, ids, disk } = options;
  if ("error" in choice) return choice.error;
  try {
    if (choice.kind === "open") await store.replace(source.open(choice.path, { isStart: true }));
    if (choice.kind === "fork") {
      const { path, id } = choice;
      const original = readSession(path, {
        ...disk,
        clock,
        ids,
        cwd: store.cwd,
        blobsBeside: createBlobReader,
        onReopened: () => undefined,
      });
      await store.replace(source.keep((header) => original.under(header), path, id));
    }
    if (choice.kind === "new" && choice.id !== undefined) await store.replace(source.begin({ id: choice.id }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (choice.name !== undefined) store.append({ type: "session_info", name: choice.name });
  return undefined;
}

/** Where the sessions of this process come from. */
function sessionSource(options: HistoryOptions, settleIn: (folder: string) => void): SessionSource {
  const { store, clock, ids } = options;
  const origin = () => ({ clock, ids, cwd: store.cwd });
  const newPath = (id: string): string | undefined =>
    options.keepsFiles ? join(options.sessionDir(store.cwd), sessionFileName(clock.now(), id)) : undefined;
  return {
    begin({ parentSession, id = ids.uuid() }) {
      return beginSession(origin(), { id, parentSession, path: newPath(id) });
    },
    open: (path, how) =>
      openFile(path, {
        ...how,
        ...options.disk,
        ...origin(),
        blobsBeside: createBlobReader,
        onReopened(session) {
          store.reopen(session);
          options.adopt("resume");
        },
      }),
    newestIn(folder) {
      if (!options.keepsFiles) return { refused: "open_session requires session persistence (omit --no-session)" };
      try {
        const facts = statSync(folder, { throwIfNoEntry: false });
        if (facts && !facts.isDirectory()) return { refused: `open_session: ${folder} is not a folder` };
      } catch (error) {
        return { refused: `open_session: ${folder} cannot be used: ${reasonOf(error)}; name another folder` };
      }
      return { path: newestSession(folder) };
    },
    settleIn,
    keep(make, parentSession, id) {
      const header = newHeader(origin(), { parentSession, id });
      const log = make(header);
      const path = newPath(header.id);
      // Without a message there is nothing to keep yet.
      if (path === undefined || !hasMessage(log)) return { log, path };
      return { log, path, disk: createSessionDisk({ ...options.disk, path, existing: written(path, log) }) };
    },
  };
}

function isSameFile(path: string, current: string | undefined): boolean {
  if (current === undefined || path === current) return path === current;
  const [one, other] = [path, current].map(factsOf);
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

/** Why a file cannot be looked at is said by whoever opens it. */
function factsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Opens a session file whose folder still exists. One that is refused is left as it is, not even repaired. */
function openFile(path: string, options: OpenOptions): OpenSession {
  const stored = readHead(path)?.cwd;
  const isGone = stored && !factsOf(stored)?.isDirectory();
  if (!isGone) return openSession(path, options);
  throw new Error(
    `Stored session working directory does not exist: ${oneLine(stored)}\nSession file: ${path}\nCurrent working directory: ${options.cwd}`,
  );
}

function hasMessage(log: OpenSession["log"]): boolean {
  for (let at = 0; at < log.length; at++) {
    if (beginsConversation(log.kind(at), log.role(at))) return true;
  }
  return false;
}

function written(path: string, log: OpenSession["log"]) {
  const bytes = writeWholeFile(path, log.lines());
  return { bytes, entries: log.length };
}

async function list(
  query: Params<"list_sessions">,
  { store, agentDir, sessionDir }: HistoryOptions,
  absolute: (path: string) => string,
): Promise<Result<"list_sessions"> | Refused> {
  const { scope = "cwd", cwd, text, name, limit, cursor } = query;
  const folder = cwd === undefined ? store.cwd : absolute(cwd);
  const place =
    scope === "all" && cwd === undefined ? { root: sessionsRoot(agentDir) } : { folder: sessionDir(folder) };
  const page = await listSessions({ place, text, name, cwd: cwd === undefined ? undefined : folder, limit, cursor });
  if ("error" in page) return { refused: page.error };
  return {
    sessions: page.sessions.map(({ path, id, name: sessionName, ...summary }) => ({
      sessionPath: path,
      sessionId: id,
      sessionName,
      ...summary,
    })),
    nextCursor: page.nextCursor,
  };
}

function remove(path: string, { agentDir, disk, clock }: HistoryOptions): { trashPath: string } | Refused {
  const { locksFolder } = disk;
  // Before the file is gone: its name may be a link.
  const journal = journalPath(journalsFolder(agentDir), path);
  const deleted = deleteSession({
    path,
    trashDir: trashFolder(agentDir),
    subAgentsFolder: (id) => join(subAgentsFolder(agentDir), plainName(id)),
    clock,
    locksFolder,
  });
  if ("error" in deleted) return { refused: deleted.error };
  const { trashPath, subAgents, problems } = deleted;
  // Sub-agents have one when they were opened like a session.
  const journals = [journal, ...subAgents.map((file) => journalPath(journalsFolder(agentDir), file))];
  for (const problem of [...problems, ...journals.flatMap(removalProblem)]) disk.onNotice("warning", problem);
  return { trashPath };
}

function removalProblem(journal: string): string[] {
  try {
    removeJournal(journal);
    return [];
  } catch (error) {
    return [`${journal} of the deleted session cannot be removed: ${(error as Error).message}`];
  }
}
