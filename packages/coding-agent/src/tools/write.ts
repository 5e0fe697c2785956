import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { throwIfAborted } from "../lib/abort.ts";
import { makeFolder } from "../lib/make-folder.ts";
import { fileMutations } from "./file-mutations.ts";
import { requireRegularFile, resolvePath } from "./path.ts";
import { type Execute, type ToolContext, textResult } from "./tool.ts";

interface WriteArgs {
  path: string;
  content: string;
}

export function createWrite(context: ToolContext): Execute<WriteArgs> {
  return async ({ args, signal }) => {
    const path = resolvePath(context, args.path);
    return fileMutations.run(path, async () => {
      throwIfAborted(signal);
      await requireRegularFile(path, args.path);
      makeFolder(dirname(path));
      // Once the writing has begun it is finished: half a file would be worse than a late stop.
      throwIfAborted(signal);
      await writeFile(path, args.content);
      return textResult(`Successfully wrote ${args.content.length} bytes to ${args.path}`);
    });
  };
}
