import type { ToolResult } from "@tiller/protocol/tool";
import { readToolResult } from "../modes/rpc/host-tool-bridge.ts";
import type { RunHostTool } from "../session/host-tools.ts";
import type { CustomTool } from "./types.ts";

/** What the session lends as tools of the host, or why not. */
export function readCustomTools(tools: unknown): readonly CustomTool[] | { refused: string } {
  if (!Array.isArray(tools)) return { refused: "customTools must be a list of tools" };
  const lacks = (name: keyof CustomTool, type: string): number =>
    tools.findIndex((tool) => typeof (tool as Partial<CustomTool> | null)?.[name] !== type);
  const idle = lacks("execute", "function");
  if (idle >= 0) return { refused: `The custom tool at index ${idle} has no function "execute"` };
  const nameless = lacks("name", "string");
  return nameless < 0 ? tools : { refused: `The custom tool at index ${nameless} has no text as its "name"` };
}

/** Calls them in this process. One that does not listen to its signal is not waited for. */
export function runCustomTools(tools: readonly CustomTool[]): RunHostTool {
  // The session knows them by their names without spaces around.
  const byName = new Map(tools.map((tool) => [tool.name.trim(), tool]));
  return async ({ toolName, toolCallId, args, signal, onUpdate }) => {
    const tool = byName.get(toolName);
    if (!tool) throw new Error(`There is no custom tool "${toolName}" any more`);
    const given = await untilAborted(
      (async () => tool.execute(toolCallId, args, signal, (partial) => onUpdate(checked(toolName, partial))))(),
      signal,
      `Tool "${toolName}" was aborted`,
    );
    return checked(toolName, given);
  };
}

function checked(toolName: string, given: unknown): ToolResult {
  if (typeof given === "string") return { content: [{ type: "text", text: given.toWellFormed() }] };
  const read = readToolResult(given);
  if (typeof read === "string") throw new Error(`Tool "${toolName}" answered badly: its result ${read}`);
  if (read.details !== undefined) checkDetails(toolName, read.details);
  return read;
}

/** They are written to the session file: what cannot be would end the run there. */
function checkDetails(toolName: string, details: unknown): void {
  try {
    JSON.stringify(details);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Tool "${toolName}" answered badly: its details cannot be written as JSON: ${why}`);
  }
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, why: string): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new Error(why));
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
