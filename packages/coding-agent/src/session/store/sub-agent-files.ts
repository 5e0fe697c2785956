import { existsSync, realpathSync } from "node:fs";
import { sessionFiles } from "./session-folders.ts";
import { readHead } from "./session-head.ts";

/**
 * The conversations in a folder of sub-agents that belong to this session: those that it has started, and those that they
 * have started. Two sessions of different projects may have one id, and so one folder; what another session that is still there
 * has started is left out.
 */
export function subAgentFiles(folder: string, sessionPath: string): string[] {
  const parents = new Map<string, string | undefined>();
  for (const { path } of sessionFiles({ folder })) parents.set(path, readHead(path)?.parentSession);
  const session = realPath(sessionPath);
  const isOwn = (path: string): boolean => {
    let root: string | undefined = path;
    // A header is somebody's text: one that leads round in a circle belongs to nobody.
    for (let left = parents.size; root !== undefined && parents.has(root) && left > 0; left--) root = parents.get(root);
    return root === undefined || parents.has(root) || !existsSync(root) || realPath(root) === session;
  };
  return [...parents.keys()].filter(isOwn);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
