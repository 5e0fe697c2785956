import type { StoryChecks } from "../../packages/coding-agent/src/transcript/parse.ts";
import { at, brief, type Frame, list } from "./frame.ts";
import { AssistantMessageGrammar } from "./message-grammar.ts";

/**
 * Accepts exactly the legal orders of frames on stdout and names the first illegal one.
 *
 *   ready  ( run  settling )*
 *   run      = agent_start turn* agent_end           several, when an agent_end promises a retry
 *   turn     = turn_start injected* assistant tools turn_end
 *   settling = agent_settled prompt_result* session_settled
 *
 * Responses, dialogs and other frames that belong to no run may stand anywhere after `ready`.
 */

export interface GrammarOptions extends StoryChecks {
  dialect?: "union" | "pi" | "omp" | "xcsh";
}

type Phase = "idle" | "running" | "ended" | "settling";
type Handler = (frame: Frame) => string | undefined;

interface Prompt {
  id: unknown;
  disposition: unknown;
}

interface Call {
  name: unknown;
  state: "waiting" | "running" | "ended" | "reported";
  isError?: unknown;
}

interface Turn {
  assistant: "none" | "streaming" | "ended";
  stopReason?: unknown;
  /** In the order of the message. */
  calls: Map<string, Call>;
}

interface OpenMessage {
  role: string;
  toolCallId?: unknown;
  stream?: AssistantMessageGrammar;
}

/** Answers to requests that we sent: they have an id, but no response comes back. */
const ANSWER_FRAMES = new Set(["extension_ui_response", "host_tool_update", "host_tool_result", "host_uri_result"]);
const PROMPT_COMMANDS = new Set<unknown>(["prompt", "abort_and_prompt"]);
/** Messages that a host or an extension may add while nothing runs. */
const IDLE_ROLES = new Set(["custom", "bashExecution", "branchSummary", "compactionSummary", "hookMessage"]);
const COMPACTION_PAIRS = { compaction_start: "compaction_end", auto_compaction_start: "auto_compaction_end" } as const;

export class EventGrammar {
  private readonly options: GrammarOptions;
  private readonly handlers: Record<string, Handler>;
  private count = 0;
  private lastSeq = Number.NEGATIVE_INFINITY;
  /** Events that are told once more: they are checked for their numbers only. */
  private again = 0;
  private lastAgain = Number.NEGATIVE_INFINITY;
  private phase: Phase = "idle";
  private turn: Turn | undefined;
  private message: OpenMessage | undefined;
  private runMessages: string[] = [];
  /** Background jobs run: the next run may begin by itself, and before the session is at rest. */
  private awaitsWork = false;
  private willRetry = false;
  /** A retry or compaction came after the last agent_end, so that its promise may be taken back. */
  private recoveryEnded = false;
  private retrying = false;
  private readonly openCompactions = new Set<string>();
  /** Accepted prompts whose prompt_result is still to come. */
  private readonly openPrompts: Prompt[] = [];
  /** Something happened since the last session_settled. */
  /** An extension was at work on a prompt when the last run was over. */
  private wasHandling = false;
  private unsettled = false;
  /** Commands the harness has sent and that are not answered yet: the types of each id, which may be used again. */
  private readonly unanswered = new Map<unknown, unknown[]>();
  private readonly acceptedIds = new Set<unknown>();
  private knowsInput = false;
  /** The prompt that started the run. */
  private runOwner: Prompt | undefined;

  constructor(options: GrammarOptions = {}) {
    this.options = options;
    this.handlers = {
      ready: () => "a second ready",
      response: (frame) => this.response(frame),
      agent_start: () => this.agentStart(),
      agent_end: (frame) => this.agentEnd(frame),
      turn_start: () => this.turnStart(),
      turn_end: (frame) => this.turnEnd(frame),
      message_start: (frame) => this.messageStart(frame),
      message_update: (frame) => this.messageUpdate(frame),
      message_end: (frame) => this.messageEnd(frame),
      tool_execution_start: (frame) => this.toolStart(frame),
      tool_execution_update: (frame) => this.toolStep(frame, "running"),
      tool_execution_end: (frame) => this.toolEnd(frame),
      auto_retry_start: () => this.retryStart(),
      auto_retry_end: () => this.retryEnd(),
      agent_settled: () => this.agentSettled(),
      prompt_result: (frame) => this.promptResult(frame),
      session_settled: () => this.sessionSettled(),
    };
    for (const [start, end] of Object.entries(COMPACTION_PAIRS)) {
      this.handlers[start] = () => this.compactionStart(start);
      this.handlers[end] = () => this.compactionEnd(start, end);
    }
  }

  /** Tell the checker what was sent, and it checks that every command with an id is answered once. */
  sent(command: Frame): void {
    this.knowsInput = true;
    if (typeof command.type !== "string" || ANSWER_FRAMES.has(command.type)) return;
    // An id may be used again.
    this.acceptedIds.delete(command.id);
    if (typeof command.id === "string" || typeof command.id === "number")
      this.unanswered.set(command.id, [...(this.unanswered.get(command.id) ?? []), command.type]);
  }

  /** A sentence when this frame may not stand here, else undefined. */
  check(frame: Frame): string | undefined {
    this.count += 1;
    if (this.again > 0) return this.toldAgain(frame);
    const problem = this.firstFrame(frame) ?? this.sequence(frame) ?? this.dispatch(frame);
    return problem && `frame ${this.count} (${frame.type}): ${problem}\n  ${brief(frame)}`;
  }

  private toldAgain(frame: Frame): string | undefined {
    this.again -= 1;
    const before = this.lastAgain;
    this.lastAgain = Number(frame.seq);
    return this.lastAgain > before ? undefined : `seq ${frame.seq} after ${before}, told once more\n  ${brief(frame)}`;
  }

  /** A sentence when the stream may not end here. */
  finish(): string | undefined {
    const isOver = this.phase === "idle" || (this.phase === "settling" && this.awaitsWork);
    if (!isOver) return `the stream ended inside a run (${this.phase})`;
    if (this.message) return `the stream ended inside a ${this.message.role} message`;
    if (this.retrying) return "the stream ended with auto_retry_start and no auto_retry_end";
    if (this.openCompactions.size > 0)
      return `the stream ended with ${[...this.openCompactions].join(", ")} and no end`;
    if (this.openPrompts.length > 0 && this.hasPromptResults()) {
      return `no prompt_result for the accepted prompt(s) ${brief(this.openPrompts)}`;
    }
    const unanswered = [...this.unanswered].flatMap(([id, types]) => types.map((type) => ({ id, type })));
    if (unanswered.length > 0) return `no response to ${brief(unanswered)}`;
    return undefined;
  }

  private hasPromptResults(): boolean {
    return this.options.dialect !== "pi";
  }

  private firstFrame(frame: Frame): string | undefined {
    if (this.options.dialect === "pi") return frame.type === "ready" ? "the pi dialect sends no ready" : undefined;
    return this.count === 1 && frame.type !== "ready" ? "the first frame must be ready" : undefined;
  }

  private sequence(frame: Frame): string | undefined {
    if (frame.seq === undefined) return undefined;
    if (typeof frame.seq !== "number") return "seq is not a number";
    const before = this.lastSeq;
    this.lastSeq = frame.seq;
    return frame.seq > before ? undefined : `seq ${frame.seq} after ${before}`;
  }

  private dispatch(frame: Frame): string | undefined {
    if (frame.type === "ready" && this.count === 1) return undefined;
    if (this.options.filteredEvents) return frame.type === "response" ? this.answer(frame) : undefined;
    return typeof frame.type === "string" ? this.handlers[frame.type]?.(frame) : "a frame without type";
  }

  private response(frame: Frame): string | undefined {
    if (PROMPT_COMMANDS.has(frame.command)) return this.promptResponse(frame);
    if (frame.command === "subscribe" && frame.success === true) {
      this.again = Number(at(frame, "data", "count"));
      this.lastAgain = Number.NEGATIVE_INFINITY;
    }
    if (frame.command === "abort" && frame.success === true && this.isBusy()) {
      return `abort was answered before the end of the run (${this.phase})`;
    }
    return this.answer(frame);
  }

  /** Until prompt_result is out; only session_settled may still follow an abort's answer. */
  private isBusy(): boolean {
    return this.phase === "running" || this.phase === "ended";
  }

  private promptResponse(frame: Frame): string | undefined {
    if (frame.success !== true) {
      const isLateFailure = this.acceptedIds.delete(frame.id);
      return isLateFailure ? undefined : this.answer(frame);
    }
    if (frame.command === "abort_and_prompt" && this.isBusy()) return "answered before the end of the old run";
    this.openPrompts.push({ id: frame.id, disposition: at(frame, "data", "disposition") });
    this.unsettled = true;
    if (frame.id !== undefined) this.acceptedIds.add(frame.id);
    return this.answer(frame);
  }

  private answer(frame: Frame): string | undefined {
    if (!this.knowsInput) return undefined;
    if (frame.id === undefined) {
      // An unknown command is answered under its name, without id.
      const nameless = [...this.unanswered].find(([, types]) => types.includes(frame.command));
      if (nameless && frame.success === false) this.answered(nameless[0], frame.command);
      return undefined;
    }
    // An answer that cannot be used is the only kind that gets a response.
    if (ANSWER_FRAMES.has(String(frame.command)) && frame.success === false) return undefined;
    const types = this.unanswered.get(frame.id);
    if (!types) return `a response to "${frame.id}", which was not asked or is already answered`;
    this.answered(frame.id, types[0]);
    return undefined;
  }

  private answered(id: unknown, type: unknown): void {
    const types = this.unanswered.get(id) ?? [];
    types.splice(types.indexOf(type), 1);
    if (types.length === 0) this.unanswered.delete(id);
  }

  private agentStart(): string | undefined {
    if (this.phase === "running") return "a run inside a run";
    // The session is not settled while an extension is at work on a prompt, but the next run may come.
    if (this.phase === "settling" && this.wasHandling && !this.owesResult()) this.phase = "idle";
    if (this.phase === "settling" && !this.awaitsWork) return "the old run is not settled yet";
    if (this.phase === "ended" && !this.willRetry)
      return "the last agent_end said willRetry:false; agent_settled must follow";
    const isFree = this.phase === "idle" || this.phase === "settling";
    // A background job that ends begins a run by itself.
    const mayBegin = this.openPrompts.length > 0 || this.options.runsWithoutPrompt === true || this.awaitsWork;
    if (isFree && !mayBegin) {
      return "no prompt was accepted before it";
    }
    // Prompts that wait in a queue may be older than the one that starts the run.
    const started = this.openPrompts.find((prompt) => prompt.disposition === "started");
    // One that an extension deals with gets its result when that is done, also after runs that the extension started.
    if (isFree) this.runOwner = started ?? this.openPrompts.find(({ disposition }) => disposition !== "handled");
    this.phase = "running";
    this.unsettled = true;
    this.runMessages = [];
    this.recoveryEnded = false;
    return undefined;
  }

  private agentEnd(frame: Frame): string | undefined {
    // The pause before a retry was cut short: the promise of the last agent_end is taken back by another one.
    const isTakenBack = this.phase === "ended" && this.willRetry && this.recoveryEnded && frame.willRetry === false;
    if (isTakenBack) this.runMessages = [];
    if (this.phase !== "running" && !isTakenBack) return "no run is open";
    if (this.turn) return "a turn is still open";
    this.phase = "ended";
    this.willRetry = frame.willRetry === true;
    this.awaitsWork = frame.awaitingAsyncWork === true;
    if (typeof frame.willRetry !== "boolean") return "willRetry is missing";
    const roles = list(frame.messages).map((message) => String(at(message, "role")));
    return roles.join() === this.runMessages.join()
      ? undefined
      : `messages are [${roles.join(", ")}], the run told of [${this.runMessages.join(", ")}]`;
  }

  private turnStart(): string | undefined {
    if (this.phase !== "running") return "no run is open";
    if (this.turn) return "the turn before is still open";
    this.turn = { assistant: "none", calls: new Map() };
    return undefined;
  }

  private turnEnd(frame: Frame): string | undefined {
    const turn = this.turn;
    if (!turn) return "no turn is open";
    if (this.message) return `a ${this.message.role} message is still open`;
    if (turn.assistant !== "ended") return "the turn has no assistant message";
    this.turn = undefined;
    for (const [id, call] of turn.calls) {
      // A message that failed midway may hold calls that nobody will run.
      if (call.state === "reported" || (call.state === "waiting" && turn.stopReason === "error")) continue;
      return `tool call ${id} (${call.name}) is ${call.state} and has no result message`;
    }
    const expected = [...turn.calls].filter(([, call]) => call.state === "reported").map(([id]) => id);
    const told = list(frame.toolResults).map((result) => String(at(result, "toolCallId")));
    return told.join() === expected.join()
      ? undefined
      : `toolResults are [${told.join(", ")}], in the order of the message it is [${expected.join(", ")}]`;
  }

  private messageStart(frame: Frame): string | undefined {
    const role = at(frame, "message", "role");
    if (typeof role !== "string") return "message without role";
    if (this.message) return `the ${this.message.role} message before is still open`;
    this.message = { role, toolCallId: at(frame, "message", "toolCallId") };
    if (role === "assistant") return this.assistantStart();
    if (role === "toolResult") return this.toolResultStart();
    if (this.phase !== "running") return IDLE_ROLES.has(role) ? undefined : `a ${role} message outside a run`;
    if (!this.turn) return `a ${role} message outside a turn`;
    return this.turn.assistant === "none" ? undefined : `a ${role} message after the assistant's of the same turn`;
  }

  private assistantStart(): string | undefined {
    if (!this.turn) return "an assistant message outside a turn";
    if (this.turn.assistant !== "none") return "a second assistant message in one turn";
    this.turn.assistant = "streaming";
    this.message = { role: "assistant", stream: new AssistantMessageGrammar(this.options.replacedMessages) };
    return undefined;
  }

  private toolResultStart(): string | undefined {
    const call = this.turn?.calls.get(String(this.message?.toolCallId));
    if (!call) return `a result for the tool call ${this.message?.toolCallId}, which this turn does not have`;
    return call.state === "ended" ? undefined : `the result of a tool call that is ${call.state}; its end comes first`;
  }

  private messageUpdate(frame: Frame): string | undefined {
    if (!this.message?.stream) return "no assistant message is open";
    return this.message.stream.update(frame);
  }

  private messageEnd(frame: Frame): string | undefined {
    const open = this.message;
    const message = frame.message;
    if (!open) return "no message is open";
    if (at(message, "role") !== open.role) return `the open message is a ${open.role} message`;
    this.message = undefined;
    if (this.phase === "running") this.runMessages.push(open.role);
    if (open.role === "toolResult") return this.toolResultEnd(open, message);
    if (!open.stream || !this.turn) return undefined;
    this.turn.assistant = "ended";
    this.turn.stopReason = at(message, "stopReason");
    for (const block of list(at(message, "content"))) {
      if (at(block, "type") !== "toolCall") continue;
      this.turn.calls.set(String(at(block, "id")), { name: at(block, "name"), state: "waiting" });
    }
    return open.stream.end(message);
  }

  private toolResultEnd(open: OpenMessage, message: unknown): string | undefined {
    const call = this.turn?.calls.get(String(open.toolCallId));
    if (!call) return "the tool call of this result is unknown";
    call.state = "reported";
    if (at(message, "toolCallId") !== open.toolCallId) return "message_start and message_end name different tool calls";
    return call.isError === at(message, "isError") ? undefined : "isError differs from tool_execution_end";
  }

  private toolStart(frame: Frame): string | undefined {
    const problem = this.toolStep(frame, "waiting");
    const call = this.turn?.calls.get(String(frame.toolCallId));
    if (call && !problem) call.state = "running";
    return problem;
  }

  private toolEnd(frame: Frame): string | undefined {
    const problem = this.toolStep(frame, "running");
    const call = this.turn?.calls.get(String(frame.toolCallId));
    if (call && !problem) Object.assign(call, { state: "ended", isError: frame.isError });
    return problem;
  }

  private toolStep(frame: Frame, wanted: Call["state"]): string | undefined {
    if (!this.turn) return "no turn is open";
    // Calls run side by side, so another call's result message may be open, but no other kind of message.
    if (this.message && this.message.role !== "toolResult") return `a ${this.message.role} message is open`;
    const call = this.turn.calls.get(String(frame.toolCallId));
    if (!call) return `the assistant message of this turn has no tool call ${frame.toolCallId}`;
    if (call.name !== frame.toolName) return `toolName is "${frame.toolName}", the call says "${call.name}"`;
    return call.state === wanted ? undefined : `tool call ${frame.toolCallId} is ${call.state}, must be ${wanted}`;
  }

  private retryStart(): string | undefined {
    if (this.phase !== "ended" || !this.willRetry) return "it must follow an agent_end with willRetry:true";
    this.retrying = true;
    return undefined;
  }

  private retryEnd(): string | undefined {
    if (!this.retrying) return "no auto_retry_start before it";
    if (this.message) return `a ${this.message.role} message is open`;
    this.retrying = false;
    this.recoveryEnded = true;
    return undefined;
  }

  private compactionStart(start: string): string | undefined {
    if (this.phase === "running") return "a compaction inside a run";
    if (this.openCompactions.has(start)) return "the compaction before is still open";
    this.openCompactions.add(start);
    return undefined;
  }

  private compactionEnd(start: string, end: string): string | undefined {
    this.recoveryEnded = true;
    // A second overflow of one prompt is reported by an end without a start.
    return this.openCompactions.delete(start) || this.phase === "ended" ? undefined : `${end} without ${start}`;
  }

  private agentSettled(): string | undefined {
    if (this.phase === "running") return "agent_end is missing";
    if (this.phase === "settling") return "a second agent_settled";
    if (this.phase === "idle" && this.openPrompts.length === 0) return "nothing was running";
    if (this.retrying) return "auto_retry_end is missing";
    if (this.willRetry && !this.recoveryEnded) return "the last agent_end said willRetry:true, and nothing was tried";
    this.wasHandling = this.openPrompts.some(({ disposition }) => disposition === "handled");
    this.phase = this.hasPromptResults() ? "settling" : "idle";
    this.willRetry = false;
    return undefined;
  }

  private promptResult(frame: Frame): string | undefined {
    if (!this.hasPromptResults()) return "the pi dialect sends no prompt_result";
    const index = this.openPrompts.findIndex((prompt) => prompt.id === frame.id);
    // A prompt that was queued or handled locally may end (dropped, done) while another one's run goes on.
    const ownsRun = this.openPrompts[index]?.disposition === "started";
    if (this.isBusy() && ownsRun) return "it must follow agent_settled";
    if (index < 0) return `prompt "${frame.id}" was not accepted, or has its result already`;
    this.openPrompts.splice(index, 1);
    // One that an extension dealt with may end when the session was at rest already.
    this.unsettled = true;
    return undefined;
  }

  /** The prompt of the last run has no result yet. */
  private owesResult(): boolean {
    return this.runOwner !== undefined && this.openPrompts.includes(this.runOwner);
  }

  private sessionSettled(): string | undefined {
    if (!this.hasPromptResults()) return "the pi dialect sends no session_settled";
    if (this.isBusy()) return "the run is not settled yet";
    if (!this.unsettled) return "nothing happened since the last one";
    if (this.owesResult()) return `prompt_result of "${this.runOwner?.id}" must come before it`;
    this.phase = "idle";
    this.awaitsWork = false;
    this.unsettled = false;
    return undefined;
  }
}
