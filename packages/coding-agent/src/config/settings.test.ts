import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FOREIGN_KEYS } from "./foreign-keys.ts";
import { readJsonFile } from "./json-file.ts";
import { checkSettingValue } from "./setting-value.ts";
import { type LoadedSettings, loadSettings, type SettingsInputs } from "./settings.ts";
import { SETTING_ROWS } from "./settings-schema.ts";
import { readYamlFile } from "./yaml-file.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-settings-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, content: unknown): string {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content));
  return full;
}

function load(inputs: Partial<SettingsInputs> = {}): LoadedSettings {
  const agentDir = join(root, "agent");
  const cwd = join(root, "project");
  return loadSettings({
    dialect: "union",
    rpc: true,
    agentDir,
    cwd,
    projectTrust: "text",
    env: {},
    flags: {},
    ...inputs,
  });
}

describe("which value counts", () => {
  it("is the built-in default when nobody says anything", () => {
    const { settings, problems } = load();
    expect(problems).toEqual([]);
    expect(settings.get("retry.enabled")).toBe(true);
    expect(settings.get("retry.maxRetries")).toBe(3);
    expect(settings.get("input.maxLineBytes")).toBe(268_435_456);
    expect(settings.get("updates.mode")).toBe("snapshot");
    expect(settings.get("defaultModel")).toBeUndefined();
    expect(settings.origin("retry.enabled")).toEqual({ kind: "default" });
  });

  it.each([
    ["union", "wait", "medium", false, false],
    ["pi", "immediate", "medium", false, true],
    ["omp", "immediate", "high", true, true],
    ["xcsh", "wait", "high", true, false],
  ] as const)("in %s starts from its own defaults", (dialect, interrupt, thinking, autoContinue, title) => {
    const { settings } = load({ dialect });
    expect(settings.get("interruptMode")).toBe(interrupt);
    expect(settings.get("defaultThinkingLevel")).toBe(thinking);
    expect(settings.get("compaction.autoContinue")).toBe(autoContinue);
    expect(settings.get("rpc.emitTitle")).toBe(title);
  });

  it("grows stronger from user file to project files to environment to command line", () => {
    const env = { PI_CODING_AGENT_SESSION_DIR: "variable" };
    const sessionDir = (inputs: Partial<SettingsInputs> = {}): unknown => load(inputs).settings.get("sessionDir");
    write("agent/settings.json", { sessionDir: "user" });
    expect(sessionDir()).toBe("user");
    const projectTrust = "code";
    write("project/.pi/settings.json", { sessionDir: "dot-pi" });
    expect(sessionDir({ projectTrust })).toBe("dot-pi");
    write("project/.tiller/settings.json", { sessionDir: "dot-tiller" });
    expect(sessionDir({ projectTrust })).toBe("dot-tiller");
    expect(sessionDir({ projectTrust, env })).toBe("variable");
    expect(sessionDir({ env, flags: { sessionDir: "flag" } })).toBe("flag");
  });

  it("is told together with where it comes from", () => {
    const user = write("agent/settings.json", '{\n  // mine\n  "retry": {\n    "maxRetries": 7\n  }\n}');
    const project = write("project/.tiller/settings.json", '{ "retry.enabled":\n false }');
    const env = { PI_RPC_EMIT_TITLE: "Yes" };
    const { settings } = load({ dialect: "omp", env, flags: { "updates.mode": "delta" } });
    expect(settings.origin("retry.maxRetries")).toEqual({ kind: "user", name: user, line: 4, column: 5 });
    expect(settings.origin("retry.enabled")).toEqual({ kind: "project", name: project, line: 1, column: 3 });
    expect(settings.origin("rpc.emitTitle")).toEqual({ kind: "environment", name: "PI_RPC_EMIT_TITLE" });
    expect(settings.origin("updates.mode")).toEqual({ kind: "command line", name: "command line" });
    expect(settings.origin("defaultThinkingLevel")).toEqual({ kind: "dialect", name: "omp" });
    expect(settings.origin("steeringMode")).toEqual({ kind: "default" });
  });

  it("lets a user turn off what a dialect turns on", () => {
    write("agent/settings.json", { compaction: { autoContinue: false } });
    expect(load({ dialect: "omp" }).settings.get("compaction.autoContinue")).toBe(false);
  });

  it("merges single keys of nested objects over the files", () => {
    write("agent/settings.json", { retry: { enabled: false, maxRetries: 9 } });
    write("project/.tiller/settings.json", { retry: { maxRetries: 1 } });
    const { settings } = load();
    expect([settings.get("retry.enabled"), settings.get("retry.maxRetries")]).toEqual([false, 1]);
  });

  it("reads nested objects and dotted keys alike, also below a key that has a value of its own", () => {
    write("agent/settings.json", { "retry.maxRetries": 4, todo: { reminders: { max: 9 } }, "todo.reminders": false });
    const { settings, problems } = load({ rpc: false });
    expect(problems).toEqual([]);
    expect(settings.get("retry.maxRetries")).toBe(4);
    expect(settings.get("todo.reminders")).toBe(false);
    expect(settings.get("todo.reminders.max")).toBe(9);
  });

  it.each([
    [{ queueMode: "all" }, "all"],
    [{ queueMode: "all", steeringMode: "one-at-a-time" }, "one-at-a-time"],
    [{ steeringMode: "one-at-a-time", queueMode: "all" }, "one-at-a-time"],
  ])("understands the old name of a key in %j", (file, expected) => {
    write("agent/settings.json", file);
    expect(load().settings.get("steeringMode")).toBe(expected);
  });

  it("finds an old name that lies inside an object", () => {
    write("agent/settings.json", { retry: { maxDelayMs: 5 } });
    expect(load().settings.get("retry.provider.maxRetryDelayMs")).toBe(5);
  });

  it.each([
    [{ skills: { enableSkillCommands: false, customDirectories: ["a"] } }, false],
    [{ "skills.enableSkillCommands": false }, false],
    [{ skills: { enableSkillCommands: false }, enableSkillCommands: true }, true],
    [{ skills: { customDirectories: ["a"], enabled: true } }, true],
  ])("finds an old name inside of a key that may hold anything: %j", (file, expected) => {
    write("agent/settings.json", file);
    const { settings, problems } = load();
    expect(problems).toEqual([]);
    expect(settings.get("enableSkillCommands")).toBe(expected);
    if ("skills" in file) expect(settings.get("skills")).toEqual(file.skills);
  });

  it("treats null as not given", () => {
    write("agent/settings.json", { defaultModel: null, retry: null });
    expect(load()).toMatchObject({ problems: [] });
  });
});

describe("a host's workflow", () => {
  const habits = {
    todo: { enabled: false, eager: true },
    tasks: { todoClearDelay: 5 },
    task: { maxConcurrency: 99, disabledAgents: ["x"] },
    async: { enabled: true },
  };

  it("is not changed by the habits of the user or the project", () => {
    write("agent/settings.json", habits);
    write("project/.tiller/settings.json", habits);
    const { settings, problems } = load();
    expect(problems).toEqual([]);
    expect(settings.get("todo.enabled")).toBe(true);
    expect(settings.get("tasks.todoClearDelay")).toBe(60);
    expect(settings.get("task.disabledAgents")).toEqual([]);
    expect(settings.get("async.enabled")).toBe(false);
  });

  it("is changed by the host's own word on the command line", () => {
    expect(load({ flags: { "async.enabled": true } }).settings.get("async.enabled")).toBe(true);
  });

  it("outside RPC mode the habits count", () => {
    write("agent/settings.json", habits);
    expect(load({ rpc: false }).settings.get("task.maxConcurrency")).toBe(99);
  });

  it("covers all keys of the four families and no others", () => {
    for (const [key, row] of Object.entries(SETTING_ROWS)) {
      expect([key, row.resetInRpc === true]).toEqual([key, /^(todo|task|tasks|async)\./.test(key)]);
    }
  });
});

describe("a project that nobody has approved", () => {
  beforeEach(() => {
    write("project/.pi/settings.json", { shellPath: "./evil", extensions: ["./evil.ts"], defaultModel: "m" });
  });

  it("may bring text, but not programs, and that is told", () => {
    const { settings, problems } = load();
    expect([settings.get("defaultModel"), settings.get("shellPath")]).toEqual(["m", undefined]);
    const file = join(root, "project/.pi/settings.json");
    expect(problems).toEqual([
      `${file}:1:2: shellPath can start programs, so of a project it counts only with --approve`,
      `${file}:1:23: extensions can start programs, so of a project it counts only with --approve`,
    ]);
  });

  it("decides neither where conversations are kept nor what is agreed with the host", () => {
    const own = {
      sessionDir: "/elsewhere",
      updates: { mode: "delta" },
      input: { maxLineBytes: 2048 },
      rpc: { emitTitle: true },
    };
    write("project/.pi/settings.json", own);
    const { settings, problems } = load();
    const keys = ["sessionDir", "updates.mode", "input.maxLineBytes", "rpc.emitTitle"] as const;
    expect(keys.map((key) => settings.get(key))).toEqual([undefined, "snapshot", 268_435_456, false]);
    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain(
      "sessionDir says where conversations are kept, so of a project it counts only with --approve",
    );
    expect(load({ projectTrust: "code" }).settings.get("sessionDir")).toBe("/elsewhere");
  });

  it.each<[user: number, project: number, counts: number]>([
    [0, 0, 0],
    [0, 5, 5],
    [5, 0, 5],
    [5, 9, 5],
    [5, 2, 2],
  ])("may tighten the limits and not loosen them: the user says %d, the project %d", (user, project, counts) => {
    write("agent/settings.json", { limits: { prompt: { cost: user } } });
    write("project/.pi/settings.json", { limits: { prompt: { cost: project } } });
    const { settings, problems } = load();
    expect(settings.get("limits.prompt.cost")).toBe(counts);
    expect(problems).toHaveLength(counts === project ? 0 : 1);
    expect(load({ projectTrust: "code" }).settings.get("limits.prompt.cost")).toBe(project);
  });

  it("may bring programs once it is approved", () => {
    expect(load({ projectTrust: "code" })).toMatchObject({ problems: [] });
    expect(load({ projectTrust: "code" }).settings.get("shellPath")).toBe("./evil");
  });

  it("brings nothing at all when it is distrusted", () => {
    expect(load({ projectTrust: "none" }).settings.get("defaultModel")).toBeUndefined();
  });
});

describe("approvals", () => {
  it("rules of all sources count together", () => {
    write("agent/settings.json", { approval: { deny: ["bash(rm)"], allow: ["read"] } });
    write("project/.pi/settings.json", { approval: { deny: ["write(x)"] } });
    const { settings } = load({ flags: { "approval.deny": ["edit"] } });
    expect(settings.get("approval.deny")).toEqual(["bash(rm)", "write(x)", "edit"]);
    expect(settings.get("approval.allow")).toEqual(["read"]);
  });

  it("a project hands the model neither tools nor images that the user has taken away, unless it is trusted", () => {
    const taken = (from: ReturnType<typeof load>) =>
      [from.settings.get("defaultTools"), from.settings.get("images.blockImages")] as const;
    write("project/.pi/settings.json", { images: { blockImages: true } });
    expect(load().settings.get("images.blockImages")).toBe(true);
    write("agent/settings.json", { defaultTools: ["read"], images: { blockImages: true } });
    write("project/.pi/settings.json", { defaultTools: ["all"], images: { blockImages: false } });
    expect(taken(load())).toEqual([["read"], true]);
    expect(taken(load({ projectTrust: "code" }))).toEqual([["all"], false]);
  });

  it("a project does not switch off the user's stream rules, unless it is trusted", () => {
    write("project/.pi/settings.json", { ttsr: { enabled: false } });
    expect(load().settings.get("ttsr.enabled")).toBe(true);
    expect(load({ projectTrust: "code" }).settings.get("ttsr.enabled")).toBe(false);
  });

  it("a project may only be stricter, unless it is trusted", () => {
    write("agent/settings.json", { approval: { mode: "write" } });
    const file = write("project/.pi/settings.json", { approval: { mode: "never", allow: ["bash"], ask: ["read"] } });
    const { settings, problems, isUnread } = load();
    expect([settings.get("approval.mode"), settings.get("approval.allow"), settings.get("approval.ask")]).toEqual([
      "write",
      [],
      ["read"],
    ]);
    expect([settings.origin("approval.mode").kind, isUnread("approval")]).toEqual(["user", false]);
    expect(problems).toEqual([
      expect.stringContaining("approval.allow can start programs"),
      `${file}:1:14: approval.mode is "never", which is looser than "write"; of a project it counts only with --approve`,
    ]);
    const trusted = load({ projectTrust: "code" }).settings;
    expect([trusted.get("approval.mode"), trusted.get("approval.allow")]).toEqual(["never", ["bash"]]);
    write("project/.tiller/settings.json", { approval: { mode: "always" } });
    expect(load().settings.get("approval.mode")).toBe("always");
    expect(load({ flags: { "approval.mode": "never" } }).settings.get("approval.mode")).toBe("never");
  });

  it.each<[story: string, content: unknown, isUnread: boolean]>([
    ["nothing about them", { steeringMode: 3 }, false],
    ["no list", { approval: { deny: "bash" } }, true],
    ["no texts", { approval: { deny: [1] } }, true],
    ["no group", { approval: ["bash"] }, true],
    ["a misspelt key", { approval: { denny: ["bash"] } }, true],
    ["a mode that is none", { "approval.mode": "allways" }, true],
    ["no JSON", '{"approval": {"deny": ["bash"]}', true],
    ["no JSON, and nothing about them", '{"steeringMode": ', false],
    ["no object", '["approval"]', true],
  ])("what could not be read of them is noticed: %s", (_story, content, isUnread) => {
    write("agent/settings.json", content);
    const { isUnread: unread, problems } = load();
    expect(unread("approval")).toBe(isUnread);
    expect(problems.map((text) => text.endsWith("ntil it is mended every tool call needs an approval"))).toEqual([
      isUnread,
    ]);
  });

  it("a file that cannot be read at all may have said something", () => {
    mkdirSync(join(root, "agent/settings.json"), { recursive: true });
    expect(load().isUnread("approval")).toBe(true);
    expect(load().problems).toEqual([expect.stringMatching(/; until it is mended every tool call needs an approval$/)]);
  });

  it("a misspelt key is told with what follows from it, once", () => {
    const file = write("agent/settings.json", { approval: { alow: ["x"] }, colour: "red" });
    expect(load().problems).toEqual([
      `${file}:1:14: approval.alow is no setting and is ignored; did you mean approval.allow? Until it is mended every tool call needs an approval`,
      `${file}:1:28: colour is no setting and is ignored; \`tiller config\` lists all`,
    ]);
  });
});

describe("mistakes", () => {
  const RETRY = "enabled, maxRetries, baseDelayMs, provider, maxDelayMs";
  const cases: [string, string, string[]][] = [
    [
      "a text for a switch",
      '{\n "retry": {\n  "enabled": "yes" } }',
      ['3:3: retry.enabled is "yes", expected true or false'],
    ],
    [
      "a fraction",
      '{"retry.maxRetries": 1.5}',
      ["1:2: retry.maxRetries is 1.5, expected a whole number of at least 0"],
    ],
    [
      "a negative number",
      '{"retry": {"baseDelayMs": -1}}',
      ["1:12: retry.baseDelayMs is -1, expected a whole number of at least 0"],
    ],
    [
      "a choice nobody offers",
      '// x\n{"steeringMode": "some"}',
      ['2:2: steeringMode is "some", expected one of all, one-at-a-time'],
    ],
    [
      "a list with a number",
      '{"enabledModels": ["a", 1]}',
      ['1:2: enabledModels is ["a",1], expected a list of texts'],
    ],
    ["an object for a text", '{"shellPath": {"a": 1}}', ['1:2: shellPath is {"a":1}, expected a text']],
    ["a value for a group", '{"retry": true}', [`1:2: retry is true, expected an object with ${RETRY}`]],
    [
      "keys nobody knows",
      '{"retry": {"often": 1},\r\n  "defaultModl": "x", "colour": "red"}',
      [
        `1:12: retry.often is no setting and is ignored; in retry there are ${RETRY}`,
        "2:3: defaultModl is no setting and is ignored; did you mean defaultModel?",
        "2:23: colour is no setting and is ignored; `tiller config` lists all",
      ],
    ],
    [
      "names of Object's prototype",
      '{"__proto__": {"a": 1}, "constructor": 1}',
      [
        "1:2: __proto__ is no setting and is ignored; `tiller config` lists all",
        "1:25: constructor is no setting and is ignored; `tiller config` lists all",
      ],
    ],
    [
      "a very long value",
      JSON.stringify({ shellPath: ["x".repeat(200)] }),
      [`1:2: shellPath is ["${"x".repeat(55)}..., expected a text`],
    ],
  ];
  it.each(cases)("%s: named with file, line, key and what was expected", (_, content, expected) => {
    const file = write("agent/settings.json", content);
    expect(load().problems).toEqual(expected.map((text) => `${file}:${text}`));
  });

  it("are told in their parts too", () => {
    const file = write("agent/settings.json", '{\n  "retry": { "enabled": "yes" },\n  "sesionDir": "s3cret"\n}');
    const project = write("project/.pi/settings.json", '{"shellPath": "x"');
    const { findings, problems } = load({ env: { PI_RPC_EMIT_TITLE: "?" } });
    expect(findings).toEqual([
      {
        level: "error",
        source: file,
        line: 2,
        column: 14,
        key: "retry.enabled",
        value: "yes",
        expected: "true or false",
        message: problems[0],
      },
      {
        level: "error",
        source: file,
        line: 3,
        column: 3,
        key: "sesionDir",
        expected: "did you mean sessionDir?",
        message: problems[1],
      },
      { level: "error", source: project, line: 1, column: 18, message: problems[2] },
      {
        level: "error",
        source: "PI_RPC_EMIT_TITLE",
        key: "rpc.emitTitle",
        value: "?",
        expected: "true or false",
        message: problems[3],
      },
    ]);
  });

  it("do not show the value of a key that nobody knows: it may be a password in the wrong file", () => {
    write("agent/settings.json", { apiKey: "sk-very-secret" });
    expect(JSON.stringify(load().findings)).not.toContain("sk-very-secret");
  });

  it("do not keep the rest from loading", () => {
    write("agent/settings.json", { retry: { enabled: "yes", maxRetries: 8 }, defaultModel: "m" });
    const { settings } = load();
    expect([settings.get("retry.enabled"), settings.get("retry.maxRetries"), settings.get("defaultModel")]).toEqual([
      true,
      8,
      "m",
    ]);
  });

  it("in a file that is no JSON name the line; the other files count", () => {
    const file = write("agent/settings.json", '{\n  // mine\n  "defaultModel" "m"\n}');
    write("project/.pi/settings.json", { defaultProvider: "p" });
    const { settings, problems } = load();
    expect(problems).toEqual([`${file}:3:18: expected ":"; the file is ignored until it is valid JSON`]);
    expect(settings.get("defaultProvider")).toBe("p");
  });

  it("in great number are counted, and do not hide what concerns approvals", () => {
    const many = (from: number) => Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`colour${from + i}`, i]));
    const file = write("project/.tiller/settings.json", { ...many(0), steeringMode: "all" });
    const { settings, problems, isUnread } = load();
    expect([problems.length, problems.at(-1)]).toEqual([21, `${file}: 4980 more keys are no settings and are ignored`]);
    expect([settings.get("steeringMode"), isUnread("approval")]).toEqual(["all", false]);
    write("project/.tiller/settings.json", { ...many(0), approval: { denny: ["bash"] } });
    expect(load().isUnread("approval")).toBe(true);
  });

  it("of a file that nobody can have written by hand are not looked for", () => {
    const file = write("agent/settings.json", { steeringMode: "all", pad: "x".repeat(1024 * 1024) });
    const { settings, problems, isUnread } = load();
    expect(problems).toEqual([
      `${file}: has 1048607 bytes, so it is not read; at most 1048576; until it is mended every tool call needs an approval`,
    ]);
    expect([settings.get("steeringMode"), isUnread("approval")]).toEqual(["one-at-a-time", true]);
  });

  it("of the encoding are told as such", () => {
    const file = write("agent/settings.json", "");
    writeFileSync(file, "\uFEFF{}", "utf16le");
    expect(load().problems).toEqual([
      `${file}:1:1: this is UTF-16, and must be UTF-8; the file is ignored until it is valid JSON`,
    ]);
  });

  it("in a variable name it", () => {
    const { settings, problems } = load({ env: { PI_RPC_EMIT_TITLE: "perhaps" } });
    expect(problems).toEqual(['PI_RPC_EMIT_TITLE is "perhaps", expected true or false']);
    expect(settings.get("rpc.emitTitle")).toBe(false);
  });

  it("of an empty variable do not exist", () => {
    expect(load({ env: { PI_RPC_EMIT_TITLE: "", PI_CODING_AGENT_SESSION_DIR: "" } }).problems).toEqual([]);
  });
});

describe("an existing set-up", () => {
  it("loads without complaint", () => {
    write(
      "agent/settings.json",
      `{
        "theme": "dark", "quietStartup": true, "lastChangelogVersion": "1.5.0", // of a terminal
        "terminal": { "showImages": true }, "skills": { "enabled": true }, "packages": ["npm:x"],
        "defaultProvider": "anthropic", "defaultModel": "claude-sonnet-4-5", "defaultThinkingLevel": "max",
        "retry": { "enabled": true, "maxRetries": 2, "baseDelayMs": 200, "provider": { "maxRetries": 1 } },
      }`,
    );
    const { settings, problems } = load();
    expect(problems).toEqual([]);
    expect(settings.get("defaultModel")).toBe("claude-sonnet-4-5");
    expect(settings.get("defaultThinkingLevel")).toBe("xhigh");
  });

  it("in YAML counts too, below the JSON of the same place; what it says of other things is passed over", () => {
    const user = write(
      "agent/config.yml",
      "steeringMode: all\nfollowUpMode: all\nretry:\n  maxRetries: many\nui:\n  colour: red\n",
    );
    const project = write("project/.omp/config.yml", "shellPath: /bin/x\ninterruptMode: immediate\n");
    write("agent/settings.json", { followUpMode: "one-at-a-time" });
    const { settings, problems } = load({ readYaml: readYamlFile });
    expect([settings.get("steeringMode"), settings.get("followUpMode"), settings.get("interruptMode")]).toEqual([
      "all",
      "one-at-a-time",
      "immediate",
    ]);
    expect(settings.origin("steeringMode")).toEqual({ kind: "user", name: user, line: 1, column: 1 });
    expect(problems).toEqual([
      `${user}:4:3: retry.maxRetries is "many", expected a whole number of at least 0`,
      `${project}:1:1: shellPath can start programs, so of a project it counts only with --approve`,
    ]);
    expect(load({ readYaml: readYamlFile, projectTrust: "none" }).settings.get("interruptMode")).toBe("wait");
  });

  it.each([
    ["steeringMode: [all", /config\.yml:\d+:\d+: .*; the file is ignored until it is valid YAML/],
    ["- a list", /config\.yml:1:1: expected keys and values; the file is ignored/],
    [`a: ${"x".repeat(64 * 1024)}`, /config\.yml: has \d+ bytes, so it is not read/],
    ["steeringMode: &a [*a]", /config\.yml:1:1: an alias .* stands in what it is the name of; the file is ignored/],
    [`x: &a 1\ny: [${"*a,".repeat(200)}]`, /config\.yml:2:\d+: there are more than 100 aliases/],
    [`a: ${"[".repeat(5000)}`, /config\.yml:1:1: nested too deeply; the file is ignored/],
    ["steeringMode: all\nsteeringMode: all", /config\.yml:2:1: duplicate key; the file is ignored/],
  ])("in YAML that cannot be read is told, and the rest counts", (text, problem) => {
    write("agent/config.yml", text);
    write("agent/settings.json", { steeringMode: "all" });
    const { settings, problems } = load({ readYaml: readYamlFile });
    expect([problems.length, settings.get("steeringMode")]).toEqual([1, "all"]);
    expect(problems[0]).toMatch(problem);
  });

  it("is never written to", () => {
    mkdirSync(join(root, "agent"));
    load({ flags: { defaultModel: "m" } });
    expect(readdirSync(root)).toEqual(["agent"]);
    expect(readdirSync(join(root, "agent"))).toEqual([]);
  });
});

describe("the table itself", () => {
  it("has defaults that fit their own rows", () => {
    for (const [key, row] of Object.entries(SETTING_ROWS)) {
      const defaults = [row.default, ...Object.values(row.dialectDefaults ?? {})].filter(
        (value) => value !== undefined,
      );
      for (const value of defaults) expect([key, checkSettingValue(row, value)]).toEqual([key, { ok: true, value }]);
    }
  });

  it("knows no key that it also passes over", () => {
    expect(FOREIGN_KEYS.filter((key) => Object.hasOwn(SETTING_ROWS, key))).toEqual([]);
  });
});

describe("reading a JSON file", () => {
  it("gives nothing for a file that is not there, nor for one below a file", () => {
    const file = write("a.json", {});
    expect(readJsonFile(join(root, "missing", "b.json"))).toEqual({});
    expect(readJsonFile(join(file, "b.json"))).toEqual({});
  });

  it("gives nothing for an empty file", () => {
    expect(readJsonFile(write("a.json", "\n"))).toEqual({});
  });

  it.each(["[]", "42", '"x"', "null"])("refuses %s, which is no object", (text) => {
    const file = write("a.json", text);
    expect(readJsonFile(file)).toEqual({
      problem: `${file}:1:1: expected an object in braces; the file is ignored`,
      place: { line: 1, column: 1 },
      text,
    });
  });

  it.each(["/dev/null", tmpdir()])("does not read %s, which could be anything but a file", (path) => {
    expect(readJsonFile(path)).toEqual({ problem: `${path}: not a regular file, so it is not read` });
  });
});
