import type { CompatHost } from "./host.ts";
import { isLight, LIGHT_TYPES } from "./light-types.ts";
import type { OpenParts } from "./parts.ts";
import type { Names } from "./stand-in.ts";
import { hasTypebox, loadTypebox } from "./typebox.ts";

/**
 * The modules that extensions of pi, omp and their kin import by name. Nothing of them is loaded before somebody asks.
 */

type Package = "pi-coding-agent" | "pi-ai" | "pi-agent-core" | "pi-tui";

const SPECIFIER = /^@(?:mariozechner|earendil-works|oh-my-pi)\/(pi-coding-agent|pi-ai|pi-agent-core|pi-tui)(?:\/.*)?$/;
const TYPEBOX = /^(?:@sinclair\/)?typebox(?:\/(.+))?$/;

const LOAD: Readonly<Record<Package, (host: CompatHost) => Promise<OpenParts>>> = {
  "pi-coding-agent": async (host) => (await import("./coding-agent.ts")).codingAgentModule(host),
  "pi-ai": async (host) => (await import("./ai.ts")).aiModule(host),
  "pi-agent-core": async (host) => {
    const [{ agentCoreModule }, codingAgent] = await Promise.all([
      import("./agent-core.ts"),
      packageOf("pi-coding-agent", host),
    ]);
    return whole(agentCoreModule(host, codingAgent as Record<string, unknown>));
  },
  "pi-tui": async (host) => whole((await import("./tui.ts")).tuiModule(host)),
};

function whole(module: Names): OpenParts {
  return async () => module;
}

/** The same object for all extensions of a host: their classes are to know each other. */
const made = new WeakMap<CompatHost, Map<Package, Promise<OpenParts>>>();

async function packageOf(name: Package, host: CompatHost, wanted?: readonly string[]): Promise<object> {
  const packages = made.get(host) ?? new Map<Package, Promise<OpenParts>>();
  made.set(host, packages);
  const known = packages.get(name) ?? LOAD[name](host);
  packages.set(name, known);
  return (await known)(wanted);
}

/** Whether `compatModule` knows the name; nothing is loaded for the answer. */
export function isCompatModule(specifier: string): boolean {
  const typebox = TYPEBOX.exec(specifier);
  return SPECIFIER.test(specifier) || (typebox !== null && hasTypebox(partOf(typebox)));
}

function partOf(typebox: RegExpExecArray): string {
  return (typebox[1] ?? "").replace(/\.m?js$/, "");
}

/**
 * The module behind a name, with any sub-path of its package; undefined when it is none of ours. `wanted` are the names
 * that are imported from it, if that is known: only what they need is loaded. `*` and `default` stand for all of it. `code`
 * is that of the module that imports it: the whole schema library is loaded only for those who use more than its common types.
 */
export function compatModule(
  specifier: string,
  host: CompatHost,
  wanted?: readonly string[],
  code?: string,
): Promise<object> | undefined {
  const name = SPECIFIER.exec(specifier)?.[1] as Package | undefined;
  if (name !== undefined) return packageOf(name, host, wanted);
  const typebox = TYPEBOX.exec(specifier);
  if (!typebox) return undefined;
  const part = partOf(typebox);
  return part === "" && isLight(wanted, code) ? Promise.resolve({ Type: LIGHT_TYPES }) : loadTypebox(part);
}

/** What omp puts on the object that extensions get. */
export interface OmpExtras {
  logger: Record<"debug" | "info" | "warn" | "error", (message: string, context?: unknown) => void>;
  /** The schema library. */
  typebox: object | undefined;
  /** The whole of pi-coding-agent. */
  pi: object | undefined;
}

const prepared = new WeakMap<CompatHost, Pick<OmpExtras, "typebox" | "pi">>();

/** Does a text speak of what has to be loaded for it? */
export function needsOmpExtras(text: string): boolean {
  return /\.\s*(?:typebox|pi)\b|\{[^{}]*\b(?:typebox|pi)\b[^{}]*\}\s*=/.test(text);
}

/** Loads what `ompExtras` can only give at once when it is there: before the factory of an extension that needs it runs. */
export async function prepareOmpExtras(host: CompatHost): Promise<void> {
  const [typebox, pi] = await Promise.all([loadTypebox(""), packageOf("pi-coding-agent", host)]);
  prepared.set(host, { typebox, pi });
}

export function ompExtras(host: CompatHost): OmpExtras {
  const say =
    (level: string) =>
    (message: string, context?: unknown): void =>
      host.log(`${level}: ${message}${context === undefined ? "" : ` ${shown(context)}`}`);
  return {
    logger: { debug: () => undefined, info: say("info"), warn: say("warning"), error: say("error") },
    get typebox() {
      return prepared.get(host)?.typebox;
    },
    get pi() {
      return prepared.get(host)?.pi;
    },
  };
}

function shown(context: unknown): string {
  try {
    return JSON.stringify(context) ?? String(context);
  } catch {
    // It holds itself, or something that has no JSON.
    return String(context);
  }
}
