/**
 * What the compiler's output asks for by name: the decorators that TypeScript had before there was a standard, and
 * `using`, which Node does not know yet. The compiler's own package would be a dependency for a few functions.
 */

const PREFIX = "@oxc-project/runtime/helpers/";

type Decorator = (target: unknown, key?: unknown, descriptor?: unknown) => unknown;

/** `key` is absent for a class, `descriptor` is null for a method and undefined for a field. */
function decorate(decorators: readonly Decorator[], target: object, key?: PropertyKey, descriptor?: unknown): unknown {
  const isClass = key === undefined;
  const found = isClass || descriptor !== null ? descriptor : Object.getOwnPropertyDescriptor(target, key);
  let result: unknown = isClass ? target : found;
  for (const decorator of [...decorators].reverse()) {
    result = (isClass ? decorator(result) : decorator(target, key, result)) ?? result;
  }
  if (!isClass && result) Object.defineProperty(target, key, result as PropertyDescriptor);
  return result;
}

function decorateParam(index: number, decorator: Decorator): Decorator {
  return (target, key) => decorator(target, key, index);
}

/** Metadata is for libraries that are not here. */
function decorateMetadata(): Decorator {
  return () => undefined;
}

interface Resource {
  dispose(): unknown;
  isAsync: boolean;
}

/** The resources of one block: `u` and `a` take one, `e` is what was thrown, `d` disposes of all, the last one first. */
function usingCtx() {
  const resources: Resource[] = [];
  const context = {
    u: <T>(value: T): T => take(resources, value, false),
    a: <T>(value: T): T => take(resources, value, true),
    d: (): unknown => disposeAll(resources, "e" in context ? [context.e] : []),
  } as { e?: unknown; u<T>(value: T): T; a<T>(value: T): T; d(): unknown };
  return context;
}

function take<T>(resources: Resource[], value: T, isAsync: boolean): T {
  if (value === null || value === undefined) return value;
  const methods = value as { [key: symbol]: unknown };
  const method = (isAsync ? methods[Symbol.asyncDispose] : undefined) ?? methods[Symbol.dispose];
  if (typeof method !== "function") throw new TypeError("using needs an object that can be disposed of");
  resources.push({ dispose: () => method.call(value), isAsync });
  return value;
}

/** `errors` holds none or one: a later one takes its place and keeps it as `suppressed`. */
function disposeAll(resources: Resource[], errors: unknown[]): unknown {
  const note = (error: unknown): void => {
    errors[0] =
      errors.length === 0 ? error : Object.assign(new Error("disposing failed"), { error, suppressed: errors[0] });
  };
  for (let next = resources.pop(); next; next = resources.pop()) {
    try {
      const result = next.dispose();
      if (next.isAsync)
        return Promise.resolve(result)
          .catch(note)
          .then(() => disposeAll(resources, errors));
    } catch (error) {
      note(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return undefined;
}

const HELPERS: Record<string, unknown> = { decorate, decorateParam, decorateMetadata, usingCtx };

export function compilerHelper(specifier: string): unknown {
  return specifier.startsWith(PREFIX) ? HELPERS[specifier.slice(PREFIX.length)] : undefined;
}
