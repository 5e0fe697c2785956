import { plainJson } from "../lib/plain-json.ts";
import type { FromExtension, HookEvent, HookName, HookResult } from "../session/ports.ts";
import {
  bashResultOf,
  contentOf,
  customMessageOf,
  draftsOf,
  headersOf,
  imagesOf,
  isRecord,
  replacedMessage,
  strings,
} from "./answers.ts";
import { mendTranscript, transcriptProblem } from "./transcripts.ts";

/** Every hook in one table: what a handler's answer does, how those of several handlers combine, how long each may take. */

export interface HookRow<K extends HookName> {
  /** One sentence for the documentation. */
  summary: string;
  /** What a handler may give back, for the documentation. */
  answer?: string;
  /** How the answers of several handlers combine, for the documentation. Where an answer counts, it says so. */
  combines?: string;
  /** How long one handler may take; an open dialog does not count. */
  limitMs: number;
  /** What comes back when nobody answers. */
  nothing(event: HookEvent<K>): HookResult<K>;
  /**
   * Takes one answer into the result; what the next handler shall see goes into the event. "stop": nobody else is asked.
   * A text: the answer is nonsense, and why.
   */
  take?(answer: Record<string, unknown>, so: HookState<K>): "stop" | { problem: string } | undefined;
  /** Answers that are no objects count too. */
  takesAnything?: true;
  /** Extensions are not told one after the other, but all at once: one that hangs takes no time from the others. */
  allAtOnce?: true;
  /** Where the event may be changed in place: takes out of it what cannot be used, and says what that was. */
  mend?(so: HookState<K>): string | undefined;
  /** What a handler that throws or hangs stands for; otherwise it is as if it had said nothing. */
  failed?(error: string, so: HookState<K>): "stop" | undefined;
}

export interface HookState<K extends HookName> {
  event: HookEvent<K>;
  result: HookResult<K>;
  extensionPath: string;
}

/** Told only: the loop waits, but nothing follows from it. */
const SOON = 10_000;
/** Somebody may have to look something up, or to ask another model. */
const LATER = 60_000;
const MUCH_LATER = 300_000;

const told = (summary: string, limitMs = SOON) => ({ summary, limitMs, nothing: () => undefined });

const cancelling = (summary: string) => ({
  summary,
  answer: "`{cancel: true}` says no",
  combines: "the first no counts",
  limitMs: LATER,
  nothing: () => ({ cancel: false }),
  take: takeCancel,
});

type BoundaryHook = "turn_end" | "agent_before_settle";

/** A point at which a run may go on although nobody else wants it to. */
const boundary = (summary: string) => ({
  summary,
  answer:
    "`{entries?: [...event.entries, entry], continue?: boolean}`: what is added to the session (`custom`, `custom_message`, `context_edit`, `compaction`), and whether the model is asked once more",
  combines: "of each field what is said last, a `false` too; the next sees both",
  limitMs: LATER,
  nothing: () => ({ entries: [], continue: false }),
  take(answer: Record<string, unknown>, { event, result }: HookState<BoundaryHook>) {
    if (answer.entries !== undefined) {
      const drafts = draftsOf(answer.entries);
      if ("problem" in drafts) return drafts;
      result.entries = drafts;
      event.entries = [...drafts];
    }
    if (typeof answer.continue === "boolean") event.continue = result.continue = answer.continue;
    return undefined;
  },
});

export const HOOKS: { readonly [K in HookName]: HookRow<K> } = {
  resources_discover: {
    summary: "The texts of the user and the project are looked for.",
    answer: "`{skillPaths?, promptPaths?, themePaths?}`: more places to look in",
    combines: "all paths count",
    limitMs: SOON,
    nothing: () => ({ skillPaths: [], promptPaths: [] }),
    take(answer, { result, extensionPath }) {
      const here = (path: string): FromExtension => ({ path, extensionPath });
      const [skills, prompts] = [strings(answer.skillPaths), strings(answer.promptPaths)];
      if (!skills || !prompts) return { problem: "skillPaths and promptPaths must be lists of paths" };
      result.skillPaths.push(...skills.map(here));
      result.promptPaths.push(...prompts.map(here));
      return undefined;
    },
  },
  session_start: told("A session begins, or another one was entered.", LATER),
  session_switch: told("Another session was entered (new or resumed).", LATER),
  session_branch: told("A copy of the session was entered.", LATER),
  session_before_switch: cancelling("The session is about to be left for a new or another one."),
  session_before_fork: cancelling("The session is about to be copied."),
  session_before_branch: cancelling("The same, under its other name."),
  session_before_compact: {
    summary: "The older part of the conversation is about to be summarised.",
    answer:
      "`{cancel: true}`, or `{compaction: {summary, firstKeptEntryId, tokensBefore, details?}}` instead of a model's",
    combines: "the first no counts, else the last summary",
    limitMs: MUCH_LATER,
    nothing: () => ({ cancel: false }),
    take(answer, { result }) {
      if (answer.cancel === true) return takeCancel(answer, { result });
      const { compaction } = answer;
      if (compaction === undefined) return undefined;
      if (!isRecord(compaction) || typeof compaction.summary !== "string") {
        return { problem: "compaction must be an object with a summary" };
      }
      const { summary, firstKeptEntryId, tokensBefore, details } = compaction;
      result.compaction = {
        summary,
        details: plainJson(details),
        ...(typeof firstKeptEntryId === "string" && { firstKeptEntryId }),
        ...(typeof tokensBefore === "number" && { tokensBefore }),
      };
      return undefined;
    },
  },
  "session.compacting": {
    summary: "A summary is about to be asked for.",
    answer: "`{context?: string[], prompt?: string, preserveData?}`: what the summary shall respect",
    combines: "all of `context`; of the rest what is said last",
    limitMs: LATER,
    nothing: () => ({ context: [] }),
    take(answer, { result }) {
      const context = strings(answer.context);
      if (!context) return { problem: "context must be a list of texts" };
      result.context.push(...context);
      if (typeof answer.prompt === "string") result.prompt = answer.prompt;
      if (answer.preserveData !== undefined) result.preserveData = plainJson(answer.preserveData);
      return undefined;
    },
  },
  session_compact: told("The older part of the conversation was replaced by a summary."),
  session_compact_failed: told("There is no summary, and why."),
  session_before_tree: {
    summary: "The conversation is about to go on from another place in its tree.",
    answer: "`{cancel: true}`, or `{summary?: {summary, details?}, customInstructions?, replaceInstructions?, label?}`",
    combines: "the first no counts, else of each field what is said last",
    limitMs: MUCH_LATER,
    nothing: () => ({ cancel: false }),
    take(answer, { result }) {
      if (answer.cancel === true) return takeCancel(answer, { result });
      const { summary, customInstructions, replaceInstructions, label } = answer;
      if (summary !== undefined) {
        if (!isRecord(summary) || typeof summary.summary !== "string") {
          return { problem: "summary must be an object with a summary" };
        }
        result.summary = { summary: summary.summary, details: plainJson(summary.details) };
      }
      if (typeof customInstructions === "string") result.customInstructions = customInstructions;
      if (typeof replaceInstructions === "boolean") result.replaceInstructions = replaceInstructions;
      if (typeof label === "string") result.label = label;
      return undefined;
    },
  },
  session_tree: told("The conversation goes on from another place."),
  session_shutdown: {
    ...told("The extension is about to be unloaded: the process ends, or another session is entered.", 3000),
    allAtOnce: true,
  },
  session_info_changed: told("The session has another name."),

  input: {
    summary: "A prompt came in, before skills and templates are looked up.",
    answer:
      '`{action: "continue"}`, `{action: "transform", text, images?}` (the next handler sees it), `{action: "handled"}`',
    combines: "the next sees what was made of it; the first `handled` ends it",
    limitMs: LATER,
    nothing: ({ text, images }) => ({ handled: false, text, images }),
    take(answer, { event, result }) {
      if (answer.action === "handled") {
        result.handled = true;
        return "stop";
      }
      if (answer.action === "continue" || answer.action === undefined) return undefined;
      if (answer.action !== "transform") return { problem: 'action must be "continue", "transform" or "handled"' };
      if (typeof answer.text !== "string") return { problem: 'a "transform" needs a text' };
      const images = imagesOf(answer.images);
      if (images === "nonsense") return { problem: "images must be a list of image blocks" };
      event.text = result.text = answer.text;
      if (images) event.images = result.images = images;
      return undefined;
    },
  },
  before_agent_start: {
    summary: "A prompt is about to be worked on.",
    answer:
      "`{message?: {customType, content, display, details?}, systemPrompt?}`: put behind the prompt; used for this prompt",
    combines: "all messages; the next sees the system prompt that was made",
    limitMs: LATER,
    nothing: ({ systemPrompt }) => ({ messages: [], systemPrompt }),
    take(answer, { event, result }) {
      if (typeof answer.systemPrompt === "string") event.systemPrompt = result.systemPrompt = answer.systemPrompt;
      if (answer.message === undefined) return undefined;
      const message = customMessageOf(answer.message);
      if ("problem" in message) return message;
      result.messages.push(message);
      return undefined;
    },
  },
  agent_start: told("A run begins."),
  agent_end: told("A run has ended."),
  agent_before_settle: boundary("A run is about to be over: nothing else would follow."),
  agent_settled: told("A run has ended, and nothing follows by itself."),
  turn_start: told("The model is about to be asked."),
  turn_end: boundary("The model has answered, and its tool calls have results."),
  message_start: told("A message begins."),
  message_update: told("More of the model's answer is there."),
  message_end: {
    summary: "A message is complete, and about to be told and kept.",
    answer: "`{message}` of the same role takes its place everywhere",
    combines: "the next sees the message that was given",
    limitMs: SOON,
    nothing: ({ message }) => ({ message }),
    take(answer, { event, result }) {
      if (answer.message === undefined) return undefined;
      const message = replacedMessage(event.message, answer.message);
      if ("problem" in message) return message;
      event.message = result.message = message;
      return undefined;
    },
  },
  context: {
    summary: "The conversation is about to be sent to the model. The messages are copies.",
    answer: "`{messages}` is what the model sees this time",
    combines: "the next sees the messages that were given",
    limitMs: LATER,
    nothing: ({ messages }) => ({ messages }),
    take(answer, { event, result }) {
      if (answer.messages === undefined) return undefined;
      const problem = transcriptProblem(answer.messages);
      if (problem !== undefined) return { problem };
      event.messages = result.messages = answer.messages as typeof result.messages;
      return undefined;
    },
    mend: ({ result }) => mendTranscript(result.messages),
  },
  context_with_system: {
    summary: "The same with the system prompt and its tools as the first message, after `context`.",
    answer: "`{messages}` is what the model sees this time; the first must be the system message",
    combines: "the same",
    limitMs: LATER,
    nothing: ({ messages }) => ({ messages }),
    take(answer, { event, result }) {
      if (answer.messages === undefined) return undefined;
      const problem = transcriptProblem(answer.messages, true);
      if (problem !== undefined) return { problem };
      const messages = answer.messages as typeof result.messages;
      if (messages[0]?.role !== "system")
        return { problem: "the first of the messages must be the system message, with a text as its content" };
      event.messages = result.messages = messages;
      return undefined;
    },
    mend: ({ result }) => mendTranscript(result.messages, true),
  },
  before_provider_headers: {
    summary:
      "The headers that are configured for a request to a provider, before it is made. They may be changed in place.",
    answer: "`{headers}`, or the headers: they are added to those that are there; `null` takes one away",
    combines: "they add up; the next sees all",
    limitMs: LATER,
    nothing: ({ headers }) => ({ headers }),
    take(answer, { event, result }) {
      const given = headersOf(isRecord(answer.headers) ? answer.headers : answer);
      if (!given) return { problem: "headers must be texts, or null" };
      event.headers = result.headers = { ...event.headers, ...given };
      return undefined;
    },
  },
  before_provider_request: {
    summary: "The body of a request to a provider is about to be sent.",
    answer: "anything but `undefined` and `null` is sent instead",
    combines: "the next sees what would be sent",
    limitMs: LATER,
    nothing: ({ payload }) => ({ payload, isReplaced: false }),
    takesAnything: true,
    take(answer, { event, result }) {
      event.payload = result.payload = answer;
      result.isReplaced = true;
      return undefined;
    },
  },
  cache_warming_decision: {
    summary:
      "A provider is about to forget the conversation, and nobody says anything (setting `cacheWarming`). It may be asked once more for next to no answer, so that it does not.",
    answer: '`{action: "warm" | "stop"}`, or `{warm: boolean}`: whether it is asked; `stop` holds until the next run',
    combines: "what is said last",
    limitMs: SOON,
    nothing: ({ action }) => ({ action }),
    take(answer, { event, result }) {
      const action = typeof answer.warm === "boolean" ? (answer.warm ? "warm" : "stop") : answer.action;
      if (action === undefined) return undefined;
      if (action !== "warm" && action !== "stop") return { problem: 'action must be "warm" or "stop"' };
      event.action = result.action = action;
      return undefined;
    },
  },
  after_provider_response: told("A provider has begun to answer."),
  provider_stream_event: told("An event has come from a provider, as it came (`data`, parsed if it is JSON)."),

  tool_call: {
    summary: "A tool is about to run. `input` may be changed in place.",
    answer:
      "`{block: true, reason?}`: it does not run, the model sees the reason; `{terminate: true}`: as in the result of a tool",
    combines: "the first `block` counts; one `terminate` is enough",
    limitMs: LATER,
    nothing: () => ({}),
    take(answer, { result }) {
      if (answer.terminate === true) result.terminate = true;
      if (answer.block !== true) return undefined;
      result.block = typeof answer.reason === "string" && answer.reason ? answer.reason : "Tool execution was blocked";
      return "stop";
    },
    // Whoever guards a tool and fails must not let it pass.
    failed(error, { result }) {
      result.block = error;
      return "stop";
    },
  },
  tool_execution_start: told("A tool call was found in the answer."),
  tool_execution_update: told("A tool has made progress."),
  tool_execution_end: told("A tool call has its result."),
  tool_result: {
    summary: "A tool has run; its result is about to be told and kept.",
    answer: "`{content?, details?, isError?}`: what is given takes the place of what was there",
    combines: "of each field what is said last; the next sees it",
    limitMs: LATER,
    nothing: ({ content, details, isError }) => ({ content, details, isError }),
    take(answer, { event, result }) {
      if (answer.content !== undefined) {
        const content = contentOf(answer.content);
        if (!content) return { problem: "content must be a list of text and image blocks" };
        event.content = result.content = content;
      }
      if ("details" in answer) event.details = result.details = plainJson(answer.details);
      if (typeof answer.isError === "boolean") event.isError = result.isError = answer.isError;
      return undefined;
    },
  },

  model_select: told("Another model was chosen."),
  thinking_level_select: told("Another thinking level holds."),
  user_bash: {
    summary: "The host runs a shell command.",
    answer: "`{result}` instead of running it, or `{operations}` that run it",
    combines: "the first `result` or `operations` counts",
    limitMs: LATER,
    nothing: () => ({}),
    take(answer, { result }) {
      if (answer.result !== undefined) {
        const given = bashResultOf(answer.result);
        if (!given) return { problem: "result must be an object with output" };
        result.result = given;
        return "stop";
      }
      if (answer.operations === undefined) return undefined;
      if (!isRecord(answer.operations) || typeof answer.operations.exec !== "function") {
        return { problem: "operations must have a function exec" };
      }
      result.operations = answer.operations as unknown as NonNullable<typeof result.operations>;
      return "stop";
    },
    // A command that was to run somewhere else must not run here.
    failed(error, { result }) {
      result.refused = error;
      return "stop";
    },
  },

  auto_compaction_start: told("A summary is made because the conversation is long."),
  auto_compaction_end: told("That summary is made, or not."),
  auto_retry_start: told("The model is asked again after a pause."),
  auto_retry_end: told("Asking again is over."),
  ttsr_triggered: told("A rule was broken in the middle of an answer."),
  todo_reminder: told("The model is reminded of open tasks."),
  project_trust: {
    summary:
      "The project brings code, and nobody has said yet whether it is trusted. Code of the project is not asked: it is not loaded yet.",
    answer: '`{trusted: "yes" | "no" | "undecided", remember?: boolean}`',
    combines: "the first yes or no counts",
    limitMs: LATER,
    nothing: () => ({ remember: false }),
    take(answer, { result }) {
      const { trusted } = answer;
      if (trusted === undefined || trusted === "undecided") return undefined;
      if (trusted !== "yes" && trusted !== "no") return { problem: 'trusted must be "yes", "no" or "undecided"' };
      result.trusted = trusted === "yes";
      result.remember = answer.remember === true;
      return "stop";
    },
  },
  mcp_servers_change: told("There are other MCP servers, or one of them is in another state or has other tools."),
  ui_prompt_start: told("A dialog is shown."),
  ui_prompt_end: told("A dialog is over."),
};

/** Events of other hosts that cannot happen here, and why. Whoever listens to one is told so. */
export const NEVER: Readonly<Record<string, string>> = {
  user_python: "only people at the terminal of omp run Python, and hosts have no command for it",
};

function takeCancel(answer: Record<string, unknown>, { result }: { result: { cancel: boolean } }): "stop" | undefined {
  if (answer.cancel !== true) return undefined;
  result.cancel = true;
  return "stop";
}

export function isHookName(name: string): name is HookName {
  return Object.hasOwn(HOOKS, name);
}
