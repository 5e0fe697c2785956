import { throwIfAborted } from "../lib/abort.ts";
import { shownName } from "../lib/visible.ts";
import { compileGlob } from "./glob.ts";
import { createIgnoreWork, LEFT_OUT_NOTICE } from "./ignore-work.ts";
import { DEFAULT_LIMITS, MAX_BYTES } from "./limits.ts";
import { kindOf, resolveExistingPath } from "./path.ts";
import { type Execute, type ToolContext, textResult, withNotices } from "./tool.ts";
import { formatSize, truncateHead } from "./truncate.ts";
import { walk } from "./walk.ts";

interface FindArgs {
  pattern: string;
  path?: string;
  limit?: number;
}

/** Where there is nothing to find, the walk still has an end. */
const MAX_VISITED = 1_000_000;

export function createFind(context: ToolContext): Execute<FindArgs> {
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const shownPath = args.path ?? ".";
    const root = await resolveExistingPath(context, shownPath);
    const kind = await kindOf(root);
    if (!kind) throw new Error(`Path not found: ${shownPath}`);
    if (kind !== "folder") throw new Error(`Not a directory: ${shownPath}`);
    const limit = Math.max(1, Math.floor(args.limit ?? DEFAULT_LIMITS.find));
    const work = createIgnoreWork();
    const found = await findMatches(walk(root, signal, work), compileGlob(args.pattern), limit);
    return describe(found, limit, work.hasLeftOut);
  };
}

interface Found {
  paths: string[];
  limitReached: boolean;
  gaveUp: boolean;
}

async function findMatches(
  batches: ReturnType<typeof walk>,
  matches: ReturnType<typeof compileGlob>,
  limit: number,
): Promise<Found> {
  const paths: string[] = [];
  let visited = 0;
  for await (const batch of batches) {
    visited += batch.length;
    if (visited > MAX_VISITED) return { paths, limitReached: false, gaveUp: true };
    for (const entry of batch) {
      if (!matches(entry.path, entry.name)) continue;
      if (paths.length === limit) return { paths, limitReached: true, gaveUp: false };
      paths.push(entry.isDirectory ? `${entry.path}/` : entry.path);
    }
  }
  return { paths, limitReached: false, gaveUp: false };
}

function describe({ paths, limitReached, gaveUp }: Found, limit: number, hasLeftOutRules: boolean) {
  const notices = hasLeftOutRules ? [LEFT_OUT_NOTICE] : [];
  if (gaveUp) notices.push(`Stopped after ${MAX_VISITED} files. Search a smaller folder`);
  if (paths.length === 0) return textResult(withNotices("No files found matching pattern", notices));
  const truncation = truncateHead(paths.map((path) => shownName(path)).join("\n"), {
    maxLines: Number.MAX_SAFE_INTEGER,
  });
  if (limitReached) {
    notices.push(`${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern`);
  }
  if (truncation.truncated) notices.push(`${formatSize(MAX_BYTES)} limit reached`);
  return textResult(withNotices(truncation.content, notices), {
    ...(limitReached && { resultLimitReached: limit }),
    ...(truncation.truncated && { truncation }),
  });
}
