/** The library surface of the package: ask models, and know which there are. */

export { API_FAMILIES } from "./api-families.ts";
export { type Assembly, type BrokenArguments, createAssembly } from "./assemble.ts";
export { type Environment, keyVariables } from "./auth.ts";
export { builtinModels, builtinModelsOf, OFFLINE_MODEL, scriptModel } from "./catalogue.ts";
export { ProviderError, type ProviderErrorKind } from "./errors.ts";
export type { Credentials, ModelRegistry, RegistryOptions } from "./model-registry.ts";
export { createModelRegistry } from "./models.ts";
export { isOverflowText } from "./overflow.ts";
export type { Delta, DeltaStream, ModelRequest, StreamModel } from "./provider.ts";
export {
  type InitialModelInputs,
  initialModel,
  type ModelChoice,
  resolveModelOption,
  resolveScope,
  type ScopedModel,
  wantedThinkingLevel,
} from "./resolve-model.ts";
export { streamAssistant } from "./stream.ts";
export { clampLevel, DEFAULT_THINKING_LEVEL, isThinkingLevel, levelsFor, THINKING_LEVELS } from "./thinking-levels.ts";
