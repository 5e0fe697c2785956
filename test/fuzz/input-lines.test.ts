import { COMMAND_TABLE } from "@tiller/protocol/command-table.generated";
import { union } from "@tiller/protocol/dialects/union";
import { describe, expect, test } from "vitest";
import { createLineSplitter } from "../../packages/coding-agent/src/lib/jsonl.ts";
import { ok } from "../../packages/coding-agent/src/modes/rpc/answer.ts";
import { createDispatcher } from "../../packages/coding-agent/src/modes/rpc/dispatcher.ts";
import { createLanes } from "../../packages/coding-agent/src/modes/rpc/lanes.ts";
import { at } from "../support/frame.ts";
import { inputLine } from "./input-lines.ts";
import { answerKey, type Expected, expectedAnswers } from "./line-oracle.ts";
import { createLots, planOf } from "./lots.ts";
import { playLines } from "./play-lines.ts";

/** Each line is answered or ignored as documented, whatever it is. */

const COMMANDS: ReadonlySet<string> = new Set(Object.keys(COMMAND_TABLE));

const counted = (keys: readonly Expected[]): Map<Expected, number> => {
  const counts = new Map<Expected, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

describe("mutated lines", () => {
  const { runs, seed } = planOf("CHECKED_LINES", 5000);

  test(`${runs} of them get the answers that the documentation names, seed ${seed}`, { timeout: 300_000 }, async () => {
    const lots = createLots(seed);
    const written: Expected[] = [];
    const note = (frame: unknown): void => void written.push(answerKey(at(frame, "command"), at(frame, "id")));
    const handlers = Object.fromEntries([...COMMANDS].map((name) => [name, () => ok({})]));
    const lanes = createLanes();
    const dispatcher = createDispatcher({
      handlers,
      dialect: union,
      lanes,
      answers: Object.fromEntries(
        ["extension_ui_response", "host_tool_result", "host_tool_update", "host_uri_result"].map((name) => [
          name,
          () => undefined,
        ]),
      ),
      write: (frame) => note(JSON.parse(JSON.stringify(frame))),
      writeJson: (json) => note(JSON.parse(json)),
      writePieces: (pieces) => note(JSON.parse([...pieces].join(""))),
      room: () => undefined,
    });
    const splitter = createLineSplitter({ maxBytes: 1e6, onLine: dispatcher.line, onTooLong: () => undefined });
    const expected: Expected[] = [];
    for (let n = 0; n < runs; n++) {
      const line = inputLine(lots, n);
      expected.push(...expectedAnswers(line, COMMANDS, n === 0));
      splitter.push(Buffer.concat([line, Buffer.from("\n")]));
      if (n % 1000 === 999) await lanes.drained();
    }
    await lanes.drained();
    expect(counted(written)).toEqual(counted(expected));
  });
});

const inProcesses = planOf("LINES", 0);

// Only when it is asked for.
if (inProcesses.runs > 0) {
  const { runs, seed } = inProcesses;
  test(`the real process outlives ${runs} lines, seed ${seed}`, { timeout: 3_600_000 }, async () => {
    const { lines, answers, processes } = await playLines(runs, seed, COMMANDS);
    process.stdout.write(`${lines} lines, ${answers} answers, ${processes} processes, TILLER_SEED=${seed}\n`);
  });
}
