import type inspector from "node:inspector";

/**
 * Lets the engine learn the types of all functions that have run, from their next call on. By itself it gives a function a
 * place to note them only after eight calls, and what a prompt calls is called once or twice: prompts 2 to 10 would
 * run as slowly as code can. To count calls takes the same place in every function, so counting is switched on and off again.
 * Takes some milliseconds.
 */
export function learnTypes(require: (id: string) => unknown): void {
  const { env, execArgv, features } = process;
  // Who measures this process would lose what was counted.
  const isWatched = Boolean(env.NODE_V8_COVERAGE) || execArgv.some((option) => /^--(inspect|cpu-prof)/.test(option));
  if (isWatched || !features.inspector) return;
  try {
    const { Session, url } = require("node:inspector") as typeof inspector;
    if (url() !== undefined) return;
    const session = new Session();
    session.connect();
    try {
      session.post("Profiler.enable");
      session.post("Profiler.startPreciseCoverage", { callCount: true });
      session.post("Profiler.stopPreciseCoverage");
    } finally {
      session.disconnect();
    }
  } catch {
    // Refused, by a permission model for example: then it learns in its own time.
  }
}
