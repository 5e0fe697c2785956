import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { AgentMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { SessionFile } from "./session-file.ts";

/**
 * The session's entries and its leaf, in memory and, if there is a file, on disk first. The file appears with the first
 * message; settings chosen before that are written together with it.
 */
export interface SessionStore {
  readonly sessionId: string;
  /** The path, also before the file exists; undefined for a session that is kept in memory only, also from now on. */
  readonly sessionFile: string | undefined;
  readonly messages: readonly AgentMessage[];
  appendMessage(message: AgentMessage): void;
  /** Takes messages out of the conversation; their entries stay. */
  leaveOut(messages: readonly AgentMessage[]): void;
  appendModelChange(model: Model): void;
  appendThinkingLevel(level: ThinkingLevel): void;
  close(): void;
}

export interface SessionStoreOptions {
  cwd: string;
  clock: Clock;
  ids: IdSource;
  sessionId: string;
  file?: SessionFile;
  /** The file could not be written; the session goes on in memory. Told once. */
  onWriteError(error: Error): void;
}

export function createSessionStore({
  cwd,
  clock,
  ids,
  sessionId,
  file,
  onWriteError,
}: SessionStoreOptions): SessionStore {
  const messages: AgentMessage[] = [];
  const header = { type: "session", version: 3, id: sessionId, timestamp: iso(clock), cwd };
  let unwritten: object[] = [header];
  let started = false;
  let broken = false;
  let leafId: string | null = null;

  const write = (entry: object): void => {
    if (!file || broken) return;
    if (!started) {
      unwritten.push(entry);
      return;
    }
    try {
      file.append(entry);
    } catch (error) {
      broken = true;
      onWriteError(error instanceof Error ? error : new Error(String(error)));
    }
  };

  const append = (entry: Record<string, unknown> & { type: string }): void => {
    const id = ids.short();
    const { type, ...rest } = entry;
    const line = { type, id, parentId: leafId, timestamp: iso(clock), ...rest };
    leafId = id;
    write(line);
  };

  const start = (): void => {
    if (started) return;
    started = true;
    const waiting = unwritten;
    unwritten = [];
    for (const entry of waiting) write(entry);
  };

  return {
    sessionId,
    get sessionFile() {
      return broken ? undefined : file?.path;
    },
    messages,
    appendMessage(message) {
      // A shell command is not yet a conversation; it is written with the first message of one.
      if (message.role !== "bashExecution") start();
      append({ type: "message", message });
      messages.push(message);
    },
    leaveOut(left) {
      for (const message of left) {
        const at = messages.lastIndexOf(message);
        if (at >= 0) messages.splice(at, 1);
      }
    },
    /** Both spellings of the family, so that the tools of each can read the file. */
    appendModelChange(model) {
      append({
        type: "model_change",
        provider: model.provider,
        modelId: model.id,
        model: `${model.provider}/${model.id}`,
      });
    },
    appendThinkingLevel(thinkingLevel) {
      append({ type: "thinking_level_change", thinkingLevel });
    },
    close() {
      file?.close();
    },
  };
}

function iso(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
