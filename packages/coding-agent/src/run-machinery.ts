import { runAgent } from "@tiller/agent/agent-loop";
import type { AgentPorts, AgentTool } from "@tiller/agent/types";
import type { ModelRequest } from "@tiller/ai/provider";
import { streamAssistant } from "@tiller/ai/stream";
import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { ShellSettings } from "./exec/shell.ts";
import { messagesToLlm } from "./session/messages-to-llm.ts";
import type { RunMachinery } from "./session/session-run.ts";
import { buildSystemPrompt, type SystemPromptParts } from "./system-prompt/build.ts";
import { createTools } from "./tools/create-tools.ts";

export interface MachineryOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  shell?: ShellSettings;
  messages(): readonly AgentMessage[];
  model(): Model | null;
  thinkingLevel(): ThinkingLevel;
  credentials: AgentPorts["credentials"];
  /** The tools that a model gets. */
  toolNames(model: Model): readonly string[];
  systemPrompt: Omit<SystemPromptParts, "tools" | "cwd" | "date">;
  /** What every request to a model says beside the conversation. */
  request: Pick<ModelRequest, "patience" | "cacheRetention" | "sessionId">;
}

/** Everything a run needs, joined. Loaded with the first prompt: an idle process does not pay for it. */
export function createMachinery(options: MachineryOptions): RunMachinery {
  const { clock, cwd, env, shell, messages, thinkingLevel, credentials, systemPrompt } = options;
  /** A prompt is only accepted with a model, and no command takes it away. */
  const model = (): Model => {
    const current = options.model();
    if (!current) throw new Error("A run without a model");
    return current;
  };
  // The same all day long: a prompt that changes at midnight would cost the provider's cache, and thoughts bound to it.
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  const made = new Map<string, AgentTool>();
  const toolNamed = (name: string): AgentTool => {
    const tool = made.get(name) ?? createTools({ names: [name], cwd, env, clock, shell })[0]!;
    made.set(name, tool);
    return tool;
  };

  const ports: RunMachinery["ports"] = {
    model,
    thinkingLevel,
    tools: async () => options.toolNames(model()).map(toolNamed),
    systemPrompt: (offered) =>
      buildSystemPrompt({
        ...systemPrompt,
        tools: offered,
        cwd,
        date,
      }),
    context: () => messagesToLlm(messages()),
    credentials,
    stream: (request) => streamAssistant({ ...request, ...options.request }),
    cwd,
    clock,
  };
  return { runAgent, ports };
}
