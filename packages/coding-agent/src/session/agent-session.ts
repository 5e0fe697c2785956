import type { QueueModes, QueueName } from "@tiller/agent/message-queue";
import { orAborted } from "@tiller/agent/tell";
import type { QueueTexts } from "@tiller/agent/types";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Params, Result } from "@tiller/protocol/commands/index";
import type { ImageContent } from "@tiller/protocol/content";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { AgentMessage, UserMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import type { SessionState } from "@tiller/protocol/state";
import type { TodoPhase } from "@tiller/protocol/todo";
import type { Late } from "../lib/late.ts";
import { remember } from "../lib/remember.ts";
import type { BashRunner } from "./bash-runner.ts";
import type { Compactor } from "./compaction/compactor.ts";
import type { EventPipeline } from "./event-pipeline.ts";
import type { HandledPrompts } from "./handled-prompts.ts";
import type { HandedOff, Handoff } from "./handoff.ts";
import type { HostTools } from "./host-tools.ts";
import type { HostUris } from "./host-uris.ts";
import type { JobResults } from "./job-results.ts";
import { lastAssistantText } from "./last-text.ts";
import type { ModelControl } from "./model-control.ts";
import type { ExtensionUi, InputSource, SessionExtensions, SessionHooks } from "./ports.ts";
import { messageProblem, userMessage } from "./prompt-input.ts";
import { droppedResult } from "./prompt-result.ts";
import type { AcceptedPrompt, CommandId, SessionListener } from "./session-event.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { PromptMessage, SessionRun } from "./session-run.ts";
import type { Counts } from "./session-stats.ts";
import type { Refused, SessionSwitch } from "./session-switch.ts";
import type { SessionViews } from "./session-views.ts";
import { messageOf } from "./store/entry-rules.ts";
import type { EventJournal } from "./store/event-journal.ts";
import type { SessionStore } from "./store/session-store.ts";
import type { SubAgents } from "./sub-agents.ts";
import type { Todos } from "./todos.ts";
import type { Navigated, NavigateRequest, TreeNavigation } from "./tree-navigation.ts";

export interface MessageRequest {
  message: string;
  images?: readonly ImageContent[];
}

export interface PromptRequest extends MessageRequest {
  streamingBehavior?: "steer" | "followUp";
  limits?: PromptLimits;
  commandId?: CommandId;
}

/** A reason in one sentence; or where the message went, with a job when a run is to be started. */
export type Admission =
  | { refused: string }
  | { disposition: "queued" }
  /** An extension deals with it; without a job it already has. */
  | { disposition: "handled"; job?: () => Promise<void> }
  | { disposition: "started"; job: () => Promise<void> };

/** Switches of this process. */
export interface SessionModes extends QueueModes {
  autoCompactionEnabled: boolean;
  autoRetryEnabled: boolean;
}

/** What of the user's and the project's texts is there, and what the model sees of it. */
export interface SessionResources {
  commands(): Result<"get_commands">;
  availableCommands(): Result<"get_available_commands">;
  context(): Promise<Result<"get_context">>;
}

/** What concerns sessions as such: other ones, other places in this one, and views of it. */
export interface SessionHistory {
  readonly files: SessionSwitch;
  readonly tree: TreeNavigation;
  readonly views: SessionViews;
  readonly handoff: Handoff;
  counts(): Counts;
  list(query: Params<"list_sessions">): Promise<Result<"list_sessions"> | Refused>;
  /** To the trash. */
  remove(sessionPath: string): Result<"delete_session"> | Refused;
}

/** A conversation and the verbs on it. What each verb means is decided in the parts it is made of, not here. */
export interface AgentSession {
  readonly models: ModelControl;
  readonly modes: SessionModes;
  readonly bash: BashRunner;
  /** A promise while another process may still let go of the session file. */
  admit(prompt: PromptRequest): Admission | Promise<Admission>;
  /** Ends the run and reserves the next one in its place at once; `over` resolves after the last event of the old one. */
  replace(prompt: PromptRequest): { admission: Admission | Promise<Admission>; over: Promise<void> };
  /** Queues a message for the run that is active, or for the next one. A promise while something is looked up for it. */
  enqueue(queue: QueueName, message: MessageRequest): Admission | Promise<Admission>;
  /** Empties both queues and gives back the texts; a prompt among them ends as aborted. */
  clearQueue(): QueueTexts;
  /** Resolves after the last event of the run that it ended. */
  abort(): Promise<void>;
  abortRetry(): Promise<void>;
  /** Goes on from another place of the same session. */
  navigate(request: NavigateRequest): Promise<Navigated | Refused>;
  /**
   * Gives up the navigation that is under way, and what handlers of extensions ask; and all of that that begins before the
   * function that it returns is called.
   */
  giveUpWaiting(): () => void;
  /** Aborts with the next abort: whoever asks something now need not wait for an answer any longer. */
  readonly patience: AbortSignal;
  /** Neither a run nor a shell command of the host is going on, nor a command of an extension unless they do not count. */
  waitForIdle(countsCommands?: boolean): Promise<void>;
  subscribe(listener: SessionListener): () => void;
  /** The same object as long as nothing has changed. */
  state(): SessionState;
  messages(): readonly AgentMessage[];
  lastAssistantText(): string | undefined;
  /** Loaded with the first command that needs it. */
  history(): Promise<SessionHistory>;
  stats(): Promise<Result<"get_session_stats">>;
  /** Ends the run that is going on, then replaces the older part of the conversation by a summary. */
  compact(customInstructions: string | undefined): Promise<Result<"compact"> | Refused>;
  /** Writes notes on the work and goes on in a new session that begins with them. */
  handOff(customInstructions: string | undefined): Promise<HandedOff | Refused>;
  /** Loaded with the first command that needs it. */
  resources(): Promise<SessionResources>;
  /** It had entries when it was opened, whether or not they stand on the way to where it is now. */
  readonly isContinued: boolean;
  /** What the host was told, loaded with the first run or when it is asked for. */
  readonly journal: Late<EventJournal>;
  /** Why nothing may be written to the session, after another process has had some time to let go of it. */
  writeProblem(): undefined | Promise<string | undefined>;
  /** Undefined when there are none. */
  readonly extensions: SessionExtensions | undefined;
  /** Loaded when the host first lends tools. */
  hostTools(): Promise<HostTools>;
  /** Loaded with the first that has to do with them. */
  readonly subAgents: Late<SubAgents>;
  /** Tool calls have to be approved: whoever can ask somebody says so here. Undefined when nobody need be asked. */
  readonly askThrough: ((ui: ExtensionUi) => void) | undefined;
  /** Loaded when the host first lends URLs. */
  hostUris(): Promise<HostUris>;
  /** Puts another plan in the place of the one there is. */
  setTodos(phases: Params<"set_todos">["phases"]): Promise<TodoPhase[] | Refused>;
  setAutoCompaction(isEnabled: boolean): void;
  setName(name: string): Promise<Refused | undefined>;
  /** Writes the session as an HTML page. */
  exportPage(outputPath: string | undefined): Promise<Result<"export_html"> | Refused>;
  /** Ends the run, the shell commands, the background jobs and what waits. `reason` is what the results of unfinished prompts say. */
  stop(reason: string): Promise<void>;
  /** The same for ever. */
  dispose(reason: string): Promise<void>;
}

export interface AgentSessionParts {
  models: ModelControl;
  modes: SessionModes;
  bash: BashRunner;
  queue: SessionQueue;
  run: SessionRun;
  handled: HandledPrompts;
  store: SessionStore;
  pipeline: EventPipeline;
  clock: Clock;
  ids: IdSource;
  busyText: string;
  promptLimits: PromptLimits;
  /** The same each time, once it could be loaded. */
  history(): Promise<SessionHistory>;
  compactor: Compactor;
  /** Ends all processes that tools and shell commands have left behind. */
  endProcesses(): void;
  /** The process is about to be over, or done with this session: what outlives sessions goes too. */
  closeServers(): void;
  contextUsage(): SessionState["contextUsage"];
  /** The last run of the session was cut off by a crash. */
  wasInterrupted(): boolean;
  /** Why the model cannot be asked now, or undefined when it can. */
  unusable(model: Model | null): string | undefined;
  /** The text that a prompt with a slash at its beginning stands for. */
  expand(text: string): Promise<{ text: string } | { error: string }>;
  resources(): Promise<SessionResources>;
  journal: Late<EventJournal>;
  hooks: SessionHooks | undefined;
  extensions: SessionExtensions | undefined;
  hostTools(): Promise<HostTools>;
  askThrough: AgentSession["askThrough"];
  hostUris(): Promise<HostUris>;
  todos: Late<Todos>;
  subAgents: Late<SubAgents>;
  jobs: JobResults;
  /** The session has begun for the extensions: what comes in may be worked on. */
  started(): Promise<void>;
  /** Who sends the prompts of this process, for those who look at what comes in. */
  inputSource: InputSource;
  exportPage: AgentSession["exportPage"];
}

const NO_PHASES: SessionState["todoPhases"] = [];
const LIMITS_OF_QUEUED =
  '"limits" cannot be given with a prompt that is queued: the limits of the run that delivers it hold';
const QUEUES = { steer: "steering", followUp: "followUp" } as const;

export function createAgentSession(parts: AgentSessionParts): AgentSession {
  const { models, modes, bash, queue, run, handled, store, pipeline, clock, ids, compactor, hooks, jobs } = parts;

  /** Undefined while nothing has needed it: then it is doing nothing either. */
  let asked: Promise<SessionHistory> | undefined;
  const history = (): Promise<SessionHistory> => {
    asked = parts.history();
    return asked;
  };
  /** Behind those who asked for it before: they are then there to be ended. What could not be loaded has nothing to end. */
  const abortNavigation = async (): Promise<void> => {
    await asked?.then(
      ({ tree, files }) => {
        files.abort();
        return tree.abort();
      },
      () => undefined,
    );
  };
  /** So many want that nothing waits for a summary or an answer. */
  let givenUp = 0;
  /** Only while somebody may be waiting with it: most aborts find nobody. */
  let patience: AbortController | undefined;
  const patienceNow = (): AbortSignal => {
    if (givenUp > 0) return AbortSignal.abort();
    patience ??= new AbortController();
    return patience.signal;
  };
  const losePatience = (): void => {
    patience?.abort();
    patience = undefined;
  };

  /** Why nothing is taken on any more: what was still being looked at when the process ended would wait for ever. */
  let closedFor: string | undefined;

  const enqueue = (
    name: QueueName,
    request: MessageRequest,
    prompt?: AcceptedPrompt,
  ): Admission | Promise<Admission> => {
    const add = (message: UserMessage): Admission => {
      if (closedFor !== undefined) return { refused: closedFor };
      // The run it was meant for is over: a prompt begins its own, as it would have without one.
      if (prompt && !run.isStreaming) return startWith(message, prompt);
      queue.add(name, message, prompt);
      return { disposition: "queued" };
    };
    if (!needsLook(request)) return add(userMessage(request, clock.now()));
    return lookAt(request, patienceNow(), name === "steering" ? "steer" : "followUp").then((looked) => {
      if ("refused" in looked) return looked;
      if ("message" in looked) return add(userMessage(looked, clock.now()));
      return { disposition: "handled", ...(prompt && { job: handled.job(prompt, async () => undefined) }) };
    });
  };
  const needsLook = (request: MessageRequest): boolean => callsByName(request) || hooks?.listens("input") === true;
  /** What extensions make of it, and what a skill or a template that is called by its name stands for. */
  const lookAt = async (
    request: MessageRequest,
    signal?: AbortSignal,
    streamingBehavior?: "steer" | "followUp",
  ): Promise<MessageRequest | Refused | { handled: true }> => {
    const { message: text, images } = request;
    await (signal ? orAborted(parts.started(), signal) : parts.started());
    const input = hooks?.listens("input")
      ? await hooks.run(
          "input",
          { text, images, source: parts.inputSource, ...(streamingBehavior && { streamingBehavior }) },
          signal,
        )
      : { handled: false, text, images };
    if (input.handled) return { handled: true };
    const seen = { message: input.text, images: input.images };
    // Nothing to send, or a broken image, would stand in the conversation for ever: providers refuse all of it.
    const problem = input.text === text && input.images === images ? undefined : messageProblem(seen);
    if (problem !== undefined)
      return { refused: `What input handlers have made of the prompt cannot be sent: ${problem}` };
    if (!callsByName(seen)) return seen;
    const expanded = await parts.expand(seen.message);
    return "error" in expanded ? { refused: expanded.error } : { ...seen, message: expanded.text };
  };
  /** All of that is done when the run begins. */
  const promptMessage = (request: MessageRequest): PromptMessage => {
    if (!needsLook(request)) return userMessage(request, clock.now());
    return async (signal) => {
      const looked = await lookAt(request, signal);
      if ("refused" in looked) throw new Error(looked.refused);
      return "message" in looked ? userMessage(looked, clock.now()) : undefined;
    };
  };
  /** A command of an extension runs at once, whatever else is going on. */
  const asCommand = (request: PromptRequest): Admission | undefined => {
    const command = parts.extensions?.command(request.message);
    if (!command) return undefined;
    const work = async (): Promise<void> => {
      await parts.started();
      await command.run();
    };
    return { disposition: "handled", job: handled.job(newPrompt(request), work) };
  };
  const dropQueue = (reason: string): QueueTexts => {
    const texts = queue.texts();
    const dropped = queue.clear();
    for (const { prompt } of [...dropped.steering, ...dropped.followUp]) {
      if (prompt)
        void pipeline.emit(droppedResult(prompt.commandId, reason, run.isSettled), { promptId: prompt.promptId });
    }
    return texts;
  };

  const newPrompt = ({ commandId }: PromptRequest): AcceptedPrompt => ({ promptId: ids.count("prompt"), commandId });
  const startProblem = (): string | undefined => run.exhausted ?? parts.unusable(models.model);
  const start = (request: PromptRequest): Admission => {
    const limits = { ...parts.promptLimits, ...request.limits };
    return { disposition: "started", job: run.accept(promptMessage(request), newPrompt(request), limits) };
  };

  const startWith = (message: UserMessage, prompt: AcceptedPrompt): Admission => {
    const unable = startProblem();
    if (unable !== undefined) return { refused: unable };
    return { disposition: "started", job: run.accept(message, prompt, parts.promptLimits) };
  };

  const admit = (request: PromptRequest): Admission | Promise<Admission> => {
    const problem = messageProblem(request);
    if (problem !== undefined) return { refused: problem };
    if (run.isStreaming) {
      const { streamingBehavior } = request;
      if (streamingBehavior && request.limits) return { refused: LIMITS_OF_QUEUED };
      return streamingBehavior
        ? enqueue(QUEUES[streamingBehavior], request, newPrompt(request))
        : { refused: parts.busyText };
    }
    const unable = startProblem();
    return unable === undefined ? start(request) : { refused: unable };
  };

  const admitWhenFree = (request: PromptRequest): Admission | Promise<Admission> => {
    const command = asCommand(request);
    if (command) return command;
    const unwritable = store.writeProblem();
    if (!unwritable) return admit(request);
    return unwritable.then((why) => (why === undefined ? admit(request) : { refused: why }));
  };

  const stop = async (reason: string): Promise<void> => {
    bash.abortAll();
    await Promise.all([run.abort(reason), compactor.abort(), bash.settled(), jobs.leave()]);
    jobs.left();
    if (!queue.isEmpty) dropQueue(reason);
    parts.endProcesses();
  };

  return {
    models,
    modes,
    bash,
    admit: admitWhenFree,
    get isContinued() {
      return store.log.loadedLength > 0;
    },
    journal: parts.journal,
    writeProblem: store.writeProblem,
    extensions: parts.extensions,
    hostTools: parts.hostTools,
    subAgents: parts.subAgents,
    askThrough: parts.askThrough,
    hostUris: parts.hostUris,
    async setTodos(phases) {
      const why = await store.writeProblem();
      if (why !== undefined) return { refused: why };
      return (await parts.todos.load()).set(phases, "host");
    },
    replace(request) {
      const command = asCommand(request);
      if (command) return { admission: command, over: run.abort() };
      const problem = messageProblem(request) ?? startProblem();
      if (problem !== undefined) return { admission: { refused: problem }, over: Promise.resolve() };
      // Whoever has not had the file has had no run either.
      if (store.isInUse) return { admission: admitWhenFree(request), over: Promise.resolve() };
      const over = run.abort();
      return { admission: start(request), over };
    },
    enqueue(name, request) {
      const command = parts.extensions?.command(request.message);
      const problem = command ? unqueuable(command.name) : messageProblem(request);
      return problem === undefined ? enqueue(name, request) : { refused: problem };
    },
    clearQueue: () => dropQueue("The queued prompt was removed by clear_queue"),
    async abort() {
      losePatience();
      await Promise.all([run.abort(), compactor.abort(), abortNavigation()]);
    },
    abortRetry: () => run.abortRetry(),
    navigate: async (request) => (await history()).tree.navigate(request, givenUp > 0),
    giveUpWaiting() {
      givenUp += 1;
      losePatience();
      void abortNavigation();
      return () => {
        givenUp -= 1;
      };
    },
    get patience() {
      return patienceNow();
    },
    async waitForIdle(countsCommands = true) {
      const commands = countsCommands ? handled.settled() : undefined;
      await Promise.all([run.settled(), bash.settled(), compactor.settled(), commands]);
    },
    subscribe: pipeline.subscribe,
    state: remember(() => ({
      model: models.model,
      thinkingLevel: models.thinkingLevel,
      isStreaming: run.isStreaming,
      isCompacting: compactor.isCompacting,
      isSettled: run.isSettled && queue.isEmpty && !handled.isAny && !jobs.isPending,
      hasPendingAsyncWork: jobs.isPending,
      steeringMode: modes.steeringMode,
      followUpMode: modes.followUpMode,
      interruptMode: modes.interruptMode,
      sessionFile: store.sessionFile,
      sessionId: store.sessionId,
      sessionName: store.name,
      autoCompactionEnabled: modes.autoCompactionEnabled,
      autoRetryEnabled: modes.autoRetryEnabled,
      messageCount: store.messageCount,
      pendingMessageCount: queue.count,
      queuedMessageCount: queue.count,
      todoPhases: (parts.todos.made?.phases as TodoPhase[] | undefined) ?? NO_PHASES,
      contextUsage: parts.contextUsage(),
      lastRunInterrupted: parts.wasInterrupted() || undefined,
      retry: run.retry,
    })),
    messages: () => store.messages,
    lastAssistantText: () => lastAssistantText(newestFirst(store)),
    history,
    async stats() {
      const { sessionFile, sessionId } = store;
      const counts = (await history()).counts();
      return { sessionFile, sessionId, ...counts, contextUsage: parts.contextUsage() };
    },
    async compact(customInstructions) {
      const unwritable = store.writeProblem();
      const why = unwritable && (await unwritable);
      if (why !== undefined) return { refused: why };
      const outcome = await compactor.manual(customInstructions, run.abort());
      return "refused" in outcome ? outcome : outcome.result;
    },
    async handOff(customInstructions) {
      const signal = patienceNow();
      return (await history()).handoff.run(customInstructions, signal);
    },
    setAutoCompaction(isEnabled) {
      modes.autoCompactionEnabled = isEnabled;
      compactor.reset();
    },
    async setName(given) {
      const why = await store.writeProblem();
      if (why !== undefined) return { refused: why };
      const named = (await history()).tree.setName(given);
      if ("refused" in named) return named;
      void pipeline.emit({ type: "session_info_changed", name: named.name });
      return undefined;
    },
    stop,
    exportPage: parts.exportPage,
    resources: parts.resources,
    async dispose(reason) {
      closedFor = reason;
      await Promise.all([stop(reason), abortNavigation()]);
      parts.closeServers();
      // Whoever waited for a dialog that is closed by now, and for nothing else, is through in this turn.
      await new Promise((resolve) => setImmediate(resolve));
      handled.endAll(reason);
      parts.todos.made?.close();
      await hooks?.leave("quit");
      // Whoever opens the session next finds all of it.
      parts.journal.made?.close();
      await store.close();
    },
  };
}

/** The messages of the conversation from the last one back, parsed as they are asked for. */
function* newestFirst({ log, context }: SessionStore): Generator<AgentMessage> {
  for (let at = context.length - 1; at >= 0; at--) {
    const entry = log.entry(context[at]!);
    const message = entry && messageOf(entry);
    if (message) yield message;
  }
}

function unqueuable(name: string): string {
  return `Extension command "/${name}" cannot be queued. Use prompt() or execute the command when not streaming.`;
}

/** `/name` at the beginning. */
function callsByName({ message }: MessageRequest): boolean {
  return message.startsWith("/");
}
