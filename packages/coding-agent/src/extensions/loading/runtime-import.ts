/**
 * The runtime's own `import`. In a file of its own that is loaded when it is needed, because compiled code with an
 * import in it is not kept between starts.
 */
export function runtimeImport(specifier: string): Promise<object> {
  return import(specifier);
}
