import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Delta, ModelRequest } from "@tiller/ai/provider";
import type { CompatConversation, CompatHost } from "./compat/host.ts";
import { readJsonFile } from "./config/json-file.ts";
import type { ExtensionGround } from "./extension-ground.ts";
import { log } from "./lib/log.ts";
import { shellOf } from "./part-settings.ts";

declare const __TILLER_VERSION__: string;

/** Our own code lies somewhere in it, bundled or not. */
function packageDir(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!isPackage(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** A file that only says how modules are to be read has no name. */
function isPackage(folder: string): boolean {
  return typeof readJsonFile(join(folder, "package.json")).object?.name === "string";
}

/** Loaded with the first question: most extensions ask none. */
async function* stream(request: ModelRequest): AsyncGenerator<readonly Delta[], void, undefined> {
  const { streamAssistant } = await import("@tiller/ai/stream");
  yield* streamAssistant(request);
}

async function conversation(): Promise<CompatConversation> {
  const [{ estimateTokens }, { serialise }, { messagesToLlm }] = await Promise.all([
    import("./session/compaction/policy.ts"),
    import("./session/compaction/serialise.ts"),
    import("./session/messages-to-llm.ts"),
  ]);
  return {
    toLlm: (messages) => [...messagesToLlm(messages)],
    serialise: (messages) => serialise(messages),
    estimateTokens,
  };
}

/** What the modules that extensions import get of the running process. */
export function createCompatHost(ground: ExtensionGround, onStandIn: (name: string) => void): CompatHost {
  const { agentDir, cwd, env, clock, ids, settings, models } = ground;
  return {
    version: __TILLER_VERSION__,
    agentDir,
    packageDir,
    cwd,
    env,
    clock,
    ids,
    shell: shellOf(settings, cwd, env),
    models: models.registry,
    stream,
    conversation,
    setting: (key) => settings.get(key as never),
    log,
    onStandIn,
  };
}
