import type { Secret } from "./auth.ts";
import { ProviderError } from "./errors.ts";

/** Values that a command prints: run when they are needed, once in the life of a process. */

/** Runs a command line in a shell; `failure` says how it ended and never what it printed. */
export type RunCommand = (command: string) => Promise<{ output: string } | { failure: string }>;

export interface CommandValues {
  /** Calls `use` with all values at hand: at once when no command has to run for them. */
  resolve<T>(
    secrets: readonly Secret[],
    provider: string,
    use: (valueFor: (secret: Secret) => string) => T,
  ): T | Promise<T>;
}

export function createCommandValues(run: RunCommand): CommandValues {
  const known = new Map<string, string>();
  const running = new Map<string, Promise<void>>();

  const valueFor = (secret: Secret): string =>
    "value" in secret ? secret.value : "command" in secret ? (known.get(secret.command) ?? "") : "";

  /** A failure is not kept: the next prompt tries again, when the user may have unlocked something. */
  const learn = async (command: string, provider: string): Promise<void> => {
    const result = await run(command);
    const value = "output" in result ? result.output.trim() : "";
    if (value === "") throw commandFailed(provider, "failure" in result ? result.failure : "it printed nothing");
    known.set(command, value);
  };
  const learnOnce = (command: string, provider: string): Promise<void> => {
    const started = running.get(command) ?? learn(command, provider).finally(() => running.delete(command));
    running.set(command, started);
    return started;
  };

  return {
    resolve(secrets, provider, use) {
      const unknown = secrets.flatMap((secret) =>
        "command" in secret && !known.has(secret.command) ? [secret.command] : [],
      );
      if (unknown.length === 0) return use(valueFor);
      const all = [...new Set(unknown)].map((command) => learnOnce(command, provider));
      return Promise.all(all).then(() => use(valueFor));
    },
  };
}

function commandFailed(provider: string, why: string): ProviderError {
  return new ProviderError(
    "auth",
    `The command that gives the credentials of "${provider}" failed (${why}). Run it in a terminal to see more; it stands in models.json or auth.json.`,
  );
}
