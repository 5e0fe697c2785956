import type { StreamRule } from "@tiller/protocol/stream-rule";
import type { Condition } from "./condition.ts";

export type RuleSource = NonNullable<StreamRule["_source"]>;

/** What a model writes: its answer, its thoughts, the arguments of its tool calls. */
export type Part = "text" | "thinking" | "tool";

export interface Scope {
  part: Part;
  /** Only this tool. */
  tool?: string;
  /** Only calls about such a file. */
  glob?: PathTest;
}

/** For a path with forward slashes, relative to the working folder. */
export type PathTest = (path: string) => boolean;

/** A condition, and where it is looked for. */
export interface Trigger {
  condition: Condition;
  scopes: readonly Scope[];
}

export interface LoadedRule {
  rule: StreamRule;
  /** The files that it is about, where a scope does not name others. */
  globs?: readonly PathTest[];
  triggers: readonly Trigger[];
}
