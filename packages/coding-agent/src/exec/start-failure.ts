import { statSync } from "node:fs";

/** The system's word for the failure, and what it means for somebody who wanted to run a program. */
const MEANINGS: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `${file} does not exist`,
  EACCES: (file) => `${file} may not be executed`,
  E2BIG: () => "the command is longer than the system allows; write it to a file and run that",
  EAGAIN: () => "the system allows no further process",
  ENOMEM: () => "there is not enough memory",
  EMFILE: () => "too many files are open",
};

/** Why a program could not be started, in one sentence. The system blames the program also when the folder is what is missing. */
export function startFailure(error: unknown, { file, cwd }: { file: string; cwd: string }): Error {
  const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
  if (!(error instanceof Error) || code === undefined) return new Error(String(error));
  const reason = isFolder(cwd)
    ? (MEANINGS[code]?.(file) ?? error.message)
    : `its working folder ${cwd} does not exist any more`;
  return Object.assign(new Error(`Cannot start the command: ${reason} (${code})`, { cause: error }), { code });
}

/** Without waiting: a folder that does not answer holds up the start of the program just as long. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whatever is the matter with it: nothing can run there.
    return false;
  }
}
