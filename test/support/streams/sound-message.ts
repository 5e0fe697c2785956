import type { Delta } from "@tiller/ai/provider";
import type { AssistantMessage } from "@tiller/protocol/message";
import { assembled } from "./read.ts";

/** Whether a message that came over the wire is one that we can keep and send. */

/** Fields of the message that are not of the kind they must be. */
function problemsOf({ content, usage, responseId, responseModel, errorMessage }: AssistantMessage): string[] {
  const fields: [name: string, value: unknown][] = Object.entries({ responseId, responseModel, errorMessage });
  for (const block of content) fields.push(...Object.entries(block));
  const { cost, ...counts } = usage;
  fields.push(
    ...Object.entries({ ...counts, cost: cost.total }).map(([name, count]): [string, unknown] => [
      `usage.${name}`,
      count,
    ]),
  );
  return fields
    .filter(([name, value]) => !isSound(name, value))
    .map(([name, value]) => `${name} is ${JSON.stringify(value)}`);
}

function isSound(name: string, value: unknown): boolean {
  if (name.startsWith("usage.")) return Number.isFinite(value);
  if (name === "arguments") return typeof value === "object" && value !== null && !Array.isArray(value);
  return value === undefined || typeof value === (name === "redacted" ? "boolean" : "string");
}

/** What is wrong with the message that comes of these events; nothing may throw, and there is one end. */
export function problemsWith(read: (events: readonly string[]) => Delta[], events: readonly string[]): string[] {
  try {
    return problemsOf(assembled(read(events)).message);
  } catch (error) {
    return [String(error)];
  }
}
