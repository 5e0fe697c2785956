import { basename, dirname } from "node:path";
import { throwIfAborted } from "../lib/abort.ts";
import { createGrepCollector, type GrepRequest } from "./grep-format.ts";
import { grepWithJs } from "./grep-js.ts";
import { findRipgrep, grepWithRipgrep } from "./grep-rg.ts";
import { DEFAULT_LIMITS } from "./limits.ts";
import { kindOf, resolveExistingPath } from "./path.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

interface GrepArgs {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  context?: number;
  limit?: number;
}

export function createGrep(context: ToolContext): Execute<GrepArgs> {
  let ripgrep: Promise<string | undefined> | undefined;
  return async ({ args, signal }) => {
    throwIfAborted(signal);
    const request = await toRequest(context, args);
    if (!request) return textResult("No matches found");
    const limit = Math.max(1, Math.floor(args.limit ?? DEFAULT_LIMITS.grep));
    const collector = createGrepCollector({ limit, context: request.context });
    ripgrep ??= findRipgrep(context.env);
    const rg = await ripgrep;
    const done = rg !== undefined && (await grepWithRipgrep(rg, request, context, collector, signal));
    if (!done) await grepWithJs(request, collector, signal);
    throwIfAborted(signal);
    return collector.result();
  };
}

/** Undefined for a pipe or device: nothing is searched in what may never end. */
async function toRequest(context: ToolContext, args: GrepArgs): Promise<GrepRequest | undefined> {
  const shownPath = args.path ?? ".";
  const path = await resolveExistingPath(context, shownPath);
  const kind = await kindOf(path);
  if (!kind) throw new Error(`Path not found: ${shownPath}`);
  if (kind === "other") return undefined;
  return {
    pattern: args.pattern,
    literal: args.literal ?? false,
    ignoreCase: args.ignoreCase ?? false,
    glob: args.glob,
    context: Math.max(0, Math.floor(args.context ?? 0)),
    ...(kind === "folder" ? { folder: path } : { folder: dirname(path), fileName: basename(path) }),
  };
}
