import type { ExtensionReports } from "./extension-reports.ts";
import { guardListeners } from "./extensions/guards/guard-listeners.ts";
import { guardProcess, isProcessExit } from "./extensions/guards/guard-process.ts";
import { guardStreams } from "./extensions/guards/guard-streams.ts";
import { type ExtensionPlace, errorText, ownerOf } from "./extensions/guards/rejections.ts";
import { createWatchdog, type WatchdogOptions } from "./extensions/guards/watchdog.ts";

/** What keeps the process whole whatever an extension does to it. In force from the moment it is made. */
export interface ExtensionGuards {
  /** Our thread goes into an extension; the function that it gives back says that it has come out again. */
  enter(label: string): () => void;
  /** Something is about to be loaded that sees all modules of the runtime. */
  onNative(): void;
  /** An extension wants the process to end with this code. */
  onExit(leave: (code: number) => void): void;
  /** An error that nobody caught: true when it is an extension's, and told. */
  takeError(error: unknown, event: "unhandled_rejection" | "uncaught_exception"): boolean;
}

/** Our own code lies here. */
const OWN_FOLDER = import.meta.dirname;

export interface GuardOptions {
  stuckMs: number;
  lineInSource: WatchdogOptions["lineInSource"];
  /** The process is somebody else's: nothing of it is replaced or watched. */
  isGuest: boolean;
}

export function createExtensionGuards(
  places: () => readonly ExtensionPlace[],
  { report }: ExtensionReports,
  { stuckMs, lineInSource, isGuest }: GuardOptions,
): ExtensionGuards {
  let leave: ((code: number) => void) | undefined;
  const owner = (error: unknown): string | undefined => ownerOf(error, places(), OWN_FOLDER);
  const takeError: ExtensionGuards["takeError"] = (error, event) => {
    // It was told when it was asked for.
    if (isProcessExit(error)) return true;
    const extensionPath = owner(error);
    if (extensionPath === undefined) return false;
    report({ extensionPath, event, error: errorText(error) });
    return true;
  };
  if (isGuest) return { enter: () => () => undefined, onNative: () => undefined, onExit: () => undefined, takeError };
  const guard = guardProcess({
    process,
    ownerOf: owner,
    onExit(code, extensionPath, call) {
      report({ extensionPath, event: call, error: `${call} was called: the process ends in order` });
      // Before there is a session there is nothing to put in order.
      if (leave) leave(code);
      else guard.exit(code);
    },
  });
  guardListeners(process, owner);
  const streams = guardStreams();
  const { enter } = createWatchdog({ exit: guard.exit, limitMs: stuckMs, lineInSource });
  return {
    enter,
    onNative: streams.complete,
    onExit(given) {
      leave = given;
    },
    takeError,
  };
}
