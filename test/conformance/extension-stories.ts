import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { DIALECTS as KNOWN } from "@tiller/protocol/dialects/index";
import type { Frame } from "../support/frame.ts";
import { PLAYS_ALL } from "../support/part-of.ts";
import { type RpcProcess, repoRoot } from "../support/rpc-process.ts";

/** What the stories about extensions have in common: the extensions, and the part of a host that answers them. */

export const DIALECTS = Object.keys(KNOWN) as DialectName[];

/** For stories that all dialects tell alike, or the two others nearly as union does; test:long plays all four. */
export const PLAYED = DIALECTS.filter((name) => PLAYS_ALL || name === "union" || name === "pi");

const fixture = (name: string): string => join(repoRoot, "test/fixtures/extensions/conformance", `${name}.ts`);

/** For the command line. */
export const extensions = (...names: string[]): string[] => names.flatMap((name) => ["-e", fixture(name)]);

/** For `files` and `agentFiles`: where an extension is found by itself. */
export const sourceOf = (name: string): string => readFileSync(fixture(name), "utf8");

let prompts = 0;

/** Sends a prompt and waits for nothing; gives its id. */
export function say(rpc: RpcProcess, message: string): string {
  prompts += 1;
  const id = `say-${prompts}`;
  rpc.send({ id, type: "prompt", message });
  return id;
}

/** The call of a method of `ctx.ui`, as the extension `ui` understands it. */
export const calling = (method: string, given: readonly unknown[], command = "/ui"): string =>
  `${command} ${method} ${JSON.stringify(given)}`;

export const isRequest =
  (method?: string) =>
  (frame: Frame): boolean =>
    frame.type === "extension_ui_request" && (method === undefined || frame.method === method);

/** What the extension `ui` tells when its call has come back. */
export const isOutcome =
  (method: string) =>
  (frame: Frame): boolean =>
    isRequest("notify")(frame) && String(frame.message).startsWith(`${method}: `);

export const isNotified =
  (text: string) =>
  (frame: Frame): boolean =>
    isRequest("notify")(frame) && frame.message === text;

export const isResponse =
  (id: unknown) =>
  (frame: Frame): boolean =>
    frame.type === "response" && frame.id === id;

/** A dialog that the extension `ui` has opened, and what a host does with it. */
export interface Dialog {
  request: Frame;
  answer(fields: object): void;
  /** What the call has given the extension, as JSON; waits for it. */
  outcome(): Promise<string>;
  /** The extension has its answer. */
  isOver(): boolean;
}

export async function openDialog(
  rpc: RpcProcess,
  method: string,
  given: readonly unknown[],
  command?: string,
): Promise<Dialog> {
  const since = rpc.mark();
  const prompt = say(rpc, calling(method, given, command));
  const request = await rpc.waitFor(isRequest(method), { since });
  return {
    request,
    answer: (fields) => rpc.send({ type: "extension_ui_response", id: request.id, ...fields }),
    async outcome() {
      const { message } = await rpc.waitFor(isOutcome(method), { since });
      await rpc.waitFor(isResponse(prompt), { since });
      return String(message).slice(method.length + 2);
    },
    isOver: () => rpc.frames.slice(since).some(isOutcome(method)),
  };
}
