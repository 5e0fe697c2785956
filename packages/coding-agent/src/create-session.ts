import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createMessageQueue } from "@tiller/agent/message-queue";
import { configureTransport } from "@tiller/ai/http/environment";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { PromptLimits } from "@tiller/protocol/limits";
import { createActiveTools, unknownTools } from "./active-tools.ts";
import type { RunArgs } from "./args.ts";
import { type Env, resolvePath, sessionFileName, sessionFolder } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { type AgentSession, createAgentSession, type SessionModes } from "./session/agent-session.ts";
import { createBashRunner } from "./session/bash-runner.ts";
import { createEventPipeline } from "./session/event-pipeline.ts";
import { createModelControl } from "./session/model-control.ts";
import { createSessionQueue, type WaitingMessage } from "./session/session-queue.ts";
import { createSessionRun } from "./session/session-run.ts";
import { createSessionFile } from "./session/store/session-file.ts";
import { createSessionStore } from "./session/store/session-store.ts";
import { noSpending } from "./session/usage-tally.ts";
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

  const sessionId = ids.uuid();
  const sessionDir = sessionFolder({ agentDir, cwd, env, sessionDir: settings.get("sessionDir") });
  const store = createSessionStore({
    cwd,
    clock,
    ids,
    sessionId,
    file: options.noSession ? undefined : createSessionFile(join(sessionDir, sessionFileName(clock.now(), sessionId))),
    onWriteError: (error) => void pipeline.emit({ type: "notice", level: "error", message: writeErrorText(error) }),
  });
  const pipeline = createEventPipeline(store.appendMessage);
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
  if (models.model) store.appendModelChange(models.model);
  store.appendThinkingLevel(models.thinkingLevel);

  const shell = { path: shellPath(settings, cwd, env), prefix: settings.get("shellCommandPrefix") };
  const activeTools = createActiveTools(options);
  const machinery = lazily(async () => {
    const { createMachinery } = await import("./run-machinery.ts");
    return createMachinery({
      cwd,
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
        sessionId,
      },
    });
  });
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
  const run = createSessionRun({
    pipeline,
    queue,
    clock,
    ids,
    machinery() {
      const loading = machinery();
      return models.prepare()?.then(() => loading) ?? loading;
    },
    model: () => models.model,
    retrySettings: () => (modes.autoRetryEnabled ? retry : undefined),
    atRest: () => bash.deliver(),
    leaveOut: store.leaveOut,
    sessionLimits: limitsOf(settings, "session"),
    sessionSpending: noSpending(),
    sessionStartedAt: clock.now(),
  });
  const runShell = lazily(async () => {
    const { createShellCommands } = await import("./shell-command.ts");
    return createShellCommands({ cwd, env, clock, shell, keepsState: dialect.keepsShellState });
  });
  const bash = createBashRunner({
    runShell: async (...command) => (await runShell())(...command),
    clock,
    isBusy: () => run.isStreaming,
    keep: store.appendMessage,
    emit: pipeline.emit,
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
    unusable: found.unusable,
  });
  return {
    session,
    settings,
    problems: [...setUp.problems, ...unknownTools(options)],
    notices: found.notices,
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

function writeErrorText(error: Error): string {
  return `The session file cannot be written (${error.message}); from here on this session is kept in memory only`;
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
