/** What would need a second agent inside this process. It says so when it is used, not when it is imported. */

function text(name: string): string {
  return `${name} is not available inside an extension here. Start another process for it: tiller --mode rpc, or tiller -p "..."`;
}

export function unavailable(name: string): () => never {
  return () => {
    throw new Error(text(name));
  };
}

/** May be extended and named in a check; making one fails. */
export function unavailableClass(name: string): new () => object {
  const Unavailable = class {
    constructor() {
      throw new Error(text(name));
    }
  };
  Object.defineProperty(Unavailable, "name", { value: name });
  return Unavailable;
}
