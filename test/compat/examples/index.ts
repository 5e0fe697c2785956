import type { Checks } from "../check.ts";
import { COMMAND_EXAMPLES } from "./commands.ts";
import { HOOK_EXAMPLES } from "./hooks.ts";
import { PROVIDER_EXAMPLES } from "./providers.ts";
import { TERMINAL_EXAMPLES } from "./terminal.ts";
import { TOOL_EXAMPLES } from "./tools.ts";

/** All of pi's own examples, by the name of their file or folder. */
export const EXAMPLES: Checks = {
  ...TOOL_EXAMPLES,
  ...COMMAND_EXAMPLES,
  ...HOOK_EXAMPLES,
  ...PROVIDER_EXAMPLES,
  ...TERMINAL_EXAMPLES,
};
