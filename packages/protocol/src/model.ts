import { type Static, Type } from "typebox";

export const ThinkingLevel = Type.Union([
  Type.Literal("off"),
  Type.Literal("minimal"),
  Type.Literal("low"),
  Type.Literal("medium"),
  Type.Literal("high"),
  Type.Literal("xhigh"),
]);
export type ThinkingLevel = Static<typeof ThinkingLevel>;

/** Dollars per million tokens, never rounded. */
export const ModelCost = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
});

export const Model = Type.Object({
  id: Type.String(),
  name: Type.String(),
  api: Type.String(),
  provider: Type.String(),
  baseUrl: Type.String(),
  reasoning: Type.Boolean(),
  input: Type.Array(Type.Union([Type.Literal("text"), Type.Literal("image")])),
  cost: ModelCost,
  /** Other prices for long prompts: the last row whose `above` (tokens of input, cached ones included) is exceeded counts. */
  costTiers: Type.Optional(Type.Array(Type.Intersect([Type.Object({ above: Type.Number() }), ModelCost]))),
  contextWindow: Type.Number(),
  maxTokens: Type.Number(),
  /** How many seconds the provider keeps a prompt, for each retention that can be asked of it. */
  promptCache: Type.Optional(Type.Object({ short: Type.Optional(Type.Number()), long: Type.Optional(Type.Number()) })),
  thinkingLevelMap: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]))),
  compat: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type Model = Static<typeof Model>;
