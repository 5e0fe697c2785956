/** What is left of a value when it has been in a file: no functions, no symbols. Throws for what no file can hold. */
export function plainJson<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}
