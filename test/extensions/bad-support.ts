import { join } from "node:path";
import type { Frame } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";

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

export function useBad(): StartBad {
  const start = useRpc();
  return (extensions, { settings = {}, args = [], agentFiles, ...options } = {}) => {
    const named = typeof extensions === "string" ? { bad: extensions } : extensions;
    const files = Object.fromEntries(Object.entries(named).map(([name, code]) => [`extensions/${name}.ts`, code]));
    const set = Object.entries(settings).flatMap(([key, value]) => ["--set", `${key}=${value}`]);
    return start({ ...options, args: [...set, ...args], agentFiles: { ...files, ...agentFiles } });
  };
}

export function pathOf(rpc: RpcProcess, name = "bad"): string {
  return join(rpc.sandbox.agentDir, "extensions", `${name}.ts`);
}

/** What was told of extensions that did something wrong: the event and the error of each. */
export function errorsOf(rpc: RpcProcess): { event: string; error: string; extensionPath: string }[] {
  return rpc.frames
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
