import { setMaxListeners } from "node:events";
import type { HookName } from "../session/ports.ts";
import type { ExtensionSource } from "./loading/find-extensions.ts";

/** Dialogs that are open: whoever waits for a person may take his time. */
export interface OpenDialogs {
  dialogs: number;
  /** Unix milliseconds; when the last one was over. */
  dialogsOverAt: number;
}

/** One extension that was loaded, with all that it has registered. Its dialogs are those that belong to no call. */
export interface Extension extends OpenDialogs {
  readonly source: ExtensionSource;
  readonly handlers: Map<HookName, Handler[]>;
  readonly tools: Map<string, ToolDefinition>;
  readonly commands: Map<string, CommandDefinition>;
  readonly flags: Map<string, FlagDefinition>;
  /** Aborts when another session is entered or the extensions are loaded anew: its objects are of no use any more. */
  readonly life: AbortSignal;
  readonly isAlive: boolean;
  end(): void;
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
  let isAlive = true;
  let life: AbortController | undefined;
  /** Made for the first who listens: at a start nobody does. */
  const makeLife = (): AbortController => {
    const made = new AbortController();
    // Every open dialog listens: that is no leak.
    setMaxListeners(0, made.signal);
    if (!isAlive) made.abort();
    return made;
  };
  return {
    source,
    handlers: new Map(),
    tools: new Map(),
    commands: new Map(),
    flags: new Map(),
    ...noDialogs(),
    get life() {
      life ??= makeLife();
      return life.signal;
    },
    get isAlive() {
      return isAlive;
    },
    end() {
      isAlive = false;
      life?.abort();
    },
  };
}

export function noDialogs(): OpenDialogs {
  return { dialogs: 0, dialogsOverAt: Number.NEGATIVE_INFINITY };
}

/** What an extension did wrong, or what went wrong in it. */
export interface ExtensionError {
  extensionPath: string;
  /** The hook, or what else it was doing. */
  event: string;
  error: string;
}
