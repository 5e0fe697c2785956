import type { RunArgs } from "../args.ts";
import { type Env, resolvePath } from "../config/paths.ts";
import { log } from "../lib/log.ts";
import { type OpenedReplay, openReplay, type Streams } from "./open.ts";

/** `tiller replay DIR`: plays a recording without a host and tells whether the frames are the same. */

export interface ReplayCommandInputs extends Streams {
  words: readonly string[];
  run: RunArgs;
  env: Env;
  cwd: string;
  version: string;
  programName: string;
  print(text: string): void;
  /** Runs the program as it was started then. Resolves to its exit code. */
  play(opened: OpenedReplay): Promise<number>;
}

/** Resolves to the exit code: 0 when all is as recorded, 1 when something differs, 2 when there is nothing to play. */
export async function runReplay(inputs: ReplayCommandInputs): Promise<number> {
  const { words, cwd, env, print } = inputs;
  const [folder] = words;
  if (folder === undefined || words.length > 1) {
    log("Error: use it as `tiller replay DIR`, with the folder that `--record DIR` has filled", "");
    return 2;
  }
  let tellDifference: (text: string) => void = () => undefined;
  const differs = new Promise<string>((resolve) => {
    tellDifference = resolve;
  });
  const opened = openReplay({ ...inputs, folder: resolvePath(folder, cwd, env), onDifference: tellDifference });
  if ("error" in opened) {
    log(opened.error, "");
    return 2;
  }
  const { player, loaded } = opened;
  const ended = inputs.play(opened).then(() => undefined);
  const difference = await Promise.race([differs, ended]);
  // The end itself may be what differs.
  const late = difference ?? (await Promise.race([differs, Promise.resolve(undefined)]));
  if (late !== undefined) {
    print(`different: ${late}`);
    return 1;
  }
  print(`identical: ${player.frames} frames, ${loaded.log.length} lines of the log`);
  return 0;
}
