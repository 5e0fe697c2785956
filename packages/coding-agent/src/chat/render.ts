import type { TodoPhase, ToolResult } from "@tiller/protocol/plain-types.generated";
import type { ClientEvent } from "../client/events.ts";
import type { PromptOutcome } from "../client/prompts.ts";
import { brief, harmless, type Style } from "./style.ts";

/** What a person sees of an event: `flow` goes on where the text is, `lines` stand alone. */
export interface Shown {
  flow?: string;
  lines?: string[];
}

const ARGUMENT_LENGTH = 100;
const RESULT_LENGTH = 120;
/** What says most about a call, where a tool has it. */
const TELLING = ["command", "path", "pattern", "query", "url", "task", "name"];

/** Events as text, each by itself: no state, so that what is shown can be tested line by line. */
export function render(event: ClientEvent, style: Style): Shown {
  switch (event.type) {
    case "message_update":
      return renderPiece(event.assistantMessageEvent, style);
    case "tool_execution_start":
      return { lines: [`${style.bold(`* ${harmless(event.toolName)}`)} ${style.dim(describeArguments(event.args))}`] };
    case "tool_execution_end":
      return { lines: renderResult(event.toolName, event.result, event.isError, style) };
    case "bash_execution_update":
      return { flow: harmless(event.delta) };
    case "auto_retry_start": {
      const when = `in ${Math.ceil(event.delayMs / 1000)} s`;
      return {
        lines: [
          style.yellow(
            `~ trying again ${when}, ${event.attempt} of ${event.maxAttempts}: ${brief(event.errorMessage, RESULT_LENGTH)}`,
          ),
        ],
      };
    }
    case "compaction_start":
      return { lines: [style.dim("~ making room in the conversation ...")] };
    case "compaction_end":
      return { lines: event.errorMessage ? [style.red(`~ ${brief(event.errorMessage, RESULT_LENGTH)}`)] : [] };
    case "ttsr_triggered":
      return { lines: [style.yellow(`~ corrected by ${harmless(event.rules.map((rule) => rule.name).join(", "))}`)] };
    case "todo_reminder":
      return {
        lines: [style.dim(`~ ${event.todos.length} open task(s), reminder ${event.attempt} of ${event.maxAttempts}`)],
      };
    case "notice":
      return { lines: [paintLevel(event.level, style)(`! ${harmless(event.message)}`)] };
    case "extension_error":
      return { lines: [style.red(`! ${brief(event.extensionPath, 80)}: ${brief(event.error, RESULT_LENGTH)}`)] };
    case "extension_ui_request":
      return event.method === "notify"
        ? { lines: [paintLevel(event.notifyType ?? "info", style)(`! ${harmless(event.message)}`)] }
        : {};
    default:
      return {};
  }
}

type Piece = Extract<ClientEvent, { type: "message_update" }>["assistantMessageEvent"];

function renderPiece(piece: Piece, style: Style): Shown {
  switch (piece.type) {
    case "text_delta":
      return { flow: harmless(piece.delta) };
    case "thinking_delta":
      return { flow: style.dim(harmless(piece.delta)) };
    case "text_end":
    case "thinking_end":
      return { lines: [] };
    default:
      return {};
  }
}

function paintLevel(level: "info" | "warning" | "error", style: Style): (text: string) => string {
  return { info: style.dim, warning: style.yellow, error: style.red }[level];
}

export function describeArguments(args: Record<string, unknown>): string {
  const telling = TELLING.map((name) => args[name]).find((value) => typeof value === "string");
  if (telling !== undefined) return brief(telling as string, ARGUMENT_LENGTH);
  return Object.keys(args).length === 0 ? "" : brief(JSON.stringify(args), ARGUMENT_LENGTH);
}

function renderResult(toolName: string, result: ToolResult, isError: boolean, style: Style): string[] {
  const text = result.content
    .map((block) => (block.type === "text" ? block.text : "[image]"))
    .join("\n")
    .trim();
  if (isError) return [style.red(`  failed: ${brief(text, RESULT_LENGTH)}`)];
  const phases = (result.details as { phases?: TodoPhase[] } | undefined)?.phases;
  if (toolName.startsWith("todo") && Array.isArray(phases)) return renderTodos(phases, style);
  const count = text === "" ? 0 : text.split("\n").length;
  const first = brief(text.split("\n", 1)[0] ?? "", RESULT_LENGTH);
  return [style.dim(count > 1 ? `  ${first} ... (${count} lines)` : `  ${first || "done"}`)];
}

const MARKS = { pending: "[ ]", in_progress: "[>]", completed: "[x]", abandoned: "[-]" } as const;

export function renderTodos(phases: readonly TodoPhase[], style: Style): string[] {
  return phases.flatMap(({ name, tasks }) => [
    style.bold(`  ${harmless(name)}`),
    ...tasks.map(({ status, content }) => {
      const line = `  ${MARKS[status] ?? "[ ]"} ${brief(content, RESULT_LENGTH)}`;
      return status === "completed" || status === "abandoned" ? style.dim(line) : line;
    }),
  ]);
}

/** How a prompt ended, where that is worth a line. */
export function renderEnd({ status, error, limit }: PromptOutcome, style: Style): string[] {
  if (status === "aborted") return [style.yellow("(aborted)")];
  if (status === "error") return [style.red(`error: ${harmless(error?.message ?? "the prompt failed")}`)];
  return limit ? [style.yellow(`(ended by its limit of ${limit.limit}: ${limit.max})`)] : [];
}
