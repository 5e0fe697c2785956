import { relative } from "node:path";
import type { StreamRule } from "@tiller/protocol/stream-rule";

/** What the model is told: one block for each rule. */
export function reminderText(
  rules: readonly StreamRule[],
  { cwd, wasInterrupted }: { cwd: string; wasInterrupted: boolean },
): string {
  return rules.map((rule) => block(rule, cwd, wasInterrupted ? INTERRUPTED : COMPLETE)).join("\n\n");
}

const INTERRUPTED = "Your answer was stopped because it goes against a rule. Begin it again and follow the rule:";
const COMPLETE = "Your last answer goes against a rule. Put right what it concerns, and follow the rule from now on:";

function block({ name, path, content }: StreamRule, cwd: string, opening: string): string {
  const inside = relative(cwd, path);
  const place = inside.startsWith("..") ? path : inside;
  return `<system-interrupt reason="rule_violation" rule="${attribute(name)}" path="${attribute(place)}">
${opening}

${content}
</system-interrupt>`;
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
