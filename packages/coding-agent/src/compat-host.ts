import { streamAssistant } from "@tiller/ai/stream";
import type { CompatHost } from "./compat/host.ts";
import type { ExtensionGround } from "./extension-ground.ts";
import { log } from "./lib/log.ts";
import { shellOf } from "./part-settings.ts";
import { estimateTokens } from "./session/compaction/policy.ts";
import { serialise } from "./session/compaction/serialise.ts";
import { messagesToLlm } from "./session/messages-to-llm.ts";

declare const __TILLER_VERSION__: string;

/** What the modules that extensions import get of the running process. */
export function createCompatHost(ground: ExtensionGround, onStandIn: (name: string) => void): CompatHost {
  const { agentDir, cwd, env, clock, ids, settings, models } = ground;
  return {
    version: __TILLER_VERSION__,
    agentDir,
    cwd,
    env,
    clock,
    ids,
    shell: shellOf(settings, cwd, env),
    models: models.registry,
    stream: streamAssistant,
    conversation: {
      toLlm: (messages) => [...messagesToLlm(messages)],
      serialise: (messages) => serialise(messages),
      estimateTokens,
    },
    setting: (key) => settings.get(key as never),
    log,
    onStandIn,
  };
}
