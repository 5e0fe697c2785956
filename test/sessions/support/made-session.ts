import { readFileSync } from "node:fs";
import { RpcProcess } from "../../support/rpc-process.ts";
import { fileOf, script } from "./stories.ts";

/** The lines of a session of three exchanges, as the program itself has written them, for a working folder of one's own. */
export async function madeSession(): Promise<(cwd: string) => string[]> {
  const rpc = new RpcProcess({ script: script("one", "two", "three") });
  for (const message of ["first", "second", "third"]) await rpc.prompt(message);
  const [header = "", ...entries] = readFileSync(await fileOf(rpc), "utf8")
    .trimEnd()
    .split("\n");
  await rpc.dispose();
  return (cwd) => [JSON.stringify({ ...JSON.parse(header), cwd }), ...entries];
}

/** Where the message with this text stands among the lines. */
export const lineOf = (lines: readonly string[], text: string): number =>
  lines.findIndex((line) => line.includes(`"${text}"`));
