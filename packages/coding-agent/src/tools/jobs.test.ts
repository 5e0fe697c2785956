import { rmSync, statSync } from "node:fs";
import type { AgentMessage } from "@tiller/protocol/message";
import { afterEach, expect, test } from "vitest";
import { createIdSource, systemClock } from "../lib/clock.ts";
import { createJobs } from "../session/jobs.ts";
import { createTools } from "./create-tools.ts";
import { jobDetails, jobText, shortCommand, showsEnd } from "./job-text.ts";
import { textOf } from "./test-fixture.ts";
import type { Job } from "./tool.ts";

/** The three tools with real processes and the real keeper of jobs. */

const jobs = createJobs({
  clock: systemClock,
  ids: createIdSource(systemClock),
  maxJobs: 5,
  toMessage: (job) => ({ content: jobText(job), details: jobDetails(job) }),
  wasShown: () => false,
  onEnd: () => undefined,
});
afterEach(() => jobs.endAll());

const call = (name: string, args: object, signal = new AbortController().signal) => {
  const context = { cwd: "/", env: { PATH: "/usr/bin:/bin" }, clock: systemClock, jobs: async () => jobs };
  const [tool] = createTools({ ...context, names: [name] });
  return tool!.execute({ toolCallId: "c", args: { ...args }, signal, onUpdate: () => undefined });
};
const text = async (name: string, args: object) => textOf(await call(name, args));

test("a command in the background: started, waited for, listed, ended", async () => {
  const begun = await call("bash", { command: "echo hello; exit 3", async: true });
  const { id } = (begun.details as ReturnType<typeof jobDetails>).job;
  expect(textOf(begun)).toContain(`Runs in the background as ${id}`);
  expect(await text("poll", { jobId: id, wait: 20 })).toBe(
    `Background job ${id} has failed.\nCommand: echo hello; exit 3\n\nhello\n\nCommand exited with code 3`,
  );
  expect(await text("poll", {})).toContain(`${id} failed: echo hello; exit 3`);
  expect(jobs.find(id)?.ending).toMatchObject({ status: "failed", exitCode: 3 });

  const second = await call("bash", { command: "echo up; exec sleep 60", async: true });
  const next = (second.details as ReturnType<typeof jobDetails>).job.id;
  await expect.poll(() => jobs.find(next)?.output()).toBe("up\n");
  expect(await text("poll", { jobId: next })).toBe(
    `Background job ${next} is running.\nCommand: echo up; exec sleep 60\n\nup\n`,
  );
  expect(await text("cancel_job", { jobId: next })).toContain(`${next} was ended.`);
  expect(await text("cancel_job", { jobId: next })).toContain("up\n\nCommand aborted");
});

test("a long output is bounded, and the file with all of it is named", async () => {
  const begun = await call("bash", { command: "seq 1 100000", async: true });
  const { id } = (begun.details as ReturnType<typeof jobDetails>).job;
  const result = await call("poll", { jobId: id, wait: 20 });
  expect(textOf(result).length).toBeLessThan(60_000);
  const { fullOutputPath } = (result.details as ReturnType<typeof jobDetails>).job;
  expect(textOf(result)).toContain(`Full output: ${fullOutputPath}`);
  expect(statSync(fullOutputPath!).size).toBe(588_895);
  rmSync(fullOutputPath!);
});

test("what cannot be started is a job that has failed, and a timeout ends one", async () => {
  const refused = call("bash", { command: "true", cwd: "/no/such/place", async: true });
  await expect(refused).rejects.toThrow("Working directory does not exist: /no/such/place");
  const begun = await call("bash", { command: "sleep 60", timeout: 0.05, async: true });
  const { id } = (begun.details as ReturnType<typeof jobDetails>).job;
  expect(await text("poll", { jobId: id, wait: 20 })).toContain("Command timed out after 0.05 seconds");
});

test("who was stopped before it began leaves no job behind; who stops waiting leaves the job alone", async () => {
  const before = jobs.list().length;
  const stopped = call("bash", { command: "sleep 60", async: true }, AbortSignal.abort());
  await expect(stopped).rejects.toThrow("Operation aborted");
  expect(jobs.list().length).toBe(before);

  const begun = await call("bash", { command: "sleep 60", async: true });
  const { id } = (begun.details as ReturnType<typeof jobDetails>).job;
  const controller = new AbortController();
  const waiting = call("poll", { jobId: id, wait: 60 }, controller.signal);
  controller.abort();
  await expect(waiting).rejects.toThrow("Operation aborted");
  expect(jobs.find(id)?.ending).toBeUndefined();
});

test("a job that is not there is named with those that are", async () => {
  await expect(call("poll", { jobId: "job-99" })).rejects.toThrow('There is no background job "job-99"; there are: ');
  await expect(call("cancel_job", { jobId: "nobody" })).rejects.toThrow('There is no background job "nobody"');
});

test.each<[command: string, shown: string]>([
  ["  npm test \n", "npm test"],
  ["cd a\n  && make", "cd a ⏎ && make"],
  ["x".repeat(300), `${"x".repeat(200)}...`],
])("%j is shown short", (command, shown) => {
  expect(shortCommand({ command })).toBe(shown);
});

const ended: Job = {
  id: "job-1",
  command: "x",
  startedAt: 100,
  ending: { status: "completed", output: "y" },
  output: () => "y",
};
const seen = (fields: object): AgentMessage =>
  ({
    role: "toolResult",
    toolCallId: "c",
    toolName: "poll",
    content: [],
    isError: false,
    timestamp: 150,
    details: jobDetails(ended),
    ...fields,
  }) as AgentMessage;

test.each<[story: string, message: AgentMessage, shows: boolean]>([
  ["poll with the end", seen({}), true],
  ["cancel_job", seen({ toolName: "cancel_job" }), true],
  ["another tool", seen({ toolName: "bash" }), false],
  ["a call that was cut short", seen({ isError: true }), false],
  ["another job", seen({ details: jobDetails({ ...ended, id: "job-2" }) }), false],
  ["a look while it ran", seen({ details: jobDetails({ ...ended, ending: undefined }) }), false],
  ["the job of that id of a process before", seen({ timestamp: 50 }), false],
  ["a list", seen({ details: undefined }), false],
  ["something else", { role: "user", content: "job-1", timestamp: 150 }, false],
])("whether the model has seen the end: %s", (_story, message, shows) => {
  expect(showsEnd([message], ended)).toBe(shows);
});
