import type { SessionHeader } from "@tiller/protocol/session-entry";
import type { PromptsInputs } from "./print/run-prompts.ts";
import { type RpcModeOptions, runRpcMode } from "./rpc/rpc-mode.ts";

/** All that a mode may need of what was put together for it. */
export interface ModeInputs extends RpcModeOptions, PromptsInputs {
  header(): SessionHeader;
  /** What stands on stderr already. */
  told: readonly string[];
}

/** How the process talks. Each resolves to the exit code. What RPC mode does not need is loaded when it is asked for. */
export const MODES = {
  rpc: runRpcMode,
  text: async (inputs: ModeInputs) => (await import("./print/print-mode.ts")).runPrintMode(inputs),
  json: async (inputs: ModeInputs) => (await import("./json/json-mode.ts")).runJsonMode(inputs),
} as const satisfies Record<string, (inputs: ModeInputs) => Promise<number>>;
