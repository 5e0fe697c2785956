import type { ExtensionUi } from "../../session/ports.ts";

/** How long a question of a login stays open. */
const PATIENCE_MS = 600_000;

/** What a login that an extension brings along calls to have a person asked, in the words that such logins know. */
export interface LoginCallbacks {
  signal: AbortSignal;
  onAuth(where: { url: string; instructions?: string }): void;
  onDeviceCode(where: { verificationUri?: string; userCode?: string }): void;
  onProgress(message: string): void;
  onPrompt(question: { message: string; placeholder?: string }): Promise<string>;
  onManualCodeInput(): Promise<string>;
  onSelect(question: { message: string; options: { id: string; label: string }[] }): Promise<string | undefined>;
}

export function askPerson(ui: ExtensionUi, signal: AbortSignal): LoginCallbacks {
  const how = { signal, timeout: PATIENCE_MS };
  const ask = async (message: string, placeholder?: string): Promise<string> => {
    const answer = await ui.input(message, placeholder, how);
    if (answer === undefined) throw new Error("Nobody answered what the login asked");
    return answer;
  };
  return {
    signal,
    onAuth: ({ url, instructions }) => ui.notify([`Log in at ${url}`, instructions].filter(Boolean).join("\n")),
    onDeviceCode: ({ verificationUri, userCode }) =>
      ui.notify(`Log in at ${verificationUri} with the code ${userCode}`),
    onProgress: (message) => ui.notify(String(message)),
    onPrompt: ({ message, placeholder }) => ask(message, placeholder),
    onManualCodeInput: () => ask("The code, or the address that the browser was sent to"),
    async onSelect({ message, options }) {
      const chosen = await ui.select(
        message,
        options.map(({ label }) => label),
        how,
      );
      return options.find(({ label }) => label === chosen)?.id;
    },
  };
}
