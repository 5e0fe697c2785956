import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseArgs } from "../args.ts";
import type { Env } from "../config/paths.ts";
import { SETTING_ROWS } from "../config/settings-schema.ts";
import type { ConfigReport } from "./report.ts";
import { configOutcome, type Outcome } from "./sub-command.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-config-"));
  mkdirSync(join(root, "project"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

function config(argv: string[], env: Env = {}): Outcome {
  const parsed = parseArgs(["config", ...argv], "tiller");
  if (parsed.kind !== "config") throw new Error(JSON.stringify(parsed));
  const { words, run } = parsed;
  return configOutcome({ words, run, env: { TILLER_DIR: join(root, "agent"), ...env }, cwd: join(root, "project") });
}

function report(argv: string[], env: Env = {}): ConfigReport {
  return JSON.parse(config(["--json", ...argv], env).out ?? "");
}

const setting = (from: ConfigReport, key: string) => from.settings.find((found) => found.key === key);

describe("all settings", () => {
  it("are told, each once, and the files that were looked for", () => {
    const { settings, files, ok, problems } = report([]);
    expect(settings.map(({ key }) => key)).toEqual(Object.keys(SETTING_ROWS));
    expect([ok, problems]).toEqual([true, []]);
    expect(files).toEqual([
      { scope: "user", path: join(root, "agent/settings.json") },
      { scope: "project", path: join(root, "project/.pi/settings.json") },
      { scope: "project", path: join(root, "project/.tiller/settings.json") },
    ]);
  });

  it("come from six places", () => {
    const user = write("agent/settings.json", '{\n"retry": {\n"maxRetries": 9, "enabled": false } }');
    const project = write("project/.pi/settings.json", '\n{ "retry": { "enabled": true } }');
    const found = report(["--dialect", "omp", "--thinking", "low"], { PI_CACHE_RETENTION: "long" });
    const source = (key: string) => setting(found, key)?.source;
    expect(source("followUpMode")).toEqual({ kind: "default" });
    expect(source("interruptMode")).toEqual({ kind: "dialect", name: "omp" });
    expect(source("retry.maxRetries")).toEqual({ kind: "user", name: user, line: 3, column: 1 });
    expect(source("retry.enabled")).toEqual({ kind: "project", name: project, line: 2, column: 14 });
    expect(source("cacheRetention")).toEqual({ kind: "environment", name: "PI_CACHE_RETENTION" });
    expect(source("defaultThinkingLevel")).toMatchObject({ kind: "command line" });
  });

  it("of a distrusted project are not looked for", () => {
    write("project/.pi/settings.json", '{"steeringMode": "all"}');
    const found = report(["--no-approve"]);
    expect(found.files).toHaveLength(1);
    expect(setting(found, "steeringMode")?.value).toBe("one-at-a-time");
  });
});

describe("workflow settings of the user", () => {
  const habits =
    '{\n"todo": { "eager": true },\n"task": { "eager": true }, "async.enabled": true,\n"tasks": { "todoClearDelay": 1 } }';

  it("are told as what RPC mode makes of them, with what the other modes take", () => {
    const user = write("agent/settings.json", habits);
    const found = report([]);
    expect(setting(found, "todo.eager")).toMatchObject({
      value: false,
      source: { kind: "default" },
      outsideRpc: { value: true, source: { kind: "user", name: user, line: 2 } },
    });
    const told = found.settings.filter(({ outsideRpc }) => outsideRpc).map(({ key }) => key);
    expect(told).toEqual(["todo.eager", "tasks.todoClearDelay", "task.eager", "async.enabled"]);
    expect(config(["todo.eager"]).out).toContain(`RPC mode does not take true from user file ${user}:2`);
  });

  it("on the command line are the host's own word", () => {
    write("agent/settings.json", habits);
    const found = setting(report(["--set", "todo.eager=true"]), "todo.eager");
    expect(found).toMatchObject({ value: true, source: { kind: "command line" } });
    expect(found).not.toHaveProperty("outsideRpc");
  });

  it("that are wrong are told, although RPC mode does not look at them", () => {
    write("agent/settings.json", '{"todo": {"eager": "yes"}}');
    expect(report([]).problems).toMatchObject([{ key: "todo.eager", line: 1, value: "yes" }]);
  });
});

describe("asking for one", () => {
  it("tells all about it", () => {
    const user = write("agent/settings.json", '{\n  "queueMode": "all"\n}');
    const { code, out } = config(["steeringMode"]);
    expect(code).toBe(0);
    expect(out?.split("\n")).toEqual([
      'steeringMode = "all"',
      `  from       user file ${user}:2`,
      "  expected   one of all, one-at-a-time",
      '  default    "one-at-a-time"',
      "  about      How many steering messages are delivered at once.",
      "  formerly   queueMode",
    ]);
    expect(config(["queueMode"]).out).toBe(out);
  });

  it("by the beginning of several tells those", () => {
    expect(report(["compaction"]).settings.every(({ key }) => key.startsWith("compaction."))).toBe(true);
    expect(config(["compaction"]).out).toContain("compaction.reserveTokens");
    expect(config(["compaction"]).out).not.toContain("retry.");
  });

  it.each([
    ["retry.maxRetires", 'Error: there is no setting "retry.maxRetires"; did you mean retry.maxRetries'],
    ["fsync", 'Error: there is no setting "fsync"; did you mean session.fsync?'],
    ["colour", 'Error: there is no setting "colour"; `tiller config` lists all'],
    [
      "get",
      'Error: there is no setting "get"; write `tiller config` for all, `tiller config KEY` for one, and --set KEY=VALUE or settings.json to change it',
    ],
    ["__proto__", 'Error: there is no setting "__proto__"; `tiller config` lists all'],
  ])("%s, which is none, suggests what may be meant", (key, message) => {
    const { code, out, errors } = config([key]);
    expect([code, out, errors.length]).toEqual([2, undefined, 1]);
    expect(errors[0]).toContain(message);
  });
});

describe("mistakes", () => {
  it("are listed whatever was asked for, and decide the exit code", () => {
    const file = write(
      "agent/settings.json",
      '{\n  "retry": {\n    "enabled": "yes"\n  },\n  "stearingMode": "all"\n}',
    );
    for (const argv of [[], ["retry"], ["sessionDir"]]) {
      const { code, out } = config(argv);
      expect(code).toBe(1);
      expect(out).toContain(`\nx  ${file}:3:5: retry.enabled is "yes", expected true or false`);
      expect(out).toContain(`\nx  ${file}:5:3: stearingMode is no setting and is ignored; did you mean steeringMode?`);
    }
  });

  it("in one file leave the others their say", () => {
    write("agent/settings.json", '{ "steeringMode": "all" ');
    write("project/.tiller/settings.json", '{ "followUpMode": "all" }');
    const found = report([]);
    expect(found).toMatchObject({ ok: false, problems: [{ level: "error", line: 1, column: 25 }] });
    expect(setting(found, "steeringMode")?.value).toBe("one-at-a-time");
    expect(setting(found, "followUpMode")?.value).toBe("all");
  });

  it("of a key that stands twice are told, for only the last one counts", () => {
    const file = write(
      "agent/settings.json",
      '{ // once\n"retry": { "enabled": true, "maxRetries": 1 },\n"steeringMode": "all",\n"retry": { "enabled": false },\n"retry.enabled": true, "enabledModels": ["steeringMode", "a", "a"], }',
    );
    const { code, out } = config([]);
    expect(code).toBe(0);
    expect(out?.split("\n").filter((line) => line.startsWith("!"))).toEqual([
      `!  ${file}:4:1: retry stands here again; what was said before, in line 2, does not count`,
      `!  ${file}:5:1: retry.enabled stands here again; what was said before, in line 4, does not count`,
    ]);
  });

  it("are none of what is left out on purpose", () => {
    write("project/.pi/settings.json", '{ "shellPath": "/bin/evil" }');
    const { code, out } = config([]);
    expect(code).toBe(0);
    expect(out).toMatch(/\n! {2}.*\.pi\/settings\.json:1:3: shellPath can start programs/);
  });

  it("in the folder to look at are refused", () => {
    expect(config(["--cwd", "nowhere"])).toMatchObject({ code: 2, errors: [expect.stringContaining("nowhere")] });
  });
});
