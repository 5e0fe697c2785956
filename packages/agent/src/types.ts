import type { ProviderError } from "@tiller/ai/errors";
import type { ModelSecrets } from "@tiller/ai/model-secrets";
import type { ModelRequest, StreamModel } from "@tiller/ai/provider";
import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage, AssistantMessage, LlmMessage, ToolResultMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { InterruptMode } from "@tiller/protocol/state";
import type { StreamEvent } from "@tiller/protocol/stream-event";
import type { JsonSchema, ToolResult } from "@tiller/protocol/tool";

/**
 * What the loop says while it works, from `agent_start` to the last `turn_end`; its caller says `agent_end`. The edge
 * turns these into frames; nothing in the loop listens to them.
 */
export type AgentEvent =
  | { type: "agent_start" }
  | { type: "turn_start" }
  | { type: "turn_end"; message: AssistantMessage; toolResults: ToolResultMessage[] }
  | { type: "message_start"; message: AgentMessage }
  /** `snapshot` gives the message so far; asking costs something, so those who only follow the deltas do not. */
  | { type: "message_update"; event: StreamEvent; snapshot(): AssistantMessage }
  | { type: "message_end"; message: AgentMessage }
  | { type: "tool_execution_start"; toolCallId: string; toolName: string; args: Record<string, unknown> }
  | {
      type: "tool_execution_update";
      toolCallId: string;
      toolName: string;
      args: Record<string, unknown>;
      partialResult: ToolResult;
    }
  | { type: "tool_execution_end"; toolCallId: string; toolName: string; result: ToolResult; isError: boolean }
  | ({ type: "queue_update" } & QueueTexts);

/** The texts of all messages that wait. */
export interface QueueTexts {
  steering: string[];
  followUp: string[];
}

/** The messages that wait for this run, as far as the loop has to do with them. */
export interface RunQueue {
  /** Takes what is to be delivered now; the loop delivers it at once, so nothing is lost in between. */
  take(queue: "steering" | "followUp"): readonly AgentMessage[];
  readonly hasSteering: boolean;
  readonly interruptMode: InterruptMode;
  /** Calls `wake` for every steering message that comes from now on; gives back how to stop that. */
  onSteering?(wake: () => void): () => void;
  texts(): QueueTexts;
}

/** Results of work that goes on beside the run. One that is there is a reason to go on. */
export interface RunResults {
  readonly isEmpty: boolean;
  /** All of them; the loop delivers them at once, so nothing is lost in between. */
  take(): readonly AgentMessage[];
}

/** Takes one event. A promise is awaited before the loop goes on (a slow reader slows the model); undefined costs nothing. */
export type Emit = (event: AgentEvent) => undefined | Promise<void>;

/** One call of a tool. Everything a tool needs comes in here; it never sees the session. */
export interface ToolInvocation<Args = Record<string, unknown>> {
  toolCallId: string;
  args: Args;
  signal: AbortSignal;
  /** Progress: the result so far, cumulative, not an increment. */
  onUpdate(partial: ToolResult): void;
}

/** `isError` and `terminate` are for the loop only and no part of the result that is told and kept: see `AgentTool.execute`. */
export type AgentToolResult = ToolResult & { isError?: boolean; terminate?: boolean };

export interface AgentTool {
  name: string;
  label: string;
  description: string;
  parameters: JsonSchema;
  /** Where it comes from, for people, when that is neither the program nor an extension nor the host: `mcp:docs`. */
  source?: string;
  /** `shared` calls that stand side by side run in parallel; an `exclusive` one runs alone, in the order of the message. */
  concurrency: "shared" | "exclusive";
  /** Makes of what the model sent what the schema wants, before it is checked. A throw is a failed call. */
  prepareArguments?(args: unknown): unknown;
  /**
   * May throw: the text of the error is what the model sees. A result with `isError` is a failure with more to show than
   * a text. When every result of a message's calls has `terminate`, the
   * model is not asked again for them.
   */
  execute(call: ToolInvocation): Promise<AgentToolResult>;
}

/** What a provider wants to see of us, and what of its model nobody else may see. */
export interface Credentials extends ModelSecrets {
  apiKey?: string;
  headers?: Record<string, string>;
}

/** A call that has been checked and is about to run, or has run. */
export interface HookedCall {
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  signal: AbortSignal;
}

/**
 * Where others take part in a run. A hook is only there while somebody listens. One that rejects counts as one that says
 * nothing (before a tool: as one that says no), and after an abort nobody waits for one longer than a moment.
 */
export interface AgentHooks {
  /** The last look at a message before it is told and kept; gives back the one to use, which has the same role. */
  settle?(message: AgentMessage): Promise<AgentMessage>;
  /**
   * Before a checked call runs. `args` may be changed in place and are not checked again; `block` is why it may not run.
   * `terminate` is the same as in the result of the tool, whether it runs or not.
   */
  beforeTool?(call: HookedCall): Promise<{ block?: string; terminate?: boolean } | undefined>;
  /**
   * The last word: why the call may not run, or undefined when it may, with exactly these arguments, which nobody else can
   * change any more. One that rejects has not permitted it.
   */
  permit?(call: HookedCall & { tool: AgentTool }): Promise<string | undefined>;
  /** After it has run, also when it failed, and before its end is told. */
  afterTool?(
    done: HookedCall & { result: AgentToolResult; isError: boolean },
  ): Promise<{ result: AgentToolResult; isError: boolean }>;
  /** A turn is over and told. Gives back what the next one begins with, and whether there is to be one in any case. */
  endTurn?(turn: EndedTurn): Promise<{ messages: readonly AgentMessage[]; continue: boolean }>;
}

export interface EndedTurn {
  message: AssistantMessage;
  toolResults: readonly ToolResultMessage[];
  signal: AbortSignal;
}

/**
 * Looks along while one answer grows, at every event of it, and at its end while it can still be stopped. A sentence means:
 * the answer ends here, and why.
 */
export type AnswerWatch = (event: StreamEvent | { type: "complete" }) => string | undefined;

/** What a run needs from its surroundings. Read anew for every turn, so that a switch of model or tools takes effect. */
export interface AgentPorts {
  model(): Model;
  thinkingLevel(): ThinkingLevel;
  tools(): Promise<readonly AgentTool[]>;
  systemPrompt(tools: readonly AgentTool[]): string;
  /** The whole conversation as the model shall see it. */
  context(): readonly LlmMessage[] | Promise<readonly LlmMessage[]>;
  /** Credentials for a model; throws ProviderError("auth") when there are none. A promise when a command has to give them. */
  credentials(model: Model): Credentials | Promise<Credentials>;
  /** The last look at a question before it goes to the model; undefined when nobody wants one. */
  lastLook?(request: ModelRequest): undefined | Promise<Pick<ModelRequest, "systemPrompt" | "messages" | "tools">>;
  stream: StreamModel;
  queue: RunQueue;
  results?: RunResults;
  /** What the model has to know before it is asked again. Nobody goes on only because of it. */
  news?(): readonly AgentMessage[];
  /** Asked before each answer; undefined when nobody looks along. */
  watch?(): AnswerWatch | undefined;
  /** Asked anew wherever one is used: who listens may come and go. */
  hooks?(): AgentHooks | undefined;
  /** Why no further turn may begin, in one sentence; undefined while there is no reason. */
  limit(): string | undefined;
  /** Asked before each call: counts it, or says why it may not be made. */
  countToolCall(): string | undefined;
  cwd: string;
  clock: Clock;
}

/** How a run ended. The caller decides what happens next; events are only told. */
export interface RunOutcome {
  stopReason: AssistantMessage["stopReason"];
  /** Set when stopReason is "error" or "aborted". */
  error?: ProviderError;
  /** Set when a limit ended it. */
  limit?: string;
  /** Who looked along has ended the last answer. */
  interrupted?: true;
  /** Messages this run added, in order. */
  messages: AgentMessage[];
  /** What the next turn would have begun with, and nobody has been told of. */
  lastWords?: readonly AgentMessage[];
}
