import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { cliPath, repoRoot } from "../../../../test/support/rpc-process.ts";
import { parseArgs } from "../args.ts";
import { systemClock } from "../lib/clock.ts";
import { startAgent } from "./agent-process.ts";
import { storiesIn } from "./stories.ts";
import { commandWords, runTranscripts } from "./sub-command.ts";

const FAKE = `node ${join(repoRoot, "test/support/fixtures/fake-server.mjs")}`;
const PROMPT = '>  {"id":"1","type":"prompt","message":"hi"}';
const HOLDS = `# it holds\n${PROMPT}\n<  response agent_start … session_settled\n`;
const FAILS = `# it does not\n${PROMPT}\n<  response agent_end\n`;

/** Lines without an end on stdout, or a megabyte of them on stderr. */
const FLOOD = `const { writeSync } = require("node:fs");
const fd = Number(process.argv[2]);
const text = "y\\n".repeat(1 << 19);
for (let left = fd === 2 ? 1 : Infinity; left > 0; left--) {
  for (let at = 0; at < text.length; ) try { at += writeSync(fd, text.slice(at)); } catch (e) { if (e.code !== "EAGAIN") process.exit(1); }
}
`;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), "tiller-stories-"));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The command line as a person writes it, played in `cwd`. */
async function run(cwd: string, ...argv: string[]): Promise<{ code: number; printed: string[] }> {
  const parsed = parseArgs(["transcript", ...argv], "tiller");
  if (parsed.kind !== "transcript") throw new Error(JSON.stringify(parsed));
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const inputs = { words: parsed.words, run: parsed.run, env: process.env, cwd, clock: systemClock, print };
  return { code: await runTranscripts({ ...inputs, programName: "unused" }), printed };
}

describe("tiller transcript run", () => {
  test("tells of each story whether it holds, and the first difference", async () => {
    const cwd = folderWith({ "a.rpc.txt": HOLDS, "sub/b.rpc.txt": FAILS, "c.rpc.txt": "dance\n", "notes.txt": "no" });
    const { code, printed } = await run(cwd, "run", ".", "gone.rpc.txt", "--agent", FAKE);
    expect(code).toBe(1);
    expect(printed[0]).toBe("ok    a.rpc.txt: it holds");
    expect(printed[1]).toContain('c.rpc.txt:1: unknown word "dance"');
    expect(printed[2]).toMatch(/^FAIL {2}sub\/b.rpc.txt: it does not\n {6}sub\/b.rpc.txt:3: type is "agent_start"\n/);
    expect(printed[3]).toContain("gone.rpc.txt\n      there is no such file");
    expect(printed[4]).toBe("1 passed, 3 failed");
  });

  test("is content when all hold, and speaks JSON", async () => {
    const { code, printed } = await run(
      folderWith({ "a.rpc.txt": HOLDS }),
      "run",
      "a.rpc.txt",
      "--agent",
      FAKE,
      "--json",
    );
    expect([code, JSON.parse(printed.join(""))]).toEqual([0, [{ name: "a.rpc.txt", title: "it holds", ok: true }]]);
  });

  test("an agent that knows no scripts finds their model behind a server", async () => {
    const stories = ["plain-answer", "tool-call", "abort"].map((name) => `test/transcripts/${name}.rpc.txt`);
    const { code, printed } = await run(repoRoot, "run", ...stories, "--agent", `node "${cliPath()}"`);
    expect([code, printed.at(-1), ...printed]).toEqual([0, "3 passed, 0 failed", ...printed]);
  });

  test.each([
    ["is not there", "/nowhere/agent", "/nowhere/agent cannot be started: "],
    ["prints something else", `${FAKE} --bad not-json`, "a line on stdout is no JSON: "],
    ["ends at once", "node --version", "no frame came that fits"],
    ["floods stdout", "node ./flood.cjs 1", 'a line on stdout is no JSON: "y"'],
  ])("says so when the agent %s", async (_name, agent, says) => {
    const cwd = folderWith({ "a.rpc.txt": HOLDS, "flood.cjs": FLOOD });
    const { code, printed } = await run(cwd, "run", "a.rpc.txt", "--agent", agent);
    expect(code).toBe(1);
    expect(printed[0]).toContain(says);
  });

  test("of what an agent complains of the end is kept", async () => {
    const cwd = folderWith({ "flood.cjs": FLOOD });
    const command = { file: process.execPath, args: [join(cwd, "flood.cjs"), "2"], isOther: true };
    const setting = { args: [], env: {}, files: {}, agentFiles: {}, script: undefined, check: {} };
    const agent = startAgent({ ...command, machine: process.env, clock: systemClock }, setting);
    await agent.waitExit();
    expect(agent.stderr).toBe("y\n".repeat(32 * 1024));
    await agent.dispose();
  });

  test.each([
    ["no action", []],
    ["another action", ["walk", "a"]],
    ["an agent without a name", ["run", "a", "--agent", " "]],
    ["no file where there are no stories of our own", ["run"]],
  ])("%s is refused", async (_name, argv) => {
    expect(await run(repoRoot, ...argv)).toEqual({ code: 2, printed: [] });
  });
});

test("an agent with its arguments is words, without a shell", () => {
  expect(commandWords(`node "my agent.js" --x='a b' $HOME`)).toEqual(["node", "my agent.js", "--x=", "a b", "$HOME"]);
});

test("extensions lie beside the story or further up", () => {
  const folder = folderWith({ "fixtures/extensions/x.ts": "", "deep/down/a.rpc.txt": HOLDS });
  expect(storiesIn([join(folder, "deep")], folder)).toMatchObject([
    { name: "deep/down/a.rpc.txt", extensionsFolder: join(folder, "fixtures/extensions") },
  ]);
});
