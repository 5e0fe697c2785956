import { dirname, join, resolve } from "node:path";
import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry, SessionHeader } from "@tiller/protocol/session-entry";
import { locksFolder, sessionFileName, sessionFolder, sessionsRoot } from "../config/paths.ts";
import { beginSession, newHeader } from "../session/store/begin-session.ts";
import { beginsConversation } from "../session/store/entry-rules.ts";
import { newestSession } from "../session/store/find-session.ts";
import { copyPath, labelEntriesOf } from "../session/store/fork.ts";
import { listSessions } from "../session/store/listing.ts";
import { readSession } from "../session/store/open-session.ts";
import { factsOf, type SessionFileFacts, type SessionPlace } from "../session/store/session-folders.ts";
import { ownerText, tryLock } from "../session/store/session-lock.ts";
import {
  createSessionStore,
  customEntry,
  type NewEntry,
  type OpenSession,
  type SessionStore,
} from "../session/store/session-store.ts";
import type { SessionSummary } from "../session/store/session-summary.ts";
import { childrenOf, pathTo } from "../session/store/tree.ts";
import { writeWholeFile } from "../session/store/whole-file.ts";
import type { CompatHost } from "./host.ts";
import { contextOf, type SessionContext } from "./session-entries.ts";

/** Session files for extensions: all of the reading, and the writing of files that nobody else has open. */

export interface TreeNode {
  entry: SessionEntry;
  children: TreeNode[];
  label?: string;
  labelTimestamp?: string;
}

export interface SessionInfo extends Omit<SessionSummary, "created" | "modified"> {
  /** The same as `path`. */
  file: string;
  parentSessionPath?: string;
  created: Date;
  modified: Date;
  allMessagesText: string;
}

type Content = Extract<NewEntry, { type: "custom_message" }>["content"];

export class SessionManager {
  readonly #host: CompatHost;
  readonly #folder: string;
  #store: SessionStore;
  /** The file as we know it; undefined while there is none. */
  #facts: SessionFileFacts | undefined;
  #hasBegun: boolean;

  constructor(host: CompatHost, session: OpenSession, folder: string) {
    this.#host = host;
    this.#folder = folder;
    this.#store = createSessionStore({ clock: host.clock, ids: host.ids, first: session });
    this.#facts = session.path === undefined ? undefined : factsOf(session.path);
    this.#hasBegun = this.#facts !== undefined;
  }

  isPersisted(): boolean {
    return this.#store.sessionFile !== undefined;
  }
  getCwd(): string {
    return this.#store.cwd;
  }
  getSessionDir(): string {
    return this.#folder;
  }
  getSessionId(): string {
    return this.#store.sessionId;
  }
  getSessionFile(): string | undefined {
    return this.#store.sessionFile;
  }
  getSessionName(): string | undefined {
    return this.#store.name;
  }
  getHeader(): SessionHeader {
    return this.#store.log.header;
  }
  getLeafId(): string | null {
    return this.#store.leafId;
  }
  getLeafEntry(): SessionEntry | undefined {
    return this.#entryAt(this.#store.leaf);
  }
  getEntry(id: string): SessionEntry | undefined {
    return this.#entryAt(this.#store.log.find(id));
  }
  getEntries(): SessionEntry[] {
    const { log } = this.#store;
    return Array.from({ length: log.length }, (_, at) => log.entry(at)).filter((entry) => entry !== undefined);
  }
  getChildren(parentId: string): SessionEntry[] {
    return this.getEntries().filter((entry) => entry.parentId === parentId);
  }
  /** From the root on. */
  getBranch(fromId?: string): SessionEntry[] {
    if (fromId === undefined) return this.#store.branch();
    const { log } = this.#store;
    return pathTo(log, log.find(fromId)).flatMap((position) => log.entry(position) ?? []);
  }
  getPath(): SessionEntry[] {
    return this.getBranch();
  }
  getLabel(id: string): string | undefined {
    return labelEntriesOf(this.#store.log).get(id)?.label;
  }
  getTree(): TreeNode[] {
    const { log } = this.#store;
    const labels = labelEntriesOf(log);
    const children = childrenOf(log);
    const nodes = new Map<number, TreeNode>();
    // From the end: children stand behind their parents.
    for (let at = log.length - 1; at >= 0; at--) {
      const entry = log.entry(at);
      if (!entry) continue;
      const { label, timestamp } = labels.get(entry.id) ?? {};
      const below = (children.get(at) ?? []).flatMap((position) => nodes.get(position) ?? []);
      nodes.set(at, { entry, children: below, ...(label && { label, labelTimestamp: timestamp }) });
    }
    return (children.get(-1) ?? []).flatMap((position) => nodes.get(position) ?? []);
  }
  buildSessionContext(): SessionContext {
    return contextOf(this.#store.log, this.#store.leaf);
  }

  appendMessage(message: AgentMessage): string {
    return this.#append(message.role === "custom" ? customEntry(message) : { type: "message", message });
  }
  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#append({ type: "thinking_level_change", thinkingLevel } as NewEntry);
  }
  appendModelChange(provider: string, modelId: string): string {
    return this.#append({ type: "model_change", provider, modelId, model: `${provider}/${modelId}` });
  }
  appendCompaction(summary: string, firstKeptEntryId: string, tokensBefore: number, details?: unknown): string {
    return this.#append({
      type: "compaction",
      summary,
      firstKeptEntryId,
      tokensBefore,
      ...given({ details }),
    } as NewEntry);
  }
  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append({ type: "custom", customType, ...given({ data }) } as NewEntry);
  }
  appendCustomMessageEntry(customType: string, content: Content, display: boolean, details?: unknown): string {
    return this.#append({ type: "custom_message", customType, content, display, ...given({ details }) } as NewEntry);
  }
  appendSessionInfo(name: string): string {
    return this.#append({ type: "session_info", name });
  }
  appendLabelChange(targetId: string, label?: string): string {
    this.#find(targetId);
    return this.#append({ type: "label", targetId, ...given({ label }) } as NewEntry);
  }

  branch(entryId: string): void {
    this.#store.moveTo(this.#find(entryId));
  }
  resetLeaf(): void {
    this.#store.moveTo(-1);
  }
  branchWithSummary(entryId: string | null, summary: string, details?: unknown): string {
    const fromId = this.getLeafId() ?? "root";
    if (entryId === null) this.resetLeaf();
    else this.branch(entryId);
    return this.#append({ type: "branch_summary", fromId, summary, ...given({ details }) } as NewEntry);
  }
  newSession(options: { parentSession?: string } = {}): string | undefined {
    this.#take(beginSession(this.#origin(), { ...options, path: this.isPersisted() ? this.#newPath() : undefined }));
    return this.getSessionFile();
  }
  setSessionFile(path: string): void {
    this.#take(readFile(this.#host, path));
  }
  /** The path to this entry in a file of its own. */
  createBranchedSession(leafId: string): string | undefined {
    const { log } = this.#store;
    const header = newHeader(this.#origin(), { parentSession: this.getSessionFile() });
    const timestamp = header.timestamp;
    const copy = copyPath(log, pathTo(log, this.#find(leafId)), header, { ids: this.#host.ids, timestamp });
    const path = this.isPersisted() ? this.#newPath(header.id) : undefined;
    if (path !== undefined) writeWholeFile(path, copy.lines());
    this.#take({ log: copy, path });
    return path;
  }

  #origin() {
    return { clock: this.#host.clock, ids: this.#host.ids, cwd: this.getCwd() };
  }
  #newPath(id = this.#host.ids.uuid()): string {
    return join(this.#folder, sessionFileName(this.#host.clock.now(), id));
  }
  #take(next: OpenSession): void {
    this.#store = createSessionStore({ clock: this.#host.clock, ids: this.#host.ids, first: next });
    this.#facts = next.path === undefined ? undefined : factsOf(next.path);
    this.#hasBegun = this.#facts !== undefined;
  }
  #entryAt(position: number): SessionEntry | undefined {
    return position < 0 ? undefined : this.#store.log.entry(position);
  }
  #find(id: string): number {
    const position = this.#store.log.find(id);
    if (position < 0) throw new Error(`Entry ${id} not found`);
    return position;
  }

  #append(entry: NewEntry): string {
    const path = this.#store.sessionFile;
    if (path === undefined) return this.#store.append(entry);
    // Before the entry is there: what cannot be written is not to be believed either.
    const release = this.#claim(path);
    try {
      const id = this.#store.append(entry);
      const { log, leaf } = this.#store;
      this.#hasBegun ||= beginsConversation(log.kind(leaf), log.role(leaf));
      if (this.#hasBegun) {
        writeWholeFile(path, log.lines());
        this.#facts = factsOf(path);
      }
      return id;
    } finally {
      release();
    }
  }

  /** Only for as long as the writing takes, so that others, and this process, may open the file at any time. */
  #claim(path: string): () => void {
    const { agentDir, clock } = this.#host;
    const attempt = tryLock({ locksFolder: locksFolder(agentDir), sessionPath: path, clock });
    if ("owner" in attempt) throw new Error(ownerText(attempt.owner));
    const release = (): void => ("lock" in attempt ? attempt.lock.release() : undefined);
    const now = factsOf(path);
    if (now?.size === this.#facts?.size && now?.mtimeMs === this.#facts?.mtimeMs) return release;
    release();
    throw new Error(`The session file ${path} was changed meanwhile; open it again`);
  }
}

/** Without the fields that nobody has given. */
function given(fields: Record<string, unknown>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function readFile(host: CompatHost, path: string, cwd = host.cwd): OpenSession {
  const whole = resolve(host.cwd, path);
  const origin = { clock: host.clock, ids: host.ids, cwd };
  if (!factsOf(whole)) return beginSession(origin, { path: whole });
  const log = readSession(whole, {
    ...origin,
    locksFolder: locksFolder(host.agentDir),
    fsync: "never",
    onNotice: (_level, message) => host.log(message),
    onReopened: () => undefined,
  });
  return { log, path: whole };
}

/** The class as extensions know it: `SessionManager.open(path)` and its kin. One for each host, which they belong to. */
export function sessionManagerFor(host: CompatHost): object {
  const { clock, ids, agentDir, env } = host;
  const Own = class extends SessionManager {};
  const folderOf = (cwd: string, given?: string): string =>
    given ?? sessionFolder({ agentDir, cwd, sessionDir: textOrNothing(host.setting("sessionDir")), env });
  const make = (session: OpenSession, folder: string): SessionManager => new Own(host, session, folder);
  const pathIn = (folder: string, id: string): string => join(folder, sessionFileName(clock.now(), id));

  const create = (cwd = host.cwd, sessionDir?: string): SessionManager => {
    const folder = folderOf(cwd, sessionDir);
    const id = ids.uuid();
    return make(beginSession({ clock, ids, cwd }, { id, path: pathIn(folder, id) }), folder);
  };
  const open = (path: string, sessionDir?: string): SessionManager => {
    const session = readFile(host, path);
    return make(session, sessionDir ?? dirname(session.path ?? path));
  };
  return Object.assign(Own, {
    create,
    open,
    continueRecent(cwd = host.cwd, sessionDir?: string) {
      const newest = newestSession(folderOf(cwd, sessionDir));
      return newest === undefined ? create(cwd, sessionDir) : open(newest, sessionDir);
    },
    inMemory: (cwd = host.cwd) => make(beginSession({ clock, ids, cwd }, {}), folderOf(cwd)),
    forkFrom(source: string, cwd: string, sessionDir?: string) {
      const from = readFile(host, source);
      const folder = folderOf(cwd, sessionDir);
      const header = newHeader({ clock, ids, cwd }, { parentSession: from.path });
      const path = pathIn(folder, header.id);
      const log = from.log.under(header);
      writeWholeFile(path, log.lines());
      return make({ log, path }, folder);
    },
    list: (cwd = host.cwd, sessionDir?: string) => list({ folder: folderOf(cwd, sessionDir) }),
    listAll: () => list({ root: sessionsRoot(agentDir) }),
  });
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

async function list(place: SessionPlace): Promise<SessionInfo[]> {
  const sessions: SessionInfo[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const page = await listSessions({ place, limit: 200, cursor });
    if ("error" in page) throw new Error(page.error);
    sessions.push(...page.sessions.map(infoOf));
    cursor = page.nextCursor;
  }
  return sessions;
}

function infoOf(summary: SessionSummary): SessionInfo {
  return {
    ...summary,
    file: summary.path,
    parentSessionPath: summary.parentSession,
    created: new Date(summary.created),
    modified: new Date(summary.modified),
    allMessagesText: summary.firstMessage,
  };
}
