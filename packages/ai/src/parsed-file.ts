/** A configuration file that somebody else has read: its content, and where in it a thing stands. */

/** From the outside in: `["providers", "mine", "models", 0]`. */
export type KeyPath = readonly (string | number)[];

export interface ParsedFile {
  /** How messages call it. */
  name: string;
  value: unknown;
  /** Where a thing stands, counted from 1; of something that is missing, the place of what should hold it. */
  locate?(path: KeyPath): { line: number; column: number } | undefined;
}

/** `models.json:12:7: providers.mine.models[0].contextWindow must be a number above 0` */
export function problemAt(file: ParsedFile, path: KeyPath, what: string): string {
  const place = file.locate?.(path);
  const where = place ? `${file.name}:${place.line}:${place.column}` : file.name;
  return path.length === 0 ? `${where}: ${what}` : `${where}: ${keyName(path)} ${what}`;
}

/** As people would write it in a program. */
export function keyName(path: KeyPath): string {
  let name = "";
  for (const key of path) {
    if (typeof key === "number") name += `[${key}]`;
    else if (/^[\w-]+$/.test(key)) name += name === "" ? key : `.${key}`;
    else name += `[${JSON.stringify(key)}]`;
  }
  return name;
}
