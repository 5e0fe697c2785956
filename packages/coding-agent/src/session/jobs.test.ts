import fc from "fast-check";
import { expect, test } from "vitest";
import type { Job, JobEnding, JobWork } from "../tools/tool.ts";
import { createJobResults } from "./job-results.ts";
import { createJobs } from "./jobs.ts";
import type { SessionEvent } from "./session-event.ts";

/** A piece of work that ends when the test says so. An abort ends it as well. */
function workOf(command: string) {
  let end = (_ending: JobEnding): void => undefined;
  const ended = new Promise<JobEnding>((resolve) => {
    end = resolve;
  });
  const work: JobWork = {
    command,
    output: () => `${command} so far`,
    run(signal) {
      signal.addEventListener("abort", () => end({ status: "cancelled", output: "stopped" }));
      return ended;
    },
  };
  return { work, end: (output: string) => end({ status: "completed", exitCode: 0, output }) };
}

function desk({ maxJobs = 100, shown = new Set<string>() } = {}) {
  let count = 0;
  const ids = { uuid: () => "", short: () => "", lot: () => 0, count: (prefix: string) => `${prefix}-${++count}` };
  const said: string[] = [];
  const state = { isIdle: true, isLast: true, mayBegin: true, begun: 0 };
  const jobs = createJobs({
    clock: { now: () => 7, after: () => () => undefined },
    ids,
    maxJobs,
    toMessage: ({ id, ending }) => ({ content: `${id}: ${ending?.output}` }),
    wasShown: ({ id }) => shown.has(id),
    onEnd: () => results.deliver(),
  });
  const results = createJobResults({
    jobs,
    emit(event: SessionEvent) {
      said.push(
        event.type === "message_end" && event.message.role === "custom" ? String(event.message.content) : event.type,
      );
      return undefined;
    },
    isIdle: () => state.isIdle,
    isLast: () => state.isLast,
    mayBegin: () => state.mayBegin,
    begin: () => void state.begun++,
    markEnd: () => void said.push("end marked"),
  });
  const start = (command = "work") => {
    const { work, end } = workOf(command);
    const job = jobs.start(work) as Job;
    return {
      job,
      end: async (output: string) => {
        end(output);
        await jobs.ended(job);
      },
    };
  };
  return { jobs, results, state, said, shown, start };
}

test("a job runs, is looked at, ends, and its result is taken once", async () => {
  const { jobs, start, state } = desk();
  state.isIdle = false;
  const { job, end } = start("npm test");
  expect([jobs.isPending, jobs.list().map(({ id }) => id), job.output(), job.ending]).toEqual([
    true,
    ["job-1"],
    "npm test so far",
    undefined,
  ]);
  expect(jobs.results.isEmpty).toBe(true);
  await end("ok");
  expect([jobs.isPending, jobs.results.isEmpty, job.output(), job.ending?.status]).toEqual([
    true,
    false,
    "ok",
    "completed",
  ]);
  expect(jobs.results.take()).toEqual([
    { role: "custom", customType: "job-result", display: true, content: "job-1: ok", timestamp: 7 },
  ]);
  expect([jobs.isPending, jobs.results.take(), jobs.find("job-1")?.ending?.output]).toEqual([false, [], "ok"]);
});

test("only so many run at once, and the way out is told", async () => {
  const { jobs, start } = desk({ maxJobs: 2 });
  const { end } = start();
  start();
  const refused =
    "2 background jobs are running, and async.maxJobs allows no more. Wait for one with poll, or end one with cancel_job.";
  expect(jobs.start(workOf("third").work)).toEqual({ refused });
  await end("done");
  expect(jobs.start(workOf("third").work)).toMatchObject({ id: "job-3" });
});

test("one that is cancelled has ended when that is answered, and again is nothing new", async () => {
  const { jobs, start, state } = desk();
  state.isIdle = false;
  const { job } = start();
  await jobs.cancel(job);
  await jobs.cancel(job);
  expect([job.ending?.status, jobs.results.take().length, jobs.isPending]).toEqual(["cancelled", 1, false]);
});

test("what the model has seen is not told to it again", async () => {
  const { jobs, start, state, shown } = desk();
  state.isIdle = false;
  const { end } = start();
  await end("seen");
  shown.add("job-1");
  expect([jobs.results.isEmpty, jobs.isPending, jobs.results.take()]).toEqual([true, false, []]);
});

test("of those that ended the newest are remembered, and none that is not told is forgotten", async () => {
  const { jobs, start, state } = desk();
  state.isIdle = false;
  for (let i = 0; i < 60; i++) await start().end("x");
  expect([jobs.list().length, jobs.results.take().length]).toEqual([60, 60]);
  await start().end("y");
  expect([jobs.list().length, jobs.find("job-10"), jobs.find("job-61")?.id]).toEqual([51, undefined, "job-61"]);
});

test("at rest a result begins a run", async () => {
  const { jobs, start, state, said } = desk();
  await start().end("ok");
  expect([state.begun, said, jobs.results.isEmpty]).toEqual([1, [], false]);
});

test("while a run goes on it takes the result itself; what it leaves is delivered when it has settled", async () => {
  const { results, start, state } = desk();
  state.isIdle = false;
  await start().end("ok");
  expect(state.begun).toBe(0);
  state.isIdle = true;
  results.deliver();
  expect(state.begun).toBe(1);
});

test("where no run may begin it is told as it is; with the last one the session is at rest", async () => {
  const { jobs, start, state, said } = desk();
  state.mayBegin = false;
  const [first, second] = [start(), start()];
  await first.end("one");
  expect(said).toEqual(["message_start", "job-1: one", "end marked"]);
  await second.end("two");
  expect(said.slice(3)).toEqual(["message_start", "job-2: two", "end marked", "session_settled"]);
  expect([state.begun, jobs.isPending]).toEqual([0, false]);
});

test("who else is still at work settles the session", async () => {
  const { start, state, said } = desk();
  state.mayBegin = state.isLast = false;
  await start().end("one");
  expect(said).toEqual(["message_start", "job-1: one", "end marked"]);
});

test("who leaves the session ends all jobs, begins nothing, and tells the rest when the run is over", async () => {
  const { results, start, state, said } = desk();
  start();
  start();
  await results.leave();
  results.deliver();
  expect([state.begun, said]).toEqual([0, []]);
  results.left();
  const told = ["message_start", "job-1: stopped", "message_start", "job-2: stopped"];
  expect(said).toEqual([...told, "end marked", "session_settled"]);
  await start().end("in the next session");
  expect(state.begun).toBe(1);
});

/** What must hold whatever happens: every job that was started comes to exactly one end that is told or was seen. */
test("any order of starts, ends, cancels, runs and leavings tells each result once", async () => {
  const step = fc.record({
    what: fc.constantFrom("start", "end", "cancel", "run", "fail", "settle", "leave"),
    at: fc.nat(5),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { jobs, results, start, state, said } = desk({ maxJobs: 4 });
      const started: ReturnType<typeof start>[] = [];
      const taken: string[] = [];
      const take = (): void =>
        void taken.push(...results.take().map((message) => String((message as { content: unknown }).content)));
      for (const { what, at } of steps) {
        const chosen = started[at % Math.max(1, started.length)];
        if (what === "start" && jobs.list().filter(({ ending }) => !ending).length < 4) started.push(start());
        else if (what === "end") await chosen?.end("done");
        else if (what === "cancel" && chosen) await jobs.cancel(chosen.job);
        else if (what === "run") state.isIdle = false;
        else if (what === "fail") state.mayBegin = !state.mayBegin;
        else if (what === "settle") {
          if (!state.isIdle) take();
          state.isIdle = true;
          results.deliver();
        } else if (what === "leave") {
          await results.leave();
          state.isIdle = true;
          results.left();
        }
        // A run that was begun takes what there is.
        if (state.begun > 0 && state.isIdle) take();
        state.begun = 0;
        expect(jobs.isPending).toBe(jobs.list().some(({ ending }) => !ending) || !results.isEmpty);
      }
      await results.leave();
      results.left();
      const told = [...taken, ...said.filter((text) => text.startsWith("job-"))].map((text) => text.split(":")[0]);
      expect(told.toSorted()).toEqual(started.map(({ job }) => job.id).toSorted());
      expect(jobs.isPending).toBe(false);
    }),
  );
});
