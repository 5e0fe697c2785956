import type { CommandParams, CommandResults, CommandType } from "@tiller/protocol/plain-types.generated";
import { systemClock } from "../lib/clock.ts";
import { agentArgv } from "./agent-command.ts";
import type { After, Call, CallOptions } from "./call.ts";
import type { ClientOptions } from "./client-options.ts";
import { ClientError, exitError, messageOf, stderrNote } from "./errors.ts";
import { EventQueue } from "./event-queue.ts";
import type { AgentEvent, ClientEvent, ClientEventType, EventListener, Frame } from "./events.ts";
import { type DialogAnswer, HostSide, type HostTool } from "./host-side.ts";
import { Listeners } from "./listeners.ts";
import { createMessageBuilder, type MessageBuilder } from "./message-builder.ts";
import { type CommandMethods, createCommandMethods } from "./methods.generated.ts";
import { MissedEvents, type Resumed } from "./missed-events.ts";
import { failureOf, PendingCalls } from "./pending-calls.ts";
import { createProcessTransport } from "./process-transport.ts";
import type { PromptRun, RunOptions } from "./prompt-run.ts";
import { type OpenPrompt, type PromptOutcome, Prompts } from "./prompts.ts";
import { acceptsVersion2, type Greeting, shakeHands } from "./shake-hands.ts";
import type { AgentExit, Transport } from "./transport.ts";

const START_TIMEOUT_MS = 30_000;
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_QUEUED = 1024;
/** These take as long as they take. */
const UNTIMED: ReadonlySet<string> = new Set([
  "bash",
  "compact",
  "handoff",
  "login",
  "export_html",
  "navigate_tree",
  "abort",
]);
/** After these the session is another one. */
const SESSION_CHANGES: ReadonlySet<string> = new Set([
  "new_session",
  "switch_session",
  "open_session",
  "fork",
  "branch",
  "clone",
  "handoff",
]);

type Status = "new" | "starting" | "running" | "ended" | "stopped";

/** The connection to one agent: starts it, sends commands, hands out events. `RpcClient` adds a name for everything. */
export class ClientCore {
  readonly options: ClientOptions;
  /** A method for every command of the protocol; see also `call`. */
  readonly commands: CommandMethods;
  readonly #after: After;
  readonly #calls: PendingCalls;
  readonly #prompts: Prompts;
  readonly #host: HostSide;
  readonly #listeners: Listeners;
  readonly #missed: MissedEvents | undefined;
  readonly #queues = new Set<EventQueue<ClientEvent>>();
  #builder: MessageBuilder = createMessageBuilder();
  #transport: Transport | undefined;
  #status: Status = "new";
  #greeting: Greeting = {};
  #isPaused = false;
  #restartsLeft: number;
  #restarting: Promise<void> | undefined;
  #ending: ClientError | undefined;
  #session: string | undefined;
  #tools: readonly HostTool[];
  #noise: string[] = [];

  constructor(options: ClientOptions = {}) {
    this.options = options;
    this.#after = options.after ?? systemClock.after;
    this.#restartsLeft = options.restarts ?? 0;
    this.#tools = options.tools ?? options.customTools ?? [];
    this.#listeners = new Listeners(this.#after);
    if (options.resume) this.#missed = new MissedEvents();
    this.#prompts = new Prompts(this.#after);
    this.#host = new HostSide((frame) => this.#transport?.send(frame));
    this.#host.ask = options.onDialog;
    this.#calls = new PendingCalls({
      after: this.#after,
      timeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
      stderr: () => this.getStderr(),
      onChange: () => this.#balance(),
    });
    const call: Call = (type, params, callOptions) => this.call(type, params, callOptions);
    this.commands = createCommandMethods(call);
  }

  /** Starts the agent; resolves when it takes commands. */
  async start(): Promise<void> {
    if (this.#status === "starting" || this.#status === "running") {
      throw new ClientError("not_running", "The client is started already; stop it first");
    }
    this.#status = "starting";
    this.#ending = undefined;
    this.#builder = createMessageBuilder();
    const before = this.#session;
    this.#missed?.begin(before !== undefined);
    const transport = this.options.transport?.() ?? this.#process();
    this.#transport = transport;
    transport.start({
      onFrame: (frame) => this.#heard(frame),
      onNoise: (line) => this.#heardNoise(line),
      onExit: (exit) => this.#exited(transport, exit),
    });
    try {
      this.#greeting = await shakeHands({
        request: (type, params, options) => this.#send(type, params, options ?? {}),
        ready: () => this.#greeting.ready,
        timeoutMs: this.options.startTimeoutMs ?? START_TIMEOUT_MS,
        stderr: () => this.getStderr(),
      });
      this.#prompts.hasResults = this.#greeting.hasResults ?? false;
      this.#session = this.#greeting.sessionFile;
      await this.#setUp();
      if (this.#missed) await this.#resume(this.#missed, before);
      this.#status = "running";
    } catch (error) {
      this.#status = "stopped";
      await transport.stop();
      throw this.#ending ?? error;
    }
  }

  /** Ends the agent. What waits for an answer is refused. Can be called again, and before `start`. */
  async stop(): Promise<void> {
    const transport = this.#transport;
    if (this.#status !== "new") this.#status = "stopped";
    this.#giveUp(new ClientError("not_running", "The client was stopped"));
    await transport?.stop();
  }

  /** Another process, which goes on with the session, if there is a file of it. */
  async restart(): Promise<void> {
    const session = this.#session;
    await this.stop();
    this.#status = "new";
    this.#session = session;
    await this.start();
  }

  /** What the agent said about itself at the start. */
  get greeting(): Greeting {
    return this.#greeting;
  }

  get isRunning(): boolean {
    return this.#status === "running";
  }

  /** The end of what the agent has written to stderr. */
  getStderr(): string {
    return this.#transport?.stderr() ?? "";
  }

  /** The last lines on stdout that were no frames. */
  getNoise(): readonly string[] {
    return this.#noise;
  }

  /** Sends a command; resolves to `data` of its answer. */
  call<K extends CommandType>(
    type: K,
    params: CommandParams[K],
    options: CallOptions = {},
  ): Promise<CommandResults[K]> {
    return this.request(type, params, options) as Promise<CommandResults[K]>;
  }

  /** The same for any command, also one that this version does not know. */
  request(type: string, params: object = {}, options: CallOptions = {}): Promise<unknown> {
    if (options.signal?.aborted) return Promise.reject(options.signal.reason);
    const isPrompt = type === "prompt" || type === "abort_and_prompt";
    return this.#whenRunning(() =>
      isPrompt ? this.#prompt(type, params, options, { onEnd: () => undefined }) : this.#send(type, params, options),
    );
  }

  /** Sends a prompt; its events can be iterated over, see `PromptRun`. */
  run(message: string, { signal, timeoutMs = 0, ...fields }: RunOptions = {}): PromptRun {
    let queue: EventQueue<ClientEvent> | undefined;
    let how: Parameters<OpenPrompt["onEnd"]>[0] | undefined;
    let end: OpenPrompt["onEnd"] = () => undefined;
    const abort = (): void => void this.request("abort").catch(() => undefined);
    const ended = new Promise<PromptOutcome>((resolve, reject) => {
      end = (ending) => {
        how = ending;
        cancelTimer();
        signal?.removeEventListener("abort", abort);
        if (queue) this.#queues.delete(queue);
        queue?.end("error" in ending ? ending.error : undefined);
        if ("error" in ending) reject(ending.error);
        else resolve(ending.outcome);
      };
    });
    // Whoever only iterates hears of a failure in the loop.
    ended.catch(() => undefined);
    const late = (): void => {
      abort();
      end({
        error: new ClientError("timeout", `The prompt was not over after ${timeoutMs} ms`, { command: "prompt" }),
      });
    };
    const cancelTimer = timeoutMs > 0 ? this.#after(timeoutMs, late) : () => undefined;
    const prompt: OpenPrompt = { onEvent: (event) => queue?.push(event), onEnd: (ending) => end(ending) };
    if (signal?.aborted) end({ error: signal.reason });
    else {
      signal?.addEventListener("abort", abort);
      this.#whenRunning(() => this.#prompt("prompt", { message, ...fields }, {}, prompt)).catch((error: unknown) =>
        end({ error }),
      );
    }
    return {
      result: ended,
      abort,
      [Symbol.asyncIterator]: () => {
        queue ??= this.#openQueue(abort);
        // It may be over before anybody looks.
        if (how) queue.end("error" in how ? how.error : undefined);
        return queue;
      },
    };
  }

  /** Hears all events; returns a function that ends that. */
  onEvent(listener: EventListener): () => void {
    return this.#listeners.onEvent(listener);
  }

  /** Hears the events of one type. */
  on<K extends ClientEventType>(type: K, listener: (event: Extract<ClientEvent, { type: K }>) => void): () => void {
    return this.#listeners.on(type, listener);
  }

  /** Hears frames of kinds that this version does not know: of newer agents, or of others. */
  onUnknownFrame(listener: (frame: Frame) => void): () => void {
    return this.#listeners.onUnknownFrame(listener);
  }

  /** Resolves to the next event of that type. */
  nextEvent<K extends ClientEventType>(type: K, options: CallOptions = {}): Promise<Extract<ClientEvent, { type: K }>> {
    return this.#listeners.next(type, options);
  }

  /** Hears when the agent ends without having been told to. */
  onExit(listener: (error: ClientError) => void): () => void {
    return this.#listeners.onExit(listener);
  }

  /** Resolves when no prompt is under way. */
  async whenIdle({ next = false, timeoutMs = 0 }: { next?: boolean; timeoutMs?: number } = {}): Promise<void> {
    const idle = this.#prompts.whenIdle(next);
    if (timeoutMs === 0) return idle;
    const stderr = stderrNote(this.getStderr());
    const text = `Timeout waiting for agent to become idle.${stderr}`;
    let cancel: () => void = () => undefined;
    const late = new Promise<never>((_, reject) => {
      cancel = this.#after(timeoutMs, () => reject(new ClientError("timeout", text, { stderr: this.getStderr() })));
    });
    try {
      await Promise.race([idle, late]);
    } finally {
      cancel();
      idle.catch(() => undefined);
    }
  }

  /** Replaces the tools of the host; resolves to the names under which the agent has them. */
  async setTools(tools: readonly HostTool[]): Promise<string[]> {
    this.#tools = tools;
    const definitions = this.#host.setTools(tools);
    if (this.#status !== "running") return definitions.map(({ name }) => name);
    return (await this.call("set_host_tools", { tools: definitions })).toolNames;
  }

  /** With `onDialog: "manual"`: undefined when the person does not want to answer. */
  answerDialog(id: string, answer: DialogAnswer): void {
    this.#host.answerDialog(id, answer);
  }

  #process(): Transport {
    const { cwd, env, terminationGraceMs } = this.options;
    return createProcessTransport({
      argv: agentArgv(this.options, this.#session),
      after: this.#after,
      ...(cwd !== undefined && { cwd }),
      ...(env !== undefined && { env }),
      ...(terminationGraceMs !== undefined && { terminationGraceMs }),
    });
  }

  /** What the agent has to know before anything else; sent at once, so that it costs one round trip. */
  async #setUp(): Promise<void> {
    const { capabilities, ready } = this.#greeting;
    const wishes: Promise<unknown>[] = [];
    const wish = (type: string, params: object): void => void wishes.push(this.#send(type, params, {}));
    const { updates = "delta", uris = [] } = this.options;
    if (updates === "delta" && capabilities?.commands.includes("set_update_mode")) {
      wish("set_update_mode", { mode: "delta" });
    }
    if (acceptsVersion2(ready)) wish("negotiate_protocol", { protocolVersion: 2 });
    const tools = this.#host.setTools(this.#tools);
    if (tools.length > 0) wish("set_host_tools", { tools });
    const schemes = this.#host.setUris(uris);
    if (schemes.length > 0) wish("set_host_uri_schemes", { schemes });
    await Promise.all(wishes);
  }

  /** Asks for the events that were missed, if it is the session that they are of. Whatever comes of it, the agent can be used. */
  async #resume(missed: MissedEvents, session: string | undefined): Promise<void> {
    const { after } = missed;
    const { resume } = this.options;
    if (after === undefined) return;
    let resumed: Resumed = { missed: true, count: 0 };
    if (this.#session === session && this.#tellsAgain) {
      const asked = this.#send("subscribe", { after }, {});
      resumed = await (asked as Promise<Resumed>).catch(() => resumed);
    }
    for (const frame of missed.release()) this.#heard(frame);
    if (typeof resume === "function") resume({ missed: resumed.missed, count: resumed.count });
  }

  get #tellsAgain(): boolean {
    return this.#greeting.capabilities?.commands.includes("subscribe") === true;
  }

  /** Now, if the agent runs: commands leave in the order of their calls. */
  #whenRunning<T>(work: () => Promise<T>): Promise<T> {
    if (this.#status === "running") return work();
    const canRestart = this.#status === "ended" && this.#restartsLeft > 0;
    if (!this.#restarting && !canRestart) return Promise.reject(this.#whyNot());
    this.#restarting ??= this.#again();
    return this.#restarting.then(work);
  }

  async #again(): Promise<void> {
    this.#restartsLeft -= 1;
    try {
      await this.start();
    } catch (error) {
      // It can be tried again, as often as was asked for.
      this.#status = "ended";
      throw error;
    } finally {
      this.#restarting = undefined;
    }
  }

  #whyNot(): ClientError {
    if (this.#ending) return this.#ending;
    const what = this.#status === "stopped" ? "The client was stopped" : "The client is not started";
    return new ClientError("not_running", `${what}; call start() first`);
  }

  #send(
    type: string,
    params: object,
    { timeoutMs, signal }: CallOptions,
    id: string = this.#calls.nextId(),
  ): Promise<unknown> {
    const patience = timeoutMs ?? (UNTIMED.has(type) ? 0 : undefined);
    const answer = this.#calls.wait(id, type, {
      ...(signal && { signal }),
      ...(patience !== undefined && { timeoutMs: patience }),
    });
    try {
      this.#transport?.send({ id, type, ...params });
    } catch (error) {
      this.#calls.drop(id, new TypeError(`${type} cannot be sent: ${messageOf(error)}`));
    }
    if (type === "get_state") return answer.then((data) => this.#sawState(data));
    return SESSION_CHANGES.has(type) ? answer.then((data) => this.#sawChange(data)) : answer;
  }

  #sawState(data: unknown): unknown {
    const file = (data as { sessionFile?: unknown } | undefined)?.sessionFile;
    this.#session = typeof file === "string" ? file : undefined;
    return data;
  }

  /** Which file it is must be known before the agent dies. */
  #sawChange(data: unknown): unknown {
    this.#send("get_state", {}, {}).catch(() => undefined);
    const missed = this.#missed;
    missed?.left();
    if (missed && this.#tellsAgain) {
      const where = this.#send("subscribe", {}, {}) as Promise<CommandResults["subscribe"]>;
      where.then(({ latest }) => missed.latest(latest)).catch(() => undefined);
    }
    return data;
  }

  async #prompt(type: string, params: object, options: CallOptions, prompt: OpenPrompt): Promise<unknown> {
    const id = this.#calls.nextId();
    this.#prompts.open(id, prompt);
    try {
      const data = await this.#send(type, params, options, id);
      this.#prompts.accepted(id, data);
      return data;
    } catch (error) {
      this.#prompts.refused(id, error);
      throw error;
    }
  }

  #openQueue(abort: () => void): EventQueue<ClientEvent> {
    const queue: EventQueue<ClientEvent> = new EventQueue<ClientEvent>({
      limit: this.options.maxQueuedEvents ?? MAX_QUEUED,
      onChange: () => this.#balance(),
      onLeave: () => {
        this.#queues.delete(queue);
        abort();
      },
    });
    this.#queues.add(queue);
    return queue;
  }

  /** Reads on as long as there is room, or somebody waits for an answer that may stand behind the events. */
  #balance(): void {
    let isFull = false;
    for (const queue of this.#queues) isFull ||= queue.isFull;
    const pause = isFull && this.#calls.size === 0;
    if (pause === this.#isPaused) return;
    this.#isPaused = pause;
    if (pause) this.#transport?.pause();
    else this.#transport?.resume();
  }

  /** Agents of other kinds, or what prints in their place, may leave out what a frame of that type must have. */
  #heard(frame: Frame): void {
    try {
      this.#frame(frame);
    } catch (error) {
      this.#heardNoise(`${messageOf(error)}, in ${JSON.stringify(frame)}`);
    }
  }

  #frame(frame: Frame): void {
    const when = this.#missed?.hear(frame) ?? "now";
    if (when === "hold") return;
    switch (frame.type) {
      case "message_update":
        this.#builder.update(frame as unknown as AgentEvent<"message_update">);
        break;
      case "message_start":
        this.#builder.begin(frame as unknown as AgentEvent<"message_start">);
        break;
      case "message_end":
        this.#builder.end();
        break;
      case "response":
        if (frame.command === "subscribe") this.#missed?.answered(frame);
        this.#answer(frame);
        return;
      case "ready":
        this.#greeting = { ...this.#greeting, ready: frame };
        return;
      default:
        if (this.#host.handle(frame)) return;
    }
    const event = this.#listeners.tell(frame);
    // What another process has told of its prompts is over, also where it could not say so.
    if (event && when === "now") this.#prompts.observe(event);
  }

  #answer(response: Frame): void {
    if (this.#calls.answer(response) || response.success !== false || response.id === undefined) return;
    const type = String(response.command);
    this.#prompts.failedLater(String(response.id), failureOf(response, type));
  }

  #heardNoise(line: string): void {
    this.#noise = [...this.#noise.slice(-19), line.slice(0, 500)];
  }

  #exited(transport: Transport, exit: AgentExit): void {
    if (transport !== this.#transport) return;
    const wasStopped = this.#status === "stopped";
    const error = exitError(exit, this.#status === "starting", transport.stderr(), this.#noise);
    if (!wasStopped) {
      this.#ending = error;
      this.#status = "ended";
    }
    this.#giveUp(error);
    if (!wasStopped) this.#listeners.tellExit(error);
  }

  #giveUp(error: ClientError): void {
    this.#calls.failAll(error);
    this.#prompts.failAll(error);
    this.#listeners.giveUp(error);
    this.#host.cancelAll();
    this.#isPaused = false;
  }
}
