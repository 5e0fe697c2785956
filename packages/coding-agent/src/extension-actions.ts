import { dirname } from "node:path";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { ImageContent } from "@tiller/protocol/content";
import type { AgentMessage, CustomMessage, UserMessage } from "@tiller/protocol/message";
import type { SessionEntry } from "@tiller/protocol/session-entry";
import { createDraftKeeper } from "./entry-drafts.ts";
import type { ExtensionActions, ListedTool } from "./extensions/actions.ts";
import { messageProblem as entryProblem } from "./extensions/answers.ts";
import { createExec } from "./extensions/exec.ts";
import { createSessionView, type SessionEditor, type SessionView } from "./extensions/session-view.ts";
import type { VirtualModel } from "./extensions/virtual-model.ts";
import type { Ground } from "./ground.ts";
import type { LateMcp } from "./late-mcp.ts";
import { copied, frozen } from "./lib/copies.ts";
import { plainJson } from "./lib/plain-json.ts";
import type { LoadedExtensions } from "./load-extensions.ts";
import { limitsOf } from "./part-settings.ts";
import type { AgentSession } from "./session/agent-session.ts";
import type { EventPipeline } from "./session/event-pipeline.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { ExtensionHost } from "./session/ports.ts";
import { messageProblem, userMessage } from "./session/prompt-input.ts";
import type { SessionQueue } from "./session/session-queue.ts";
import type { PromptMessage, SessionRun } from "./session/session-run.ts";
import { labelsOf } from "./session/store/fork.ts";
import type { NewEntry, SessionStore } from "./session/store/session-store.ts";
import type { Toolbox } from "./toolbox.ts";
import { TOOL_SPECS } from "./tools/specs.ts";

/** The session as far as extensions may act on it. */
export interface ActionParts {
  ground: Ground;
  extensions: LoadedExtensions;
  store: SessionStore;
  pipeline: EventPipeline;
  models: ModelControl;
  queue: SessionQueue;
  run: SessionRun;
  toolbox: Toolbox;
  mcp: LateMcp;
  clock: Clock;
  ids: IdSource;
  session(): AgentSession;
  /** The session in the store gets its file, if it is to have one. */
  openDisk(): Promise<void>;
  modelRegistry(): object;
  providers: { register(name: string, config: unknown): void; unregister(name: string): void };
  virtualModels: { register(model: VirtualModel): void };
  host(): ExtensionHost | undefined;
  /** What the system prompt is now. */
  systemPrompt(): string;
  systemPromptOptions(): object;
  /** What a text stands for that calls a skill or a template by its name. */
  expand(text: string): Promise<{ text: string } | { error: string }>;
  commands(): ReturnType<ExtensionActions["commands"]>;
  /** The extensions are read again, and the texts. */
  reload(): Promise<void>;
  /** Kept for the next prompt of the host. */
  nextTurn: AgentMessage[];
}

/** What is done to a session that was just begun, before its extensions see it. */
export interface PendingSetup {
  run: (() => Promise<void>) | undefined;
}

export function createExtensionActions(parts: ActionParts, pending: PendingSetup): ExtensionActions {
  const { ground, store, pipeline, models, queue, run, toolbox, clock, ids, session } = parts;
  const view = createSessionView(viewSource(parts));

  /** Starts a run that no host has asked for. */
  const start = async (message: PromptMessage): Promise<void> => {
    const problem = run.exhausted ?? ground.models.unusable(models.model) ?? (await store.writeProblem());
    if (problem !== undefined) throw new Error(problem);
    const prompt = { promptId: ids.count("prompt"), commandId: undefined, isOwn: true as const };
    const job = run.accept(message, prompt, limitsOf(ground.settings, "prompt"));
    // Not now: whoever has called this is still at work.
    clock.after(0, () => void job().catch(() => undefined));
  };
  /** An entry that no other event tells of. */
  const append = (entry: NewEntry): string => {
    const id = store.append(entry);
    const written = store.log.entry(store.leaf);
    if (written) void pipeline.emit({ type: "entry_appended", entry: written });
    return id;
  };
  const done = async (work: Promise<{ cancelled: boolean } | { refused: string }>): Promise<{ cancelled: boolean }> => {
    const outcome = await work;
    if ("refused" in outcome) throw new Error(outcome.refused);
    return outcome;
  };
  const files = async () => (await session().history()).files;
  const { hooks } = parts.extensions.host;
  /** A prompt that may still be taken by somebody is no run yet: what waited for it might wait for ever. */
  const isBusy = (): boolean => run.isStreaming && !run.isUndecided;
  /** Prompts that nobody takes any more and that no run has yet. */
  let certain = 0;
  /** Who has sent one and looks at once finds the session at work: a short run could be over when it looks again. */
  const surely = async (work: () => Promise<void>): Promise<void> => {
    certain += 1;
    try {
      await work();
    } finally {
      certain -= 1;
    }
  };
  /** What other extensions make of it; undefined when one of them has dealt with it. */
  const lookedAt = async (content: UserContents): Promise<UserContents | undefined> => {
    const given = asInput(content);
    const input = await hooks.run("input", { ...given, source: "extension" });
    if (input.handled) return undefined;
    // What nobody has changed stays as it came, block by block.
    if (input.text === given.text && input.images === given.images) return content;
    return input.images ? [{ type: "text", text: input.text }, ...input.images] : input.text;
  };

  const expanded = async (content: UserContents): Promise<UserContents> => {
    if (typeof content !== "string" || !content.startsWith("/")) return content;
    const made = await parts.expand(content);
    if ("error" in made) throw new Error(made.error);
    return made.text;
  };

  /** Prompts of extensions that are neither queued nor running yet. */
  const onItsWay = new Set<Promise<void>>();
  const send = async (content: UserContents, deliverAs: string | undefined, expands: boolean): Promise<void> => {
    const seen = hooks.listens("input") ? await lookedAt(content) : content;
    if (seen !== undefined) await surely(() => put(seen, deliverAs, expands));
  };
  const put = async (looked: UserContents, deliverAs: string | undefined, expands: boolean): Promise<void> => {
    const seen = expands ? await expanded(looked) : looked;
    const { text, images } = asInput(seen);
    const problem = messageProblem({ message: text, images });
    if (problem !== undefined) throw new Error(problem);
    const message = userMessageOf(seen, clock.now());
    if (isBusy()) queue.add(deliverAs === "followUp" ? "followUp" : "steering", message);
    else await start(message);
  };

  return {
    async sendMessage(untimed, { triggerTurn, deliverAs = "steer" }) {
      const message: CustomMessage = { ...untimed, timestamp: clock.now() };
      if (deliverAs === "nextTurn") parts.nextTurn.push(message);
      else if (isBusy()) queue.add(deliverAs === "followUp" ? "followUp" : "steering", message);
      else if (triggerTurn) await surely(() => start(message));
      else {
        await parts.openDisk();
        const settled = (await hooks.forAgent()?.settle?.(message)) ?? message;
        // A run may have begun meanwhile: nothing may stand between a tool call and its result.
        if (isBusy() && settled.role === "custom") return queue.add("steering", settled);
        void pipeline.emit({ type: "message_start", message: settled });
        void pipeline.emit({ type: "message_end", message: settled });
      }
    },
    async sendUserMessage(content, { deliverAs, expandPromptTemplates }) {
      const command =
        expandPromptTemplates && typeof content === "string" ? parts.extensions.host.command(content) : undefined;
      if (command) return command.run();
      if (isBusy() && deliverAs === undefined) throw new Error(ground.run.dialect.busyText);
      const sent = send(content, deliverAs, expandPromptTemplates === true);
      onItsWay.add(sent);
      return sent.finally(() => onItsWay.delete(sent));
    },
    entries: createDraftKeeper({ store, pipeline, clock, append }),
    appendEntry: (customType, data) => append({ type: "custom", customType, data: plainJson(data) }),
    sessionName: () => store.name,
    setSessionName(given) {
      const name = given.trim();
      if (name === "") throw new Error("Session name cannot be empty");
      store.append({ type: "session_info", name });
      void pipeline.emit({ type: "session_info_changed", name });
    },
    setLabel(entryId, given) {
      if (store.log.find(entryId) < 0) throw new Error(`Entry not found: ${entryId}`);
      const label = given?.trim() || undefined;
      append({ type: "label", targetId: entryId, ...(label !== undefined && { label }) });
    },
    exec: execOf(ground, () => store.cwd),

    activeTools: () => (models.model ? toolbox.active.names(models.model) : []),
    allTools: () => listedTools(parts),
    setActiveTools: (names) => void toolbox.active.set(names),
    toolsChanged: (name) => toolbox.active.add(name),
    commands: parts.commands,

    model: () => frozen(models.model ?? undefined),
    async setModel({ provider, id }) {
      const chosen = await models.set(provider, id);
      return chosen !== undefined;
    },
    thinkingLevel: () => models.thinkingLevel,
    setThinkingLevel: (level) => models.setThinkingLevel(level),
    scopedModels: () => ground.models.scope.map((model) => ({ model: frozen(model) })),
    registerProvider: parts.providers.register,
    unregisterProvider: parts.providers.unregister,
    registerVirtualModel: parts.virtualModels.register,
    modelRegistry: parts.modelRegistry,
    renewMcpServers: parts.mcp.renew,
    registerMcpServer: parts.mcp.register,
    unregisterMcpServer: parts.mcp.unregister,
    mcpServers: () => copied(parts.mcp.list()),

    get ui() {
      return hostOf(parts).ui;
    },
    get mode() {
      return hostOf(parts).mode;
    },
    cwd: () => store.cwd,
    view,
    isIdle: () => !isBusy() && certain === 0,
    signal: () => run.signal,
    // What is asked about a run that was ended is no longer part of it.
    questionSignals: () =>
      run.signal && (run.isStreaming || !run.signal.aborted) ? [session().patience, run.signal] : [session().patience],
    abort: () => void session().abort(),
    hasPendingMessages: () => !queue.isEmpty,
    shutdown: () => hostOf(parts).shutdown(),
    contextUsage: () => session().state().contextUsage,
    async compact(customInstructions) {
      const made = await session().compact(customInstructions);
      return "refused" in made ? made : { result: made };
    },
    systemPrompt: parts.systemPrompt,
    systemPromptOptions: parts.systemPromptOptions,
    isProjectTrusted: () => parts.extensions.isTrusted,
    setting: (key) => ground.settings.get(key as never),

    async waitForIdle() {
      // Most do not wait for what they send, and mean the run that comes of it.
      await Promise.allSettled(onItsWay);
      await run.settled();
    },
    async newSession({ parentSession, setup }) {
      pending.run = setup && (async () => void (await setup(editorOf(view, store))));
      try {
        return await done((await files()).newSession(parentSession));
      } finally {
        // Of a session that was not begun nothing is left for the next one.
        pending.run = undefined;
      }
    },
    fork: async (entryId, position) =>
      done(position === "at" ? (await files()).copyUpTo(entryId) : (await files()).fork(entryId)),
    async navigateTree(entryId, how) {
      return done(session().navigate({ ...how, entryId }));
    },
    switchSession: async (path) => done((await files()).switchTo(path)),
    reload: parts.reload,
  };
}

function hostOf({ host }: ActionParts): ExtensionHost {
  const bound = host();
  if (!bound) throw new Error("There is nobody to show anything to yet: wait for session_start.");
  return bound;
}

type UserContents = UserMessage["content"];

/** As handlers see what a host sends: a text, and images beside it. */
function asInput(content: UserContents): { text: string; images?: ImageContent[] } {
  if (typeof content === "string") return { text: content };
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = content.filter((block) => block.type === "image");
  return { text: texts.join("\n"), ...(images.length > 0 && { images }) };
}

function userMessageOf(content: UserContents, timestamp: number): UserMessage {
  if (typeof content === "string") return userMessage({ message: content }, timestamp);
  return { role: "user", content, timestamp };
}

function listedTools({ toolbox, extensions, mcp }: ActionParts): ListedTool[] {
  const own = new Map(extensions.host.generation.tools());
  const builtin = Object.entries(TOOL_SPECS)
    .filter(([name]) => !own.has(name) && toolbox.hasBuiltIn(name))
    .map(([name, spec]) => listed(name, spec, notOfAnExtension("builtin", name)));
  const more = (name: string, sourceInfo: object): ListedTool[] => {
    const tool = toolbox.other(name);
    return tool ? [listed(name, tool, sourceInfo)] : [];
  };
  const added = [...own].flatMap(([name, { extension }]) => more(name, extension.source));
  const lent = toolbox.lent().filter((name) => !own.has(name));
  const served = mcp.tools.names().filter((name) => !own.has(name));
  return [
    ...builtin,
    ...added,
    ...served.flatMap((name) =>
      more(name, { ...notOfAnExtension("mcp", name), path: `<${toolbox.other(name)?.source}>` }),
    ),
    ...lent.flatMap((name) => more(name, notOfAnExtension("host", name))),
  ];
}

/** A copy: whoever gets it may do with it what he likes. */
function listed(name: string, tool: Pick<ListedTool, "description" | "parameters">, sourceInfo: object): ListedTool {
  const { description, parameters } = tool;
  return { name, description, parameters: plainJson(parameters), sourceInfo: { ...sourceInfo } };
}

function notOfAnExtension(source: "builtin" | "mcp" | "host", name: string): object {
  return { path: `<${source}:${name}>`, source, scope: "temporary", origin: "top-level" };
}

function viewSource({ store, ground, models }: ActionParts): Parameters<typeof createSessionView>[0] {
  return {
    cwd: () => store.cwd,
    sessionId: () => store.sessionId,
    sessionFile: () => store.sessionFile,
    sessionDir: () => (store.sessionFile === undefined ? ground.agentDir : dirname(store.sessionFile)),
    name: () => store.name,
    header: () => store.log.header,
    entries: () => allEntries(store),
    entry(id) {
      const position = store.log.find(id);
      return position < 0 ? undefined : store.log.entry(position);
    },
    leafId: () => store.leafId,
    labels: () => labelsOf(store.log),
    messages: () => store.messages,
    choice: () => ({ thinkingLevel: models.thinkingLevel, model: frozen(models.model ?? undefined) ?? null }),
  };
}

function allEntries({ log }: SessionStore): SessionEntry[] {
  const entries: SessionEntry[] = [];
  for (let at = 0; at < log.length; at++) {
    const entry = log.entry(at);
    if (entry) entries.push(entry);
  }
  return entries;
}

/** The session that was just begun, to be filled. */
function editorOf(view: SessionView, store: SessionStore): SessionEditor {
  return {
    ...view,
    appendMessage(message) {
      const problem = entryProblem(message);
      if (problem !== undefined) throw new TypeError(`appendMessage: ${problem}`);
      store.appendMessage(plainJson(message));
      return store.leafId ?? "";
    },
    appendCustomEntry: (customType, data) => store.append({ type: "custom", customType, data: plainJson(data) }),
    appendCustomMessageEntry: (customType, content, display, details) =>
      store.append({ type: "custom_message", customType, content, display, details: plainJson(details) }),
    appendSessionInfo: (name) => store.append({ type: "session_info", name }),
    appendLabelChange: (targetId, label) =>
      store.append({ type: "label", targetId, ...(label !== undefined && { label }) }),
  };
}

function execOf({ env, clock, recording }: Ground, cwd: () => string): ExtensionActions["exec"] {
  const time = recording?.liveClock ?? clock;
  const exec = createExec({
    async run(request, signal) {
      // Only now: most extensions start no process.
      const { runProcess } = await import("./exec/run-process.ts");
      return runProcess({ ...request, env, clock: time }, signal);
    },
    cwd,
  });
  return recording?.look("exec", exec, (command, args) => ({ command, args })) ?? exec;
}
