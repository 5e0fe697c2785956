import { afterEach, expect, it } from "vitest";
import { readSessionFile, treeProblems } from "../sessions/support/session-tree.ts";
import { at } from "../support/frame.ts";
import { type Reply, say, startMockLlm, useTool } from "../support/mock-llm.ts";
import { cliPath } from "../support/rpc-process.ts";
import { createSandbox } from "../support/sandbox.ts";
import { refusedIn } from "../support/wire-requests.ts";
import { type HostTool, type Json, SmallHost } from "./small-host.ts";

/** A host that dawdles and drops dead, again and again; nothing that was agreed is lost. */

const object = (properties: Json = {}): Json => ({ type: "object", properties });
const TOOLS: Record<string, HostTool> = {
  depth: {
    description: "Sounds the depth",
    parameters: object({ at: { type: "string" } }),
    run: async ({ at: place }) => `7 fathoms at ${place}`,
  },
  signal: {
    description: "Shows a signal, flag by flag",
    parameters: object({ flags: { type: "number" } }),
    async run({ flags }, progress) {
      for (let flag = 1; flag <= Number(flags); flag++) progress(`flag ${flag}`);
      return "shown";
    },
  },
  pilot: {
    description: "Calls a pilot, who never comes",
    parameters: object(),
    run: () => Promise.reject(new Error("no pilot answers")),
  },
};
const PLAN = [
  {
    id: "p",
    name: "Voyage",
    tasks: [
      { id: "t1", content: "Leave the harbour", status: "in_progress" },
      { id: "t2", content: "Find the channel", status: "pending" },
    ],
  },
];
/** Any of them may be the next, wherever a crash has left the conversation. */
const REPLIES: Reply[] = [
  useTool("depth", { at: "the bar" }),
  {
    steps: [
      { type: "toolUse", name: "signal", input: { flags: 5 } },
      { type: "toolUse", name: "depth", input: { at: "the buoy" } },
    ],
  },
  useTool("pilot", {}),
  say("The channel is clear."),
];

const PROMPTS = 12;
const CRASHES = 6;

/** The same dice every time: a failure can be looked at. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

it("lends three tools, seeds the plan, answers every question about them, and survives random delays and crashes of its side", async () => {
  const throwOf = dice(8);
  const llm = await startMockLlm();
  cleanUps.push(() => llm.close());
  for (let round = 0; round < PROMPTS + CRASHES; round++) llm.reply(...REPLIES);
  const sandbox = createSandbox({ agentFiles: { "models.json": llm.modelsJson() } });
  cleanUps.push(() => sandbox.remove());
  const start = (...more: string[]): SmallHost => {
    const host = new SmallHost({
      program: cliPath(),
      args: [
        "--model",
        "mock/mock-1",
        "--thinking",
        "off",
        "--set",
        "retry.enabled=false",
        "--approval-mode",
        "always",
        ...more,
      ],
      cwd: sandbox.cwd,
      env: sandbox.env,
      tools: TOOLS,
      delay: () => throwOf(20),
      approve: () => (throwOf(4) === 0 ? "Deny" : "Approve"),
    });
    cleanUps.push(() => host.kill());
    return host;
  };

  let host = start();
  await host.begin(PLAN);
  let [completed, crashes] = [0, 0];
  while (completed < PROMPTS) {
    const crashesNow = crashes < CRASHES && completed >= 1 && throwOf(2) === 0;
    const running = host.prompt(`leg ${completed + 1}`);
    if (!crashesNow) {
      expect(await running).toMatchObject({ status: "completed" });
      completed += 1;
      continue;
    }
    crashes += 1;
    const outcome = running.catch((error: Error) => error.message);
    await new Promise((resolve) => setTimeout(resolve, throwOf(60)));
    host.crash();
    await outcome;
    // Nobody has to end it.
    expect(await host.exitCode).toBe(0);
    host = start("--continue");
    expect(await host.begin(PLAN)).toEqual(PLAN);
  }
  expect(crashes).toBe(CRASHES);

  const { sessionFile } = await host.ask({ type: "get_state" });
  host.close();
  expect(await host.exitCode).toBe(0);
  const { entries, torn } = readSessionFile(String(sessionFile));
  expect([torn, treeProblems(entries, entries.at(-1)?.id)]).toEqual(["", []]);
  const answered = entries
    .filter((entry) => at(entry, "message", "role") === "toolResult")
    .map((entry) => at(entry, "message", "toolName"));
  expect(new Set(answered)).toEqual(new Set(Object.keys(TOOLS)));
  // Whatever a crash has left: no vendor would refuse what the model was sent, and the plan is in it.
  for (const { body } of llm.requests) expect(refusedIn("anthropic-messages", body)).toEqual([]);
  expect(JSON.stringify(llm.requests.at(-1)?.body)).toContain("Find the channel (t2)");
}, 120_000);
