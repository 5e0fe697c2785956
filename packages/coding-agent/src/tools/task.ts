import type { Subagent } from "@tiller/protocol/sub-agent";
import type { ToolResult } from "@tiller/protocol/tool";
import { MAX_BYTES } from "./limits.ts";
import { createThrottle } from "./throttle.ts";
import { type Execute, type TaskReport, type TaskRequest, type ToolContext, textResult } from "./tool.ts";
import { truncateHead } from "./truncate.ts";

interface TaskArgs {
  agent?: string;
  instructions?: string;
  tools?: string[];
  context?: string;
  tasks: { id?: string; description?: string; assignment: string }[];
  /** Of other programs of the family. */
  isolated?: boolean;
}

const MOST_TASKS = 100;
/** However many there are, of each so much is shown. */
const LEAST_BYTES = 4096;
const LONGEST_ID = 48;
const UPDATE_MS = 100;

/** The model's side of sub-agents: says what they shall do, and reads what they report. */
export function createTask({ delegate, clock }: ToolContext): Execute<TaskArgs> {
  return async ({ toolCallId, args, signal, onUpdate }) => {
    if (!delegate) throw new Error("There are no sub-agents here");
    const request = readRequest(args);
    let newest: readonly Subagent[] = [];
    const updates = createThrottle(clock, UPDATE_MS, () => onUpdate(progressOf(newest)));
    const onProgress = (all: readonly Subagent[]): void => {
      newest = all;
      updates.touch();
    };
    const starter = await delegate();
    const reports = await starter.run(request, { toolCallId, signal, onProgress }).finally(updates.stop);
    if (signal.aborted) throw new Error("Tool execution was aborted: Request was aborted");
    const text = resultText(reports);
    // With nothing to show for it, the call has failed; else the model has something to go on with.
    if (reports.every(hasFailed)) throw new Error(text);
    return textResult(text, { subagents: reports.map(({ about }) => brief(about)) });
  };
}

function readRequest({ agent, instructions, tools, context, tasks, isolated }: TaskArgs): TaskRequest {
  if (isolated) throw new Error('"isolated" is not available here: sub-agents work in the same folder');
  if (agent !== undefined && instructions !== undefined) {
    throw new Error('Give either "agent" or "instructions": the instructions describe an agent of their own');
  }
  if (tools && instructions === undefined) throw new Error('"tools" belongs to "instructions": an agent has its own');
  if (tasks.length === 0) throw new Error('"tasks" is empty: name at least one');
  if (tasks.length > MOST_TASKS)
    throw new Error(`${tasks.length} tasks are too many for one call, at most ${MOST_TASKS}`);
  const named = tasks.map(({ id, ...task }, index) => ({ ...task, id: plainId(id) || `task-${index + 1}` }));
  const empty = named.find(({ assignment }) => assignment.trim() === "");
  if (empty) throw new Error(`The "assignment" of task "${empty.id}" is empty`);
  const ids = named.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) < index);
  if (twice !== undefined) throw new Error(`Two tasks have the id "${twice}"; give each its own`);
  return { agent, context, tasks: named, ...(instructions !== undefined && { inline: { instructions, tools } }) };
}

/** It becomes the name of a file. */
function plainId(id: string | undefined): string {
  const plain = (id ?? "").trim().replace(/[^\w-]+/g, "-");
  return plain.slice(0, LONGEST_ID).replace(/^-+|-+$/g, "");
}

/** What hosts see while it goes on. */
function progressOf(all: readonly Subagent[]): ToolResult {
  const content: ToolResult["content"] = [{ type: "text", text: all.map(progressLine).join("\n") }];
  return { content, details: { subagents: all.map(brief) } };
}

function progressLine({ id, agent, status, progress, error }: Subagent): string {
  const doing = progress?.currentTool ? `, ${progress.currentTool}` : "";
  const done = progress && progress.turns > 0 ? ` (${counted(progress.turns, "turn")}${doing})` : "";
  return `${id} [${agent}]: ${status}${done}${error === undefined ? "" : `: ${error}`}`;
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}

/** Without the texts that stand in the arguments of the call. */
function brief({ task: _task, assignment: _assignment, ...rest }: Subagent): Omit<Subagent, "task" | "assignment"> {
  return { ...rest, ...(rest.progress && { progress: { ...rest.progress } }) };
}

function hasFailed({ about }: TaskReport): boolean {
  return about.status !== "completed";
}

function resultText(reports: readonly TaskReport[]): string {
  const failed = reports.filter(hasFailed);
  const names = failed.map(({ about: { id, agent } }) => `${id} [${agent}]`).join(", ");
  const head =
    failed.length === 0 ? [] : [`${failed.length} of ${counted(reports.length, "sub-agent")} failed: ${names}`];
  const maxBytes = Math.max(LEAST_BYTES, Math.floor(MAX_BYTES / reports.length));
  return [...head, ...reports.map((report) => reportText(report, maxBytes))].join("\n\n");
}

function reportText({ about, text }: TaskReport, maxBytes: number): string {
  const { id, agent, status, error, sessionFile } = about;
  const said = text === undefined ? "" : `\n\n${shortened(text, maxBytes, sessionFile)}`;
  const why = error === undefined ? "" : `: ${error}`;
  return `## ${id} [${agent}] ${status}${why}${said || (status === "completed" ? "\n\n(no answer)" : "")}`;
}

function shortened(text: string, maxBytes: number, file: string | undefined): string {
  const { content, truncated, firstLineExceedsLimit } = truncateHead(text, { maxBytes });
  if (!truncated) return text;
  const shown = firstLineExceedsLimit
    ? Buffer.from(text)
        .toString("utf8", 0, maxBytes)
        .replace(/\uFFFD+$/, "")
    : content;
  return `${shown}\n\n[The rest of the report was cut.${file === undefined ? "" : ` All of it: ${file}`}]`;
}
