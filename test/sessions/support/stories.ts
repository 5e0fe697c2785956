import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { at, type Frame, list } from "../../support/frame.ts";
import type { RpcOptions, RpcProcess } from "../../support/rpc-process.ts";
import { messagesIn, readSessionFile, treeProblems } from "./session-tree.ts";

/** Words in which the stories about sessions are told. */

/** A turn that asks for a tool which waits until the test says so by `letGo`. */
export const WAITS = 'text "waiting" + toolCall bash {"command":"until [ -e go ]; do sleep 0.02; done; rm go"}';

export function letGo(rpc: RpcProcess): void {
  writeFileSync(join(rpc.sandbox.cwd, "go"), "");
}

/** Starts a run and resolves when its tool waits. `settle` lets it go on to its end. */
export async function runThatWaits(rpc: RpcProcess, message: string): Promise<{ settle(): Promise<Frame> }> {
  const since = rpc.mark();
  await rpc.call({ type: "prompt", message });
  await rpc.waitFor("tool_execution_start", { since });
  return {
    async settle() {
      letGo(rpc);
      const result = await rpc.waitFor("prompt_result", { since });
      await rpc.waitFor("session_settled", { since });
      return result;
    },
  };
}

export const script = (...texts: string[]): string[] => texts.map((text) => `text ${JSON.stringify(text)}`);

/** Another process of the same host: same configuration, same sessions, same locks. */
export const beside = (first: RpcProcess, ...args: string[]): Pick<RpcOptions, "env" | "args"> => ({
  env: { TILLER_DIR: first.sandbox.agentDir },
  args,
});

export async function dataOf(rpc: RpcProcess, command: { type: string } & Record<string, unknown>): Promise<Frame> {
  const answer = await rpc.call(command);
  expect(answer).toMatchObject({ success: true });
  return (answer.data ?? {}) as Frame;
}

export const fileOf = async (rpc: RpcProcess): Promise<string> =>
  String((await dataOf(rpc, { type: "get_state" })).sessionFile);
export const messagesOf = async (rpc: RpcProcess): Promise<unknown[]> =>
  list((await dataOf(rpc, { type: "get_messages" })).messages);
export const entriesOf = async (rpc: RpcProcess): Promise<Frame[]> =>
  list((await dataOf(rpc, { type: "get_entries" })).entries) as Frame[];

export const noticesOf = (rpc: RpcProcess, since = 0): Frame[] =>
  rpc.frames.slice(since).filter(({ type }) => type === "notice");

/** The texts of a conversation; enough to see who said what in which order. */
export const textsOf = (messages: readonly unknown[]): string[] =>
  messages.map((message) => {
    const content = at(message, "content");
    return typeof content === "string" ? content : String(at(content, 0, "text"));
  });

/** The file is whole, and holds the conversation and nothing else, in order. */
export function expectFileHolds(path: string, messages: readonly unknown[]): void {
  const { header, entries, torn } = readSessionFile(path);
  expect(header).toMatchObject({ type: "session", version: 3 });
  expect(torn).toBe("");
  expect(treeProblems(entries, entries.at(-1)?.id)).toEqual([]);
  expect(messagesIn(entries)).toEqual(messages);
}
