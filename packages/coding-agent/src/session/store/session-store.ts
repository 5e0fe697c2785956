import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { AgentMessage, CustomMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { contextMessages, contextPositions } from "./context.ts";
import type { EntryLog } from "./entry-log.ts";
import { beginsConversation, isConversation, messageOf } from "./entry-rules.ts";
import type { SessionDisk } from "./session-disk.ts";
import { pathTo } from "./tree.ts";

/** An entry as its maker knows it; the store adds id, parent and, unless it is given, the time. */
export type NewEntry = WithoutBase<SessionEntry> & { timestamp?: string };
type WithoutBase<E> = E extends SessionEntry ? Omit<E, "id" | "parentId" | "timestamp"> : never;

/** A session that can be put into the store. */
export interface OpenSession {
  log: EntryLog;
  /** Of its file, also while it does not exist; undefined for a session that is kept in memory only. */
  path?: string;
  /** How it is kept there; may be given later, before there is something to keep. */
  disk?: SessionDisk;
  /** What opening has left for later. */
  rest?: LaterLook;
}

/** Looks through what opening a file has not looked at, in idle moments, and repairs it. */
export interface LaterLook {
  /** `current` tells what is in the store, `onRepaired` puts the same session into it without the damage. */
  start(current: () => EntryLog, onRepaired: (log: EntryLog) => void): void;
  stop(): void;
  /** It has come to its end, or was stopped. */
  readonly done: Promise<void>;
}

/**
 * The entries of the session and its leaf, in memory and on disk first. One object for the life of the process: another
 * session is put into it, so that all who hold it see the new one.
 */
export interface SessionStore {
  readonly sessionId: string;
  /** Undefined for a session that is kept in memory only. */
  readonly sessionFile: string | undefined;
  /** The folder that the conversation is about. */
  readonly cwd: string;
  readonly name: string | undefined;
  readonly log: EntryLog;
  /** Position of the entry that the next one follows; -1 before the first. */
  readonly leaf: number;
  readonly leafId: string | null;
  /** Positions from the root to the leaf. */
  path(): readonly number[];
  /** The entries on it. */
  branch(): SessionEntry[];
  /** The conversation as it stands: positions of its messages. */
  readonly context: readonly number[];
  /** The same as messages; parsed when first asked for. */
  readonly messages: readonly AgentMessage[];
  readonly messageCount: number;
  /** Gives back the id. */
  append(entry: NewEntry): string;
  appendMessage(message: AgentMessage): void;
  appendModelChange(model: Model): void;
  appendThinkingLevel(level: ThinkingLevel): void;
  /** Leaves messages at the end of the conversation on a branch of their own. */
  leaveOut(messages: readonly AgentMessage[]): void;
  /** The next entry follows this one; -1 begins a new root. */
  moveTo(position: number): void;
  /** Why nothing may be written now, or undefined. A promise while somebody else may still let go of the file. */
  writeProblem(): undefined | Promise<string | undefined>;
  /** Another process has the file; nothing is written until it lets go of it. */
  readonly isInUse: boolean;
  /** It has a path and no disk yet. */
  readonly needsDisk: boolean;
  attach(disk: SessionDisk): void;
  endTurn(): void;
  /** The whole file was looked through for damage, or nobody does so any more. */
  readonly lookedThrough: Promise<void>;
  /** Puts another session in its place; what was open is closed. */
  replace(next: OpenSession): Promise<void>;
  /** The same session, read again; what was added meanwhile and is in no file yet follows its end. */
  reopen(next: OpenSession): void;
  close(): Promise<void>;
}

export interface SessionStoreOptions {
  clock: Clock;
  ids: IdSource;
  first: OpenSession;
}

export function createSessionStore({ clock, ids, first }: SessionStoreOptions): SessionStore {
  let { log, path: filePath, disk, rest } = first;
  let leaf = log.length - 1;
  let path: number[] = [];
  let context: number[] = [];
  let messages: AgentMessage[] | undefined;
  /** Undefined: not looked for yet. */
  let name: { value: string | undefined } | undefined;

  const lookAgain = (): void => {
    path = pathTo(log, leaf);
    context = contextPositions(log, path);
    messages = undefined;
  };
  lookAgain();

  const put = (entry: NewEntry): SessionEntry => {
    const { type, ...fields } = entry;
    const whole = {
      type,
      id: freshId(),
      parentId: leaf < 0 ? null : log.id(leaf),
      timestamp: new Date(clock.now()).toISOString(),
      ...fields,
    } as SessionEntry;
    leaf = log.append(whole);
    path.push(leaf);
    return whole;
  };
  const freshId = (): string => {
    let id = ids.short();
    while (log.has(id)) id = ids.short();
    return id;
  };

  const append = (entry: NewEntry): SessionEntry => {
    const whole = put(entry);
    const { type } = whole;
    disk?.write(log, beginsConversation(log.kind(leaf), log.role(leaf)));
    if (type === "session_info") name = undefined;
    if (type === "compaction" || type === "context_edit") lookAgain();
    else if (isConversation(log.kind(leaf))) {
      context.push(leaf);
      const message = messages && messageOf(whole);
      if (message) messages?.push(message);
    }
    return whole;
  };

  const take = (next: OpenSession): void => {
    rest?.stop();
    ({ log, path: filePath, disk, rest } = next);
    leaf = log.length - 1;
    name = undefined;
    lookAgain();
    beginRest();
  };
  /** The places of entries may be others, and some entries may be gone. */
  const takeRepaired = (repaired: EntryLog): void => {
    let kept = leaf;
    while (kept >= 0 && repaired.find(log.id(kept)) < 0) kept = log.parent(kept);
    leaf = kept < 0 ? -1 : repaired.find(log.id(kept));
    log = repaired;
    name = undefined;
    lookAgain();
  };
  const beginRest = (): void => rest?.start(() => log, takeRepaired);
  beginRest();
  const moveTo = (position: number): void => {
    leaf = position;
    lookAgain();
  };

  return {
    get sessionId() {
      return log.header.id;
    },
    get sessionFile() {
      return filePath;
    },
    get cwd() {
      return log.header.cwd;
    },
    get name() {
      name ??= { value: nameOf(log) };
      return name.value;
    },
    get log() {
      return log;
    },
    get leaf() {
      return leaf;
    },
    get leafId() {
      return leaf < 0 ? null : log.id(leaf);
    },
    path: () => path,
    branch: () => path.flatMap((position) => log.entry(position) ?? []),
    get context() {
      return context;
    },
    get messages() {
      messages ??= contextMessages(log, context, path);
      return messages;
    },
    get messageCount() {
      return messages?.length ?? context.length;
    },
    append: (entry) => append(entry).id,
    appendMessage(message) {
      append(message.role === "custom" ? customEntry(message) : { type: "message", message });
    },
    /** Both spellings of the family, so that the tools of each can read the file. */
    appendModelChange({ provider, id }) {
      append({ type: "model_change", provider, modelId: id, model: `${provider}/${id}` });
    },
    appendThinkingLevel(thinkingLevel) {
      append({ type: "thinking_level_change", thinkingLevel });
    },
    leaveOut([first]) {
      const at = path.findLastIndex((position) => messageAt(log, position) === first);
      if (!first || at < 0) return;
      // What the host chose meanwhile goes on to hold.
      const choices = path.slice(at).filter((position) => isChoice(log.kind(position)));
      moveTo(path[at - 1] ?? -1);
      for (const position of choices) append(anew(log.entry(position)!));
    },
    moveTo,
    writeProblem: () => disk?.problem(),
    get isInUse() {
      return disk?.isInUse ?? false;
    },
    get needsDisk() {
      return filePath !== undefined && !disk;
    },
    attach(given) {
      disk = given;
    },
    endTurn: () => disk?.endTurn(),
    get lookedThrough() {
      return rest?.done ?? Promise.resolve();
    },
    async replace(next) {
      const closed = disk?.close();
      take(next);
      await closed;
    },
    reopen(next) {
      const unwritten = log;
      void disk?.close();
      take(next);
      for (let at = unwritten.loadedLength; at < unwritten.length; at++) append(anew(unwritten.entry(at)!));
    },
    async close() {
      rest?.stop();
      await disk?.close();
    },
  };
}

/** Messages that no person and no model has written have a kind of entry of their own, whose time is that of the message. */
export function customEntry({ customType, content, display, details, timestamp }: CustomMessage): NewEntry {
  const time = new Date(timestamp);
  return {
    type: "custom_message",
    customType,
    content,
    display,
    ...(details === undefined ? {} : { details }),
    ...(Number.isNaN(time.getTime()) ? {} : { timestamp: time.toISOString() }),
  };
}

/** The same entry, to be added in another place. */
function anew(entry: SessionEntry): NewEntry {
  const { id, parentId, timestamp, ...rest } = entry;
  return rest;
}

function messageAt(log: EntryLog, position: number): AgentMessage | undefined {
  const entry = isConversation(log.kind(position)) ? log.entry(position) : undefined;
  return entry && messageOf(entry);
}

function isChoice(kind: string): boolean {
  return kind === "model_change" || kind === "thinking_level_change";
}

/** The last one that was given; omp and xcsh keep it in the header, and omp also tells when it changes. */
function nameOf(log: EntryLog): string | undefined {
  const isNamed = log.holds("session_info") || log.holds("title_change");
  for (let at = isNamed ? log.length - 1 : -1; at >= 0; at--) {
    const kind = log.kind(at);
    if (kind !== "session_info" && kind !== "title_change") continue;
    const { name, title } = (log.entry(at) ?? {}) as { name?: unknown; title?: unknown };
    return saidName(kind === "session_info" ? name : title);
  }
  return saidName(log.header.title);
}

function saidName(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}
