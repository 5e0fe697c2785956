import { dirname } from "node:path";
import { throwIfAborted } from "../lib/abort.ts";
import { makeFolder } from "../lib/make-folder.ts";
import { fileMutations, findInTurn } from "./file-mutations.ts";
import { kindOf, requireRegularFile, resolveWritePath } from "./path.ts";
import { realPath, saveFile } from "./save-file.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

interface WriteArgs {
  path: string;
  content: string;
}

export function createWrite(context: ToolContext): Execute<WriteArgs> {
  return async ({ args, signal }) => {
    const uri = context.uris?.(args.path);
    if (uri) return (await import("./host-uri.ts")).writeUri(uri, args.content, signal);
    const path = await findInTurn(() => resolveWritePath(context, args.path));
    return fileMutations.run(realPath(path), async () => {
      throwIfAborted(signal);
      await requireRegularFile(path, args.path);
      if ((await kindOf(path)) === "folder") {
        throw new Error(`Could not write file: ${args.path}. It is a folder; name a file in it.`);
      }
      makeParent(realPath(path), args.path);
      // Once the writing has begun it is finished: half a file would be worse than a late stop.
      throwIfAborted(signal);
      await saveFile(path, args.content);
      return textResult(`Successfully wrote ${args.content.length} bytes to ${args.path}`);
    });
  };
}

function makeParent(path: string, shownPath: string): void {
  try {
    makeFolder(dirname(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" && code !== "ENOTDIR") throw error;
    throw new Error(`Could not write file: ${shownPath}. A file stands where one of its folders would be.`, {
      cause: error,
    });
  }
}
