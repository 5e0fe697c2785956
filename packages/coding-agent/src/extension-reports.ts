import type { ExtensionError } from "./extensions/extension.ts";
import type { SessionEvent } from "./session/session-event.ts";

/** What is to be said about extensions. Before anybody listens it is kept. */
export interface ExtensionReports {
  report(error: ExtensionError): void;
  /** Once for each key. */
  notice(key: string, message: string): void;
  /** What somebody has asked for and does not get, once for each text. */
  warn(message: string): void;
  listen(emit: (event: SessionEvent) => void): void;
}

export function createExtensionReports(): ExtensionReports {
  let emit: ((event: SessionEvent) => void) | undefined;
  const early: SessionEvent[] = [];
  const told = new Set<string>();
  const tell = (event: SessionEvent): void => void (emit ? emit(event) : early.push(event));
  const tellOnce = (key: string, level: "info" | "warning", message: string): void => {
    if (told.has(key)) return;
    told.add(key);
    tell({ type: "notice", level, source: "extensions", message });
  };
  return {
    report: (error) => tell({ type: "extension_error", ...error }),
    notice: (key, message) => tellOnce(key, "info", message),
    warn: (message) => tellOnce(`warning ${message}`, "warning", message),
    listen(given) {
      emit = given;
      for (const event of early.splice(0)) given(event);
    },
  };
}
