/** The objects that `import * as x` gives. */

export type Namespace = Record<string, unknown>;

export function createNamespace(): Namespace {
  const namespace = Object.create(null) as Namespace;
  Object.defineProperty(namespace, Symbol.toStringTag, { value: "Module" });
  return namespace;
}

/** `export * from`: all but `default`, and what the module exports itself counts more. */
export function exportAll(namespace: Namespace, from: object): void {
  for (const key of Object.keys(from)) if (key !== "default") defineLive(namespace, key, from);
}

function defineLive(namespace: Namespace, key: string, from: object): void {
  if (Object.hasOwn(namespace, key)) return;
  const get = (): unknown => (from as Namespace)[key];
  Object.defineProperty(namespace, key, { enumerable: true, configurable: true, get });
}

function isObjectLike(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

/** What an import gets of `module.exports`; code that was compiled from a module says so, and has its own default. */
export function exportCommonJs(namespace: Namespace, exports: unknown): void {
  const hasKeys = isObjectLike(exports);
  const isCompiled = hasKeys && "__esModule" in exports && "default" in exports;
  const value = isCompiled ? (exports as Namespace).default : exports;
  Object.defineProperty(namespace, "default", { enumerable: true, configurable: true, value });
  if (hasKeys && !Array.isArray(exports)) exportAll(namespace, exports);
}

/** Node finds the names of a CommonJS package by looking at its text and may miss some: they are those of the default. */
export function withNames(namespace: object, names: readonly string[] | undefined): object {
  const fallback = (namespace as Namespace).default;
  const isMissing = (name: string): boolean => !(name in namespace) && isObjectLike(fallback) && name in fallback;
  if (!names?.some(isMissing)) return namespace;
  const whole = createNamespace();
  exportAll(whole, namespace);
  whole.default = fallback;
  for (const name of names) if (isMissing(name)) defineLive(whole, name, fallback as object);
  return whole;
}
