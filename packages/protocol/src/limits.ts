import { type Static, Type } from "typebox";

const atLeastOne = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));

/** What a prompt may use; reaching one ends it cleanly and the result names it. */
export const PromptLimits = Type.Object({
  turns: atLeastOne("model calls"),
  toolCalls: atLeastOne("tool calls"),
  cost: Type.Optional(Type.Number({ minimum: 0, description: "dollars" })),
  tokens: atLeastOne("input and output together"),
  wallTimeMs: atLeastOne("milliseconds from acceptance"),
});
export type PromptLimits = Static<typeof PromptLimits>;
