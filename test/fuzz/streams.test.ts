import { afterAll, describe, expect, test } from "vitest";
import { fourFamilies } from "../support/four-families.ts";
import { brief } from "../support/frame.ts";
import { type MockLlm, say, startMockLlm, stream } from "../support/mock-llm.ts";
import { RpcProcess } from "../support/rpc-process.ts";
import { FAMILIES, readStream, STREAM_NAMES } from "../support/streams/expected.ts";
import { decode, READERS } from "../support/streams/read.ts";
import { problemsWith } from "../support/streams/sound-message.ts";
import { createLots, type Lots, planOf } from "./lots.ts";
import { mutatedBytes, mutatedValue } from "./mutations.ts";

/** Streams of all four families with something wrong in them: no crash, no hang, and a message that can be kept. */

/** Damaged bytes, or an event in which one value is another. */
function mutatedStream(bytes: Buffer, lots: Lots): Buffer {
  if (lots.oneIn(2)) return mutatedBytes(bytes, lots);
  // By LF: other characters that end lines may stand in texts.
  const events = bytes.toString("utf8").split(/(?<=\n)/);
  const data = events.flatMap((line, at) => (/^data: \{.*\}\r?\n/.test(line) ? [at] : []));
  const place = lots.one(data);
  if (place === undefined) return mutatedBytes(bytes, lots);
  const value = mutatedValue(JSON.parse((events[place] ?? "").slice("data: ".length)), lots);
  return Buffer.from(events.with(place, `data: ${JSON.stringify(value)}\n`).join(""));
}

describe.each(FAMILIES)("streams of %s", (family) => {
  const { runs, seed } = planOf("STREAMS", 150);
  const streams = STREAM_NAMES.map((name) => readStream(family, name));

  test(`${runs} mutations, seed ${seed}`, { timeout: 600_000 }, () => {
    const lots = createLots(seed);
    for (let n = 0; n < runs; n++) {
      const bytes = mutatedStream(lots.one(streams), lots);
      const problems = problemsWith(READERS[family].read, decode(bytes));
      if (problems.length > 0) expect([n, problems, bytes.toString()]).toEqual([n, [], ""]);
    }
  });
});

const throughProcess = planOf("STREAMS_THROUGH", 0);

// Only when it is asked for.
if (throughProcess.runs > 0) {
  describe("the real process", () => {
    const { runs, seed } = throughProcess;
    let llm: MockLlm | undefined;
    afterAll(() => llm?.close());

    test.each(FAMILIES)(`outlives ${runs} of %s, seed ${seed}`, { timeout: 1_800_000 }, async (family) => {
      const lots = createLots(seed);
      llm = await startMockLlm({ otherwise: say("ok") });
      const provider = family === "anthropic-messages" ? "mock" : `mock-${family}`;
      const rpc = new RpcProcess({
        agentFiles: { "models.json": fourFamilies(llm) },
        args: [
          ...["--no-session", "--no-tools", "--model", `${provider}/mock-1`],
          ...["--set", "retry.enabled=false", "--set", "retry.provider.idleTimeoutMs=2000"],
        ],
      });
      for (let n = 0; n < runs; n++) {
        llm.reply(stream(mutatedStream(readStream(family, lots.one(STREAM_NAMES)), lots)));
        const { result } = await rpc.prompt("go", { id: `p${n}`, limits: { turns: 1 } });
        if (!["completed", "error", "aborted"].includes(String(result.status)))
          throw new Error(`${n}: ${brief(result)}`);
        if (n % 50 === 49) await rpc.call({ type: "new_session" });
      }
      await rpc.dispose();
      await llm.close();
    });
  });
}
