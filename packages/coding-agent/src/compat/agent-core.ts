import type { CompatHost } from "./host.ts";
import { unavailable, unavailableClass } from "./not-available.ts";
import { type Names, openModule } from "./stand-in.ts";

/** `pi-agent-core`: mostly types. A loop of one's own inside the process is not to be had. */
export function agentCoreModule(host: CompatHost, codingAgent: Names): Names {
  const shared = Object.fromEntries(
    // Later versions offer these here, too.
    `DEFAULT_MAX_BYTES DEFAULT_MAX_LINES convertToLlm serializeConversation estimateTokens calculateContextTokens formatSize
    truncateHead truncateTail truncateLine compact generateSummary getLastAssistantUsage shouldCompact
    DEFAULT_COMPACTION_SETTINGS createReadTool createBashTool createEditTool createWriteTool loadSkills`
      .split(/\s+/)
      .map((name) => [name, codingAgent[name]]),
  );
  const loops = ["agentLoop", "agentLoopContinue", "runAgentLoop", "runAgentLoopContinue", "streamProxy"];
  return openModule(
    "pi-agent-core",
    {
      ...shared,
      Agent: unavailableClass("Agent"),
      ...Object.fromEntries(loops.map((name) => [name, unavailable(name)])),
      uuidv7: () => host.ids.uuid(),
    },
    host.onStandIn,
  );
}
