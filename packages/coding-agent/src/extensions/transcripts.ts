import { isRecord } from "./answers.ts";

/**
 * The conversation that extensions hand back for a model. What no adapter could send is refused here, where it is known who
 * made it. Blocks of kinds that we do not know may be somebody's history: they pass.
 */

type Fault = string | undefined;

const isBlock = (block: unknown): boolean =>
  isRecord(block) && typeof block.type === "string" && (block.type !== "text" || typeof block.text === "string");
const isList = (content: unknown): boolean => Array.isArray(content) && content.every(isBlock);
const text =
  (...fields: string[]) =>
  (message: Readonly<Record<string, unknown>>): Fault => {
    const wrong = fields.find((field) => typeof message[field] !== "string");
    return wrong && `${wrong} must be a text`;
  };
const blocks = ({ content }: Readonly<Record<string, unknown>>): Fault =>
  isList(content) ? undefined : "content must be a list of blocks";
const textOrBlocks = ({ content }: Readonly<Record<string, unknown>>): Fault =>
  typeof content === "string" || isList(content) ? undefined : "content must be a text, or a list of blocks";

const ROLES: Readonly<Record<string, (message: Readonly<Record<string, unknown>>) => Fault>> = {
  user: textOrBlocks,
  assistant: blocks,
  toolResult: blocks,
  custom: textOrBlocks,
  bashExecution: text("command", "output"),
  branchSummary: text("summary"),
  compactionSummary: text("summary"),
};

const isTool = (tool: unknown): boolean => isRecord(tool) && typeof tool.name === "string";
function systemFault({ content, toolsAdded }: Readonly<Record<string, unknown>>): Fault {
  if (typeof content !== "string") return "content must be a text";
  if (toolsAdded === undefined) return undefined;
  return Array.isArray(toolsAdded) && toolsAdded.every(isTool) ? undefined : "toolsAdded must be a list of tools";
}

function faultOf(message: unknown, hasSystem: boolean): Fault {
  if (!isRecord(message)) return "must be an object";
  const role = String(message.role);
  if (hasSystem && role === "system") return systemFault(message);
  return Object.hasOwn(ROLES, role) ? ROLES[role]?.(message) : `the role "${role}" is none of a message`;
}

/** Why no model can be sent this; undefined when it can. `hasSystem`: system messages may be among them. */
export function transcriptProblem(messages: unknown, hasSystem = false): string | undefined {
  if (!Array.isArray(messages)) return "messages must be a list of messages";
  for (const [index, message] of messages.entries()) {
    const fault = faultOf(message, hasSystem);
    if (fault !== undefined) return `messages[${index}]: ${fault}`;
  }
  return undefined;
}

/** Takes out of the list, in place, what cannot be sent; gives back what was wrong with the first of it. */
export function mendTranscript(messages: unknown[], hasSystem = false): string | undefined {
  const problem = transcriptProblem(messages, hasSystem);
  if (problem === undefined) return undefined;
  const sound = messages.filter((message) => faultOf(message, hasSystem) === undefined);
  messages.splice(0, messages.length, ...sound);
  return `${problem}: changed in place, it is left out`;
}
