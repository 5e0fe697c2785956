import type { RunResults } from "@tiller/agent/types";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { CustomMessage } from "@tiller/protocol/message";
import type { Job, JobEnding, JobKeeper, JobWork } from "../tools/tool.ts";

/** Owns the background jobs of the session: those that run, how the others ended, and what the model has not heard of yet. */
export interface Jobs extends JobKeeper {
  /** Some run, or have results that nobody has taken. */
  readonly isPending: boolean;
  readonly results: RunResults & { take(): readonly CustomMessage[] };
  /** Ends all of them; resolves when they have ended. */
  endAll(): Promise<void>;
}

export interface JobsOptions {
  clock: Clock;
  ids: IdSource;
  /** So many may run at the same time. */
  maxJobs: number;
  /** The result as the model reads it. */
  toMessage(job: Job): Pick<CustomMessage, "content" | "details">;
  /** The model has asked for the result itself, and has it. */
  wasShown(job: Job): boolean;
  /** A result waits. */
  onEnd(): void;
}

/** What has ended and is told is remembered for those who look back, but not for ever. */
const REMEMBERED = 50;
export const RESULT_MESSAGE = "job-result";

interface Entry extends Job {
  ending: JobEnding | undefined;
  controller: AbortController;
  over: Promise<void>;
}

export function createJobs({ clock, ids, maxJobs, toMessage, wasShown, onEnd }: JobsOptions): Jobs {
  const entries = new Map<string, Entry>();
  const running = new Set<Entry>();
  let untold: Entry[] = [];

  const waiting = (): Entry[] => {
    if (untold.length > 0) untold = untold.filter((job) => !wasShown(job));
    return untold;
  };
  const forgetOld = (): void => {
    const old = [...entries.values()].filter((job) => job.ending && !untold.includes(job));
    for (const { id } of old.slice(0, Math.max(0, old.length - REMEMBERED))) entries.delete(id);
  };
  const follow = async (entry: Entry, work: JobWork): Promise<void> => {
    const ending = await work.run(entry.controller.signal);
    entry.ending = ending;
    entry.output = () => ending.output;
    running.delete(entry);
    untold.push(entry);
    forgetOld();
    onEnd();
  };
  const entryOf = ({ id }: Job): Entry | undefined => entries.get(id);

  return {
    start(work) {
      if (running.size >= maxJobs) {
        const way = "Wait for one with poll, or end one with cancel_job";
        return { refused: `${running.size} background jobs are running, and async.maxJobs allows no more. ${way}.` };
      }
      const entry: Entry = {
        id: ids.count("job"),
        command: work.command,
        startedAt: clock.now(),
        ending: undefined,
        output: work.output,
        controller: new AbortController(),
        over: Promise.resolve(),
      };
      entries.set(entry.id, entry);
      running.add(entry);
      entry.over = follow(entry, work);
      return entry;
    },
    list: () => [...entries.values()],
    find: (id) => entries.get(id),
    ended: async (job) => entryOf(job)?.over,
    async cancel(job) {
      const entry = entryOf(job);
      entry?.controller.abort();
      await entry?.over;
    },
    get isPending() {
      return running.size > 0 || waiting().length > 0;
    },
    results: {
      get isEmpty() {
        return waiting().length === 0;
      },
      take() {
        const told = waiting();
        untold = [];
        return told.map((job) => ({
          role: "custom",
          customType: RESULT_MESSAGE,
          display: true,
          ...toMessage(job),
          timestamp: clock.now(),
        }));
      },
    },
    async endAll() {
      for (const { controller } of running) controller.abort();
      await Promise.all([...running].map(({ over }) => over));
    },
  };
}
