import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import type { RunArgs } from "./args.ts";
import type { CliOptions } from "./cli-options.ts";
import { agentFolder, type Env, resolvePath, sessionFileName, sessionFolder } from "./config/paths.ts";
import { loadSettings, type Settings } from "./config/settings.ts";
import { type AgentSession, createAgentSession } from "./session/agent-session.ts";
import { createEventPipeline } from "./session/event-pipeline.ts";
import { createModelControl } from "./session/model-control.ts";
import { createSessionRun, type RunMachinery } from "./session/session-run.ts";
import { createSessionFile } from "./session/store/session-file.ts";
import { createSessionStore } from "./session/store/session-store.ts";
import { openModels } from "./session-models.ts";
import { defaultToolNames, isBuiltinTool } from "./tools/index.ts";

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
export function createSession({
  run,
  env,
  cwd: startedIn,
  clock,
  ids,
}: SessionSurroundings): CreatedSession | { error: string } {
  const { options, dialect } = run;
  const cwd = options.cwd === undefined ? startedIn : resolvePath(options.cwd, startedIn, env);
  if (!existsSync(cwd)) return { error: `Error: --cwd "${cwd}" does not exist` };
  const agentDir = agentFolder(env, cwd);
  const { projectTrust } = run;
  const loaded = loadSettings({
    dialect: dialect.name,
    rpc: true,
    agentDir,
    cwd,
    projectTrust,
    env,
    flags: run.settings,
  });
  const { settings } = loaded;
  const found = openModels({ options, settings, agentDir, cwd, env });

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
    source: found.registry,
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

  const machinery = lazily(async () => {
    const { createMachinery } = await import("./run-machinery.ts");
    return createMachinery({
      cwd,
      env,
      clock,
      messages: () => store.messages,
      model: () => models.model,
      thinkingLevel: () => models.thinkingLevel,
      credentials: found.registry.credentials,
      toolNames: (model) => toolNames(options, model),
      systemPrompt: {
        base: options.systemPrompt === undefined ? undefined : textOrFile(options.systemPrompt, cwd, env),
        append: (options.appendSystemPrompt ?? []).map((given) => textOrFile(given, cwd, env)),
      },
    });
  });
  const session = createAgentSession({
    models,
    modes: {
      steeringMode: settings.get("steeringMode"),
      followUpMode: settings.get("followUpMode"),
      interruptMode: settings.get("interruptMode"),
      autoCompactionEnabled: settings.get("compaction.enabled"),
      autoRetryEnabled: settings.get("retry.enabled"),
    },
    run: createSessionRun({ pipeline, ids, machinery, model: () => models.model }),
    store,
    pipeline,
    clock,
    busyText: dialect.busyText,
    unusable: found.unusable,
  });
  return {
    session,
    settings,
    problems: [...loaded.problems, ...found.problems, ...unknownTools(options)],
    notices: found.notices,
  };
}

function writeErrorText(error: Error): string {
  return `The session file cannot be written (${error.message}); from here on this session is kept in memory only`;
}

/** What the command line allows; else pi's four, and for the offline model what it needs to look around. */
function toolNames(options: CliOptions, model: Model): string[] {
  if (options.noTools || options.noBuiltinTools) return (options.tools ?? []).filter(isBuiltinTool);
  const extras = model.provider === "offline" ? ["ls", "find", "grep"] : [];
  const names = options.tools?.filter(isBuiltinTool) ?? [...defaultToolNames(), ...extras];
  return names.filter((name) => !options.excludeTools?.includes(name));
}

function unknownTools(options: CliOptions): string[] {
  const named = [...(options.tools ?? []), ...(options.excludeTools ?? [])];
  return named.filter((name) => !isBuiltinTool(name)).map((name) => `there is no tool "${name}"; it is left out`);
}

/** An option that takes a text also takes the path of a file with the text. */
function textOrFile(given: string, cwd: string, env: Env): string {
  const path = given.length < 1024 && !given.includes("\n") ? resolvePath(given, cwd, env) : undefined;
  return path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : given;
}

/** Made when first asked for, once. A failure is not kept: the next prompt may try again. */
function lazily(make: () => Promise<RunMachinery>): () => Promise<RunMachinery> {
  let made: Promise<RunMachinery> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
