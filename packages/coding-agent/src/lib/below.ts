import { join, sep } from "node:path";

/**
 * The path of something in a folder whose own path is whole already. The same as Node's `join`, which looks at each
 * character once more: over the hundred places where a start looks for files that made a millisecond.
 */
export function below(folder: string, name: string): string {
  if (sep !== "/") return join(folder, name);
  return folder.endsWith("/") ? `${folder}${name}` : `${folder}/${name}`;
}
