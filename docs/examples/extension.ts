import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Type } from "typebox";

/** Asks before something is deleted, gives the model a tool, and the user a command. */
export default function (pi: ExtensionAPI) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash" || !/\brm\b/.test(event.input.command)) return;
    const yes = await ctx.ui.confirm("Delete?", event.input.command, { timeout: 60_000 });
    return yes ? undefined : { block: true, reason: "The user wants to keep it." };
  });
  pi.registerTool({
    name: "count_words",
    description: "Counts the words of a text",
    parameters: Type.Object({ text: Type.String() }),
    execute: async (_id, { text }) => ({ content: [{ type: "text", text: `${text.split(/\s+/).length} words` }] }),
  });
  pi.registerCommand("hello", {
    description: "Greets",
    handler: async (args, ctx) => ctx.ui.notify(`Hello, ${args}!`),
  });
}
