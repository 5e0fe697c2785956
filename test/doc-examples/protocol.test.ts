import { join } from "node:path";
import type { EventRow, FrameRow } from "@tiller/protocol/define";
import { EVENTS } from "@tiller/protocol/events";
import { FRAMES } from "@tiller/protocol/frames";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Frame } from "../support/frame.ts";
import { RpcProcess, repoRoot } from "../support/rpc-process.ts";
import { ExamplePlayer, workingExamples } from "./player.ts";
import { shapeDifference } from "./shape.ts";
import { EXTENSION, MODEL, STORY } from "./story.ts";

/**
 * docs/protocol.md is executed: every example of a command is sent to the real process and answered as the page says,
 * and every example of an event or frame has a real one that looks like it. One long story in one process, and a short
 * one in another that has one model only.
 */

const FILES = {
  "src/a.ts": "export const parse = 1;\n",
  "AGENTS.md": "Be brief.\n",
  "examples.js": EXTENSION,
  ".tiller/prompts/check.md": "---\ndescription: Check the staged changes\n---\nCheck.\n",
  ".omp/rules/no-any.md": "---\ncondition: ': any\\b'\n---\nAvoid any.\n",
};
const SETTINGS = [
  "compaction.keepRecentTokens=1",
  "tasks.todoClearDelay=0",
  "retry.baseDelayMs=1",
  "rpc.emitTitle=true",
];
const ARGS = [
  ...["--approve", "--tools", "read,bash,write,grep,todo,task", "-e", "examples.js"],
  ...["-e", join(repoRoot, "test/fixtures/extensions/conformance/ui.ts")],
  ...SETTINGS.flatMap((setting) => ["--set", setting]),
];

const player = new ExamplePlayer();
const running: RpcProcess[] = [];
const frames: Frame[] = [];

beforeAll(async () => {
  const rich = new RpcProcess({
    script: MODEL,
    env: { ANTHROPIC_API_KEY: "none" },
    files: FILES,
    args: ARGS,
    check: { runsWithoutPrompt: true },
  });
  running.push(rich);
  for (const step of STORY) await step(rich, player);
  const poor = new RpcProcess({ args: ["--no-session"] });
  running.push(poor);
  await player.play(poor, "cycle_model", 1);
  await player.play(poor, "cycle_thinking_level", 1);
  await player.playRest(rich);
  for (const rpc of running) frames.push(...rpc.frames);
}, 60_000);

afterAll(async () => {
  for (const rpc of running) await rpc.dispose();
});

test("every example of a command that works was answered as the page says", () => {
  expect(workingExamples().filter((name) => !player.played.has(name))).toEqual([]);
});

/** Why no real frame looks like this one: what the most similar of them lacks. */
function missing(type: string, example: object): string | undefined {
  const real = frames.filter((frame) => frame.type === type);
  const differences = real.map((frame) => shapeDifference(example, frame));
  return differences.includes(undefined) ? undefined : (differences.at(-1) ?? "none was seen");
}

describe.each<EventRow>(Object.values(EVENTS).filter((row: EventRow) => row.opens === undefined))(
  "the event $type",
  ({ type, promptScoped, examples }) => {
    test("is told as the page shows it", () => {
      const envelope = promptScoped ? { seq: 1, promptId: "prompt-1" } : { seq: 1 };
      for (const example of examples) expect(missing(type, { type, ...envelope, ...example })).toBeUndefined();
    });
  },
);

describe.each<FrameRow>(
  Object.values(FRAMES).filter((row: FrameRow) => row.opens === undefined && row.direction === "out"),
)("the frame $type", ({ type, examples }) => {
  test("is sent as the page shows it", () => {
    for (const example of examples) {
      // Of a request of an extension the method says what it looks like.
      const { method } = example as { method?: string };
      const real = frames.filter((frame) => frame.type === type && frame.method === method);
      const differences = real.map((frame) => shapeDifference(example, frame));
      expect(differences.includes(undefined), `${JSON.stringify(example)}: ${differences.at(-1)}`).toBe(true);
    }
  });
});
