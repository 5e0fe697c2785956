import { type Static, Type } from "typebox";

/** When a match ends the answer at once: whatever it is in, only in text and thinking, only in tool arguments, never. */
export const RuleInterruptMode = Type.Union([
  Type.Literal("always"),
  Type.Literal("prose-only"),
  Type.Literal("tool-only"),
  Type.Literal("never"),
]);
export type RuleInterruptMode = Static<typeof RuleInterruptMode>;

const texts = Type.Array(Type.String());

/** A rule about what a model writes, as hosts are told of it. */
export const StreamRule = Type.Object({
  name: Type.String({ description: "of its file, without the ending" }),
  path: Type.String(),
  content: Type.String({ description: "what the model is told" }),
  description: Type.Optional(Type.String()),
  globs: Type.Optional(texts),
  alwaysApply: Type.Optional(Type.Boolean()),
  condition: Type.Optional(texts),
  scope: Type.Optional(texts),
  interruptMode: Type.Optional(RuleInterruptMode),
  _source: Type.Optional(
    Type.Object({
      provider: Type.String(),
      providerName: Type.String(),
      path: Type.String(),
      level: Type.Union([Type.Literal("project"), Type.Literal("user")]),
    }),
  ),
});
export type StreamRule = Static<typeof StreamRule>;
