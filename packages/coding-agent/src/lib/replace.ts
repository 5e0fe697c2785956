/** Puts functions in the place of others, and the old ones back. */

export interface Replacements {
  /** Replaces `target[name]` by what `make` gives for the function that is there. */
  replace<Target extends object, Name extends keyof Target>(
    target: Target,
    name: Name,
    make: (original: Target[Name]) => Target[Name],
  ): void;
  /** The same for a property that is read, and perhaps assigned to. */
  replaceGetter(target: object, name: string, get: () => unknown, set?: (value: unknown) => void): void;
  /** Whoever has replaced one of ours since keeps what they have put there. */
  undo(): void;
}

export function createReplacements(): Replacements {
  const undos: (() => void)[] = [];

  const define = (target: object, name: PropertyKey, descriptor: PropertyDescriptor, before?: PropertyDescriptor) => {
    Object.defineProperty(target, name, descriptor);
    undos.push(() => {
      const now = Object.getOwnPropertyDescriptor(target, name);
      if (now?.value !== descriptor.value || now?.get !== descriptor.get) return;
      if (before) Object.defineProperty(target, name, before);
      else Reflect.deleteProperty(target, name);
    });
  };

  return {
    replace(target, name, make) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      const original = target[name];
      const value = make(original);
      // Who asks for `exec[promisify.custom]` or a length gets those of the original.
      if (typeof value === "function" && typeof original === "function") copyProperties(original, value);
      define(
        target,
        name,
        { configurable: true, enumerable: before?.enumerable ?? true, writable: true, value },
        before,
      );
    },
    replaceGetter(target, name, get, set) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      define(target, name, { configurable: true, enumerable: before?.enumerable ?? true, get, set }, before);
    },
    undo() {
      for (const undoOne of undos.splice(0).reverse()) undoOne();
    },
  };
}

function copyProperties(from: object, to: object): void {
  for (const name of Reflect.ownKeys(from)) {
    const descriptor = Object.getOwnPropertyDescriptor(from, name);
    const isFixed = Object.getOwnPropertyDescriptor(to, name)?.configurable === false;
    if (descriptor && !isFixed && name !== "prototype") Object.defineProperty(to, name, descriptor);
  }
}
