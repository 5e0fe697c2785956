import type { AssistantMessage, EventFields } from "@tiller/protocol/plain-types.generated";
import type { After } from "./call.ts";
import type { ClientError } from "./errors.ts";
import type { AgentEvent, ClientEvent } from "./events.ts";

/** How a prompt ended. What comes from other agents than Tiller has fewer fields. */
export interface PromptOutcome
  extends Partial<Omit<EventFields<"prompt_result">, "id" | "status" | "agentInvoked" | "error">> {
  status: EventFields<"prompt_result">["status"];
  agentInvoked: boolean;
  error?: { message: string } & Partial<NonNullable<EventFields<"prompt_result">["error"]>>;
  /** The text of the last answer. */
  text: string;
  /** The last answer whole; absent when there was none. */
  message?: AssistantMessage;
}

/** One prompt from its sending to its end. */
export interface OpenPrompt {
  onEvent?(event: ClientEvent): void;
  /** Once: how it ended, or why nobody will know. */
  onEnd(end: { outcome: PromptOutcome } | { error: unknown }): void;
}

interface Entry extends OpenPrompt {
  last?: AssistantMessage;
  /** It waits for a run that goes on, and after an abort for the next one. */
  isQueued?: boolean;
}

/** After `agent_end` an agent without prompt_result may try again, or go on with something else. */
const GRACE_MS = 60;
const GRACE_AFTER_ERROR_MS = 500;

/**
 * The prompts that are under way, and when each is over. Tiller says so with `prompt_result`. Others have `agent_settled`, or
 * only `agent_end`, after which they may still begin to retry: there, a moment without anything new is the end.
 */
export class Prompts {
  readonly #open = new Map<string, Entry>();
  readonly #after: After;
  #isRunning = false;
  #cancelGrace: (() => void) | undefined;
  #idle: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  /** The agent ends every prompt with a result of its own. */
  hasResults = false;

  constructor(after: After) {
    this.#after = after;
  }

  get isBusy(): boolean {
    if (this.#isRunning) return true;
    for (const { isQueued } of this.#open.values()) if (!isQueued) return true;
    return false;
  }

  open(id: string, prompt: OpenPrompt): void {
    this.#open.set(id, prompt);
  }

  /** The command was answered: nothing follows when no model is asked, unless the agent says how it ended. */
  accepted(id: string, data: unknown): void {
    const { agentInvoked, disposition } = (data ?? {}) as { agentInvoked?: unknown; disposition?: unknown };
    if (agentInvoked === false && !this.hasResults) this.#end(id, { status: "completed", agentInvoked: false });
    const prompt = this.#open.get(id);
    if (prompt && disposition === "queued") {
      prompt.isQueued = true;
      this.#look();
    }
  }

  /** The command was refused, or its answer will never come. */
  refused(id: string, error: unknown): void {
    const prompt = this.#take(id);
    prompt?.onEnd({ error });
  }

  /** A second answer says that it failed after all. */
  failedLater(id: string, error: ClientError): void {
    if (!this.hasResults) this.#end(id, { status: "error", agentInvoked: true, error: { message: error.message } });
  }

  observe(event: ClientEvent): void {
    if (this.#open.size > 0) for (const prompt of this.#open.values()) prompt.onEvent?.(event);
    switch (event.type) {
      case "message_update":
        return;
      case "message_end":
        if (event.message.role === "assistant") for (const prompt of this.#open.values()) prompt.last = event.message;
        return;
      case "agent_start":
        this.#isRunning = true;
        this.#forgetGrace();
        return;
      case "auto_retry_start":
      case "auto_compaction_start":
      case "compaction_start":
        this.#forgetGrace();
        return;
      case "agent_end":
        if (event.willRetry !== true) this.#ended(event);
        return;
      case "agent_settled":
        if (!this.hasResults) this.#endAll();
        return;
      case "prompt_result":
        this.#result(event);
        return;
      default:
        return;
    }
  }

  /** Resolves when nothing is under way; `next` waits for the end of something even if that has yet to begin. */
  whenIdle(next = false): Promise<void> {
    if (!next && !this.isBusy) return Promise.resolve();
    return new Promise((resolve, reject) => this.#idle.push({ resolve, reject }));
  }

  failAll(error: unknown): void {
    this.#forgetGrace();
    this.#isRunning = false;
    for (const id of [...this.#open.keys()]) this.#take(id)?.onEnd({ error });
    for (const { reject } of this.#idle.splice(0)) reject(error);
  }

  #ended(event: AgentEvent<"agent_end">): void {
    if (this.hasResults) {
      this.#isRunning = false;
      this.#look();
      return;
    }
    const last = event.messages?.at(-1);
    const isError = last?.role === "assistant" && last.stopReason === "error";
    this.#forgetGrace();
    this.#cancelGrace = this.#after(isError ? GRACE_AFTER_ERROR_MS : GRACE_MS, () => this.#endAll());
  }

  #result(event: AgentEvent<"prompt_result">): void {
    const { type: _, id, seq: __, ...fields } = event;
    // Its agent_end may have been too long to be sent, or not been asked for.
    if (fields.sessionSettled) this.#isRunning = false;
    // One that was sent without an id can only be the one that is open.
    const name = id ?? (this.#open.size === 1 ? [...this.#open.keys()][0] : undefined);
    if (name !== undefined) this.#end(String(name), fields);
    this.#look();
  }

  #endAll(): void {
    this.#forgetGrace();
    this.#isRunning = false;
    for (const [id, { last }] of [...this.#open]) this.#end(id, outcomeOf(last));
    this.#look();
  }

  #end(id: string, fields: Omit<PromptOutcome, "text" | "message">): void {
    const prompt = this.#take(id);
    if (!prompt) return;
    const { last } = prompt;
    prompt.onEnd({ outcome: { ...fields, text: last ? textOf(last) : "", ...(last && { message: last }) } });
    this.#look();
  }

  #take(id: string): Entry | undefined {
    const prompt = this.#open.get(id);
    this.#open.delete(id);
    return prompt;
  }

  #look(): void {
    if (!this.isBusy) for (const { resolve } of this.#idle.splice(0)) resolve();
  }

  #forgetGrace(): void {
    this.#cancelGrace?.();
    this.#cancelGrace = undefined;
  }
}

/** For agents that do not say it themselves. */
function outcomeOf(last: AssistantMessage | undefined): Omit<PromptOutcome, "text" | "message"> {
  if (last?.stopReason === "aborted") return { status: "aborted", agentInvoked: true };
  if (last?.stopReason !== "error") return { status: "completed", agentInvoked: true };
  return { status: "error", agentInvoked: true, error: { message: last.errorMessage ?? "the model call failed" } };
}

/** The text of a message, without what the model thought and the tools it called. */
export function textOf(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
