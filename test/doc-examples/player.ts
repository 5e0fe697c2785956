import { explainResult } from "@tiller/protocol/check";
import { COMMANDS, type CommandType } from "@tiller/protocol/commands/index";
import type { CommandRow } from "@tiller/protocol/define";
import { expect } from "vitest";
import type { Frame } from "../support/frame.ts";
import type { RpcProcess } from "../support/rpc-process.ts";
import { shapeDifference } from "./shape.ts";

/** Sends examples of docs/protocol.md to the real process, and remembers which. */

/** Their answers are the same everywhere: no id, path, price or time in them. */
const EXACT = new Set(
  `prompt steer follow_up abort abort_and_prompt set_update_mode set_thinking_level set_steering_mode
  set_follow_up_mode set_interrupt_mode set_auto_compaction set_auto_retry abort_retry abort_bash new_session
  switch_session fork branch clone set_session_name set_label set_todos set_host_tools set_host_uri_schemes
  set_subagent_subscription`.split(/\s+/),
);

export const exampleName = (type: string, index: number): string => `${type} ${index}`;

export class ExamplePlayer {
  /** What was answered as the page says. */
  readonly played = new Set<string>();
  readonly frames: Frame[] = [];

  /** `places` replaces what stands for something of the reader's own: ids of entries, paths. */
  async play(rpc: RpcProcess, type: CommandType, index = 0, places: Record<string, unknown> = {}): Promise<Frame> {
    const row: CommandRow = COMMANDS[type];
    const example = row.examples[index];
    if (example === undefined) throw new Error(`${type} has no example ${index}`);
    const answer = await rpc.call({ type, ...(example.params as object), ...places });
    const label = exampleName(type, index);
    if (example.error !== undefined) expect(answer, label).toMatchObject({ success: false, error: example.error });
    else {
      expect(answer, label).toMatchObject({ success: true });
      expect(explainResult(type, answer.data), label).toBeUndefined();
      if (EXACT.has(type)) expect(answer.data, label).toEqual(example.data);
      else expect(shapeDifference(example.data ?? null, answer.data ?? null), label).toBeUndefined();
    }
    this.played.add(label);
    return answer;
  }

  /** All that were not played by name: commands that need no special moment. */
  async playRest(rpc: RpcProcess): Promise<void> {
    for (const name of workingExamples()) {
      const [type = "", index] = name.split(" ");
      if (!this.played.has(name)) await this.play(rpc, type as CommandType, Number(index));
    }
  }
}

export function workingExamples(): string[] {
  const rows: CommandRow[] = Object.values(COMMANDS);
  return rows
    .filter((row) => row.opens === undefined)
    .flatMap((row) => row.examples.map((_, index) => exampleName(row.type, index)));
}
