import { log } from "../../lib/log.ts";
import type { ExtensionUi } from "../../session/ports.ts";

/** Nobody is there to be asked: every dialog gets its default at once. What is only shown goes to stderr. */
export const NO_UI: ExtensionUi = {
  hasUI: false,
  select: async () => undefined,
  confirm: async () => false,
  input: async () => undefined,
  editor: async () => undefined,
  notify: (message) => log(message),
  setStatus: () => undefined,
  setWidget: () => undefined,
  setTitle: () => undefined,
  setEditorText: () => undefined,
};
