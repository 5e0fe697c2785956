import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LlmMessage } from "@tiller/protocol/message";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Decision, decide } from "./decide.ts";
import { ALL_TOOLS, assistant, type MadeCall, requestOf, toolResult, user } from "./test-support.ts";
import { quote } from "./toolbox.ts";

type Answer = string | { error: string };
type Tools = (call: MadeCall) => Answer;

/** Plays the agent: asks scout, runs its calls, until it has no more. */
function converse(words: string, tools: Tools, offered = ALL_TOOLS, before: LlmMessage[] = []) {
  const messages: LlmMessage[] = [...before, user(words)];
  const turns: Decision[] = [];
  while (turns.length < 20) {
    const decision = decide(requestOf(messages, {}, offered));
    turns.push(decision);
    messages.push(assistant(decision.text, decision.toolCalls));
    if (decision.toolCalls.length === 0) break;
    for (const call of decision.toolCalls) {
      const answer = tools(call);
      messages.push(typeof answer === "string" ? toolResult(call, answer) : toolResult(call, answer.error, true));
    }
  }
  return { turns, messages, last: turns[turns.length - 1]!.text, calls: turns.map((turn) => turn.toolCalls) };
}

const PROJECT: Record<string, string> = {
  "package.json":
    '{"name":"boat","version":"2.0.0","license":"MIT","scripts":{"start":"node .","test":"vitest"},"devDependencies":{"x":"1"}}',
  "README.md": "# Boat\n\nBoat is a small program that floats.\n",
};

const project: Tools = ({ name, arguments: args }) => {
  if (name === "ls") return "docs/\nnode_modules/\nsrc/\npackage.json\nREADME.md";
  if (name === "find") return "src/a.ts\nsrc/b.ts\nsrc/a.test.ts\ndocs/guide.md\npackage.json\nREADME.md";
  if (name === "read")
    return PROJECT[String(args.path)] ?? { error: `ENOENT: no such file or directory, access '${args.path}'` };
  return { error: `Tool ${name} not found` };
};

describe("Summarize this repo", () => {
  test("lists, reads manifest and README in one batch, counts, and writes what it found", () => {
    const { calls, last } = converse("Summarize this repo", project);
    expect(calls).toEqual([
      [{ id: "scout_1", name: "ls", arguments: { path: "." } }],
      [
        { id: "scout_2", name: "read", arguments: { path: "package.json" } },
        { id: "scout_3", name: "read", arguments: { path: "README.md" } },
      ],
      [{ id: "scout_4", name: "find", arguments: { pattern: "**/*", path: ".", limit: 5000 } }],
      [],
    ]);
    expect(last).toContain("**boat** 2.0.0 (TypeScript): Boat is a small program that floats.");
    expect(last).toContain("- `npm start`: node .");
    expect(last).toContain("- `src/` (3 files): source code");
    expect(last).not.toContain("node_modules");
    expect(last).toContain("Counts: 6 files (3 .ts, 2 .md, 1 .json).");
    expect(last).toContain("Read: `package.json` and `README.md`.");
    expect(last).toContain("not a language model");
    expect(last).not.toContain("Risks");
  });

  test("takes up a wish that is steered in on the way, and repeats the calls that were skipped for it", () => {
    const { messages, calls } = converse("Summarize this repo", project);
    const skipped = calls[1]!.map((call) => toolResult(call, "Skipped due to queued user message.", true));
    const steered = [...messages.slice(0, 4), ...skipped, user("Also include risks")];
    const next = decide(requestOf(steered));
    expect(next.toolCalls).toEqual(calls[1]!.map((call, i) => ({ ...call, id: `scout_${4 + i}` })));
  });

  test("answers a later wish from what it already knows, without new calls", () => {
    const { messages } = converse("Summarize this repo", project);
    const decision = decide(requestOf([...messages, user("Also include risks")]));
    expect(decision.toolCalls).toEqual([]);
    expect(decision.text).toContain("Risks, by rules of thumb");
    expect(decision.text).toContain("- no continuous integration that I recognise");
    expect(decision.text).toContain("- dependencies without a lock file");
    expect(decision.text).not.toContain("- no tests");
    expect(decision.text).not.toContain("- no licence");
  });

  test("is open about a wish that its rules do not cover", () => {
    const { messages } = converse("Summarize this repo", project);
    const { text } = decide(requestOf([...messages, user("And translate it into Latin")]));
    expect(text).toContain('You also asked: "And translate it into Latin"');
  });

  test("of an empty folder says so after one look", () => {
    const { turns, last } = converse("Summarize this repo", () => "(empty directory)");
    expect(turns).toHaveLength(2);
    expect(last).toContain("`demo` is empty");
  });

  test("goes on when a file cannot be read and counting fails", () => {
    const broken: Tools = (call) => (call.name === "ls" ? project(call) : { error: "Permission denied" });
    const { last } = converse("Summarize this repo", broken);
    expect(last).toContain("**demo**");
    expect(last).toContain("Counts: 3 folders and 2 files at the top.");
    expect(last).toContain("There was no manifest or README to read.");
  });

  test("tells the trouble when ls is refused, and does not try it by another door", () => {
    const { calls, last } = converse("Summarize this repo", () => ({ error: "Not today" }));
    expect(calls.flat().map((call) => call.name)).toEqual(["ls"]);
    expect(last).toBe("I could not look into `demo`: Not today");
  });

  test.each([
    [["read", "edit"], "on offer are `read` and `edit`"],
    [[], "no tool is on offer"],
  ])("says what it needs when only %j are on offer", (offered, text) => {
    const { turns, last } = converse("Summarize this repo", project, offered);
    expect(turns).toHaveLength(1);
    expect(last).toContain(text);
  });

  test("comes to an end even when somebody rewrites its calls", () => {
    const messages: LlmMessage[] = [user("Summarize this repo")];
    let rounds = 0;
    for (; rounds < 50; rounds++) {
      const decision = decide(requestOf(messages));
      const rewritten = decision.toolCalls.map((call) => ({
        ...call,
        arguments: { ...call.arguments, path: "/elsewhere" },
      }));
      messages.push(assistant(decision.text, rewritten), ...rewritten.map((call) => toolResult(call, "src/")));
      if (rewritten.length === 0) break;
    }
    expect(rounds).toBeLessThan(20);
  });
});

describe("with bash alone, in a real folder", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "scout-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const shell: Tools = ({ arguments: args }) => {
    const output = execFileSync("sh", ["-c", String(args.command)], { cwd: folder, encoding: "utf8" });
    return output === "" ? "(no output)" : output;
  };

  test("it summarizes all the same", () => {
    mkdirSync(join(folder, "src/deep"), { recursive: true });
    mkdirSync(join(folder, "node_modules/x"), { recursive: true });
    for (const [name, text] of Object.entries(PROJECT)) writeFileSync(join(folder, name), text);
    for (const name of ["src/it's.ts", "src/deep/b.ts", "node_modules/x/index.js"])
      writeFileSync(join(folder, name), "");
    const { last } = converse("Summarize this repo", shell, ["read-not", "bash"]);
    expect(last).toContain("**boat** 2.0.0 (TypeScript): Boat is a small program that floats.");
    expect(last).toContain("- `src/` (2 files)");
    expect(last).toContain("Counts: 4 files (2 .ts, 1 .json, 1 .md).");
  });

  test("it lists, finds and searches", () => {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src/a.ts"), "let first = 1;\nlet it's = 2;\n");
    writeFileSync(join(folder, "b.md"), "nothing\n");
    expect(converse("list", shell, ["bash"]).last).toContain("holds 1 folder and 1 file");
    expect(converse("find *.ts", shell, ["bash"]).last).toContain("1 match for `*.ts`:\n\n```\nsrc/a.ts\n```");
    expect(converse("find src/**/*.ts", shell, ["bash"]).last).toContain("src/a.ts");
    expect(converse("search it's", shell, ["bash"]).last).toContain("src/a.ts:2:");
    expect(converse("search absent", shell, ["bash"]).last).toBe("No line contains `absent`.");
    expect(converse("find absent", shell, ["bash"]).last).toBe("Nothing matches `*absent*`.");
  });

  test("an empty folder is empty", () => {
    expect(converse("what is this?", shell, ["bash"]).last).toContain("is empty");
  });

  test("any word reaches the shell unharmed", () => {
    const words = ["plain", "with space", "it's", "$(id)", "`id`", "-rf", "a\nb", "*", "~", "", "\\", '"'];
    writeFileSync(join(folder, "words.sh"), `printf '%s\\0' ${words.map(quote).join(" ")} > out`);
    execFileSync("sh", ["words.sh"], { cwd: folder });
    expect(readFileSync(join(folder, "out"), "utf8").split("\0").slice(0, -1)).toEqual(words);
  });
});

describe("one command, one call, one report", () => {
  const rows: readonly [words: string, call: Omit<MadeCall, "id">, answer: Answer, report: string][] = [
    [
      "read a.md",
      { name: "read", arguments: { path: "a.md" } },
      "one\ntwo\n",
      "`a.md` has 2 lines:\n\n```\none\ntwo\n```",
    ],
    [
      "read f.md",
      { name: "read", arguments: { path: "f.md" } },
      "```js\nx\n```",
      "`f.md` has 3 lines:\n\n````\n```js\nx\n```\n````",
    ],
    [
      "read no.md",
      { name: "read", arguments: { path: "no.md" } },
      { error: "ENOENT: no such file" },
      "That did not work: ENOENT: no such file",
    ],
    [
      "list src",
      { name: "ls", arguments: { path: "src" } },
      "deep/\na.ts",
      "`src` holds 1 folder and 1 file:\n\n```\ndeep/\na.ts\n```",
    ],
    [
      "find *.md",
      { name: "find", arguments: { pattern: "*.md", path: ".", limit: 5000 } },
      "a.md\nb.md",
      "2 matches for `*.md`:\n\n```\na.md\nb.md\n```",
    ],
    [
      "search TODO in src",
      { name: "grep", arguments: { pattern: "TODO", path: "src", literal: true, limit: 100 } },
      "a.ts:3: // TODO",
      "1 line with `TODO` in `src`:\n\n```\na.ts:3: // TODO\n```",
    ],
    [
      "run echo hi",
      { name: "bash", arguments: { command: "echo hi" } },
      "hi\n",
      "`echo hi` ran and said:\n\n```\nhi\n```",
    ],
    [
      "run false",
      { name: "bash", arguments: { command: "false" } },
      { error: "(no output)\n\nCommand exited with code 1" },
      "`false` failed:\n\n```\n(no output)\n\nCommand exited with code 1\n```",
    ],
    [
      "write a.txt: hi",
      { name: "write", arguments: { path: "a.txt", content: "hi" } },
      "Successfully wrote 2 bytes to a.txt",
      "Done. Successfully wrote 2 bytes to a.txt",
    ],
    [
      "replace a with b in c.ts",
      { name: "edit", arguments: { path: "c.ts", edits: [{ oldText: "a", newText: "b" }] } },
      "Successfully replaced 1 block(s) in c.ts.",
      "Done. Successfully replaced 1 block(s) in c.ts.",
    ],
  ];

  test.each(rows)("%s", (words, call, answer, report) => {
    const { turns, calls, last } = converse(words, () => answer);
    expect(turns).toHaveLength(2);
    expect(calls[0]).toEqual([{ id: "scout_1", ...call }]);
    expect(last).toBe(report);
  });

  test("long output is shown in part", () => {
    const output = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join("\n");
    expect(converse("read long.txt", () => output).last).toContain("line 40\n… and 60 more lines");
    expect(converse("run seq", () => output).last).toContain("… 60 lines before\nline 61\n");
  });

  test("a missing tool is named; writing is never done behind the host's back", () => {
    const { turns, last } = converse("write a.txt: hi", project, ["bash", "read"]);
    expect(turns).toHaveLength(1);
    expect(last).toContain("I need the tool `write` for that, and it is not switched on. On offer: `bash` and `read`.");
  });

  test("ids go on counting through the conversation", () => {
    const first = converse("read README.md", project);
    const second = converse("read package.json", project, ALL_TOOLS, first.messages);
    expect(second.calls[0]?.[0]?.id).toBe("scout_2");
  });
});

describe("anything else", () => {
  test("is answered with what it can do and how to connect a model", () => {
    const { last, turns } = converse("Hello!", project);
    expect(turns).toHaveLength(1);
    expect(last).toMatch(/^Hello! I am scout/);
    for (const word of [
      "not a language model",
      "summarize this repo",
      "ANTHROPIC_API_KEY",
      "OPENAI_API_KEY",
      "GEMINI_API_KEY",
      "ollama/NAME",
      "models.json",
      "--model",
    ]) {
      expect(last).toContain(word);
    }
  });

  test("a picture is politely declined", () => {
    const picture = { type: "image" as const, data: "", mimeType: "image/png" };
    const message: LlmMessage = {
      role: "user",
      content: [{ type: "text", text: "What's in this image?" }, picture],
      timestamp: 0,
    };
    expect(decide(requestOf([message])).text).toContain("I cannot look at pictures.");
  });

  test("an empty conversation too", () => {
    expect(decide(requestOf([])).text).toContain("I am scout");
  });
});

test("whatever the words and the tools say, it comes to an end with unique ids", () => {
  const words = fc.oneof(
    fc.constantFrom("Summarize this repo", "list", "read x.y", "find *", "Also include risks"),
    fc.string(),
  );
  const answer = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("src/\npackage.json\nREADME.md", "{", "# x"),
    fc.record({ error: fc.string() }),
  );
  fc.assert(
    fc.property(
      fc.array(words, { minLength: 1, maxLength: 3 }),
      fc.array(answer, { minLength: 1 }),
      fc.subarray(ALL_TOOLS),
      (prompts, answers, offered) => {
        let asked = 0;
        let messages: LlmMessage[] = [];
        for (const prompt of prompts) {
          const talk = converse(prompt, () => answers[asked++ % answers.length]!, offered, messages);
          expect(talk.turns[talk.turns.length - 1]!.toolCalls).toEqual([]);
          messages = talk.messages;
        }
        const ids = messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
        expect(new Set(ids).size).toBe(ids.length);
      },
    ),
  );
});
