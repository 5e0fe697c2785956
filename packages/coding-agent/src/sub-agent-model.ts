import { resolveModelOption } from "@tiller/ai/resolve-model";
import { clampLevel, isThinkingLevel } from "@tiller/ai/thinking-levels";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { AgentDefinition } from "./agents/agent.ts";
import type { Caller } from "./child-run.ts";
import type { SessionModels } from "./session-models.ts";

/** Which model a sub-agent asks, and how much it thinks. */

export interface ModelPorts extends Pick<SessionModels, "registry" | "source"> {
  /** Models for agents by name, from the settings. */
  overrides: Readonly<Record<string, unknown>>;
  warn(message: string): void;
}

type Starter = Pick<Caller, "model" | "thinkingLevel">;

export async function modelFor(
  agent: AgentDefinition,
  starter: Starter,
  ports: ModelPorts,
): Promise<{ model: Model; thinkingLevel: ThinkingLevel }> {
  const { registry, source, warn } = ports;
  const chosen = chooseModel(agent, starter, ports);
  registry.adopt(chosen.model);
  const model = (await source.describe(chosen.model)) ?? chosen.model;
  const { thinking } = agent;
  const level = thinking !== undefined && isThinkingLevel(thinking) ? thinking : undefined;
  if (thinking !== undefined && level === undefined) {
    warn(`Agent "${agent.name}" (${agent.path}): "thinking" is ${thinking}, which is no level; it is passed over`);
  }
  return { model, thinkingLevel: clampLevel(model, level ?? chosen.level ?? starter.thinkingLevel()) };
}

interface Choice {
  model: Model;
  level?: ThinkingLevel;
}

/** The first of its models that can be used; what the settings say must be usable. */
function chooseModel({ name, models, path }: AgentDefinition, starter: Starter, ports: ModelPorts): Choice {
  const { registry, overrides, warn } = ports;
  if (Object.hasOwn(overrides, name)) {
    const found = usable(String(overrides[name]), registry);
    if (found) return found;
    throw new Error(`The model "${overrides[name]}" for agent "${name}" (task.agentModelOverrides) cannot be used`);
  }
  const current = starter.model();
  if (!current) throw new Error("No model selected");
  const wanted = models.filter((pattern) => !/^(?:inherit|default)$/i.test(pattern));
  for (const pattern of wanted) {
    const found = usable(pattern, registry);
    if (found) return found;
  }
  if (wanted.length > 0) {
    const instead = `${current.provider}/${current.id} is used`;
    warn(`Agent "${name}" (${path}): its model "${wanted.join(", ")}" cannot be used here; ${instead}`);
  }
  return { model: current };
}

function usable(pattern: string, registry: ModelPorts["registry"]): Choice | undefined {
  const choice = resolveModelOption({ model: pattern }, registry);
  if (!choice?.ok || registry.unusable(choice.model) !== undefined) return undefined;
  return { model: choice.model, level: choice.thinkingLevel };
}
