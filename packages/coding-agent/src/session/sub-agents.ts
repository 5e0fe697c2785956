import type { Clock } from "@tiller/protocol/clock";
import type { Params, Result } from "@tiller/protocol/commands/index";
import type { Usage } from "@tiller/protocol/message";
import type { Subagent, SubagentLevel, SubagentProgress } from "@tiller/protocol/sub-agent";
import type { SessionEvent } from "./session-event.ts";
import type { Refused } from "./session-switch.ts";
import { bytesIn, type EntriesFrom, entriesFrom, entriesInFile } from "./store/entries-from.ts";
import type { EntryLog } from "./store/entry-log.ts";
import { messageOf } from "./store/entry-rules.ts";
import { sumOfMoney } from "./usage-tally.ts";

/** Knows the sub-agents of the session: what each is doing, and where its conversation is kept. It starts none. */
export interface SubAgents {
  list(): Subagent[];
  /** Chooses what is told of them beside the updates of the tool call. */
  subscribe(level: unknown): { level: SubagentLevel } | Refused;
  messages(request: Params<"get_subagent_messages">): Result<"get_subagent_messages"> | Refused;
  add(about: NewSubAgent): SubAgentRecord;
  /** Another session is in the store. The level stays. */
  forget(): void;
}

export type NewSubAgent = Omit<Subagent, "id" | "status" | "lastUpdate" | "progress" | "error" | "sessionFile"> & {
  /** As the model wants it; another one that has it gets a number behind it. */
  wantedId: string;
  /** A number was put behind the id when its file is there already. */
  fileOf?(id: string): { path: string; isFree: boolean } | undefined;
  /** It has got on. */
  onChange(): void;
};

/** One of them, for whoever runs it. */
export interface SubAgentRecord {
  readonly id: string;
  readonly about: Readonly<Subagent>;
  /** It begins to work; `log` is its conversation. */
  begin(log: EntryLog): void;
  /** What is said in its run. */
  take(event: SessionEvent): undefined | Promise<void>;
  /** It, or one that it has started, has an answer, or made a summary. */
  spent(usage: Usage, isAnswer: boolean): void;
  toolCalled(): void;
  end(how: { status: "completed" | "failed" | "aborted"; error?: string }): void;
}

export interface SubAgentsOptions {
  clock: Clock;
  /** To those who listen to the session. */
  emit(event: SessionEvent): undefined | Promise<void>;
  /** A file of a sub-agent, perhaps of one that another process has started. */
  isSubAgentFile(path: string): boolean;
}

interface Kept {
  about: Subagent;
  progress: SubagentProgress;
  startedAt?: number;
  /** Its conversation, when no file holds it. Undefined: it was too much to be kept. */
  log?: EntryLog;
  bytes?: Buffer;
}

/** So many are remembered, and so much of the conversations that no file holds; the oldest that have ended go first. */
export const MOST_SUB_AGENTS = 500;
const MOST_BYTES = 16 * 1024 * 1024;

const LEVELS: readonly unknown[] = ["off", "progress", "events"] satisfies SubagentLevel[];
/** Of no meaning outside of its run. */
const OWN_ENDINGS = new Set(["agent_settled", "prompt_result", "session_settled", "queue_update"]);

export function createSubAgents({ clock, emit, isSubAgentFile }: SubAgentsOptions): SubAgents {
  const kept = new Map<string, Kept>();
  let level: SubagentLevel = "off";

  const freeId = ({ wantedId, fileOf }: NewSubAgent): string => {
    const isTaken = (id: string): boolean => kept.has(id) || fileOf?.(id)?.isFree === false;
    let id = wantedId;
    for (let count = 2; isTaken(id); count++) id = `${wantedId}-${count}`;
    return id;
  };
  const makeRoom = (): void => {
    let bytes = 0;
    for (const { bytes: held } of kept.values()) bytes += held?.length ?? 0;
    for (const [id, one] of kept) {
      if (kept.size <= MOST_SUB_AGENTS && bytes <= MOST_BYTES) return;
      if (!isOver(one.about)) continue;
      bytes -= one.bytes?.length ?? 0;
      one.bytes = undefined;
      if (kept.size > MOST_SUB_AGENTS) kept.delete(id);
    }
  };

  return {
    list: () => [...kept.values()].map(({ about }) => snapshot(about)),
    subscribe(wanted) {
      if (!LEVELS.includes(wanted)) return { refused: `Invalid subagent subscription level: ${shown(wanted)}` };
      level = wanted as SubagentLevel;
      return { level };
    },
    messages({ subagentId, sessionFile, fromByte }) {
      const from: unknown = fromByte ?? 0;
      if (typeof from !== "number" || !Number.isFinite(from)) return { refused: "fromByte must be a finite number" };
      if (subagentId !== undefined) {
        const found = kept.get(subagentId);
        if (!found) return { refused: `Unknown subagent: ${subagentId}` };
        return found.about.sessionFile === undefined ? inMemory(found, from) : inFile(found.about.sessionFile, from);
      }
      if (sessionFile === undefined) return { refused: "subagentId or sessionFile is required" };
      return isSubAgentFile(sessionFile)
        ? inFile(sessionFile, from)
        : { refused: `Unknown subagent session file: ${sessionFile}` };
    },
    add(given) {
      const { wantedId: _id, fileOf, onChange, ...fields } = given;
      const id = freeId(given);
      const progress: SubagentProgress = { turns: 0, toolCalls: 0, tokens: 0, cost: 0, durationMs: 0 };
      const about: Subagent = {
        id,
        ...fields,
        status: "pending",
        sessionFile: fileOf?.(id)?.path,
        lastUpdate: clock.now(),
        progress,
      };
      const one: Kept = { about, progress };
      kept.set(id, one);
      makeRoom();
      const touch = (): void => {
        about.lastUpdate = clock.now();
        progress.durationMs = about.lastUpdate - (one.startedAt ?? about.lastUpdate);
      };
      const got = (type: "subagent_lifecycle" | "subagent_progress"): void => {
        touch();
        if (level !== "off")
          void emit({ type, payload: type === "subagent_progress" ? brief(about) : snapshot(about) });
        onChange();
      };
      return {
        id,
        about,
        begin(log) {
          one.startedAt = clock.now();
          if (about.sessionFile === undefined) one.log = log;
          about.status = "running";
          got("subagent_lifecycle");
        },
        take(event) {
          if (event.type === "tool_execution_start" || event.type === "tool_execution_end") {
            progress.currentTool = event.type === "tool_execution_start" ? event.toolName : undefined;
            got("subagent_progress");
          }
          if (level !== "events" || OWN_ENDINGS.has(event.type)) return undefined;
          const { id: _, index, agent, agentSource, sessionFile, parentToolCallId, parentId } = about;
          const knownBy = { id, index, agent, agentSource, sessionFile, parentToolCallId, parentId };
          return emit({ type: "subagent_event", payload: { ...knownBy, event: onWire(event) } });
        },
        spent(usage, isAnswer) {
          progress.tokens += usage.totalTokens;
          progress.cost = sumOfMoney(progress.cost, usage.cost.total);
          if (isAnswer) progress.turns += 1;
          got("subagent_progress");
        },
        toolCalled() {
          progress.toolCalls += 1;
        },
        end({ status, error }) {
          about.status = status;
          if (error !== undefined) about.error = error;
          progress.currentTool = undefined;
          if (one.log) one.bytes = Buffer.concat(linesOf(one.log));
          one.log = undefined;
          makeRoom();
          got("subagent_lifecycle");
        },
      };
    },
    forget: () => kept.clear(),
  };
}

/** Tokens and money that one conversation has spent for another. */
export function paidEntry(usage: Usage, provider: string, model: string) {
  return { type: "usage" as const, kind: "subagent", provider, model, usage };
}

function isOver({ status }: Subagent): boolean {
  return status !== "pending" && status !== "running";
}

/** As it is now: it goes on to change. */
function snapshot(about: Subagent): Subagent {
  return { ...about, ...(about.progress && { progress: { ...about.progress } }) };
}

/** Without the texts that never change. */
function brief(about: Subagent): Subagent {
  const { task: _task, assignment: _assignment, ...rest } = snapshot(about);
  return rest;
}

const THIN = { role: "assistant", content: [] };

/** As the main agent's events stand on the wire in the mode `delta`. */
function onWire(event: SessionEvent): object {
  if (event.type !== "message_update") return event;
  const { event: inner } = event;
  const isEnd = inner.type === "done" || inner.type === "error";
  return {
    type: "message_update",
    message: THIN,
    assistantMessageEvent: isEnd ? inner : { ...inner, partial: THIN },
  };
}

function inFile(path: string, from: number): Result<"get_subagent_messages"> {
  return { sessionFile: path, ...withMessages(entriesInFile(path, from)) };
}

function inMemory({ about, log, bytes }: Kept, from: number): Result<"get_subagent_messages"> | Refused {
  if (!log && !bytes && isOver(about) && about.progress?.turns) {
    return { refused: `The conversation of subagent ${about.id} is no longer in memory` };
  }
  const held = bytes ?? Buffer.concat(log ? linesOf(log) : []);
  return withMessages(entriesFrom(bytesIn(held), from));
}

function withMessages(read: EntriesFrom): Omit<Result<"get_subagent_messages">, "sessionFile"> {
  return { ...read, messages: read.entries.flatMap((entry) => messageOf(entry) ?? []) };
}

function linesOf(log: EntryLog): Buffer[] {
  return [...log.lines()].map((line) => Buffer.from(`${line}\n`));
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
}
