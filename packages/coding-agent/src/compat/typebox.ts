/** The schema library that comes with us, loaded when an extension asks for it. */

const PARTS: Readonly<Record<string, () => Promise<object>>> = {
  "": () => import("typebox"),
  value: () => import("typebox/value"),
  compile: () => import("typebox/compile"),
  // The older package called it so, and its class TypeCompiler.
  compiler: loadCompiler,
  schema: () => import("typebox/schema"),
  type: () => import("typebox/type"),
  format: () => import("typebox/format"),
  guard: () => import("typebox/guard"),
  error: () => import("typebox/error"),
  errors: () => import("typebox/error"),
  system: () => import("typebox/system"),
};

export function hasTypebox(part: string): boolean {
  return Object.hasOwn(PARTS, part);
}

/** Undefined for a part that the library does not have: there is nothing sensible to give. */
export function loadTypebox(part: string): Promise<object> | undefined {
  return hasTypebox(part) ? PARTS[part]?.() : undefined;
}

async function loadCompiler(): Promise<object> {
  const module = await import("typebox/compile");
  return { ...module, TypeCompiler: { Compile: module.Compile, Code: module.Code } };
}
