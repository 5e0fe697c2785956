import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { commandsOf, namesOf, skill, useAskedModel, warnings, writeText } from "./asked-model.ts";
import { proves } from "./proofs.ts";
import { STORY, sessionText } from "./session-files.ts";

/** The texts of a user and a project: what is found, what the model is told of it, and what hosts can ask about it. */

const { start, requests, said, systemPrompt } = useAskedModel();
const startBare = useRpc();

describe("files that are not as they should be", () => {
  it("are told by a warning each, and the rest loads", async () => {
    const rpc = start({
      files: {
        ".pi/skills/open/SKILL.md": "---\nname: open\ndescription: Never closed\n",
        ".pi/skills/mute/SKILL.md": "---\nname: mute\n---\nNo description.\n",
        ".pi/skills/colon/SKILL.md": "---\nname: colon\ndescription: Use it: always\n---\nStill works.\n",
        ".pi/skills/good/SKILL.md": skill("good", "All is well."),
        ".pi/prompts/odd.md": "---\ndescription: [a\n---\nOdd, but $1.\n",
        ".omp/commands/odd.md": "Second of its name.",
        "AGENTS.md": `${"x".repeat(99)}\n`.repeat(1000),
      },
    });
    await rpc.prompt("/odd here");
    expect(said()).toEqual(["Odd, but here."]);
    const told = warnings(rpc).join("\n");
    for (const path of [
      "open/SKILL.md:1",
      "mute/SKILL.md",
      "colon/SKILL.md:3",
      "prompts/odd.md:3",
      "commands/odd.md",
    ]) {
      expect(told).toContain(path);
    }
    expect(told).toMatch(/AGENTS\.md: 98 KiB long/);
    expect(systemPrompt()).toContain("This file goes on; read");
    expect(systemPrompt()).toContain("<name>good</name>");
    expect(systemPrompt()).toContain("<description>Use it: always</description>");
    expect(systemPrompt()).not.toContain("<name>mute</name>");
    expect(await namesOf(rpc)).toEqual(["odd", "skill:colon", "skill:good"]);
    expect(warnings(rpc)).toHaveLength(told.split("\n").length);
  });
});

describe("the system prompt", () => {
  const files = {
    "AGENTS.md": "Tabs, never spaces.",
    ".pi/skills/knots/SKILL.md": skill("knots", "# Knots"),
    ".claude/skills/secret/SKILL.md": skill("secret", "# Secret", "disable-model-invocation: true\n"),
    ".pi/prompts/fix.md": "Fix $1.",
    ".cursor/rules/hats.mdc": "---\ndescription: Hats\nalwaysApply: true\n---\n\nWear a hat.\n",
    "extra/skills/sails/SKILL.md": skill("sails", "# Sails"),
    "extra/tack.md": "Tack to $1.",
  };
  const agentFiles = {
    "AGENTS.md": "Be brief.",
    "skills/mine/SKILL.md": skill("mine", "# Mine"),
    "prompts/all.md": "All.",
  };
  const OPTIONS: [args: string[], has: string[], lacks: string[], commands: string[]][] = [
    [
      [],
      ["coding agent", "Be brief.", "Tabs, never spaces.", "Wear a hat.", "<name>knots</name>", "<name>mine</name>"],
      ["secret", "sails", "# Knots"],
      ["fix", "all", "skill:knots", "skill:secret", "skill:mine"],
    ],
    [
      ["--no-context-files"],
      ["<name>knots</name>"],
      ["Be brief.", "Tabs", "Wear a hat.", "# Project Context"],
      ["fix", "all", "skill:knots", "skill:secret", "skill:mine"],
    ],
    [["--no-skills", "--no-rules"], ["Tabs"], ["available_skills", "Wear a hat."], ["fix", "all"]],
    [
      ["--no-skills", "--skill", "extra/skills"],
      ["<name>sails</name>"],
      ["knots", "mine"],
      ["fix", "all", "skill:sails"],
    ],
    [["--skills", "k*,sec*"], ["<name>knots</name>"], ["mine"], ["fix", "all", "skill:knots", "skill:secret"]],
    [["--prompt-template", "extra/tack.md", "-ns"], [], ["available_skills"], ["fix", "all", "tack"]],
    [["--no-prompt-templates", "-ns"], [], [], []],
    [["-np", "-ns", "--prompt-template", "extra"], [], [], ["tack"]],
    [["--no-approve"], ["Be brief.", "<name>mine</name>"], ["Tabs", "Wear a hat.", "knots"], ["all", "skill:mine"]],
    [
      ["--no-approve", "--skill", "extra/skills/sails"],
      ["<name>sails</name>"],
      ["Tabs", "knots"],
      ["all", "skill:mine", "skill:sails"],
    ],
    [["--tools", "bash"], ["Tabs"], ["available_skills"], ["fix", "all", "skill:knots", "skill:secret", "skill:mine"]],
    [["--set", "enableSkillCommands=false"], ["<name>knots</name>"], [], ["fix", "all"]],
  ];

  it.each(OPTIONS)("with %j", async (args, has, lacks, commands) => {
    const rpc = start({ files, agentFiles, args });
    await rpc.prompt("hello");
    for (const text of has) expect(systemPrompt()).toContain(text);
    for (const text of lacks) expect(systemPrompt()).not.toContain(text);
    expect(await namesOf(rpc)).toEqual(commands);
    expect(warnings(rpc)).toEqual([]);
  });

  it("calls no skill by its name where the settings say so", async () => {
    await start({ files, args: ["--set", "enableSkillCommands=false"] }).prompt("/skill:knots");
    expect(said()).toEqual(["/skill:knots"]);
  });

  it("has the most general context first: the user's, the repository's, the working folder's", async () => {
    const rpc = start({ files: { ...files, "CLAUDE.md": "not read beside AGENTS.md" }, agentFiles });
    writeText(rpc.sandbox.root, ".git/HEAD", "ref: refs/heads/main\n");
    writeText(rpc.sandbox.root, "CLAUDE.md", "Of the whole repository.");
    await rpc.prompt("hello");
    const places = ["Be brief.", "Of the whole repository.", "Tabs, never spaces."].map((text) =>
      systemPrompt().indexOf(text),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(systemPrompt()).not.toContain("not read");
  });

  const PROMPTS: [name: string, options: RpcOptions, begins: RegExp][] = [
    ["--system-prompt TEXT", { args: ["--system-prompt", "You are a cook."] }, /^You are a cook\.\n\n(?!Your tools)/],
    ["--system-prompt FILE", { args: ["--system-prompt", "cook.txt"] }, /^You cook from a file\./],
    ["SYSTEM.md of the user", { agentFiles: { "SYSTEM.md": "You are mine." } }, /^You are mine\./],
    [
      "SYSTEM.md of the project",
      { files: { ".pi/SYSTEM.md": "You are ours." }, agentFiles: { "SYSTEM.md": "You are mine." } },
      /^You are ours\./,
    ],
    [
      "SYSTEM.md of a project that is not trusted",
      { files: { ".pi/SYSTEM.md": "You are ours." }, args: ["--no-approve"] },
      /^You are a coding agent\./,
    ],
    [
      "an option before a file",
      { files: { ".pi/SYSTEM.md": "You are ours." }, args: ["--system-prompt", "You are a cook."] },
      /^You are a cook\./,
    ],
    [
      "--append-system-prompt twice",
      { args: ["--append-system-prompt", "One.", "--append-system-prompt", "cook.txt"] },
      /^You are a coding agent\.[\s\S]*\n\nOne\.\n\nYou cook from a file\./,
    ],
    [
      "APPEND_SYSTEM.md",
      { files: { ".omp/APPEND_SYSTEM.md": "And more." } },
      /^You are a coding agent\.[\s\S]*\n\nAnd more\.\n\n/,
    ],
  ];

  it.each(PROMPTS)("begins as it should with %s", async (_name, options, begins) => {
    const rpc = start({ ...options, files: { "cook.txt": "You cook from a file.", ...options.files } });
    await rpc.prompt("hello");
    expect(systemPrompt()).toMatch(begins);
    expect(systemPrompt()).toContain(`Current working directory: ${rpc.sandbox.cwd}`);
  });

  it("stays the same from one prompt to the next, so that the provider's cache holds", async () => {
    const rpc = start({ files });
    await rpc.prompt("one");
    writeText(rpc.sandbox.cwd, "AGENTS.md", "Spaces, never tabs.");
    const first = systemPrompt();
    await rpc.prompt("two");
    expect(systemPrompt()).toBe(first);
  });

  it("is that of another folder after switch_session to a session of that folder", async () => {
    const rpc = start({ files, args: ["--prompt-template", "extra/tack.md"] });
    const other = join(rpc.sandbox.root, "other");
    writeText(other, "AGENTS.md", "Here we use spaces.");
    writeText(other, ".pi/prompts/greet.md", "Greet $1.");
    writeText(rpc.sandbox.root, "other.jsonl", sessionText(other, STORY));
    await rpc.prompt("/fix a");
    expect(said()).toEqual(["Fix a."]);
    const sessionPath = join(rpc.sandbox.root, "other.jsonl");
    expect(await rpc.call({ type: "switch_session", sessionPath })).toMatchObject({ success: true });
    await rpc.call({ type: "set_model", provider: "mock", modelId: "mock-1" });
    // What the command line names still counts from where the process was started.
    expect(await namesOf(rpc)).toEqual(["greet", "tack"]);
    await rpc.prompt("/greet them");
    await rpc.prompt("/fix a");
    expect(said().slice(-2)).toEqual(["Greet them.", "/fix a"]);
    expect(systemPrompt()).toContain("Here we use spaces.");
    expect(systemPrompt()).not.toContain("Tabs");
    expect(systemPrompt()).toContain(`Current working directory: ${other}`);
  });

  it("is made with the first prompt: whoever only starts the process reads nothing", async () => {
    const rpc = start({ files: { ".pi/skills/broken/SKILL.md": "---\n" } });
    await rpc.call({ type: "get_state" });
    expect(warnings(rpc)).toEqual([]);
    writeText(rpc.sandbox.cwd, "AGENTS.md", "Written after the start.");
    writeText(rpc.sandbox.home, ".claude/commands/late.md", "Late $1.");
    await rpc.prompt("/late but here");
    expect(said()).toEqual(["Late but."]);
    expect(systemPrompt()).toContain("Written after the start.");
    expect(warnings(rpc)).not.toEqual([]);
  });
});

describe("get_commands", () => {
  const files = {
    ".pi/prompts/fix.md": "---\ndescription: Fix a bug\nargument-hint: [bug] [file]\n---\nFix $1.",
    ".pi/skills/knots/SKILL.md": skill("knots", "# Knots"),
    "extra/tack.md": `Tack ${"and tack again ".repeat(9)}`,
  };
  const agentFiles = { "skills/mine/SKILL.md": skill("mine", "# Mine") };
  const options = { files, agentFiles, args: ["--prompt-template", "extra"] };

  proves(
    [
      "pi.commands.name",
      "pi.commands.description",
      "pi.commands.source-prompt",
      "pi.commands.source-skill",
      "pi.commands.location",
      "pi.commands.path",
    ],
    "tells name, description, source, location, path and sourceInfo of each",
    async () => {
      const rpc = start(options);
      const { cwd, agentDir } = rpc.sandbox;
      const local = (scope: string, path: string, baseDir: string): object => ({
        location: scope,
        path,
        sourceInfo: { path, source: "local", scope, origin: "top-level", baseDir },
      });
      const [prompts, skills] = [join(cwd, ".pi/prompts"), join(cwd, ".pi/skills")];
      const tack = join(cwd, "extra/tack.md");
      const baseDir = join(cwd, "extra");
      expect(await commandsOf(rpc)).toEqual([
        {
          name: "fix",
          description: "Fix a bug",
          source: "prompt",
          ...local("project", join(prompts, "fix.md"), prompts),
        },
        {
          name: "tack",
          description: "Tack and tack again and tack again and tack again and tack a...",
          source: "prompt",
          location: "path",
          path: tack,
          sourceInfo: { path: tack, source: "cli", scope: "temporary", origin: "top-level", baseDir },
        },
        {
          name: "skill:knots",
          description: "How to knots",
          source: "skill",
          ...local("project", join(skills, "knots/SKILL.md"), skills),
        },
        {
          name: "skill:mine",
          description: "How to mine",
          source: "skill",
          ...local("user", join(agentDir, "skills/mine/SKILL.md"), join(agentDir, "skills")),
        },
      ]);
      expect(requests()).toEqual([]);
    },
  );

  proves("pi.commands.invoked", "lists what a prompt can call", async () => {
    const rpc = start(options);
    for (const name of await namesOf(rpc)) {
      await rpc.prompt(`/${name} it`);
      expect(said().at(-1)).not.toMatch(/^\//);
    }
    expect(requests()).toHaveLength(4);
  });

  it("has a sister that tells what to write behind the name", async () => {
    expect(await commandsOf(start(options), "get_available_commands")).toEqual([
      { name: "fix", description: "Fix a bug", input: { hint: "[bug] [file]" }, source: "prompt" },
      { name: "tack", description: expect.stringMatching(/^Tack/), source: "prompt" },
      { name: "skill:knots", description: "How to knots", source: "skill" },
      { name: "skill:mine", description: "How to mine", source: "skill" },
    ]);
  });

  it("tells whose settings name a place, which counts from the folder of the file", async () => {
    const rpc = start({
      files: { ".pi/settings.json": '{ "skills": ["ours"] }', ".pi/ours/knots/SKILL.md": skill("knots", "# Knots") },
      agentFiles: { "settings.json": '{ "prompts": ["mine"] }', "mine/fix.md": "Fix $1." },
    });
    expect(await commandsOf(rpc)).toMatchObject([
      { name: "fix", location: "path", sourceInfo: { source: "settings", scope: "user" } },
      { name: "skill:knots", location: "path", sourceInfo: { source: "settings", scope: "project" } },
    ]);
  });

  it("is empty where there is nothing", async () => {
    const rpc = start();
    expect(await rpc.call({ type: "get_commands" })).toMatchObject({ success: true, data: { commands: [] } });
    expect(await rpc.call({ type: "get_available_commands" })).toMatchObject({ success: true, data: { commands: [] } });
  });
});

describe("get_context", () => {
  const files = {
    "AGENTS.md": "Tabs, never spaces.",
    ".pi/skills/knots/SKILL.md": skill("knots", "# Knots"),
    ".pi/skills/secret/SKILL.md": skill("secret", "# Secret", "disable-model-invocation: true\n"),
    ".pi/APPEND_SYSTEM.md": "And more.",
  };
  const contextOf = async (rpc: RpcProcess): Promise<Frame> => (await rpc.call({ type: "get_context" })).data as Frame;
  const sum = (parts: unknown, field: string): number =>
    list(parts).reduce<number>((total, part) => total + Number(at(part, field)), 0);

  it("tells what the model will see: the very system prompt, and parts that add up", async () => {
    const rpc = start({ files });
    const before = await contextOf(rpc);
    expect(requests()).toEqual([]);
    await rpc.prompt("A question of some length, so that it counts");
    expect(systemPrompt()).toBe(before.systemPrompt);
    const after = await contextOf(rpc);
    expect(after.systemPrompt).toBe(before.systemPrompt);
    for (const { parts, tokens, contextWindow, percent } of [before, after]) {
      expect(sum(parts, "tokens")).toBe(tokens);
      expect(Math.abs(sum(parts, "share") - 100)).toBeLessThan(1);
      expect(contextWindow).toBe(200_000);
      expect(percent).toBeCloseTo((Number(tokens) / 200_000) * 100, 0);
    }
    expect(list(after.parts).map((part) => at(part, "kind"))).toEqual([
      "systemPrompt",
      "appendedPrompt",
      "contextFile",
      "skills",
      "surroundings",
      "tools",
      "conversation",
    ]);
    const tools = list(requests()[0]?.body.tools).map((tool) => at(tool, "name"));
    expect(list(at(after.parts, 5, "items")).map((item) => at(item, "name"))).toEqual(tools);
    expect(at(after.parts, 6)).toMatchObject({ why: expect.stringMatching(/^2 messages/) });
    expect(Number(after.tokens)).toBeGreaterThan(Number(before.tokens));
    expect(after.leftOut).toEqual([
      {
        name: "skill:secret",
        path: join(rpc.sandbox.cwd, ".pi/skills/secret/SKILL.md"),
        why: expect.stringMatching(/disable-model-invocation/),
      },
    ]);
  });

  it("names the options that a part comes from", async () => {
    const args = ["--system-prompt", "You are a cook.", "--append-system-prompt", "Spicy."];
    const { parts } = await contextOf(start({ files, args }));
    expect(list(parts).slice(0, 2)).toMatchObject([
      { why: "Replaces the built-in text: --system-prompt" },
      { why: "Added to the system prompt: --append-system-prompt" },
    ]);
  });

  it("without a model says how to get one", async () => {
    const rpc = startBare({ args: ["--no-offline-model"] });
    const { success, error } = await rpc.call({ type: "get_context" });
    expect(success).toBe(false);
    expect(error).toMatch(/set_model/);
  });
});
