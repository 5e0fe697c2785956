import type { CompactionResult } from "@tiller/protocol/compaction";
import type { Model } from "@tiller/protocol/model";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import type { CompactionCause, SessionHooks } from "../ports.ts";
import type { CompactionEvent, EventPlace, SessionEvent } from "../session-event.ts";
import type { NewEntry } from "../store/session-store.ts";
import type { Made } from "./compact-branch.ts";
import { type CompactionSettings, isOverThreshold, thresholdOf, tokensAfterCompaction } from "./policy.ts";
import type { AskModel } from "./summarize.ts";

export interface CompactorPorts {
  /** The entries from the leaf back to the root; as many as are asked for are read. */
  fromLeaf(): Iterable<SessionEntry>;
  /** Returns the id. What the model sees is worked out anew. */
  append(entry: NewEntry): string;
  ask: AskModel;
  emit(event: SessionEvent, place?: EventPlace): unknown;
  settings(): CompactionSettings;
  model(): Model | null;
  hooks?: SessionHooks;
  sessionId?(): string;
}

export type AutomaticReason = "threshold" | "overflow";
export type ManualOutcome = { result: CompactionResult } | { refused: string };
/** "skipped": there was nothing to compact. */
export type AutomaticOutcome = "done" | "failed" | "aborted" | "skipped";

/** Owns the compaction that is in progress, and whether compacting by itself still makes sense. */
export interface Compactor {
  /** From the moment it is asked for until its end is told. */
  readonly isCompacting: boolean;
  /** `after`: it begins when this is over (a run that is being ended); the place in line is taken at once. */
  manual(focus?: string, after?: Promise<unknown>): Promise<ManualOutcome>;
  /** Ends what is in progress or waits; resolves after the last event of it. */
  abort(): Promise<void>;
  /** Resolves when nothing is in progress any more. Never rejects. */
  settled(): Promise<void>;
  /** Gives compacting by itself another chance after it was stopped: the host has changed something. */
  reset(): void;

  /** Switched on, and not stopped because it did not help. */
  readonly isOn: boolean;
  /** The conversation is over the threshold, and something has changed since that was last tried to mend. */
  isDue(): boolean;
  readonly autoContinue: boolean;
  automatic(
    reason: AutomaticReason,
    willRetry: boolean,
    signal: AbortSignal,
    place?: EventPlace,
  ): Promise<AutomaticOutcome>;
  /** Tells that one compaction was not enough for this prompt. */
  tellSecondOverflow(place?: EventPlace): void;
}

const MOST_FAILURES = 2;
const ACTION = "context-full";
const CANCELLED = "Compaction cancelled";
const MANUAL = { reason: "manual", willRetry: false } as const;
const NO_MODEL = "No model selected";
const SECOND_OVERFLOW =
  "Context overflow recovery failed after one compact-and-retry attempt. Try reducing context or switching to a larger-context model.";
const FAILURES: Readonly<Record<AutomaticReason, string>> = {
  threshold: "Auto-compaction failed",
  overflow: "Context overflow recovery failed",
};
const WAY_OUT = "Compact by hand (compact), choose another model, or switch it on again (set_auto_compaction)";
/** Marks the place of a cut behind which no message is kept: `firstKeptEntryId` has to name something. */
const MARK: NewEntry = { type: "custom", customType: "tiller.cut", data: {} };

type MadeDone = Extract<Made, { done: unknown }>["done"];
type Written = Exclude<Made, { done: unknown }> | { result: CompactionResult; isUnderThreshold: boolean };
type End = Pick<Extract<CompactionEvent, { type: "compaction_end" }>, "result" | "aborted"> & {
  errorMessage?: string;
  skipped?: true;
};

export function createCompactor(ports: CompactorPorts): Compactor {
  const { fromLeaf, append, ask, emit, settings, model, hooks } = ports;
  const open = new Set<AbortController>();
  let tail: Promise<unknown> = Promise.resolve();
  /** In a row, of those that were not asked for, with the model that made them. */
  let failures = 0;
  let failedModel: string | undefined;
  /** The leaf at which it was last tried without success. */
  let triedAt: string | undefined;
  /** The threshold that the last one was made for. Undefined: nobody can say yet whether it helped. */
  let madeFor: number | undefined;

  /** One after the other. */
  const inLine = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const controller = new AbortController();
    open.add(controller);
    const mine = tail.then(() => work(controller.signal)).finally(() => open.delete(controller));
    tail = mine.catch(() => undefined);
    return mine;
  };

  const make = async (cause: CompactionCause, focus: string | undefined, signal: AbortSignal): Promise<Written> => {
    const current = model();
    if (!current) return { failed: NO_MODEL, isPassing: false };
    if (signal.aborted) return { aborted: true };
    try {
      const { compactBranch } = await import("./compact-branch.ts");
      const about = { hooks, sessionId: ports.sessionId?.() };
      const task = { fromLeaf, ask, model: current, settings: settings(), signal, ...cause, focus, ...about };
      const summarised = leafId();
      const made = await orAborted(compactBranch(task), signal);
      if (!("done" in made)) return made;
      const result = write(made.done, summarised);
      await tellExtensions(cause, made.done.isGiven);
      return { ...made.done, result };
    } catch (error) {
      return { failed: error instanceof Error ? error.message : String(error), isPassing: false };
    }
  };

  /** `summarised`: the last entry that the summary knows of. */
  const write = (
    { result: made, isGiven, preserveData }: MadeDone,
    summarised: string | undefined,
  ): CompactionResult => {
    const { summary, tokensBefore, details, usage } = made;
    const firstKeptEntryId = made.firstKeptEntryId ?? firstSince(summarised) ?? append(MARK);
    append({
      type: "compaction",
      summary,
      firstKeptEntryId,
      tokensBefore,
      details,
      ...(usage && { usage }),
      ...(isGiven && { fromHook: true }),
      ...(preserveData !== undefined && { preserveData }),
    });
    return { ...made, firstKeptEntryId };
  };

  const tellExtensions = async (cause: CompactionCause, fromExtension: boolean): Promise<void> => {
    if (!hooks?.listens("session_compact")) return;
    for (const compactionEntry of fromLeaf()) {
      await hooks.run("session_compact", { compactionEntry, fromExtension, ...cause });
      return;
    }
  };

  /** What was added while the summary was being made, such as the output of a shell command, is in no summary. */
  const firstSince = (summarised: string | undefined): string | undefined => {
    let first: string | undefined;
    for (const { id } of fromLeaf()) {
      if (id === summarised) break;
      first = id;
    }
    return first;
  };

  const modelName = (): string => `${model()?.provider}/${model()?.id}`;
  const isStopped = (): boolean => failures >= MOST_FAILURES && failedModel === modelName();
  const reset = (): void => {
    failures = 0;
    triedAt = undefined;
    madeFor = undefined;
  };
  const threshold = (): number | undefined => {
    const current = model();
    return current ? thresholdOf(current, settings()) : undefined;
  };
  const leafId = (): string | undefined => {
    for (const { id } of fromLeaf()) return id;
    return undefined;
  };

  const tellFailure = (cause: CompactionCause, error: string, aborted = false): void => {
    const event = { ...cause, error, errorMessage: error, aborted };
    if (hooks?.listens("session_compact_failed")) void hooks.run("session_compact_failed", event);
  };

  /** Counts it; gives back the text with what follows from it. */
  const failure = (text: string, isPassing: boolean, place: EventPlace | undefined): string => {
    triedAt = leafId();
    if (isPassing) return text;
    failures = failedModel === modelName() ? failures + 1 : 1;
    failedModel = modelName();
    if (failures < MOST_FAILURES) return text;
    const message = `Automatic compaction is stopped: it failed ${failures} times in a row, the last time because ${text}. ${WAY_OUT}`;
    emit({ type: "notice", level: "error", source: "compaction", message }, place);
    return `${text}. Automatic compaction is stopped. ${WAY_OUT}`;
  };

  /** Why another compaction would be of no use: what the last one left is still too much. */
  const useless = (): string | undefined => {
    if (madeFor === undefined || madeFor !== threshold()) return undefined;
    const left = tokensAfterCompaction(fromLeaf());
    if (left === undefined || left <= madeFor) return undefined;
    return `the last compaction left ${left} tokens, and the threshold is ${madeFor}`;
  };

  const runManual = async (focus: string | undefined, signal: AbortSignal): Promise<ManualOutcome> => {
    emit({ type: "compaction_start", reason: "manual" });
    const tellEnd = (end: Omit<End, "skipped">): void =>
      void emit({ type: "compaction_end", reason: "manual", ...end, willRetry: false });
    const refuse = (text: string): ManualOutcome => {
      tellFailure(MANUAL, text);
      tellEnd({ aborted: false, errorMessage: `Compaction failed: ${text}` });
      return { refused: text };
    };
    const made = await make(MANUAL, focus, signal);
    if ("aborted" in made) {
      tellFailure(MANUAL, CANCELLED, true);
      tellEnd({ aborted: true });
      return { refused: CANCELLED };
    }
    if ("nothing" in made) return refuse(made.nothing);
    if ("failed" in made) return refuse(made.failed);
    const { result } = made;
    reset();
    tellEnd({ result, aborted: false });
    return { result };
  };

  const runAutomatic = async (
    reason: AutomaticReason,
    willRetry: boolean,
    signal: AbortSignal,
    place: EventPlace | undefined,
  ): Promise<{ outcome: AutomaticOutcome; end: End }> => {
    const failed = (text: string, isPassing: boolean) => {
      const errorMessage = `${FAILURES[reason]}: ${failure(text, isPassing, place)}`;
      tellFailure({ reason, willRetry: false }, text);
      return { outcome: "failed" as const, end: { aborted: false, errorMessage } };
    };
    const reasonAgainst = reason === "threshold" ? useless() : undefined;
    if (reasonAgainst !== undefined) return failed(reasonAgainst, false);
    const made = await make({ reason, willRetry }, undefined, signal);
    if ("aborted" in made) {
      tellFailure({ reason, willRetry: false }, CANCELLED, true);
      return { outcome: "aborted", end: { aborted: true } };
    }
    if ("nothing" in made) {
      triedAt = leafId();
      return { outcome: "skipped", end: { aborted: false, skipped: true } };
    }
    if ("failed" in made) return failed(made.failed, made.isPassing);
    if (made.isUnderThreshold) reset();
    else failure("it did not bring the conversation under the threshold", false, place);
    madeFor = threshold();
    return { outcome: "done", end: { result: made.result, aborted: false } };
  };

  const tellAutomaticEnd = (
    reason: AutomaticReason,
    end: End & { willRetry: boolean },
    place: EventPlace | undefined,
  ): void => {
    emit({ type: "auto_compaction_end", action: ACTION, ...end }, place);
    emit({ type: "compaction_end", reason, ...end }, place);
  };

  return {
    get isCompacting() {
      return open.size > 0;
    },
    manual: (focus, after) =>
      inLine(async (signal) => {
        await after;
        // It never began, so there is no end to tell: a run may be telling its own by now.
        return signal.aborted ? { refused: CANCELLED } : runManual(focus, signal);
      }),
    async abort() {
      for (const controller of open) controller.abort();
      await this.settled();
    },
    async settled() {
      await tail;
    },
    reset,
    get isOn() {
      return settings().enabled && !isStopped();
    },
    isDue: () => isOverThreshold(fromLeaf(), model(), settings()) && leafId() !== triedAt,
    get autoContinue() {
      return settings().autoContinue;
    },
    async automatic(reason, willRetry, signal, place) {
      if (signal.aborted) return "aborted";
      return inLine(async (own) => {
        const either = AbortSignal.any([signal, own]);
        if (either.aborted) return "aborted";
        emit({ type: "auto_compaction_start", reason, action: ACTION }, place);
        emit({ type: "compaction_start", reason }, place);
        const { outcome, end } = await runAutomatic(reason, willRetry, either, place);
        tellAutomaticEnd(reason, { ...end, willRetry: willRetry && outcome === "done" }, place);
        return outcome;
      });
    },
    tellSecondOverflow(place) {
      tellAutomaticEnd("overflow", { aborted: false, willRetry: false, errorMessage: SECOND_OVERFLOW }, place);
    },
  };
}

/** Nobody waits for a model that does not listen to the abort. */
function orAborted(made: Promise<Made>, signal: AbortSignal): Promise<Made> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve({ aborted: true });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    made.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
