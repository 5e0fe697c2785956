/**
 * What stands in for names that we do not have. An extension that was written for a terminal must load all the same: its
 * classes extend things at the top of the module, and what is drawn there is seen by nobody.
 */

export type Names = Record<string, unknown>;

/** Told of every use of something that does nothing. */
export type OnUse = (name: string) => void;

/** Not offered by any name: `then` would make a promise of the module, `toJSON` is asked by whoever prints it. */
const NEVER: ReadonlySet<string> = new Set(["then", "toJSON", "__esModule"]);

/** A module that has every name: those given, and a stand-in for each other. `default` is the module itself. */
export function openModule(moduleName: string, known: Names, onUse: OnUse = () => undefined): Names {
  const made = new Map<string, unknown>();
  const tell = oncePerName((name) => onUse(`${moduleName}: ${name}`));
  const module: Names = new Proxy(Object.assign(Object.create(null) as Names, known), {
    get(target, name) {
      if (typeof name === "symbol" || name in target) return Reflect.get(target, name);
      if (NEVER.has(name)) return undefined;
      if (name === "default") return module;
      if (!made.has(name)) made.set(name, standIn(name, tell));
      return made.get(name);
    },
    has: (target, name) => name in target || (typeof name === "string" && !NEVER.has(name)),
  });
  return module;
}

function oncePerName(tell: OnUse): OnUse {
  const told = new Set<string>();
  return (name) => {
    if (told.has(name)) return;
    told.add(name);
    tell(name);
  };
}

function standIn(name: string, onUse: OnUse): unknown {
  return /^[A-Z]/.test(name) ? standInClass(name, onUse) : standInFunction(name, onUse);
}

function standInFunction(name: string, onUse: OnUse): () => undefined {
  const nothing = (): undefined => onUse(name) as undefined;
  return Object.defineProperty(nothing, "name", { value: name });
}

/** Can be constructed and extended, and has whatever static function somebody calls. */
function standInClass(name: string, onUse: OnUse): unknown {
  const Nothing = class extends Silent {
    constructor() {
      super();
      // Who extends it has not asked for this very thing to do something.
      if (new.target === open) onUse(name);
    }
  };
  Object.defineProperty(Nothing, "name", { value: name });
  const open: unknown = new Proxy(Nothing, {
    get(target, key, receiver) {
      if (key in target || typeof key === "symbol" || NEVER.has(key)) return Reflect.get(target, key, receiver);
      return standInFunction(`${name}.${key}`, onUse);
    },
  });
  return open;
}

/** What every component of a terminal has; nothing is drawn. */
export class Silent {
  render(_width: number): string[] {
    return [];
  }
  invalidate(): void {
    // There is no cache.
  }
  handleInput(_data: string): void {
    // Nobody types.
  }
  dispose(): void {
    // There is nothing to let go of.
  }
}
