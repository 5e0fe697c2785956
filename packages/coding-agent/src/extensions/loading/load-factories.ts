import type { Clock } from "@tiller/protocol/clock";
import { plainNames } from "./compiled.ts";
import type { ModuleLoader } from "./module-loader.ts";

/** Evaluates the modules of all extensions at once and finds the function in each that makes the extension. */

export type ExtensionFactory = (api: never) => unknown;

export type LoadedFactory<Source> =
  | { source: Source; factory: ExtensionFactory }
  /** `stack` with the lines of the source, for whoever looks for the reason. */
  | { source: Source; error: string; stack?: string };

export interface LoadOptions {
  timeoutMs: number;
  clock: Clock;
}

export async function loadFactories<Source extends { path: string }>(
  sources: readonly Source[],
  loader: ModuleLoader,
  { timeoutMs, clock }: LoadOptions,
): Promise<LoadedFactory<Source>[]> {
  // They all begin now: one timer is enough for them.
  let cancel = (): void => undefined;
  const tooLate = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () =>
      reject(new Error(`the module did not finish loading within ${timeoutMs} ms; look for an await that never ends`)),
    );
  });
  try {
    return await Promise.all(sources.map((source) => loadOne(source, loader, tooLate)));
  } finally {
    cancel();
  }
}

async function loadOne<Source extends { path: string }>(
  source: Source,
  loader: ModuleLoader,
  tooLate: Promise<never>,
): Promise<LoadedFactory<Source>> {
  try {
    const namespace = await Promise.race([loader.load(source.path), tooLate]);
    const factory = factoryOf(namespace);
    if (factory) return { source, factory };
    return { source, error: `Extension does not export a valid factory function: ${source.path}` };
  } catch (error) {
    const message = plainNames(error instanceof Error ? error.message : messageOf(error));
    return { source, error: `Failed to load extension: ${message}`, stack: await loader.stackOf(error) };
  }
}

function messageOf(error: unknown): string {
  const message = (error as { message?: unknown } | null | undefined)?.message;
  return typeof message === "string" ? message : String(error);
}

/** `export default`, `module.exports =`, or a default inside the default, as compiled packages have it. */
function factoryOf(namespace: Record<string, unknown>): ExtensionFactory | undefined {
  let found: unknown = namespace.default;
  if (typeof found === "object" && found !== null && "default" in found) found = found.default;
  return typeof found === "function" ? (found as ExtensionFactory) : undefined;
}
