import { below } from "../lib/below.ts";
import { readTextIfThere } from "../lib/text-file.ts";

/** Files that replace the built-in text (SYSTEM.md) or add to it (APPEND_SYSTEM.md), as far as no option does. */

export interface PromptFile {
  path: string;
  text: string;
}

export interface PromptFiles {
  base?: PromptFile;
  append?: PromptFile;
  problems: string[];
}

const PROJECT_FOLDERS = [".tiller", ".pi", ".omp", ".xcsh"] as const;

/** The project's file beats the user's. Without `projectFolder` the project is not asked. */
export function findPromptFiles(request: { projectFolder: string | undefined; agentDir: string }): PromptFiles {
  const { projectFolder, agentDir } = request;
  const folders = projectFolder === undefined ? [] : PROJECT_FOLDERS.map((name) => below(projectFolder, name));
  folders.push(agentDir);
  const problems: string[] = [];
  const first = (name: string): PromptFile | undefined => {
    for (const path of folders.map((folder) => below(folder, name))) {
      const read = readTextIfThere(path);
      if (read === undefined) continue;
      const told = "text" in read ? read.warning : read.problem;
      if (told !== undefined) problems.push(told);
      if ("text" in read && read.text.trim() !== "") return { path, text: read.text.trim() };
    }
    return undefined;
  };
  return { base: first("SYSTEM.md"), append: first("APPEND_SYSTEM.md"), problems };
}
