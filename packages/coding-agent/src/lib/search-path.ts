import { delimiter, isAbsolute } from "node:path";

/**
 * The folders in which we look for programs of our own choice. A relative one (`node_modules/.bin`) is a folder of whatever
 * project we work in: what lies there is the project's, and not what a user means by `rg`.
 */
export function searchPath(path: string | undefined): string[] {
  return (path ?? "").split(delimiter).filter(isAbsolute);
}
