// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these placeholders are those of prompt templates
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type MockLlm, say, startMockLlm } from "../support/mock-llm.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { refusedIn, saidIn } from "../support/wire-requests.ts";
import { ended, isIncrement, messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";
import { STORY, sessionText } from "./session-files.ts";

/** The texts of a user and a project, told by what a model on loopback is really sent. */

let llm: MockLlm;
beforeEach(async () => {
  llm = await startMockLlm();
  llm.reply(...Array.from({ length: 8 }, (_, index) => say(`answer ${index + 1}`)));
});
// Hooks run last to first: the process, which `useRpc` ends, goes before the server it talks to.
afterEach(() => llm.close());

const startProcess = useRpc();
const FAMILY = "anthropic-messages";
const start = ({ args = [], agentFiles, ...options }: RpcOptions = {}): RpcProcess =>
  startProcess({
    agentFiles: { "models.json": llm.modelsJson(), ...agentFiles },
    args: ["--model", "mock/mock-1", "--thinking", "off", "--set", "retry.enabled=false", ...args],
    ...options,
  });

/** What the user says in the last request. */
const said = (): string[] => {
  const body = llm.requests.at(-1)?.body ?? {};
  expect(refusedIn(FAMILY, body)).toEqual([]);
  return saidIn(FAMILY, body).flatMap(({ by, text }) => (by === "user" ? [text] : []));
};
const systemPrompt = (): string => String(at(llm.requests.at(-1)?.body, "system", 0, "text"));
const warnings = (rpc: RpcProcess): string[] =>
  ofType(rpc.frames, "notice")
    .filter(({ level }) => level === "warning")
    .map(({ message }) => String(message));
const commandsOf = async (rpc: RpcProcess, type = "get_commands"): Promise<Frame[]> =>
  list(at(await rpc.call({ type }), "data", "commands")) as Frame[];
const namesOf = async (rpc: RpcProcess): Promise<unknown[]> => (await commandsOf(rpc)).map(({ name }) => name);
const skill = (name: string, body: string, more = ""): string =>
  `---\nname: ${name}\ndescription: How to ${name}\n${more}---\n\n${body}\n`;
/** Of a dialect that has no prompt_result. */
async function settled(rpc: RpcProcess, message: string): Promise<void> {
  const since = rpc.mark();
  await rpc.call({ type: "prompt", message });
  await rpc.waitFor("agent_settled", { since });
}
function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

describe("a prompt that calls a text by its name", () => {
  const files = {
    ".tiller/prompts/fix.md": "---\ndescription: Fix a bug\nargument-hint: [bug] [file]\n---\nFix $1 in $2.\n",
    ".agents/skills/knots/SKILL.md": skill("knots", "# Knots\n\nRead bends.md, not $1."),
  };
  const knots = (rpc: RpcProcess): string => {
    const folder = join(rpc.sandbox.cwd, ".agents/skills/knots");
    const opening = `<skill name="knots" location="${folder}/SKILL.md">\nReferences are relative to ${folder}.`;
    return `${opening}\n\n# Knots\n\nRead bends.md, not $1.\n</skill>`;
  };

  proves(["pi.prompt.skill-expanded", "pi.prompt.template-expanded"], "is what the text says", async () => {
    const rpc = start({ files });
    const { response, frames } = await rpc.prompt('/fix "the bug" main.ts');
    expect(response).toMatchObject({ success: true, data: { disposition: "started" } });
    expect(said()).toEqual(["Fix the bug in main.ts."]);
    expect(ended(frames, "user").content).toEqual([{ type: "text", text: "Fix the bug in main.ts." }]);
    await rpc.prompt("/skill:knots tie $1\n  twice");
    expect(said().at(-1)).toBe(`${knots(rpc)}\n\ntie $1\n  twice`);
    const kept = (await messagesOf(rpc)).filter(({ role }) => role === "user").map((message) => at(message, "content"));
    expect(kept).toMatchObject([[{ text: "Fix the bug in main.ts." }], [{ text: `${knots(rpc)}\n\ntie $1\n  twice` }]]);
  });

  it("keeps its images", async () => {
    const image = { type: "image", data: "aGVsbG8=", mimeType: "image/png" };
    await start({ files }).prompt("/fix a b", { images: [image] });
    expect(said()).toEqual(["Fix a in b.", "aGVsbG8="]);
  });

  it.each(["/nothing at all", "/usr/bin is full", "/skill:nothing", "/knots", " /fix a b", "/"])(
    "is sent as it is when nothing has the name: %j",
    async (message) => {
      const rpc = start({ files });
      await rpc.prompt(message);
      expect(said()).toEqual([message]);
      expect(warnings(rpc)).toEqual([]);
    },
  );

  proves(
    "pi.prompt.expanded-before-queue",
    "is looked up before it is queued: steer, follow_up and prompt while a run streams",
    async () => {
      const rpc = start({ script: ['text "one" + hang', 'text "two"'], files, args: ["--model", "script/script"] });
      const since = rpc.mark();
      await rpc.call({ type: "prompt", message: "begin" });
      await rpc.waitFor(isIncrement("text_delta"), { since });
      const queued = { success: true, data: { disposition: "queued" } };
      expect(await rpc.call({ type: "steer", message: "/fix one a.ts" })).toMatchObject(queued);
      expect(await rpc.call({ type: "follow_up", message: "/fix two b.ts" })).toMatchObject(queued);
      const third = { type: "prompt", message: "/skill:knots", streamingBehavior: "steer" };
      expect(await rpc.call(third)).toMatchObject(queued);
      const fourth = { type: "prompt", message: "/nothing here", streamingBehavior: "followUp" };
      expect(await rpc.call(fourth)).toMatchObject(queued);
      expect(ofType(rpc.frames, "queue_update").at(-1)).toMatchObject({
        steering: ["Fix one in a.ts.", knots(rpc)],
        followUp: ["Fix two in b.ts.", "/nothing here"],
      });
      // What was looked up stays: the file may be gone when its turn comes.
      rmSync(join(rpc.sandbox.cwd, ".tiller"), { recursive: true });
      const { data } = await rpc.call({ type: "clear_queue" });
      expect(data).toMatchObject({ steering: ["Fix one in a.ts.", knots(rpc)] });
      await rpc.call({ type: "abort" });
    },
  );

  it("reaches the model from the queue as the text it stands for", async () => {
    const rpc = start({ files });
    await rpc.call({ type: "steer", message: "/fix one a.ts" });
    await rpc.call({ type: "follow_up", message: "/fix two b.ts" });
    await rpc.prompt("begin");
    expect(said()).toEqual(["begin", "Fix one in a.ts.", "Fix two in b.ts."]);
  });

  it("keeps its place in the queue, whatever is read right after it", async () => {
    const rpc = start({ script: ['text "one" + hang'], files, args: ["--model", "script/script"] });
    const lines = [
      { id: "1", type: "prompt", message: "begin" },
      { id: "2", type: "prompt", message: "/fix a b", streamingBehavior: "steer" },
      { id: "3", type: "prompt", message: "plain", streamingBehavior: "steer" },
      { id: "4", type: "steer", message: "/fix c d" },
      { id: "5", type: "steer", message: "last" },
      { id: "6", type: "get_state" },
      { id: "7", type: "prompt", message: "/fix e f", streamingBehavior: "followUp" },
      { id: "8", type: "new_session" },
    ];
    rpc.send(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await rpc.waitFor(({ type, id }) => type === "response" && id === "8");
    expect(ofType(rpc.frames, "response").map(({ id }) => id)).toEqual(lines.map(({ id }) => id));
    const fullest = { steering: ["Fix a in b.", "plain", "Fix c in d.", "last"], followUp: ["Fix e in f."] };
    expect(ofType(rpc.frames, "queue_update")).toContainEqual(expect.objectContaining(fullest));
    const results = ofType(rpc.frames, "prompt_result").map(({ id, status }) => `${id} ${status}`);
    expect(results.sort()).toEqual(["1 aborted", "2 aborted", "3 aborted", "7 aborted"]);
    expect(await stateOf(rpc)).toMatchObject({ pendingMessageCount: 0, messageCount: 0 });
  });

  it("takes the place of a run with abort_and_prompt", async () => {
    const script = ['text "one" + hang', 'text "two"'];
    const rpc = start({ script, files, args: ["--model", "script/script"] });
    await rpc.call({ type: "prompt", message: "begin" });
    await rpc.waitFor(isIncrement("text_delta"));
    const since = rpc.mark();
    const { id } = await rpc.call({ type: "abort_and_prompt", message: "/fix it now" });
    const isOurs = (frame: Frame): boolean => frame.type === "prompt_result" && frame.id === id;
    expect(await rpc.waitFor(isOurs, { since })).toMatchObject({ status: "completed" });
    expect(ended(rpc.frames.slice(since), "user").content).toEqual([{ type: "text", text: "Fix it in now." }]);
  });

  it("can be aborted before it has begun, and then nothing is sent", async () => {
    const rpc = start({ files });
    rpc.send('{"id":"1","type":"prompt","message":"/fix a b"}\n{"id":"2","type":"abort"}\n');
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "1", status: "aborted" });
    await rpc.waitFor((frame) => frame.id === "2" && frame.type === "response");
    expect(llm.requests).toEqual([]);
  });

  describe("whose file is gone", () => {
    const gone = async (options: RpcOptions = {}): Promise<{ rpc: RpcProcess; error: string }> => {
      const rpc = start({ files, ...options });
      expect(await namesOf(rpc)).toEqual(["fix", "skill:knots"]);
      const path = join(rpc.sandbox.cwd, ".tiller/prompts/fix.md");
      rmSync(path);
      return { rpc, error: `The template "fix" cannot be read from ${path}: ENOENT` };
    };

    it("fails after the answer, with a result and a second response, and the session goes on", async () => {
      const { rpc, error } = await gone();
      const { response, result, frames } = await rpc.prompt("/fix a b");
      expect(response).toMatchObject({ success: true, data: { disposition: "started" } });
      expect(result).toMatchObject({ status: "error", error: { message: expect.stringContaining(error) } });
      const second = await rpc.waitFor(({ id, success }) => id === response.id && success === false);
      expect(second).toMatchObject({ command: "prompt", error: expect.stringContaining(error) });
      expect(frames.map(({ type }) => type)).toEqual(expect.arrayContaining(["agent_start", "agent_end"]));
      expect(llm.requests).toEqual([]);
      expect(await messagesOf(rpc)).toEqual([]);
      await rpc.prompt("then without it");
      expect(said()).toEqual(["then without it"]);
    });

    it("is refused where it would have been queued", async () => {
      const { rpc, error } = await gone();
      for (const type of ["steer", "follow_up"]) {
        expect(await rpc.call({ type, message: "/fix a b" })).toMatchObject({
          command: type,
          success: false,
          error: expect.stringContaining(error),
        });
      }
      await rpc.prompt("plain");
      expect(said()).toEqual(["plain"]);
    });

    it("is refused while a run streams, and has no result", async () => {
      const { rpc, error } = await gone({ script: ['text "one" + hang'], args: ["--model", "script/script"] });
      await rpc.call({ type: "prompt", message: "begin" });
      const response = await rpc.call({ type: "prompt", message: "/fix a b", streamingBehavior: "followUp" });
      expect(response).toMatchObject({ success: false, error: expect.stringContaining(error) });
      await rpc.call({ type: "abort" });
      expect(ofType(rpc.frames, "prompt_result").map(({ id }) => id)).not.toContain(response.id);
      expect(await stateOf(rpc)).toMatchObject({ pendingMessageCount: 0 });
    });
  });

  it("is refused when the text is empty: no model takes nothing", async () => {
    const rpc = start({
      files: { ".pi/prompts/empty.md": "---\ndescription: Nothing\n---\n\n", ".pi/prompts/all.md": "$@" },
    });
    for (const message of ["/empty a", "/all"]) {
      const { result } = await rpc.prompt(message);
      expect(result).toMatchObject({
        status: "error",
        error: { message: expect.stringMatching(/template ".*" is empty/) },
      });
    }
    expect(llm.requests).toEqual([]);
    await rpc.prompt("/all of it");
    expect(said()).toEqual(["of it"]);
  });

  it("is read anew each time", async () => {
    const rpc = start({ files });
    await rpc.prompt("/fix a b");
    write(rpc.sandbox.cwd, ".tiller/prompts/fix.md", "Mend $1.");
    await rpc.prompt("/fix a b");
    expect(said()).toEqual(["Fix a in b.", "Mend a."]);
  });
});

describe("the arguments of a template", () => {
  const files = {
    ".pi/prompts/each.md": "1=$1 2=$2 all=$@ same=$ARGUMENTS",
    ".pi/prompts/slices.md": "from=${@:2} two=${@:2:2} omp=$@[2] omp2=$@[2:2]",
    ".pi/prompts/defaults.md": "${1:-nobody} and ${@:-nothing}",
    ".pi/prompts/plain.md": "Look at the tests.",
    ".omp/commands/plain-omp.md": "Look at the tests.",
  };
  const SAME: [message: string, text: string][] = [
    ["/each a 'b c' $1", "1=a 2=b c all=a b c $1 same=a b c $1"],
    ["/each", "1= 2= all= same="],
    ["/slices a b c d", "from=b c d two=b c omp=b c d omp2=b c"],
    ["/defaults", "nobody and nothing"],
    ["/defaults x", "x and x"],
  ];
  const UNUSED: Record<string, [pi: string, omp: string]> = {
    union: ["Look at the tests.", "Look at the tests.\n\nnow"],
    pi: ["Look at the tests.", "Look at the tests."],
    omp: ["Look at the tests.\n\nnow", "Look at the tests.\n\nnow"],
    xcsh: ["Look at the tests.\n\nnow", "Look at the tests.\n\nnow"],
  };

  it.each(Object.entries(UNUSED))("are put in, in %s, in the ways of all systems", async (dialect, [pi, omp]) => {
    const rpc = start({ files, args: ["--dialect", dialect] });
    const cases = [...SAME, ["/plain now", pi], ["/plain-omp now", omp]] as const;
    for (const [message] of cases) await settled(rpc, message);
    expect(said()).toEqual(cases.map(([, text]) => text));
  });
});

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
      ["coding agent", "Be brief.", "Tabs, never spaces.", "<name>knots</name>", "<name>mine</name>"],
      ["secret", "sails", "# Knots"],
      ["fix", "all", "skill:knots", "skill:secret", "skill:mine"],
    ],
    [
      ["--no-context-files"],
      ["<name>knots</name>"],
      ["Be brief.", "Tabs", "# Project Context"],
      ["fix", "all", "skill:knots", "skill:secret", "skill:mine"],
    ],
    [["--no-skills"], ["Tabs"], ["available_skills"], ["fix", "all"]],
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
    [["--no-approve"], ["Be brief.", "<name>mine</name>"], ["Tabs", "knots"], ["all", "skill:mine"]],
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
    write(rpc.sandbox.root, ".git/HEAD", "ref: refs/heads/main\n");
    write(rpc.sandbox.root, "CLAUDE.md", "Of the whole repository.");
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
    write(rpc.sandbox.cwd, "AGENTS.md", "Spaces, never tabs.");
    const first = systemPrompt();
    await rpc.prompt("two");
    expect(systemPrompt()).toBe(first);
  });

  it("is that of another folder after switch_session to a session of that folder", async () => {
    const rpc = start({ files });
    const other = join(rpc.sandbox.root, "other");
    write(other, "AGENTS.md", "Here we use spaces.");
    write(other, ".pi/prompts/greet.md", "Greet $1.");
    write(rpc.sandbox.root, "other.jsonl", sessionText(other, STORY));
    await rpc.prompt("/fix a");
    expect(said()).toEqual(["Fix a."]);
    const sessionPath = join(rpc.sandbox.root, "other.jsonl");
    expect(await rpc.call({ type: "switch_session", sessionPath })).toMatchObject({ success: true });
    await rpc.call({ type: "set_model", provider: "mock", modelId: "mock-1" });
    expect(await namesOf(rpc)).toEqual(["greet"]);
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
    write(rpc.sandbox.cwd, "AGENTS.md", "Written after the start.");
    write(rpc.sandbox.home, ".claude/commands/late.md", "Late $1.");
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
      expect(llm.requests).toEqual([]);
    },
  );

  proves("pi.commands.invoked", "lists what a prompt can call", async () => {
    const rpc = start(options);
    for (const name of await namesOf(rpc)) {
      await rpc.prompt(`/${name} it`);
      expect(said().at(-1)).not.toMatch(/^\//);
    }
    expect(llm.requests).toHaveLength(4);
  });

  it("has a sister that tells what to write behind the name", async () => {
    expect(await commandsOf(start(options), "get_available_commands")).toEqual([
      { name: "fix", description: "Fix a bug", input: { hint: "[bug] [file]" }, source: "prompt" },
      { name: "tack", description: expect.stringMatching(/^Tack/), source: "prompt" },
      { name: "skill:knots", description: "How to knots", source: "skill" },
      { name: "skill:mine", description: "How to mine", source: "skill" },
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
    expect(llm.requests).toEqual([]);
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
    const tools = list(llm.requests[0]?.body.tools).map((tool) => at(tool, "name"));
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
    const rpc = startProcess({ args: ["--no-offline-model"] });
    const { success, error } = await rpc.call({ type: "get_context" });
    expect(success).toBe(false);
    expect(error).toMatch(/set_model/);
  });
});
