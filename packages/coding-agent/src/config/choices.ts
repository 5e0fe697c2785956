import type { ThinkingLevel } from "@tiller/protocol/model";
import type { InterruptMode, QueueMode, UpdateMode } from "@tiller/protocol/state";
import type { RuleInterruptMode } from "@tiller/protocol/stream-rule";

/** What may be chosen, where a setting or an option is a choice that is asked for in more than one place. */

export const THINKING_LEVELS = [
  "off",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
] as const satisfies readonly ThinkingLevel[];
export const UPDATE_MODES = ["snapshot", "delta"] as const satisfies readonly UpdateMode[];
export const RULE_INTERRUPT_MODES = [
  "always",
  "prose-only",
  "tool-only",
  "never",
] as const satisfies readonly RuleInterruptMode[];
export const QUEUE_MODES = ["all", "one-at-a-time"] as const satisfies readonly QueueMode[];
export const APPROVAL_MODES = ["always", "write", "never"] as const;
export const REDACT_MODES = ["all", "keys", "none"] as const;
export const INTERRUPT_MODES = ["immediate", "wait"] as const satisfies readonly InterruptMode[];
