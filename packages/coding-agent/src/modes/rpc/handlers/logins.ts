import type { AgentSession } from "../../../session/agent-session.ts";
import type { ExtensionUi } from "../../../session/ports.ts";
import { type Handlers, ok, refused } from "../answer.ts";

/** `ui` is how a person is asked; it is there when extensions are, and with them those one can log in with. */
export function loginHandlers(
  session: AgentSession,
  ui: ExtensionUi | undefined,
): Handlers<"get_login_providers" | "login"> {
  const logins = session.extensions?.logins;
  return {
    get_login_providers: () =>
      ok({ providers: (logins?.list() ?? []).map((provider) => ({ ...provider, available: true })) }),
    async login({ providerId }) {
      const isKnown = logins?.list().some(({ id }) => id === providerId);
      if (!logins || !ui || !isKnown) return refused(`Unknown OAuth provider: ${providerId}`);
      const { askPerson } = await import("../ask-for-login.ts");
      const { patience } = session;
      const problem = await logins.login(providerId, askPerson(ui, patience), patience);
      return problem ?? ok({ providerId });
    },
  };
}
