import type { ToolCall } from "@tiller/protocol/content";
import type { ToolSpec } from "@tiller/protocol/tool";
import type { Names } from "./stand-in.ts";

/** What needs the schema library. */

export async function typeNames(): Promise<Names> {
  const { Type } = await import("typebox");
  return {
    Type,
    /** An enum that every provider understands: one list, no alternatives. */
    StringEnum: (values: readonly string[], options: object = {}) =>
      Type.Unsafe<string>({ type: "string", enum: [...values], ...options }),
  };
}

export async function checkNames(): Promise<Names> {
  const { checkArguments } = await import("@tiller/agent/check-arguments");
  const validateToolArguments = (tool: ToolSpec, call: Pick<ToolCall, "arguments">): Record<string, unknown> => {
    const checked = checkArguments(tool, call.arguments);
    if ("error" in checked) throw new Error(checked.error);
    return checked.args;
  };
  return {
    validateToolArguments,
    validateToolCall(tools: readonly ToolSpec[], call: ToolCall) {
      const tool = tools.find(({ name }) => name === call.name);
      if (!tool) throw new Error(`Tool "${call.name}" not found`);
      return validateToolArguments(tool, call);
    },
  };
}
