import { basename, dirname } from "node:path";
import { throwIfAborted } from "../lib/abort.ts";
import { createGrepCollector, type GrepRequest } from "./grep-format.ts";
import { grepWithJs } from "./grep-js.ts";
import { findRipgrep, grepWithRipgrep } from "./grep-rg.ts";
import { kindOf, resolveExistingPath } from "./path.ts";
import { defineTool, type ToolContext } from "./tool.ts";
import { MAX_BYTES } from "./truncate.ts";

interface GrepArgs {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  context?: number;
  limit?: number;
}

const DEFAULT_LIMIT = 100;

const PARAMETERS = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "Regular expression, or plain text with literal" },
    path: { type: "string", description: "File or folder to search (default: the working directory)" },
    glob: { type: "string", description: "Search only files that match, such as `*.ts` or `src/**/*.test.ts`" },
    ignoreCase: { type: "boolean", description: "Upper and lower case are the same (default: false)" },
    literal: { type: "boolean", description: "Take the pattern as plain text (default: false)" },
    context: { type: "number", description: "Lines to show before and after each match (default: 0)" },
    limit: { type: "number", description: `How many matches at most (default: ${DEFAULT_LIMIT})` },
  },
  required: ["pattern"],
};

export function createGrepTool(context: ToolContext) {
  let ripgrep: Promise<string | undefined> | undefined;
  return defineTool<GrepArgs>({
    label: "grep",
    description: `Search the contents of files; gives \`file:line: text\`. Respects .gitignore, includes hidden files. Cut after ${DEFAULT_LIMIT} matches or ${MAX_BYTES / 1024}KB, long lines are shortened.`,
    parameters: PARAMETERS,
    async execute({ args, signal }) {
      throwIfAborted(signal);
      const request = await toRequest(context, args);
      const limit = Math.max(1, Math.floor(args.limit ?? DEFAULT_LIMIT));
      const collector = createGrepCollector({ limit, context: request.context });
      ripgrep ??= findRipgrep(context.env);
      const rg = await ripgrep;
      const done = rg !== undefined && (await grepWithRipgrep(rg, request, context, collector, signal));
      if (!done) await grepWithJs(request, collector, signal);
      throwIfAborted(signal);
      return collector.result();
    },
  });
}

async function toRequest(context: ToolContext, args: GrepArgs): Promise<GrepRequest> {
  const shownPath = args.path ?? ".";
  const path = await resolveExistingPath(context, shownPath);
  const kind = await kindOf(path);
  if (!kind) throw new Error(`Path not found: ${shownPath}`);
  return {
    pattern: args.pattern,
    literal: args.literal ?? false,
    ignoreCase: args.ignoreCase ?? false,
    glob: args.glob,
    context: Math.max(0, Math.floor(args.context ?? 0)),
    ...(kind === "folder" ? { folder: path } : { folder: dirname(path), fileName: basename(path) }),
  };
}
