import type { LlmMessage } from "@tiller/protocol/message";
import type { ModelRequest } from "../provider.ts";
import { textOf } from "./offline/local-model.ts";
import type { Expect, TextMatch } from "./script-types.ts";

/** Compares what a turn expects with the conversation it got. Pure. */

/** Undefined when everything fits; otherwise the differences, one after the other, expected before received. */
export function differences(
  expect: Expect,
  request: Pick<ModelRequest, "messages" | "tools" | "systemPrompt">,
): string | undefined {
  const user = newest(request.messages, "user");
  const result = newest(request.messages, "toolResult");
  const offered = request.tools.map((tool) => tool.name);
  const found = [
    compareText("newest user text", expect.user, user && textOf(user)),
    compareText("newest tool result", expect.toolResult, result && textOf(result)),
    compareValue(
      "tool of the newest result",
      expect.toolName,
      result?.role === "toolResult" ? result.toolName : undefined,
    ),
    compareValue(
      "isError of the newest result",
      expect.isError,
      result?.role === "toolResult" ? result.isError : undefined,
    ),
    compareText("system prompt", expect.system, request.systemPrompt),
    compareTools(expect.tools, offered),
    compareValue("number of messages", expect.messages, request.messages.length),
  ].filter((difference) => difference !== undefined);
  return found.length > 0 ? found.join("\n") : undefined;
}

function newest(messages: readonly LlmMessage[], role: LlmMessage["role"]): LlmMessage | undefined {
  return messages.findLast((message) => message.role === role);
}

function compareText(what: string, match: TextMatch | undefined, received: string | undefined): string | undefined {
  if (match === undefined) return undefined;
  const [how, wanted] = typeof match === "string" ? (["includes", match] as const) : Object.entries(match)[0]!;
  if (received !== undefined && MATCHERS[how as keyof typeof MATCHERS](received, wanted)) return undefined;
  return difference(`${what} (${how})`, wanted, received ?? "(there is none)");
}

const MATCHERS = {
  equals: (received: string, wanted: string) => received === wanted,
  includes: (received: string, wanted: string) => received.includes(wanted),
  matches: (received: string, wanted: string) => new RegExp(wanted).test(received),
};

function compareValue(what: string, wanted: unknown, received: unknown): string | undefined {
  if (wanted === undefined || wanted === received) return undefined;
  return difference(what, String(wanted), received === undefined ? "(there is none)" : String(received));
}

function compareTools(wanted: readonly string[] | undefined, offered: readonly string[]): string | undefined {
  if (!wanted || wanted.every((name) => offered.includes(name))) return undefined;
  return difference("tools on offer", wanted.join(", "), offered.join(", ") || "(none)");
}

function difference(what: string, wanted: string, received: string): string {
  const lines = (mark: string, text: string) => text.split("\n").map((line) => `  ${mark} ${line}`);
  return [`${what}:`, ...lines("-", wanted), ...lines("+", received)].join("\n");
}
