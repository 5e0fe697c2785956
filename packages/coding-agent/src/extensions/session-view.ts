import type { AgentMessage } from "@tiller/protocol/message";
import type { SessionEntry, SessionHeader } from "@tiller/protocol/session-entry";
import { createCopies } from "../lib/copies.ts";

/** The session as extensions see it (`ctx.sessionManager`). */
export interface SessionView {
  getCwd(): string;
  getSessionDir(): string;
  getSessionId(): string;
  getSessionFile(): string | undefined;
  getSessionName(): string | undefined;
  isPersisted(): boolean;
  getHeader(): SessionHeader;
  /** All of them, whatever branch they are on, in the order of the file. */
  getEntries(): SessionEntry[];
  getEntry(id: string): SessionEntry | undefined;
  getChildren(parentId: string | null): SessionEntry[];
  getLeafId(): string | null;
  getLeafEntry(): SessionEntry | undefined;
  /** From the root to the leaf, or to another entry. */
  getBranch(fromId?: string): SessionEntry[];
  getLabel(id: string): string | undefined;
  getTree(): TreeNode[];
  buildSessionContext(): { messages: readonly AgentMessage[]; thinkingLevel: string; model: object | null };
}

/** What the session that was just begun can be given (`setup` of `newSession`). */
export interface SessionEditor extends SessionView {
  appendMessage(message: AgentMessage): string;
  appendCustomEntry(customType: string, data?: unknown): string;
  appendCustomMessageEntry(customType: string, content: string, display: boolean, details?: unknown): string;
  appendSessionInfo(name: string): string;
  appendLabelChange(targetId: string, label: string | undefined): string;
}

export interface TreeNode {
  entry: SessionEntry;
  children: TreeNode[];
  label?: string;
}

/** What it is made of. */
export interface SessionSource {
  cwd(): string;
  sessionId(): string;
  sessionFile(): string | undefined;
  sessionDir(): string;
  name(): string | undefined;
  header(): SessionHeader;
  entries(): SessionEntry[];
  entry(id: string): SessionEntry | undefined;
  leafId(): string | null;
  labels(): ReadonlyMap<string, string>;
  messages(): readonly AgentMessage[];
  choice(): { thinkingLevel: string; model: object | null };
}

/** Everything that it hands out are copies: whatever is done to them, the session stays as it is. */
export function createSessionView(source: SessionSource): SessionView {
  const copy = createCopies();
  const entries = (): SessionEntry[] => source.entries().map(copy);
  const entryOf = (id: string): SessionEntry | undefined => {
    const entry = source.entry(id);
    return entry && copy(entry);
  };
  const branch = (fromId: string | null): SessionEntry[] => {
    const path: SessionEntry[] = [];
    const seen = new Set<string>();
    for (let id = fromId; id !== null && !seen.has(id); ) {
      seen.add(id);
      const entry = entryOf(id);
      if (!entry) break;
      path.push(entry);
      id = entry.parentId;
    }
    return path.reverse();
  };
  return {
    getCwd: source.cwd,
    getSessionDir: source.sessionDir,
    getSessionId: source.sessionId,
    getSessionFile: source.sessionFile,
    getSessionName: source.name,
    isPersisted: () => source.sessionFile() !== undefined,
    getHeader: () => copy(source.header()),
    getEntries: entries,
    getEntry: entryOf,
    getChildren: (parentId) => entries().filter((entry) => entry.parentId === parentId),
    getLeafId: source.leafId,
    getLeafEntry() {
      const id = source.leafId();
      return id === null ? undefined : entryOf(id);
    },
    getBranch: (fromId) => branch(fromId ?? source.leafId()),
    getLabel: (id) => source.labels().get(id),
    getTree: () => treeOf(entries(), source.labels()),
    buildSessionContext: () => ({ messages: source.messages().map(copy), ...source.choice() }),
  };
}

/** Entries whose parent is not there are roots. */
export function treeOf(entries: readonly SessionEntry[], labels: ReadonlyMap<string, string>): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  for (const entry of entries) nodes.set(entry.id, { entry, children: [], label: labels.get(entry.id) });
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.entry.parentId === null ? undefined : nodes.get(node.entry.parentId);
    (parent?.children ?? roots).push(node);
  }
  return roots;
}
