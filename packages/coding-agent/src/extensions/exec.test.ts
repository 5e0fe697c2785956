import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { killAllProcesses, runProcess } from "../exec/run-process.ts";
import { systemClock } from "../lib/clock.ts";
import { createExec, type Exec, type ExecOutcome, type ExecRequest } from "./exec.ts";

let folder: string;
let exec: Exec;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tiller-exec-")));
  exec = createExec({
    run: (request, signal) => runProcess({ ...request, env: { PATH: "/usr/bin:/bin" }, clock: systemClock }, signal),
    cwd: () => folder,
  });
});
afterEach(() => {
  killAllProcesses();
  rmSync(folder, { recursive: true, force: true });
});

describe("a program that an extension runs", () => {
  it("gives both outputs and its code", async () => {
    const result = await exec("sh", ["-c", "echo out; echo err >&2; exit 3"]);
    expect(result).toEqual({ stdout: "out\n", stderr: "err\n", code: 3, killed: false });
  });

  it("gets its arguments as they are: there is no shell", async () => {
    expect((await exec("printf", ["%s|", "$HOME", "a b", "; ls"])).stdout).toBe("$HOME|a b|; ls|");
  });

  it("runs in the folder of the session, or where it is told to", async () => {
    expect((await exec("pwd")).stdout).toBe(`${folder}\n`);
    expect((await exec("pwd", [], { cwd: "/" })).stdout).toBe("/\n");
  });

  it("is ended when its time is over", async () => {
    expect(await exec("sleep", ["60"], { timeout: 50 })).toEqual({ stdout: "", stderr: "", code: 143, killed: true });
  });

  it("is ended by the signal, with what it wrote until then", async () => {
    const stop = new AbortController();
    const running = createExec({
      run: (request, signal) => {
        const onOutput: ExecRequest["onOutput"] = (chunk, source) => {
          request.onOutput(chunk, source);
          stop.abort();
        };
        return runProcess({ ...request, onOutput, env: { PATH: "/usr/bin:/bin" }, clock: systemClock }, signal);
      },
      cwd: () => folder,
    })("sh", ["-c", "echo begun; exec sleep 60"], { signal: stop.signal });
    expect(await running).toEqual({ stdout: "begun\n", stderr: "", code: 143, killed: true });
  });

  it("is not begun when the signal came before", async () => {
    expect(await exec("sh", ["-c", "echo no"], { signal: AbortSignal.abort() })).toMatchObject({
      stdout: "",
      code: 1,
      killed: true,
    });
  });

  it("has five seconds to tidy up", async () => {
    const asked: ExecRequest[] = [];
    const outcome: ExecOutcome = { ended: "exited", exitCode: 0, signal: null };
    const run = async (request: ExecRequest): Promise<ExecOutcome> => {
      asked.push(request);
      return outcome;
    };
    const note = createExec({ run, cwd: () => folder });
    await note("x", [], { timeout: 100 });
    expect(asked[0]).toMatchObject({ file: "x", timeoutMs: 100, killGraceMs: 5000, cwd: folder });
  });
});

describe("what cannot run is a result too", () => {
  it("a program that does not exist", async () => {
    const { code, killed, stderr } = await exec("no-such-program", []);
    expect({ code, killed }).toEqual({ code: 1, killed: false });
    expect(stderr).toContain("no-such-program does not exist");
  });

  it("a folder that does not exist", async () => {
    const { code, stderr } = await exec("ls", [], { cwd: join(folder, "gone") });
    expect(code).toBe(1);
    expect(stderr).toContain(join(folder, "gone"));
  });

  it.each([
    [undefined, []],
    ["", []],
    ["ls", "-l"],
    ["ls", [1]],
  ])("arguments of the wrong kind: %j %j", async (command, args) => {
    const { code, stderr } = await exec(command as string, args as string[]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^exec: /);
  });
});
