import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "./lib/clock.ts";
import { createSecretCommands } from "./secret-command.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "tiller-secret-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = createSecretCommands({
  cwd: folder,
  env: { PATH: process.env.PATH, WHO: "me" },
  clock: systemClock,
  timeoutMs: 2_000,
});

test.each<[story: string, command: string, result: object]>([
  ["what it prints", "echo one; echo two", { output: "one\ntwo\n" }],
  ["without what it complains about", "echo planted >&2; echo key", { output: "key\n" }],
  ["with the environment, in the folder of the files", 'echo "$WHO $PWD"', { output: `me ${folder}\n` }],
  ["nothing of it when it fails", "echo planted; echo planted >&2; exit 3", { failure: "exit code 3" }],
  ["nor when there is no such command", "no-such-command-here", { failure: "exit code 127" }],
  ["nor when it is killed", "kill -9 $$", { failure: "ended by SIGKILL" }],
  ["nor when it takes for ever", "echo planted; sleep 60", { failure: "it took longer than 2 s" }],
])("a command gives %s", async (_story, command, result) => {
  expect(await run(command)).toEqual(result);
});

test("a command that cannot be started at all says so", async () => {
  const nowhere = createSecretCommands({ cwd: join(folder, "gone"), env: {}, clock: systemClock });
  expect(await nowhere("echo key")).toEqual({ failure: "it could not be started: ENOENT" });
});

test("output without end is cut", async () => {
  const result = await run("yes | head -c 500000");
  expect("output" in result && result.output.length).toBeLessThan(200_000);
});
