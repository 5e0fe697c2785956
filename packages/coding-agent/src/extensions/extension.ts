import { setMaxListeners } from "node:events";
import type { HookName } from "../session/ports.ts";
import type { ExtensionSource } from "./loading/find-extensions.ts";

/** One extension that was loaded, with all that it has registered. Nothing here decides anything. */
export interface Extension {
  readonly source: ExtensionSource;
  readonly handlers: Map<HookName, Handler[]>;
  readonly tools: Map<string, ToolDefinition>;
  readonly commands: Map<string, CommandDefinition>;
  readonly flags: Map<string, FlagDefinition>;
  /** Dialogs of this extension that are open; while there are any its handlers may take their time. */
  dialogs: number;
  /** Unix milliseconds; when the last dialog was over. */
  dialogsOverAt: number;
  /** Aborts when another session is entered or the extensions are loaded anew: its objects are of no use any more. */
  readonly life: AbortController;
  readonly isAlive: boolean;
}

export type Handler = (event: object, ctx: object) => unknown;

/** As the extension gave it; `execute` and `name` were looked at. */
export interface ToolDefinition {
  name: string;
  label?: string;
  description?: string;
  parameters?: unknown;
  promptSnippet?: string;
  promptGuidelines?: readonly string[];
  prepareArguments?(args: unknown): unknown;
  executionMode?: "sequential" | "parallel";
  execute(
    toolCallId: string,
    params: unknown,
    signal: AbortSignal | undefined,
    onUpdate: ((partial: unknown) => void) | undefined,
    ctx: object,
  ): unknown;
}

export interface CommandDefinition {
  description?: string;
  handler(args: string, ctx: object): unknown;
  getArgumentCompletions?(prefix: string): unknown;
}

export interface FlagDefinition {
  type: "boolean" | "string";
  description?: string;
  default?: boolean | string;
}

export function newExtension(source: ExtensionSource): Extension {
  const life = new AbortController();
  // Every open dialog listens: that is no leak.
  setMaxListeners(0, life.signal);
  return {
    source,
    handlers: new Map(),
    tools: new Map(),
    commands: new Map(),
    flags: new Map(),
    dialogs: 0,
    dialogsOverAt: Number.NEGATIVE_INFINITY,
    life,
    get isAlive() {
      return !life.signal.aborted;
    },
  };
}

/** What an extension did wrong, or what went wrong in it. */
export interface ExtensionError {
  extensionPath: string;
  /** The hook, or what else it was doing. */
  event: string;
  error: string;
}
