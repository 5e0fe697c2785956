import type { CompatHost } from "./host.ts";

/** The settings of this process, readable under the names that extensions use. What they set holds for their object only. */

/** The method, and the setting that it reads when it is not simply the same name. */
const GETTERS: Readonly<Record<string, string>> = {
  getDefaultProvider: "defaultProvider",
  getDefaultModel: "defaultModel",
  getDefaultThinkingLevel: "defaultThinkingLevel",
  getSteeringMode: "steeringMode",
  getFollowUpMode: "followUpMode",
  getCompactionEnabled: "compaction.enabled",
  getCompactionReserveTokens: "compaction.reserveTokens",
  getCompactionKeepRecentTokens: "compaction.keepRecentTokens",
  getRetryEnabled: "retry.enabled",
  getSessionDir: "sessionDir",
  getShellPath: "shellPath",
  getShellCommandPrefix: "shellCommandPrefix",
  getEnabledModels: "enabledModels",
};

type Tree = Record<string, unknown>;

export class SettingsManager {
  readonly #read: (key: string) => unknown;
  readonly #own: Tree;

  constructor(read: (key: string) => unknown, own: Tree = {}) {
    this.#read = read;
    this.#own = structuredClone(own);
  }

  /** By its dotted name. */
  get(key: string): unknown {
    return valueAt(this.#own, key.split(".")) ?? this.#read(key);
  }
  applyOverrides(overrides: Tree): void {
    merge(this.#own, overrides);
  }
  getGlobalSettings(): Tree {
    return structuredClone(this.#own);
  }
  getProjectSettings(): Tree {
    return {};
  }
  getCompactionSettings(): object {
    return this.#group("compaction", ["enabled", "reserveTokens", "keepRecentTokens"]);
  }
  getRetrySettings(): object {
    return this.#group("retry", ["enabled", "maxRetries", "baseDelayMs"]);
  }
  async reload(): Promise<void> {
    // Values are asked for each time.
  }
  async flush(): Promise<void> {
    // Nothing is written behind the host's back.
  }
  drainErrors(): unknown[] {
    return [];
  }
  /** Used by the methods that are made from names. */
  put(key: string, value: unknown): void {
    merge(this.#own, nested(key.split("."), value));
  }
  #group(prefix: string, names: readonly string[]): object {
    return Object.fromEntries(names.map((name) => [name, this.get(`${prefix}.${name}`)]));
  }
}

export function settingsManagerFor({ setting }: CompatHost): object {
  const fromProcess = (own?: Tree) => openManager(new SettingsManager((key) => setting(key), own));
  const inMemory = (own?: Tree) => openManager(new SettingsManager(() => undefined, own));
  return Object.assign(
    class extends SettingsManager {
      constructor() {
        super((key) => setting(key));
      }
    },
    { create: () => fromProcess(), fromStorage: () => fromProcess(), inMemory },
  );
}

/** `getX()` and `setX(value)` for every X there may be. */
function openManager(manager: SettingsManager): SettingsManager {
  return new Proxy(manager, {
    get(target, name) {
      if (typeof name === "symbol") return Reflect.get(target, name);
      const own: unknown = Reflect.get(target, name, target);
      if (typeof own === "function") return own.bind(target);
      const [, verb, rest = ""] = /^(get|set)([A-Z]\w*)$/.exec(name) ?? [];
      const key = GETTERS[`get${rest}`] ?? rest.charAt(0).toLowerCase() + rest.slice(1);
      if (verb === "get") return () => target.get(key);
      return verb === "set" ? (value: unknown) => target.put(key, value) : undefined;
    },
  });
}

function valueAt(tree: unknown, path: readonly string[]): unknown {
  let value = tree;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Tree)[name];
  }
  return value;
}

function nested(path: readonly string[], value: unknown): Tree {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Tree;
}

function merge(into: Tree, from: Tree): void {
  for (const [name, value] of Object.entries(from)) {
    if (name === "__proto__") continue;
    const old = into[name];
    if (isTree(old) && isTree(value)) merge(old, value);
    else into[name] = structuredClone(value);
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
