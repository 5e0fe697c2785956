import { join } from "node:path";
import type { Frame } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, useProcessForAll, useRpc } from "../support/rpc-process.ts";

/** Processes with extensions that do something wrong. Each lies in the user's folder, under its own name. */

export interface BadOptions extends RpcOptions {
  /** `--set` for each. */
  settings?: Record<string, string | number | boolean>;
}

export type StartBad = (extensions: string | Record<string, string>, options?: BadOptions) => RpcProcess;

/** An extension whose factory does this. */
export function extension(body: string, top = ""): string {
  return `${top}\nexport default async function (pi) {\n${body}\n}\n`;
}

/** A tool that gives back what `body` gives back. */
export function tool(name: string, body: string): string {
  return `pi.registerTool({ name: ${JSON.stringify(name)}, description: "A tool", parameters: { type: "object", properties: {} },
    async execute(id, args, signal, onUpdate, ctx) { ${body} } });`;
}

export function command(name: string, body: string): string {
  return `pi.registerCommand(${JSON.stringify(name)}, { handler: async (args, ctx) => { ${body} } });`;
}

function rpcOptions(
  extensions: string | Record<string, string>,
  { settings = {}, args = [], agentFiles, ...options }: BadOptions = {},
): RpcOptions {
  const named = typeof extensions === "string" ? { bad: extensions } : extensions;
  const files = Object.fromEntries(Object.entries(named).map(([name, code]) => [`extensions/${name}.ts`, code]));
  const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
  return { ...options, args: [...set, ...args], agentFiles: { ...files, ...agentFiles } };
}

export function useBad(): StartBad {
  const start = useRpc();
  return (extensions, options) => start(rpcOptions(extensions, options));
}

/** One process for all tests of a group. */
export function useBadForAll(extensions: Record<string, string>, options?: BadOptions): () => RpcProcess {
  return useProcessForAll(rpcOptions(extensions, options));
}

/**
 * One process for many things that an extension may do wrong: every session has the extension anew, which then does the one
 * of `bodies` that was chosen. The function chooses one, opens a session for it and gives back where its frames begin.
 * Each has the whole `script`; `common` and `top` are there for all.
 */
export function useBadChoices(
  bodies: readonly string[],
  { common = "", top, script = [], ...options }: BadOptions & { common?: string; top?: string } = {},
): (choice: number) => Promise<{ rpc: RpcProcess; since: number }> {
  const code = `globalThis.chosen ??= -1;
    ${command("choose", "globalThis.chosen = Number(args);")}
    ${common}
    ${bodies.map((body, at) => `if (globalThis.chosen === ${at}) { ${body} }`).join("\n")}`;
  const all = bodies.flatMap(() => script);
  const process = useProcessForAll(rpcOptions(extension(code, top), { ...options, script: all }));
  const openSession = async (rpc: RpcProcess, choice: number): Promise<void> => {
    await rpc.prompt(`/choose ${choice}`);
    await rpc.call({ type: "new_session" });
  };
  return async (choice) => {
    const rpc = process();
    // The one before goes first.
    await openSession(rpc, -1);
    const since = rpc.mark();
    await openSession(rpc, choice);
    return { rpc, since };
  };
}

export function pathOf(rpc: RpcProcess, name = "bad"): string {
  return join(rpc.sandbox.agentDir, "extensions", `${name}.ts`);
}

/** What was told of extensions that did something wrong: the event and the error of each. */
export function errorsOf(rpc: RpcProcess, since = 0): { event: string; error: string; extensionPath: string }[] {
  return rpc.frames
    .slice(since)
    .filter(({ type }) => type === "extension_error")
    .map((frame) => ({
      event: String(frame.event),
      error: String(frame.error),
      extensionPath: String(frame.extensionPath),
    }));
}

/** The process still does its work: a prompt gets an answer. */
export async function worksStill(rpc: RpcProcess, message = "still there?"): Promise<void> {
  const { result } = await rpc.prompt(message);
  if (result.status !== "completed") throw new Error(`the prompt did not complete: ${JSON.stringify(result)}`);
}

export function resultsOf(rpc: RpcProcess, id: string): Frame[] {
  return rpc.frames.filter((frame) => frame.type === "prompt_result" && frame.id === id);
}

/** The text of the last tool result. */
export function toolResultOf(frames: readonly Frame[]): { text: string; isError: boolean } {
  const end = frames.findLast(({ type }) => type === "tool_execution_end");
  const result = end?.result as { content: { text?: string }[] } | undefined;
  return { text: (result?.content ?? []).map(({ text }) => text ?? "").join("\n"), isError: end?.isError === true };
}
