/** Logins. None of the vendors' own is built in here; what extensions register is remembered for them. */

interface OAuthProvider {
  id: string;
  name?: string;
}

const LOGINS =
  "loginAnthropic loginGitHubCopilot loginOpenAICodex refreshAnthropicToken refreshGitHubCopilotToken refreshOpenAICodexToken refreshOAuthToken";

export function oauthNames(): Record<string, unknown> {
  const providers = new Map<string, OAuthProvider>();
  return {
    getOAuthProviders: () => [...providers.values()],
    getOAuthProvider: (id: string) => providers.get(id),
    getOAuthProviderInfoList: () => [...providers.values()].map(({ id, name = id }) => ({ id, name, available: true })),
    registerOAuthProvider: (provider: OAuthProvider) => void providers.set(provider.id, provider),
    unregisterOAuthProvider: (id: string) => void providers.delete(id),
    resetOAuthProviders: () => providers.clear(),
    getOAuthApiKey: async () => null,
    ...Object.fromEntries(LOGINS.split(" ").map((name) => [name, notBuiltIn(name)])),
  };
}

function notBuiltIn(name: string): () => Promise<never> {
  return async () => {
    throw new Error(
      `${name}: there is no login with a vendor here; set an API key, or register a provider that logs in`,
    );
  };
}
