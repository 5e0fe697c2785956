import type { Usage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { blankField } from "../lib/wrong-field.ts";
import type { Focus } from "./compaction/summarize.ts";
import type { SessionHooks, TreeDecision, TreePreparation } from "./ports.ts";
import { type Refused, textOfUser } from "./session-switch.ts";
import { labelsOf } from "./store/fork.ts";
import type { NewEntry, SessionStore } from "./store/session-store.ts";
import { commonAncestor } from "./store/tree.ts";

/** Moves within the session: to another place in its tree, or to a name for one. */
export interface TreeNavigation {
  /** Gives up the summary that is being made; nothing is moved then. */
  abort(): void;
  /** `isGivenUp`: no summary is made any more; who wants one stays where he is. */
  navigate(request: NavigateRequest, isGivenUp?: boolean): Promise<Navigated | Refused>;
  /** An empty label takes it away. */
  setLabel(entryId: string, label: string | undefined): Promise<Refused | { label?: string }>;
  setName(name: string): Refused | { name: string };
  labels(): ReadonlyMap<string, string>;
  /** Every message of the user's that has a text, on all branches. */
  userMessages(): { entryId: string; text: string }[];
}

export interface NavigateRequest {
  /** The entry to go on from. Of a user message: from before it, to ask differently. */
  entryId: string;
  /** Tell what happened on the branch that is left. */
  summarize?: boolean;
  customInstructions?: string;
  /** They are all that the model is told. */
  replaceInstructions?: boolean;
  /** Of the summary; without one of the place. */
  label?: string;
}

export interface Navigated {
  cancelled: boolean;
  leafId: string | null;
  /** Of the user message that was navigated to. */
  text?: string;
  summary?: string;
}

/** What is written down of a branch that is left. */
export interface BranchNotes {
  summary: string;
  details?: unknown;
  /** What they cost. */
  usage?: Usage;
  /** An extension has made them. */
  fromHook?: boolean;
}

export interface TreeNavigationOptions {
  store: SessionStore;
  hooks: SessionHooks | undefined;
  /** Ends the run that is going on. */
  stop(): Promise<void>;
  /** The summary of these entries, or why there is none. */
  summarize(
    entries: ReturnType<SessionStore["branch"]>,
    focus: Focus | undefined,
    signal: AbortSignal,
  ): Promise<BranchNotes | Refused>;
  /** The conversation is another one now. */
  adopt(): void;
  /** An entry that no other event tells of. */
  onAppended(entry: SessionEntry): void;
}

export function createTreeNavigation(options: TreeNavigationOptions): TreeNavigation {
  const { store, hooks, stop, summarize, adopt, onAppended } = options;
  const append = (entry: NewEntry): void => {
    store.append(entry);
    const written = store.log.entry(store.leaf);
    if (written) onAppended(written);
  };
  /** Of the navigation that is under way: an abort may come before its summary is begun. */
  let controller = new AbortController();
  /** Extensions may say no, bring notes of their own, or say what ours shall respect. */
  const decide = async (preparation: TreePreparation, signal: AbortSignal): Promise<TreeDecision> =>
    hooks?.listens("session_before_tree")
      ? hooks.run("session_before_tree", { preparation, signal }, signal)
      : { cancel: false };
  const tellMoved = async (oldLeafId: string | null, summaryEntry: SessionEntry | undefined, isGiven: boolean) => {
    if (!hooks?.listens("session_tree")) return;
    await hooks.run("session_tree", { newLeafId: store.leafId, oldLeafId, summaryEntry, fromExtension: isGiven });
  };
  /** Where to go on from; looked up each time, because a repair of the file may move entries while somebody waits. */
  const goalOf = (entryId: string): { text: string | undefined; target: number } => {
    const position = store.log.find(entryId);
    const text = textOfUser(store.log.entry(position));
    return { text, target: text === undefined ? position : store.log.parent(position) };
  };
  /** Written at the new place, so that whoever opens the file finds himself there. */
  const settle = (target: number, left: string | null, summary?: BranchNotes): void => {
    store.moveTo(target);
    if (summary) append({ type: "branch_summary", fromId: store.leafId ?? "root", ...summary });
    else append({ type: "custom", customType: "tiller.leaf", data: { from: left } });
    adopt();
  };

  return {
    abort: () => controller.abort(),
    async navigate(request, isGivenUp = false) {
      const { entryId, summarize: wanted = false } = request;
      controller = new AbortController();
      if (isGivenUp) controller.abort();
      const { signal } = controller;
      const unwritable = await store.writeProblem();
      if (unwritable !== undefined) return { refused: unwritable };
      if (store.log.find(entryId) < 0) return { refused: notFound(entryId) };
      const { text, target } = goalOf(entryId);
      // While a run is still going on: who is refused has lost nothing.
      const decision = await decide(preparationOf(request, target, store), signal);
      // Whoever guards it and was not heard to the end has not agreed.
      const isUnheard = signal.aborted && hooks?.listens("session_before_tree") === true;
      if (decision.cancel || isUnheard) return { cancelled: true, leafId: store.leafId };
      await stop();
      const left = store.leafId;
      const asked = text === undefined ? {} : { text };
      if (goalOf(entryId).target === store.leaf) return { cancelled: false, leafId: left, ...asked };
      const { abandoned } = wayTo(goalOf(entryId).target, store);
      const hasLeft = wanted && abandoned.length > 0;
      const made = hasLeft
        ? (decision.summary ?? (await summarize(abandoned, focusOf(request, decision), signal)))
        : undefined;
      if (made && "refused" in made) return made;
      const summary = made && decision.summary ? { ...made, fromHook: true } : made;
      settle(goalOf(entryId).target, left, summary);
      const summaryEntry = summary && store.log.entry(store.leaf);
      const label = decision.label ?? request.label;
      if (label !== undefined) append({ type: "label", targetId: summaryEntry?.id ?? entryId, label });
      await tellMoved(left, summaryEntry, decision.summary !== undefined);
      return { cancelled: false, leafId: store.leafId, ...asked, ...(summary ? { summary: summary.summary } : {}) };
    },
    async setLabel(entryId, given) {
      const unwritable = await store.writeProblem();
      if (unwritable !== undefined) return { refused: unwritable };
      if (store.log.find(entryId) < 0) return { refused: notFound(entryId) };
      const label = given?.trim() || undefined;
      append({ type: "label", targetId: entryId, ...(label === undefined ? {} : { label }) });
      return { label };
    },
    setName(given) {
      const name = given.trim();
      if (name === "") return { refused: "Session name cannot be empty" };
      store.append({ type: "session_info", name });
      return { name };
    },
    labels: () => labelsOf(store.log),
    userMessages() {
      const { log } = store;
      const found: { entryId: string; text: string }[] = [];
      for (let at = 0; at < log.length; at++) {
        if (log.kind(at) !== "message" || (log.role(at) !== "user" && log.role(at) !== "")) continue;
        const text = textOfUser(log.look(at));
        if (text) found.push({ entryId: log.id(at), text });
      }
      return found;
    },
  };
}

/** Where the way to another place leaves the one that is taken now, and what only that one has. */
function wayTo(target: number, store: SessionStore): { ancestor: number; abandoned: SessionEntry[] } {
  const path = store.path();
  const ancestor = commonAncestor(store.log, store.leaf, target);
  return { ancestor, abandoned: entriesAt(store, path.slice(path.indexOf(ancestor) + 1)) };
}

function preparationOf(request: NavigateRequest, target: number, store: SessionStore): TreePreparation {
  const { ancestor, abandoned } = wayTo(target, store);
  return {
    targetId: request.entryId,
    oldLeafId: store.leafId,
    commonAncestorId: ancestor < 0 ? null : store.log.id(ancestor),
    entriesToSummarize: abandoned,
    userWantsSummary: request.summarize ?? false,
    customInstructions: request.customInstructions,
    replaceInstructions: request.replaceInstructions,
    label: request.label,
  };
}

/** What an extension says counts more than what the host says. */
function focusOf(request: NavigateRequest, decision: TreeDecision): Focus | undefined {
  const text = decision.customInstructions ?? request.customInstructions;
  const isAll = decision.replaceInstructions ?? request.replaceInstructions;
  return text !== undefined && isAll ? { instead: text } : text;
}

function entriesAt({ log }: SessionStore, positions: readonly number[]): ReturnType<SessionStore["branch"]> {
  return positions.flatMap((position) => log.entry(position) ?? []);
}

function notFound(entryId: string): string {
  return blankField("entryId", entryId, "the id of an entry") ?? `Entry not found: ${entryId}`;
}
