import type { Model, ThinkingLevel } from "@tiller/protocol/model";

/** From none to most. */
export const THINKING_LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh"];
export const DEFAULT_THINKING_LEVEL: ThinkingLevel = "medium";

export function isThinkingLevel(text: string): text is ThinkingLevel {
  return (THINKING_LEVELS as readonly string[]).includes(text);
}

/** The levels a model has. `xhigh` only when its map names it; a level mapped to null is not there. */
export function levelsFor(model: Model): ThinkingLevel[] {
  if (!model.reasoning) return ["off"];
  const map = model.thinkingLevelMap;
  return THINKING_LEVELS.filter((level) => {
    const name = map?.[level];
    return level === "xhigh" ? typeof name === "string" : name !== null;
  });
}

/** The level asked for, else the next lower one the model has, else its lowest. A word that is no level means the default. */
export function clampLevel(model: Model, level: string): ThinkingLevel {
  const levels = levelsFor(model);
  const wanted = THINKING_LEVELS.indexOf(isThinkingLevel(level) ? level : DEFAULT_THINKING_LEVEL);
  return levels.findLast((name) => THINKING_LEVELS.indexOf(name) <= wanted) ?? levels[0] ?? "off";
}
