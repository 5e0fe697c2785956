import type { Model } from "@tiller/protocol/model";
import type { AgentSession } from "../../../session/agent-session.ts";
import { type Answer, type Handlers, ok, refused } from "../answer.ts";

export function modelHandlers(
  session: AgentSession,
): Handlers<"set_model" | "cycle_model" | "get_available_models" | "set_fast_mode"> {
  const { models } = session;
  return {
    set_model({ provider, modelId }) {
      const answer = (model: Model | undefined): Answer<Model> =>
        model ? ok(model) : refused(`Model not found: ${provider}/${modelId}`);
      const chosen = models.set(provider, modelId);
      return chosen instanceof Promise ? chosen.then(answer) : answer(chosen);
    },
    cycle_model: () => ok(models.cycle()),
    get_available_models() {
      const answer = (): Answer<{ models: Model[] }> => ok({ models: [...models.available()] });
      const learned = models.refresh();
      return learned ? learned.then(answer) : answer();
    },
    set_fast_mode: ({ enabled }) =>
      enabled ? refused("Fast mode is unavailable for the current model.") : ok({ enabled, active: false }),
  };
}
