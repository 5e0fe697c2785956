import { describe, expect, it } from "vitest";
import { type ParsedArgs, parseArgs, type RunArgs } from "./args.ts";
import { OPTION_ROWS } from "./cli-options.ts";
import { optionKey } from "./given-options.ts";

/** The arguments behind `--mode rpc`, which every start needs. */
function rpc(...argv: string[]): ParsedArgs {
  return parseArgs(["--mode", "rpc", ...argv], "tiller");
}

function run(parsed: ParsedArgs): RunArgs {
  if (parsed.kind !== "run") throw new Error(`expected a run, got ${JSON.stringify(parsed)}`);
  return parsed.run;
}

describe("reading options", () => {
  const cases: [string, string[], Record<string, unknown>][] = [
    ["nothing but the mode", [], {}],
    ["a value behind the option", ["--model", "sonnet"], { model: "sonnet" }],
    ["a value with an equals sign", ["--model=a=b"], { model: "a=b" }],
    ["an empty value", ["--system-prompt", ""], { systemPrompt: "" }],
    ["the last of two values", ["--model", "a", "--model", "b"], { model: "b" }],
    ["a flag", ["--no-session"], { noSession: true }],
    ["a short option", ["-t", "read, ls,,"], { tools: ["read", "ls"] }],
    ["a two-letter short option", ["-nt", "-xt", "bash"], { noTools: true, excludeTools: ["bash"] }],
    ["a three-letter short option", ["-nbt"], { noBuiltinTools: true }],
    ["a list given twice", ["--tools=a,b", "--tools", "c"], { tools: ["a", "b", "c"] }],
    [
      "a repeatable option",
      ["--append-system-prompt", "one, two", "--append-system-prompt=three"],
      { appendSystemPrompt: ["one, two", "three"] },
    ],
    ["a value that begins with a dash", ["--system-prompt", "- be short"], { systemPrompt: "- be short" }],
    ["a value that looks like an option nobody has", ["--system-prompt", "--x"], { systemPrompt: "--x" }],
    ["a value called like an option, with the equals sign", ["--system-prompt=--help"], { systemPrompt: "--help" }],
    ["another spelling of a value", ["--thinking", "max"], { thinking: "xhigh" }],
    ["a session to go on with", ["-c", "-r", "-n", "a name"], { continue: true, resume: true, name: "a name" }],
    ["an optional value", ["-r", "abc"], { resume: "abc" }],
    ["an optional value with the equals sign", ["--resume=a b"], { resume: "a b" }],
    ["an option behind one whose value is optional", ["--resume", "--no-tools"], { resume: true, noTools: true }],
    ["prompt text, which RPC mode ignores", ["hello", "-", "world", "- a list", "-1 is a number"], {}],
    ["whatever follows the end of the options", ["--", "--model", "x", "@file", "--nonsense"], {}],
    [
      "options of other systems that change nothing",
      ["--no-title", "--no-lsp", "--theme", "dark"],
      { noTitle: true, noLsp: true, theme: ["dark"] },
    ],
  ];
  it.each(cases)("takes %s", (_, argv, expected) => {
    expect(run(rpc(...argv)).options).toEqual({ mode: "rpc", ...expected });
  });

  it("starts with the command line of the strictest existing client", () => {
    const argv =
      "--provider p --model m --session-dir d --thinking low --append-system-prompt t --provider-session-id i --tools a,b --no-session --no-skills --no-rules --no-title";
    expect(run(rpc(...argv.split(" "))).warnings).toEqual([]);
  });

  it("takes rpc-ui as a name of the RPC mode", () => {
    expect(run(parseArgs(["--mode", "rpc-ui"], "tiller")).options.mode).toBe("rpc-ui");
  });

  it.each([
    [["--mode", "rpc"], undefined],
    [["--mode", "rpc-ui"], "always"],
    [["--mode", "rpc-ui", "--approval-mode", "write"], "write"],
    [["--approval-mode", "never", "--mode", "rpc-ui"], "never"],
    [["--mode", "rpc-ui", "--set", "approval.mode=write"], "write"],
    [["--mode", "rpc", "--approval-mode", "always-ask"], "always"],
  ])("%j: approval mode %s", (argv, mode) => {
    expect(run(parseArgs(argv, "tiller")).settings["approval.mode"]).toBe(mode);
  });

  it("does not start with an approval mode that is none: nothing would be asked", () => {
    expect(rpc("--approval-mode", "allways")).toMatchObject({ kind: "error", exitCode: 2 });
  });
});

describe("help and version", () => {
  it.each([
    ["--help", "help"],
    ["-h", "help"],
    ["--version", "version"],
    ["-v", "version"],
  ])("%s wins over everything else on the line", (flag, kind) => {
    expect(parseArgs(["--nonsense", "--session", "x", flag, "@file"], "tiller")).toEqual({ kind });
  });
});

describe("refusing to start", () => {
  const cases: [string, string[], number, string][] = [
    ["a file argument", ["@notes.md"], 1, "Error: @file arguments are not supported in RPC mode"],
    [
      "a key without a model to use it for",
      ["--api-key", "k"],
      1,
      "Error: --api-key requires a model to be specified via --model, --provider/--model, or --models",
    ],
    [
      "an option that is nearly one, beside a mistake",
      ["--no-sesion", "-zz"],
      2,
      "Error: Unknown option: -zz (--help lists all)\nError: Unknown option: --no-sesion (did you mean --no-session? --help lists all)",
    ],
    ["an unknown short option", ["-zz"], 2, "Error: Unknown option: -zz (--help lists all)"],
    [
      "a value that does not fit",
      ["--updates", "sometimes"],
      2,
      'Error: --updates cannot be "sometimes"; use one of: snapshot, delta',
    ],
    [
      "a mode that is not built",
      ["--mode", "acp"],
      2,
      "Error: --mode acp is not built yet; built are: rpc, rpc-ui, text, json",
    ],
    ["a missing value at the end", ["--model"], 2, "Error: --model needs a value: --model=MODEL"],
    ["an option where a value should be", ["--model", "-t", "read"], 2, "Error: --model needs a value: --model=MODEL"],
    [
      "the end of the options where a value should be",
      ["--model", "--"],
      2,
      "Error: --model needs a value: --model=MODEL",
    ],
    ["a value for a flag", ["--no-session=yes"], 2, 'Error: --no-session takes no value, but has "yes"'],
    ["opposites", ["--approve", "-na"], 2, "Error: --approve and --no-approve exclude each other"],
    [
      "a setting without a value",
      ["--set", "retry.enabled"],
      2,
      'Error: --set "retry.enabled" has no value: --set KEY=VALUE',
    ],
    [
      "a setting nobody has",
      ["--set", "retry.often=1"],
      2,
      'Error: --set "retry.often": there is no such setting (`tiller config` lists all)',
    ],
    [
      "a setting that is nearly one",
      ["--set", "retry.enabeld=1"],
      2,
      'Error: --set "retry.enabeld": there is no such setting; did you mean retry.enabled?',
    ],
    [
      "a setting that does not fit",
      ["--set", "retry.maxRetries=many"],
      2,
      'Error: --set retry.maxRetries cannot be "many"; expected a whole number of at least 0',
    ],
  ];
  it.each(cases)("refuses %s", (_, argv, exitCode, message) => {
    expect(rpc(...argv)).toEqual({ kind: "error", exitCode, message });
  });

  it("refuses to start without a mode, for there is nothing to show a person", () => {
    expect(parseArgs(["hello"], "tiller")).toMatchObject({ kind: "error", exitCode: 2 });
  });

  it("names every mistake at once", () => {
    const parsed = rpc("--nonsense", "--updates", "hard", "--approve", "-na");
    expect(parsed.kind === "error" && parsed.message.split("\n")).toHaveLength(3);
  });

  const later = Object.entries(OPTION_ROWS).filter(([, row]) => row.status === "later");
  it.each(later.map(([name]) => name))("never lets --%s pass for working", (name) => {
    expect(rpc(`--${name}`, "x")).toMatchObject({ kind: "error", exitCode: 2 });
  });
});

describe("prompts on the command line", () => {
  const cases: [argv: string[], mode: string, prompts: string[], files: string[]][] = [
    [["-p", "hello"], "text", ["hello"], []],
    [["--print", "one", "--no-session", "two"], "text", ["one", "two"], []],
    [["hello", "-p"], "text", ["hello"], []],
    [["--mode", "text", "hello"], "text", ["hello"], []],
    [["--mode", "json", "hello"], "json", ["hello"], []],
    [["-p", "--mode", "json", "hello"], "json", ["hello"], []],
    [["-p", "--mode", "rpc"], "rpc", [], []],
    [["--mode", "rpc-ui"], "rpc", [], []],
    [["-p"], "text", [], []],
    [["-p", "-", "", " ", "x"], "text", ["x"], []],
    [["-p", "@a.txt", "look", "@~/b c.png"], "text", ["look"], ["a.txt", "~/b c.png"]],
    [["-p", "- be short", "-3 + 4?"], "text", ["- be short", "-3 + 4?"], []],
    [["-p", "--", "--model", "@home", "x"], "text", ["--model", "@home", "x"], []],
  ];
  it.each(cases)("%j", (argv, mode, prompts, files) => {
    expect(run(parseArgs(argv, "tiller"))).toMatchObject({ mode, prompts, files });
  });
});

describe("dialects", () => {
  it.each([
    ["/usr/bin/tiller", [], "union"],
    ["/usr/local/bin/pi", [], "pi"],
    ["omp.js", [], "omp"],
    ["C:\\bin\\xcsh.exe", [], "xcsh"],
    ["/opt/pi/cli.js", [], "union"],
    ["pi", ["--dialect", "xcsh"], "xcsh"],
  ])("started as %s with %j speaks %s", (program, argv, expected) => {
    expect(run(parseArgs(["--mode", "rpc", ...argv], program)).dialect.name).toBe(expected);
  });

  it.each([
    ["union", "error"],
    ["pi", "error"],
    ["omp", "run"],
    ["xcsh", "run"],
  ])("%s meets a short option that nobody can know with: %s", (dialect, kind) => {
    const parsed = rpc("--dialect", dialect, "-zz", "x");
    expect(parsed.kind).toBe(kind);
    if (parsed.kind === "run") expect(parsed.run.warnings).toEqual(["Warning: Unknown option ignored: -zz"]);
  });

  it.each<[argv: string[], unknown: object[]]>([
    [["--draft"], [{ option: "--draft" }]],
    [["--draft=a b"], [{ option: "--draft", attached: "a b" }]],
    [["--draft", "word"], [{ option: "--draft", following: "word" }]],
    [["--draft", "--no-session"], [{ option: "--draft" }]],
    [["--draft", "@file"], [{ option: "--draft" }]],
    [["--constructor"], [{ option: "--constructor" }]],
  ])("%j may be known to an extension", (argv, unknown) => {
    const parsed = parseArgs(["-p", ...argv], "tiller");
    expect(parsed).toMatchObject({ kind: "run", run: { unknown } });
  });

  it("refuses what comes later in every dialect", () => {
    for (const dialect of ["union", "pi", "omp", "xcsh"])
      expect(rpc("--dialect", dialect, "--mode", "acp").kind).toBe("error");
  });
});

describe("options that are settings", () => {
  it("hands them over under their keys", () => {
    const argv = [
      "--thinking",
      "low",
      "--updates",
      "delta",
      "--session-dir",
      "s",
      "--models",
      "a,b",
      "--no-offline-model",
    ];
    expect(run(rpc(...argv)).settings).toEqual({
      defaultThinkingLevel: "low",
      "updates.mode": "delta",
      sessionDir: "s",
      enabledModels: ["a", "b"],
      "offlineModel.enabled": false,
    });
  });

  it("reads --set by the type of the setting", () => {
    const sets = [
      "retry.enabled=off",
      "retry.maxRetries=5",
      "shellPath=/bin/a=b",
      "enabledModels=x, y",
      'modelRoles={"smol":"m"}',
    ];
    expect(run(rpc(...sets.flatMap((set) => ["--set", set]))).settings).toEqual({
      "retry.enabled": false,
      "retry.maxRetries": 5,
      shellPath: "/bin/a=b",
      enabledModels: ["x", "y"],
      modelRoles: { smol: "m" },
    });
  });
});

it("passes over a thinking level that nobody knows, with a warning, as all three systems do", () => {
  const { options, settings, warnings } = run(rpc("--thinking", "low", "--thinking", "hard"));
  expect([options.thinking, settings.defaultThinkingLevel]).toEqual(["low", "low"]);
  expect(warnings).toEqual([
    'Warning: --thinking is "hard" and is ignored; use one of: off, minimal, low, medium, high, xhigh',
  ]);
  expect(run(rpc("--thinking=hard")).settings.defaultThinkingLevel).toBeUndefined();
});

describe("trust in the project", () => {
  it.each([
    [[], "text"],
    [["--approve"], "code"],
    [["-a"], "code"],
    [["--no-approve"], "none"],
    [["--dialect", "pi"], "code"],
    [["--dialect", "pi", "--no-approve"], "none"],
  ])("%j means %s", (argv, expected) => {
    expect(run(rpc(...argv)).projectTrust).toBe(expected);
  });
});

describe("the table itself", () => {
  it("has no short form twice", () => {
    const shorts = Object.values(OPTION_ROWS).flatMap((row) => row.short ?? []);
    expect(new Set(shorts).size).toBe(shorts.length);
  });

  it("keeps different options under different keys", () => {
    const keys = Object.keys(OPTION_ROWS).map(optionKey);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("tells what the value of an option is", () => {
    for (const [name, row] of Object.entries(OPTION_ROWS)) {
      expect([name, row.kind === "flag"]).toEqual([name, row.placeholder === undefined]);
    }
  });

  it("has the short forms that hosts and people use", () => {
    const shorts = Object.fromEntries(
      Object.entries(OPTION_ROWS).flatMap(([name, row]) => (row.short ? [[row.short, name]] : [])),
    );
    expect(shorts).toEqual({
      h: "help",
      v: "version",
      c: "continue",
      r: "resume",
      n: "name",
      t: "tools",
      e: "extension",
      p: "print",
      a: "approve",
      na: "no-approve",
      xt: "exclude-tools",
      nt: "no-tools",
      nbt: "no-builtin-tools",
      ne: "no-extensions",
      ns: "no-skills",
      np: "no-prompt-templates",
      nc: "no-context-files",
    });
  });
});

describe("sub-commands", () => {
  const parse = (...argv: string[]): ParsedArgs => parseArgs(argv, "tiller");

  it.each<[argv: string[], kind: string, words: string[], options: object]>([
    [["models"], "models", [], {}],
    [["models", "son", "net", "--all"], "models", ["son", "net"], { all: true }],
    [["models", "--offline"], "models", [], { offline: true }],
    [["chat", "--model", "sonnet", "hello", "you"], "chat", ["hello", "you"], { model: "sonnet" }],
    [["chat", "--of-an-extension"], "chat", [], {}],
    [["doctor"], "doctor", [], {}],
    [["doctor", "--json", "--model", "sonnet"], "doctor", [], { json: true, model: "sonnet" }],
    [["sessions"], "sessions", [], {}],
    [
      ["sessions", "list", "a", "text", "--all", "--json"],
      "sessions",
      ["list", "a", "text"],
      { all: true, json: true },
    ],
    [["config"], "config", [], {}],
    [["schema", "session"], "schema", ["session"], {}],
    [["config", "retry.enabled", "--json"], "config", ["retry.enabled"], { json: true }],
    [["sessions", "show", "id", "--session-dir", "d"], "sessions", ["show", "id"], { sessionDir: "d" }],
  ])("%j", (argv, kind, words, options) => {
    expect(parse(...argv)).toMatchObject({ kind, words, run: { options, warnings: [] } });
  });

  it.each([
    [["--mode", "rpc", "models"]],
    [["models", "--mode", "rpc"]],
    [["--mode", "rpc", "please", "doctor"]],
    [["doctor", "-p"]],
  ])("are prompt text beside a mode: %j", (argv) => {
    expect(parse(...argv)).toMatchObject({ kind: "run" });
  });

  it.each<[argv: string[], message: string]>([
    [["doctor", "who"], 'Error: `tiller doctor` takes no "who"; it looks at everything'],
    [["config", "a", "b"], 'Error: `tiller config` takes one KEY, but there is "b" too'],
    [["schema", "rpc", "x"], 'Error: `tiller schema` takes one name, but there is "x" too'],
    [["--mode", "rpc", "--record", "a", "--replay", "b"], "Error: --record and --replay exclude each other"],
    [["-p", "--record", "a", "hi"], "Error: --record is for --mode rpc"],
    [["--replay", "a"], "Error: --replay is for --mode rpc"],
    [["--mode", "rpc", "--agent", "pi"], "Error: --agent is for `tiller transcript`"],
    [["doctor", "--all"], "Error: --all is for `tiller models` and `tiller sessions`"],
    [
      ["models", "--json"],
      "Error: --json is for `tiller doctor`, `tiller sessions`, `tiller config`, `tiller transcript` and `tiller export`",
    ],
    [
      ["--mode", "rpc", "--json"],
      "Error: --json is for `tiller doctor`, `tiller sessions`, `tiller config`, `tiller transcript` and `tiller export`",
    ],
    ...["modles", "mdels", "Models.", "model"].map((word): [string[], string] => [
      [word],
      "Error: there is no interactive mode; start with --mode rpc, or -p MESSAGE (--help lists all); did you mean `tiller models`?",
    ]),
    [
      ["dcotor", "--offline"],
      "Error: there is no interactive mode; start with --mode rpc, or -p MESSAGE (--help lists all); did you mean `tiller doctor`?",
    ],
    [
      ["session", "list"],
      "Error: there is no interactive mode; start with --mode rpc, or -p MESSAGE (--help lists all); did you mean `tiller sessions`?",
    ],
    [
      ["--nope"],
      "Error: Unknown option: --nope (--help lists all)\nError: there is no interactive mode; start with --mode rpc, or -p MESSAGE (--help lists all)",
    ],
    [
      ["hello"],
      'Error: there is no interactive mode; start with --mode rpc, or -p MESSAGE (--help lists all); "hello" is no sub-command, those are: chat, models, doctor, sessions, config, schema, replay, transcript, export',
    ],
  ])("%j is refused", (argv, message) => {
    expect(parse(...argv)).toEqual({ kind: "error", message, exitCode: 2 });
  });

  it("do not swallow a call for help", () => {
    expect(parse("doctor", "--help")).toEqual({ kind: "help", command: "doctor" });
    expect(parse("please", "-h", "doctor")).toEqual({ kind: "help", command: undefined });
  });
});
