import { join } from "node:path";
import { expect, test } from "vitest";
import { brief } from "../support/frame.ts";
import { RpcProcess, repoRoot } from "../support/rpc-process.ts";
import { createLots, planOf } from "./lots.ts";

/** An extension whose handlers and tools answer nearly what they should: each prompt has its result, each frame its shape. */

const EXTENSION = join(repoRoot, "test/fixtures/extensions/run/answers-anything.ts");
const PROMPTS_PER_PROCESS = 100;
const TURNS = ['text "ok"', "toolCall odd {}", 'toolCall bash {"command":"true"}', 'thinking "hm" + text "yes"'];

const { runs, seed } = planOf("EXTENSION_ANSWERS", 12);

test(`${runs} prompts among odd answers, seed ${seed}`, { timeout: 1_800_000 }, async () => {
  for (let done = 0; done < runs; done += PROMPTS_PER_PROCESS) {
    await playPrompts(Math.min(PROMPTS_PER_PROCESS, runs - done), seed + done);
  }
});

async function playPrompts(prompts: number, start: number): Promise<void> {
  const lots = createLots(start);
  const rpc = new RpcProcess({
    script: Array.from({ length: prompts * 8 }, () => lots.one(TURNS)),
    args: ["-e", EXTENSION, "--set", "retry.baseDelayMs=1"],
    env: { ANSWERS_SEED: String(start) },
    check: { replacedMessages: true },
  });
  try {
    // What did not load would have nothing wrong with it.
    const { data } = await rpc.call({ type: "get_context" });
    expect(JSON.stringify(data)).toContain('"odd"');
    for (let n = 0; n < prompts; n++) {
      const id = `p${n}`;
      const since = rpc.mark();
      await rpc.call({ id, type: "prompt", message: "go", limits: { turns: 6 } });
      const result = await rpc.waitFor((frame) => frame.type === "prompt_result" && frame.id === id, { since });
      expect(["completed", "error", "aborted"], brief(result)).toContain(result.status);
      await rpc.waitFor("session_settled", { since });
      if (lots.oneIn(4)) await rpc.call({ type: "bash", command: "true" });
      if (lots.oneIn(6)) await rpc.call({ type: "compact" });
      if (lots.oneIn(12)) await rpc.call({ type: "new_session" });
    }
  } catch (error) {
    await rpc.dispose().catch(() => undefined);
    throw new Error(`ANSWERS_SEED=${start}: ${(error as Error).message}`);
  }
  await rpc.dispose().catch((error: Error) => {
    throw new Error(`ANSWERS_SEED=${start}: ${error.message}`);
  });
}
