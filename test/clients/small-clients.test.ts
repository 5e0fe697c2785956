import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CLIENT_FOLDER, MOST_LINES } from "../../scripts/generate/clients-doc.ts";
import { repoRoot } from "../support/rpc-process.ts";
import { runProgram } from "./run-program.ts";

/** The programs of docs/write-a-client.md: each runs as it stands, where its language is installed. */

interface SmallClient {
  file: string;
  /** What runs it, before the file. */
  runner: readonly string[];
  /** Programs that it needs; without them it is not executed, and the name of the test says so. */
  needs: readonly string[];
}

const CLIENTS: readonly SmallClient[] = [
  { file: "client.py", runner: ["python3"], needs: ["python3"] },
  { file: "client.mjs", runner: [process.execPath], needs: [] },
  { file: "client.sh", runner: ["bash"], needs: ["bash", "jq"] },
  { file: "client.pl", runner: ["perl"], needs: ["perl"] },
  { file: "client.go", runner: ["go", "run"], needs: ["go"] },
];

const folder = join(repoRoot, CLIENT_FOLDER);
const source = (file: string) => readFileSync(join(folder, file), "utf8");
const isMissing = (program: string) => spawnSync(program, ["--version"], { stdio: "ignore" }).error !== undefined;

const GUARD = `
export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const branch = await ctx.ui.select("Which branch?", ["main", "next"]);
    const yes = await ctx.ui.confirm("Push to " + branch + "?", event.input.command);
    ctx.ui.notify("asked", "info");
    return yes ? undefined : { block: true, reason: "Not today." };
  });
}
`;
const SCRIPT = {
  turns: [
    [
      { text: 'Let me "push" it,\n\t100 % \\n caf\u00e9 \u{1f600}.\n', chunk: 3 },
      { toolCall: { name: "bash", arguments: { command: "echo pushed" } } },
    ],
    { expect: { user: 'Push \u00e9 "it"', toolResult: "pushed" }, steps: [{ text: "It is \u2028pushed.", chunk: 4 }] },
  ],
};
const FILES = { "guard.js": GUARD, "script.json": JSON.stringify(SCRIPT) };
const ANSWER = 'Let me "push" it,\n\t100 % \\n caf\u00e9 \u{1f600}.\n\nIt is \u2028pushed.\n\ncompleted\n';

test("the page has every program, as it stands, and none is longer than it says", () => {
  const page = readFileSync(join(repoRoot, "docs/write-a-client.md"), "utf8");
  expect(readdirSync(folder).toSorted()).toEqual(CLIENTS.map(({ file }) => file).toSorted());
  for (const { file } of CLIENTS) {
    expect(page.includes(source(file).trimEnd()), file).toBe(true);
    expect(source(file).trimEnd().split("\n").length, file).toBeLessThanOrEqual(MOST_LINES);
  }
});

describe.each(CLIENTS)("$file", ({ file, runner, needs }) => {
  const missing = needs.filter(isMissing);
  if (missing.length > 0) {
    test(`is not executed here: ${missing.join(" and ")} is not installed`, () => {
      expect(source(file)).toContain("prompt_result");
    });
    return;
  }

  test("prints what is streamed, answers the dialogs and ends with the prompt", { timeout: 60_000 }, async () => {
    const options = ["--script", "script.json", "--extension", "guard.js"];
    const program = [...runner, join(folder, file), 'Push \u00e9 "it"', ...options];
    const { code, stdout, stderr, left } = await runProgram(program, { files: FILES });
    expect([stdout, code, left], stderr).toEqual([ANSWER, 0, []]);
  });

  test("says why a prompt has failed", { timeout: 60_000 }, async () => {
    const turns = [[{ text: "Let me" }, { error: { status: 400, message: 'no "such" model' } }]];
    const program = [...runner, join(folder, file), "Hello", "--script", "script.json"];
    const { code, stdout, left } = await runProgram(program, {
      files: { "script.json": JSON.stringify({ turns }) },
    });
    expect([stdout, code, left]).toEqual([expect.stringMatching(/^Let me\n\nerror: .*no "such" model.*\n$/), 1, []]);
  });
});
