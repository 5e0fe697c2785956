import { throwIfAborted } from "../lib/abort.ts";
import { listFolder } from "./folder-listing.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { resolveExistingPath } from "./path.ts";
import type { Execute, ToolContext } from "./tool.ts";

interface LsArgs {
  path?: string;
  limit?: number;
}

export function createLs(context: ToolContext): Execute<LsArgs> {
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const shownPath = args.path ?? ".";
    const folder = await resolveExistingPath(context, shownPath);
    const limit = Math.max(1, Math.floor(args.limit ?? DEFAULT_LIMITS.ls));
    return listFolder(folder, { shownPath, skip: 0, limit, signal });
  };
}
