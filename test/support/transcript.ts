import { join } from "node:path";
import { systemClock } from "../../packages/coding-agent/src/lib/clock.ts";
import type { Transcript } from "../../packages/coding-agent/src/transcript/parse.ts";
import * as player from "../../packages/coding-agent/src/transcript/play.ts";
import { RpcProcess, repoRoot } from "./rpc-process.ts";

/** Plays a transcript against the real program, as `tiller transcript run` does, but with every frame checked. */

export interface PlayOptions extends Pick<player.PlayOptions, "update" | "timeoutMs"> {
  cli?: string;
}

const EXTENSIONS = join(repoRoot, "test/fixtures/extensions");

export function playTranscript(transcript: Transcript, { cli, ...options }: PlayOptions = {}): Promise<string[]> {
  return player.playTranscript(transcript, {
    ...options,
    clock: systemClock,
    extensionsFolder: EXTENSIONS,
    start: (setting) => new RpcProcess({ ...setting, ...(cli !== undefined && { cli }) }),
  });
}
