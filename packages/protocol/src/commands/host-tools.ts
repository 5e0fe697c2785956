import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import type { HostToolDefinition } from "../host-tools.ts";

export const HOST_TOOLS = table({
  set_host_tools: defineCommand({
    type: "set_host_tools",
    summary: "Replaces the tools that the host runs; they are offered to the model from its next call on.",
    params: {
      // Looked at one by one, so that the answer names the tool that is wrong.
      tools: Type.Array(
        Type.Unsafe<HostToolDefinition>(
          Type.Unknown({
            description:
              "`name`, `description` and `parameters` (a JSON Schema), and, if wanted, `label`, `hidden` (registered, but not active) and `timeoutMs`",
          }),
        ),
      ),
    },
    result: Type.Object({ toolNames: Type.Array(Type.String()) }),
    lane: "ordered",
    systems: ["xcsh"],
    examples: [
      {
        params: {
          tools: [
            {
              name: "open_ticket",
              label: "Open a ticket",
              description: "Opens a ticket in the tracker",
              parameters: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
            },
          ],
        },
        data: { toolNames: ["open_ticket"] },
      },
    ],
  }),
});
