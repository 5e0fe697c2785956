import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { type MockLlm, type SeenRequest, say, startMockLlm } from "../support/mock-llm.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { refusedIn, saidIn } from "../support/wire-requests.ts";
import { ofType } from "./looking.ts";

/** For tests about what a model is really sent: one on loopback that answers everything, and processes that ask it. */
export interface AskedModel {
  start(options?: RpcOptions): RpcProcess;
  requests(): readonly SeenRequest[];
  /** What the user says in the last request, which no vendor would refuse. */
  said(): string[];
  systemPrompt(): string;
}

const FAMILY = "anthropic-messages";
const ARGS = ["--model", "mock/mock-1", "--thinking", "off", "--set", "retry.enabled=false"];

/** For the top of a test file. */
export function useAskedModel(): AskedModel {
  let llm: MockLlm;
  beforeEach(async () => {
    llm = await startMockLlm();
    llm.reply(...Array.from({ length: 8 }, (_, index) => say(`answer ${index + 1}`)));
  });
  // Hooks run last to first: the process, which `useRpc` ends, goes before the server it talks to.
  afterEach(() => llm.close());
  const start = useRpc();
  const lastBody = (): Record<string, unknown> => llm.requests.at(-1)?.body ?? {};
  return {
    start: ({ args = [], agentFiles, ...options } = {}) =>
      start({ agentFiles: { "models.json": llm.modelsJson(), ...agentFiles }, args: [...ARGS, ...args], ...options }),
    requests: () => llm.requests,
    said() {
      expect(refusedIn(FAMILY, lastBody())).toEqual([]);
      return saidIn(FAMILY, lastBody()).flatMap(({ by, text }) => (by === "user" ? [text] : []));
    },
    systemPrompt: () => String(at(lastBody(), "system", 0, "text")),
  };
}

export const warnings = (rpc: RpcProcess): string[] =>
  ofType(rpc.frames, "notice")
    .filter(({ level }) => level === "warning")
    .map(({ message }) => String(message));

export const commandsOf = async (rpc: RpcProcess, type = "get_commands"): Promise<Frame[]> =>
  list(at(await rpc.call({ type }), "data", "commands")) as Frame[];

export const namesOf = async (rpc: RpcProcess): Promise<unknown[]> => (await commandsOf(rpc)).map(({ name }) => name);

/** The text of a SKILL.md. */
export const skill = (name: string, body: string, more = ""): string =>
  `---\nname: ${name}\ndescription: How to ${name}\n${more}---\n\n${body}\n`;

export function writeText(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
