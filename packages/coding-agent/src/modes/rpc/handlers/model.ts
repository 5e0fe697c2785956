import type { AgentSession } from "../../../session/agent-session.ts";
import { type Handlers, ok, refused } from "../answer.ts";

export function modelHandlers(session: AgentSession): Handlers<"set_model" | "cycle_model" | "get_available_models"> {
  const { models } = session;
  return {
    set_model({ provider, modelId }) {
      const model = models.set(provider, modelId);
      return model ? ok(model) : refused(`Model not found: ${provider}/${modelId}`);
    },
    cycle_model: () => ok(models.cycle()),
    get_available_models: () => ok({ models: [...models.available()] }),
  };
}
