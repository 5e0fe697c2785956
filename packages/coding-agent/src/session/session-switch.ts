import { dirname } from "node:path";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { SessionEntry, SessionHeader } from "@tiller/protocol/session-entry";
import { blankField } from "../lib/wrong-field.ts";
import type { HookEvent, SessionHooks } from "./ports.ts";
import { textOf } from "./session-queue.ts";
import { copyPath } from "./store/fork.ts";
import type { OpenSession, SessionStore } from "./store/session-store.ts";
import { pathTo } from "./store/tree.ts";

/** Leaves the session for another one. The old one's run is over, and told, before the new one is there. */
export interface SessionSwitch {
  newSession(parentSession?: string): Promise<Switched>;
  switchTo(sessionPath: string): Promise<Switched | Refused>;
  /** The latest session of a folder, or a new one there; later sessions lie there too. */
  openIn(folder: string): Promise<OpenedIn | Refused>;
  /** A copy that ends just before this user message. `as` is the name under which the host asked for it. */
  fork(entryId: string, as?: keyof typeof FORKING): Promise<Forked | Refused>;
  /** A copy of the conversation as it stands. */
  clone(): Promise<Switched | Refused>;
  /** A copy of the way to this entry, with it. */
  copyUpTo(entryId: string): Promise<Switched | Refused>;
  /** Whoever is still being asked whether the session may be left has said no. */
  abort(): void;
}

export interface Switched {
  /** An extension said no. */
  cancelled: boolean;
}
export interface OpenedIn extends Switched {
  resumed: boolean;
  sessionId: string;
  sessionFile?: string;
}
export interface Forked extends Switched {
  /** The message that the copy ends before. */
  text?: string;
}
export interface Refused {
  refused: string;
}

/** Where sessions come from. */
export interface SessionSource {
  begin(fields: { parentSession?: string; id?: string }): OpenSession;
  /** Throws an Error with a sentence for people when there is no session to be had. */
  open(path: string, how?: { isStart: boolean }): OpenSession;
  /** The latest session of a folder, or why there can be none. */
  newestIn(folder: string): { path: string | undefined } | Refused;
  /** Sessions that begin from now on lie there. */
  settleIn(folder: string): void;
  /** A session that was made of another one; written at once. Throws as `open` does when that is not possible. */
  keep(
    make: (header: SessionHeader) => OpenSession["log"],
    parentSession: string | undefined,
    id?: string,
  ): OpenSession;
}

export interface SessionSwitchOptions {
  store: SessionStore;
  source: SessionSource;
  hooks: SessionHooks | undefined;
  clock: Clock;
  ids: IdSource;
  /** Ends what is going on in the old session, and tells it; `reason` is what the results say. */
  stop(reason: string): Promise<void>;
  /** The new session is in the store: model, level and what was cut off are taken from it. */
  adopt(how: "new" | "resume" | "fork"): void;
  resolvePath(path: string): string;
  /** Whether this is the file of the session in the store, under this or another name. */
  isOpen(path: string): boolean;
}

type Question = "session_before_switch" | "session_before_fork" | "session_before_branch";

/** Two names for one thing. */
const FORKING = { fork: "forking", branch: "branching" } as const;

export function createSessionSwitch(options: SessionSwitchOptions): SessionSwitch {
  const { store, source, hooks, clock, ids } = options;

  const enter = async (next: OpenSession, how: "new" | "resume" | "fork"): Promise<void> => {
    const previous = store.sessionFile;
    await hooks?.leave(how, next.path);
    await store.replace(next);
    options.adopt(how);
    await hooks?.entered(how, previous);
  };
  let question = new AbortController();
  const agrees = async <K extends Question>(hook: K, event: HookEvent<K>): Promise<boolean> => {
    if (!hooks?.listens(hook)) return true;
    const { signal } = question;
    return !(await hooks.run(hook, event, signal)).cancel && !signal.aborted;
  };
  const mayLeave = (event: HookEvent<"session_before_switch">): Promise<boolean> =>
    agrees("session_before_switch", event);
  const mayCopy = async (entryId: string, position: "before" | "at"): Promise<boolean> =>
    (await agrees("session_before_fork", { entryId, position })) && agrees("session_before_branch", { entryId });

  /** A path as a session of its own. It is asked for when the old session is over: all that was told is in the copy. */
  const enterCopy = async (command: string, pathOf: () => readonly number[]): Promise<Refused | undefined> => {
    await options.stop(`Request was aborted: ${command} left the session`);
    const details = { ids, timestamp: new Date(clock.now()).toISOString() };
    const { log } = store;
    const path = pathOf();
    const copy = attempt(() => source.keep((header) => copyPath(log, path, header, details), store.sessionFile));
    if ("refused" in copy) return copy;
    await enter(copy, "fork");
    return undefined;
  };

  const beginNew = async (command: string, parentSession: string | undefined, before = (): void => undefined) => {
    if (!(await mayLeave({ reason: "new" }))) return { cancelled: true };
    await options.stop(`Request was aborted: ${command} left the session`);
    before();
    await enter(source.begin({ parentSession }), "new");
    return { cancelled: false };
  };

  return {
    newSession: (parentSession) => beginNew("new_session", parentSession),
    async openIn(given) {
      // It would mean the folder that the agent works in, where nobody wants session files.
      const blank = blankField("sessionDir", given, "the path of a folder");
      if (blank !== undefined) return { refused: blank };
      const folder = options.resolvePath(given);
      const newest = source.newestIn(folder);
      if ("refused" in newest) return newest;
      const { path } = newest;
      const isThere = path === undefined ? isBeside(store.sessionFile, folder) : options.isOpen(path);
      const settle = (): void => source.settleIn(folder);
      const switched = isThere
        ? { cancelled: false }
        : await (path === undefined ? beginNew("open_session", undefined, settle) : this.switchTo(path));
      if ("refused" in switched) return switched;
      if (!switched.cancelled) settle();
      const { sessionId, sessionFile } = store;
      return { ...switched, resumed: !switched.cancelled && path !== undefined, sessionId, sessionFile };
    },
    async switchTo(given) {
      // It would mean the folder that the agent works in, which is no session.
      const blank = blankField("sessionPath", given, "the path of a session file");
      if (blank !== undefined) return { refused: blank };
      const path = options.resolvePath(given);
      if (!(await mayLeave({ reason: "resume", targetSessionFile: path }))) return { cancelled: true };
      const reason = "Request was aborted: switch_session left the session";
      if (options.isOpen(path)) {
        await options.stop(reason);
        await hooks?.leave("resume", path);
        store.moveTo(store.log.length - 1);
        options.adopt("resume");
        await hooks?.entered("resume", path);
        return { cancelled: false };
      }
      const next = attempt(() => source.open(path));
      if ("refused" in next) return next;
      await options.stop(reason);
      await enter(next, "resume");
      return { cancelled: false };
    },
    async fork(entryId, as = "fork") {
      const position = store.log.find(entryId);
      const text = position < 0 ? undefined : textOfUser(store.log.entry(position));
      if (text === undefined) return { refused: `Invalid entry ID for ${FORKING[as]}` };
      if (!(await mayCopy(entryId, "before"))) return { cancelled: true };
      // Looked up again: a repair of the file may have moved it meanwhile.
      const problem = await enterCopy(as, () => pathTo(store.log, store.log.parent(store.log.find(entryId))));
      return problem ?? { cancelled: false, text };
    },
    async copyUpTo(entryId) {
      if (store.log.find(entryId) < 0) return { refused: `Entry not found: ${entryId}` };
      if (!(await mayCopy(entryId, "at"))) return { cancelled: true };
      const problem = await enterCopy("fork", () => pathTo(store.log, store.log.find(entryId)));
      return problem ?? { cancelled: false };
    },
    async clone() {
      const { leafId } = store;
      if (leafId === null) return { refused: "Cannot clone session: no current entry selected" };
      if (!(await mayCopy(leafId, "at"))) return { cancelled: true };
      const problem = await enterCopy("clone", () => store.path());
      return problem ?? { cancelled: false };
    },
    abort() {
      question.abort();
      question = new AbortController();
    },
  };
}

/** What can be neither opened nor written is an answer, not an accident. */
function attempt(make: () => OpenSession): OpenSession | Refused {
  try {
    return make();
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

function isBeside(sessionFile: string | undefined, folder: string): boolean {
  return sessionFile !== undefined && dirname(sessionFile) === folder;
}

/** Undefined when the entry is no message of the user's. */
export function textOfUser(entry: SessionEntry | undefined): string | undefined {
  if (entry?.type !== "message" || entry.message.role !== "user") return undefined;
  return textOf(entry.message);
}
