import { throwIfAborted } from "../lib/abort.ts";
import { compileGlob } from "./glob.ts";
import { kindOf, resolveExistingPath } from "./path.ts";
import { defineTool, type ToolContext, textResult, withNotices } from "./tool.ts";
import { formatSize, MAX_BYTES, truncateHead } from "./truncate.ts";
import { walk } from "./walk.ts";

interface FindArgs {
  pattern: string;
  path?: string;
  limit?: number;
}

const DEFAULT_LIMIT = 1000;
/** Where there is nothing to find, the walk still has an end. */
const MAX_VISITED = 1_000_000;

const PARAMETERS = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "Glob: `*.ts` matches names at any depth, `src/**/*.ts` whole paths" },
    path: { type: "string", description: "Folder to search (default: the working directory)" },
    limit: { type: "number", description: `How many results at most (default: ${DEFAULT_LIMIT})` },
  },
  required: ["pattern"],
};

export function createFindTool(context: ToolContext) {
  return defineTool<FindArgs>({
    label: "find",
    description: `Find files and folders by glob pattern; paths are relative to the searched folder. Respects .gitignore, includes hidden files. Cut after ${DEFAULT_LIMIT} results or ${MAX_BYTES / 1024}KB.`,
    parameters: PARAMETERS,
    async execute({ args, signal }) {
      throwIfAborted(signal);
      const shownPath = args.path ?? ".";
      const root = await resolveExistingPath(context, shownPath);
      const kind = await kindOf(root);
      if (!kind) throw new Error(`Path not found: ${shownPath}`);
      if (kind !== "folder") throw new Error(`Not a directory: ${shownPath}`);
      const limit = Math.max(1, Math.floor(args.limit ?? DEFAULT_LIMIT));
      return describe(await findMatches(root, compileGlob(args.pattern), limit, signal), limit);
    },
  });
}

interface Found {
  paths: string[];
  limitReached: boolean;
  gaveUp: boolean;
}

async function findMatches(
  root: string,
  matches: (path: string) => boolean,
  limit: number,
  signal: AbortSignal,
): Promise<Found> {
  const paths: string[] = [];
  let visited = 0;
  for await (const entry of walk(root, signal)) {
    visited += 1;
    if (visited > MAX_VISITED) return { paths, limitReached: false, gaveUp: true };
    if (!matches(entry.path)) continue;
    if (paths.length === limit) return { paths, limitReached: true, gaveUp: false };
    paths.push(entry.isDirectory ? `${entry.path}/` : entry.path);
  }
  throwIfAborted(signal);
  return { paths, limitReached: false, gaveUp: false };
}

function describe({ paths, limitReached, gaveUp }: Found, limit: number) {
  const notices: string[] = [];
  if (gaveUp) notices.push(`Stopped after ${MAX_VISITED} files. Search a smaller folder`);
  if (paths.length === 0) return textResult(withNotices("No files found matching pattern", notices));
  const truncation = truncateHead(paths.join("\n"), { maxLines: Number.MAX_SAFE_INTEGER });
  if (limitReached) {
    notices.push(`${limit} results limit reached. Use limit=${limit * 2} for more, or refine pattern`);
  }
  if (truncation.truncated) notices.push(`${formatSize(MAX_BYTES)} limit reached`);
  return textResult(withNotices(truncation.content, notices), {
    ...(limitReached && { resultLimitReached: limit }),
    ...(truncation.truncated && { truncation }),
  });
}
