import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createMessageQueue } from "@tiller/agent/message-queue";
import { configureTransport } from "@tiller/ai/http/environment";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { PromptLimits } from "@tiller/protocol/limits";
import type { Model } from "@tiller/protocol/model";
import type { SessionHeader } from "@tiller/protocol/session-entry";
import type { ContextUsage } from "@tiller/protocol/state";
import { createActiveTools, unknownTools } from "./active-tools.ts";
import type { RunArgs } from "./args.ts";
import { choosesSession } from "./cli-options.ts";
import { type Env, locksFolder, resolvePath, sessionFileName, sessionFolder } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { type AgentSession, createAgentSession, type SessionModes } from "./session/agent-session.ts";
import { createBashRunner } from "./session/bash-runner.ts";
import { lateCompactor } from "./session/compaction/late-compactor.ts";
import { createEventPipeline } from "./session/event-pipeline.ts";
import { createModelControl } from "./session/model-control.ts";
import { NO_HOOKS } from "./session/ports.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createSessionQueue, type WaitingMessage } from "./session/session-queue.ts";
import { createSessionRun } from "./session/session-run.ts";
import { beginSession } from "./session/store/begin-session.ts";
import type { DiskSettings } from "./session/store/session-disk.ts";
import { createSessionStore, type SessionStore } from "./session/store/session-store.ts";
import { noSpending } from "./session/usage-tally.ts";
import type { SessionCompaction } from "./session-compaction.ts";
import { openSetUp } from "./set-up.ts";

export interface SessionSurroundings {
  run: RunArgs;
  env: Env;
  cwd: string;
  clock: Clock;
  ids: IdSource;
}

export interface CreatedSession {
  session: AgentSession;
  settings: Settings;
  /** As it stands, or will stand, in the session file. */
  header(): SessionHeader;
  /** What could not be used of the configuration, one sentence each; for stderr. */
  problems: string[];
  /** What the host shall know before its first prompt. */
  notices: string[];
}

/** The composition root: the only place that knows all the parts and joins them. */
export async function createSession(surroundings: SessionSurroundings): Promise<CreatedSession | { error: string }> {
  const { run: args, env, clock, ids } = surroundings;
  const { options, dialect } = args;
  configureTransport({ env });
  const setUp = await openSetUp(surroundings);
  if ("error" in setUp) return setUp;
  const { cwd, agentDir, settings, models: found } = setUp;

  const retry = {
    maxRetries: settings.get("retry.maxRetries"),
    baseDelayMs: settings.get("retry.baseDelayMs"),
    maxDelayMs: settings.get("retry.provider.maxRetryDelayMs"),
  };

  /** What is to be told before anybody listens. */
  const early: string[] = [];
  let isReady = false;
  const notice = (level: "info" | "warning" | "error", message: string): void => {
    if (isReady) void pipeline.emit({ type: "notice", level, message, source: "session" });
    else early.push(message);
  };
  const disk: DiskSettings = {
    locksFolder: locksFolder(agentDir),
    fsync: settings.get("session.fsync"),
    clock,
    onNotice: notice,
  };
  const sessionDir = (folder: string): string =>
    sessionFolder({ agentDir, cwd: folder, env, sessionDir: settings.get("sessionDir") });
  const id = ids.uuid();
  const path = options.noSession ? undefined : join(sessionDir(cwd), sessionFileName(clock.now(), id));
  const store = createSessionStore({ clock, ids, first: beginSession({ clock, ids, cwd }, { id, path }) });
  const pipeline = createEventPipeline({ keep: store.appendMessage, endTurn: store.endTurn });
  const models = createModelControl({
    source: found.source,
    initial: found,
    scope: found.scope,
    onModel: store.appendModelChange,
    onThinkingLevel(level) {
      store.appendThinkingLevel(level);
      void pipeline.emit({ type: "thinking_level_changed", level });
    },
  });

  const shell = { path: shellPath(settings, cwd, env), prefix: settings.get("shellCommandPrefix") };
  const activeTools = createActiveTools(options);
  const machinery = perFolder(
    () => store.cwd,
    async (folder) => {
      const { createMachinery } = await import("./run-machinery.ts");
      return createMachinery({
        cwd: folder,
        env,
        clock,
        shell,
        messages: () => store.messages,
        model: () => models.model,
        thinkingLevel: () => models.thinkingLevel,
        credentials: found.source.credentials,
        toolNames: activeTools.names,
        systemPrompt: {
          base: options.systemPrompt === undefined ? undefined : textOrFile(options.systemPrompt, cwd, env),
          append: (options.appendSystemPrompt ?? []).map((given) => textOrFile(given, cwd, env)),
        },
        request: {
          patience: {
            firstByteMs: settings.get("retry.provider.timeoutMs"),
            idleMs: settings.get("retry.provider.idleTimeoutMs"),
          },
          cacheRetention: settings.get("cacheRetention"),
          get sessionId() {
            return store.sessionId;
          },
        },
      });
    },
  );
  const waiting = createMessageQueue<WaitingMessage>({
    steeringMode: settings.get("steeringMode"),
    followUpMode: settings.get("followUpMode"),
    interruptMode: settings.get("interruptMode"),
  });
  const modes: SessionModes = Object.assign(waiting, {
    autoCompactionEnabled: settings.get("compaction.enabled"),
    autoRetryEnabled: settings.get("retry.enabled"),
  });
  const queue = createSessionQueue(
    waiting,
    ids,
    (texts) => void pipeline.emit({ type: "queue_update", ...texts }, run.place),
  );
  const retrySettings = () => (modes.autoRetryEnabled ? retry : undefined);

  let summaries: SessionCompaction | undefined;
  const loadSummaries = lazily(async () => {
    const { createSessionCompaction } = await import("./session-compaction.ts");
    const isEnabled = () => modes.autoCompactionEnabled;
    const model = () => models.model;
    const parts = { store, pipeline, settings, isEnabled, machinery, model, retrySettings, lot: ids.lot, run };
    summaries = createSessionCompaction(parts);
    return summaries;
  });
  const compactor = lateCompactor(
    async () => (await loadSummaries()).compactor,
    () => summaries?.compactor,
  );
  const loadDisk = async (): Promise<void> => {
    const { createSessionDisk } = await import("./session/store/session-disk.ts");
    if (store.needsDisk) store.attach(createSessionDisk({ ...disk, path: store.sessionFile ?? "" }));
  };
  const run = createSessionRun({
    pipeline,
    queue,
    clock,
    ids,
    async machinery() {
      resumption.begin();
      const [loaded] = await Promise.all([
        machinery(),
        loadSummaries(),
        models.prepare(),
        store.needsDisk && loadDisk(),
      ]);
      return loaded;
    },
    model: () => models.model,
    retrySettings,
    atRest: () => bash.deliver(),
    leaveOut: store.leaveOut,
    compaction: compactor,
    markEnd: (status) => void store.append({ type: "custom", customType: "tiller.run_end", data: { status } }),
    sessionLimits: limitsOf(settings, "session"),
    sessionSpending: noSpending(),
    sessionStartedAt: clock.now(),
  });
  const runShell = perFolder(
    () => store.cwd,
    async (folder) => {
      const { createShellCommands } = await import("./shell-command.ts");
      return createShellCommands({ cwd: folder, env, clock, shell, keepsState: dialect.keepsShellState });
    },
  );
  const bash = createBashRunner({
    runShell: async (...command) => (await runShell())(...command),
    clock,
    isBusy: () => run.isStreaming,
    keep: store.appendMessage,
    emit: pipeline.emit,
  });

  /** What is left to do of a session that was opened, until its first prompt. */
  const resumption = {
    wasInterrupted: false,
    record: (): void => undefined,
    begin(): void {
      this.record();
      this.record = () => undefined;
      this.wasInterrupted = false;
    },
  };
  const history = lazily(async () => {
    const [{ createSessionHistory }, { adoptSession, recordChoice }] = await Promise.all([
      import("./session-history.ts"),
      import("./session/adopt-session.ts"),
      // A session that comes from a file has a size.
      loadSummaries(),
    ]);
    return createSessionHistory({
      store,
      emit: pipeline.emit,
      hooks: NO_HOOKS,
      disk,
      clock,
      ids,
      agentDir,
      sessionDir,
      keepsFiles: !options.noSession,
      env,
      stop: session.stop,
      adopt(how, keeps = {}) {
        const emit = (event: SessionEvent): void =>
          event.type === "notice" ? notice(event.level, event.message) : void pipeline.emit(event);
        resumption.wasInterrupted = adoptSession({ how, ...keeps }, { store, models, clock, emit });
        if (how === "resume") resumption.record = () => recordChoice(store, models);
        compactor.reset();
      },
      summarize: async (...task) => (await loadSummaries()).summarizeBranch(...task),
    });
  });
  const session = createAgentSession({
    models,
    modes,
    bash,
    queue,
    run,
    store,
    pipeline,
    clock,
    ids,
    busyText: dialect.busyText,
    promptLimits: limitsOf(settings, "prompt"),
    history,
    compactor,
    contextUsage: usageOf(
      store,
      () => models.model,
      () => summaries,
    ),
    wasInterrupted: () => resumption.wasInterrupted,
    async endProcesses() {
      const { killAllProcesses } = await import("./exec/run-process.ts");
      killAllProcesses();
    },
    unusable: found.unusable,
  });

  if (choosesSession(options)) {
    const { chooseSession } = await import("./session-choice.ts");
    const choice = chooseSession({ options, dialect, agentDir, sessionDir: sessionDir(cwd), cwd, env });
    const { enter } = await history();
    const error = await enter(choice, {
      keepsModel: (options.model ?? options.provider ?? options.models ?? options.script) !== undefined,
      keepsLevel: options.thinking !== undefined,
    });
    if (error !== undefined) return { error };
  } else {
    if (models.model) store.appendModelChange(models.model);
    store.appendThinkingLevel(models.thinkingLevel);
  }
  isReady = true;
  return {
    session,
    settings,
    header: () => store.log.header,
    problems: [...setUp.problems, ...unknownTools(options)],
    notices: [...found.notices, ...early],
  };
}

/** Worked out once for each state of the conversation: hosts ask for the state again and again. */
function usageOf(store: SessionStore, model: () => Model | null, summaries: () => SessionCompaction | undefined) {
  let known: { log: object; leaf: number; model: Model | null; usage: ContextUsage | undefined } | undefined;
  return (): ContextUsage | undefined => {
    const { log, leaf } = store;
    const current = model();
    if (known?.log === log && known.leaf === leaf && known.model === current) return known.usage;
    const loaded = summaries();
    // Before the first run there is nothing in it but what a file has brought, and then this is loaded.
    const usage = loaded ? loaded.contextUsage() : emptyUsage(current);
    if (loaded || store.messageCount === 0) known = { log, leaf, model: current, usage };
    return usage;
  };
}

function emptyUsage(model: Model | null): ContextUsage | undefined {
  const contextWindow = model?.contextWindow ?? 0;
  return contextWindow > 0 ? { tokens: 0, contextWindow, percent: 0 } : undefined;
}

/** Made anew when the session is about another folder. */
function perFolder<T>(folder: () => string, make: (folder: string) => Promise<T>): () => Promise<T> {
  let known: { folder: string; made: () => Promise<T> } | undefined;
  return () => {
    const now = folder();
    if (known?.folder !== now) known = { folder: now, made: lazily(() => make(now)) };
    return known.made();
  };
}

/** Zero means no limit. */
function limitsOf(settings: Settings, scope: "prompt" | "session"): PromptLimits {
  return {
    turns: settings.get(`limits.${scope}.turns`) || undefined,
    toolCalls: settings.get(`limits.${scope}.toolCalls`) || undefined,
    cost: settings.get(`limits.${scope}.cost`) || undefined,
    tokens: settings.get(`limits.${scope}.tokens`) || undefined,
    wallTimeMs: settings.get(`limits.${scope}.wallTimeMs`) || undefined,
  };
}

/** A path counts from the working folder; a bare name is looked up by the system. */
function shellPath(settings: Settings, cwd: string, env: Env): string | undefined {
  const given = settings.get("shellPath");
  return given?.includes("/") ? resolvePath(given, cwd, env) : given;
}

/** An option that takes a text also takes the path of a file with the text. */
function textOrFile(given: string, cwd: string, env: Env): string {
  const path = given.length < 1024 && !given.includes("\n") ? resolvePath(given, cwd, env) : undefined;
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : given;
}

/** Made when first asked for, once. A failure is not kept: the next prompt may try again. */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
