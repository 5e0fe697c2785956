import type { ModelRequest } from "../../provider.ts";
import { currentTask, type Task } from "./conversation.ts";
import { nextCallNumber } from "./local-model.ts";
import { isSummaryTask, remember } from "./memory.ts";
import { code, joinAnd, type Reply } from "./reply.ts";
import { type Command, reportText } from "./report.ts";
import { summarize } from "./summary.ts";
import { callsFor } from "./toolbox.ts";

/** Scout's next step, from the conversation alone. Pure. */

export interface Decision {
  text: string;
  toolCalls: { id: string; name: string; arguments: Record<string, unknown> }[];
}

const CALL_PREFIX = "scout_";
const NEEDS: Readonly<Record<Command["kind"], string>> = {
  read: "read",
  list: "ls",
  find: "find",
  search: "grep",
  run: "bash",
  write: "write",
  replace: "edit",
};

const HELP = `I can do these, with the real tools:
- \`summarize this repo\`
- \`read FILE\`, \`list [FOLDER]\`, \`find PATTERN\`, \`search TEXT [in FOLDER]\`
- \`run COMMAND\`, \`write FILE: CONTENT\`, \`replace A with B in FILE\`

To talk to a real model, set \`ANTHROPIC_API_KEY\`, \`OPENAI_API_KEY\` or \`GEMINI_API_KEY\`, or start with \`--model ollama/NAME\` for one on this machine; other servers go into \`models.json\`. \`tiller doctor\` tells what is missing.`;

export function decide(
  request: Pick<ModelRequest, "systemPrompt" | "messages" | "tools" | "cwd" | "maxTokens">,
): Decision {
  if (isSummaryTask(request)) return { text: remember(request), toolCalls: [] };
  const reply = replyTo(currentTask(request.messages), request);
  const first = nextCallNumber(request.messages, CALL_PREFIX);
  const toolCalls = (reply.calls ?? []).map((call, i) => ({ id: `${CALL_PREFIX}${first + i}`, ...call }));
  return { text: reply.text, toolCalls };
}

function replyTo(task: Task, { tools, cwd }: Pick<ModelRequest, "tools" | "cwd">): Reply {
  const { intent } = task;
  if (intent.kind === "help") return { text: helpText(task) };
  if (intent.kind === "summary") return summarize(task, tools, folderName(cwd));
  const step = task.steps[0];
  if (step) return { text: reportText(intent, step) };
  const call = callsFor(intent, tools)[0];
  if (call) return { text: announcement(intent), calls: [call] };
  return { text: missingToolText(intent, tools) };
}

function helpText({ words, withImage }: Task): string {
  const greeting = /^\W*(?:hi|hello|hey|good (?:morning|evening|day))\b/i.test(words) ? "Hello! " : "";
  const sight = withImage ? " I cannot look at pictures." : "";
  return `${greeting}I am scout, the offline model. I am not a language model: I follow a few fixed rules.${sight}\n\n${HELP}`;
}

const ANNOUNCEMENTS: { [K in Command["kind"]]: (intent: Extract<Command, { kind: K }>) => string } = {
  read: ({ path }) => `Reading ${code(path)}.`,
  list: ({ path }) => `Listing ${code(path)}.`,
  find: ({ pattern }) => `Looking for files that match ${code(pattern)}.`,
  search: ({ text }) => `Searching for ${code(text)}.`,
  run: ({ command }) => `Running ${code(command)}.`,
  write: ({ path }) => `Writing ${code(path)}.`,
  replace: ({ path }) => `Editing ${code(path)}.`,
};

function announcement<K extends Command["kind"]>(intent: Extract<Command, { kind: K }>): string {
  return ANNOUNCEMENTS[intent.kind as K](intent);
}

function missingToolText(intent: Command, tools: ModelRequest["tools"]): string {
  const offered =
    tools.length > 0 ? `On offer: ${joinAnd(tools.map((tool) => code(tool.name)))}.` : "No tool is on offer.";
  return `I need the tool ${code(NEEDS[intent.kind])} for that, and it is not switched on. ${offered} Add it with --tools.`;
}

function folderName(cwd: string): string {
  return cwd.split(/[\\/]/).filter(Boolean).pop() ?? cwd;
}
