import { join } from "node:path";
import { createMessageQueue } from "@tiller/agent/message-queue";
import { orAborted } from "@tiller/agent/tell";
import { configureTransport } from "@tiller/ai/http/environment";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { SessionHeader } from "@tiller/protocol/session-entry";
import { unknownTools } from "./active-tools.ts";
import type { RunArgs } from "./args.ts";
import { type Env, locksFolder, sessionFileName } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import { endProcesses, markedEnvironment } from "./exec/end-processes.ts";
import { choosesSession } from "./given-options.ts";
import type { Ground } from "./ground.ts";
import { type LateMcp, lateMcp } from "./late-mcp.ts";
import {
  attachDisk,
  lateApprovals,
  lateCacheWarming,
  lateExport,
  lateHostTools,
  lateHostUris,
  lateJobs,
  lateJournal,
  lateMachinery,
  lateResources,
  lateShell,
  lateSubAgents,
  lateTodos,
} from "./late-parts.ts";
import { type Late, late } from "./lib/late.ts";
import { tellTurnEnd } from "./lib/turn-ends.ts";
import { limitsOf, retryOf, sessionDir } from "./part-settings.ts";
import type { Recording } from "./recording/seams.ts";
import { type AgentSession, createAgentSession, type SessionModes } from "./session/agent-session.ts";
import { createBashRunner } from "./session/bash-runner.ts";
import { lateCompactor } from "./session/compaction/late-compactor.ts";
import { createContextUsage } from "./session/context-usage.ts";
import { createEventPipeline } from "./session/event-pipeline.ts";
import { createHandledPrompts } from "./session/handled-prompts.ts";
import { createModelControl, type ModelChange, type ModelControl } from "./session/model-control.ts";
import type { SessionHooks } from "./session/ports.ts";
import { createResumption } from "./session/resumption.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createSessionQueue, type WaitingMessage } from "./session/session-queue.ts";
import { createSessionRun } from "./session/session-run.ts";
import { beginSession } from "./session/store/begin-session.ts";
import type { DiskSettings } from "./session/store/session-disk.ts";
import { createSessionStore, type SessionStore } from "./session/store/session-store.ts";
import { noSpending } from "./session/usage-tally.ts";
import type { JoinedExtensions } from "./session-extensions.ts";
import type { EnteringHistory } from "./session-history.ts";
import { openSetUp } from "./set-up.ts";
import { addExtensions } from "./set-up-extensions.ts";
import { type BuiltIn, createToolbox, joinTools } from "./toolbox.ts";
import { TOOL_ROWS } from "./tools/index.ts";

export interface SessionSurroundings {
  run: RunArgs;
  env: Env;
  cwd: string;
  clock: Clock;
  ids: IdSource;
  /**
   * The process is somebody else's: what it runs for this session is ended by this mark, so that other sessions keep
   * theirs, and no extension gets guards around it.
   */
  guestMark?: string;
  /** Everything that comes from outside is recorded or played back. */
  recording?: Recording;
}

export interface CreatedSession {
  session: AgentSession;
  settings: Settings;
  run: RunArgs;
  /** As it stands, or will stand, in the session file. */
  header(): SessionHeader;
  /** What could not be used of the configuration, one sentence each; for stderr. */
  problems: string[];
  /** What the host shall know before its first prompt. */
  notices: string[];
}

/** The composition root: the only place that knows all the parts and joins them. */
export async function createSession(
  given: SessionSurroundings,
): Promise<CreatedSession | { error: string; exitCode?: number }> {
  configureTransport({ env: given.env });
  const { env, guestMark } = given;
  const surroundings = guestMark === undefined ? given : { ...given, env: markedEnvironment(env, guestMark) };
  const plain = await openSetUp(surroundings);
  if ("error" in plain) return plain;
  const setUp = await addExtensions(plain, surroundings);
  if ("error" in setUp) return setUp;
  const ground: Ground = { ...surroundings, ...setUp };
  const joined = await joinParts(ground);
  const error = await enterFirstSession(ground, joined);
  if (error !== undefined) return { error };
  const { session, store, notices } = joined;
  return {
    session,
    settings: setUp.settings,
    run: ground.run,
    header: () => store.log.header,
    problems: [...setUp.problems, ...unknownToolNames(ground)],
    notices: [...setUp.models.notices, ...notices.takeEarly()],
  };
}

interface Joined {
  session: AgentSession;
  store: SessionStore;
  models: ModelControl;
  history: Late<EnteringHistory>;
  notices: Notices;
}

/** Some parts call each other. Who is only called later may be named before it is made. */
async function joinParts(ground: Ground): Promise<Joined> {
  const { run: args, clock, ids, cwd, settings, models: found, extensions } = ground;
  const hooks = extensions?.host.hooks;
  const notices = createNotices((event) => void pipeline.emit(event));
  const disk: DiskSettings = {
    locksFolder: locksFolder(ground.agentDir),
    fsync: settings.get("session.fsync"),
    clock,
    onNotice: notices.tell,
  };
  const id = ids.uuid();
  const path = args.options.noSession ? undefined : join(sessionDir(ground, cwd), sessionFileName(clock.now(), id));
  const store = createSessionStore({ clock, ids, first: beginSession({ clock, ids, cwd }, { id, path }) });
  const endTurn = (): void => {
    store.endTurn();
    tellTurnEnd();
  };
  const pipeline = createEventPipeline({ keep: store.appendMessage, endTurn, observe: hooks?.observe });
  const models = createModelControl({
    source: extensions?.models.source ?? found.source,
    initial: found,
    scope: found.scope,
    onModel(model, change) {
      store.appendModelChange(model);
      tellModel(hooks, model, change);
    },
    onThinkingLevel(level, previousLevel) {
      store.appendThinkingLevel(level);
      void pipeline.emit({ type: "thinking_level_changed", level });
      tellLevel(hooks, level, previousLevel);
    },
    onRestored: (model, change) => tellModel(hooks, model, change),
  });
  const model = () => models.model;

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

  const resources = lateResources(ground, store, (problem) => notices.tell("warning", problem));
  const mcp = lateMcp(ground, {
    hooks,
    toolbox: () => toolbox,
    onProblem: (problem) => notices.tell("warning", problem),
  });
  const others = joinTools(ground.recording?.others(extensions?.tools) ?? extensions?.tools, mcp.tools);
  const toolbox = createToolbox(args.options, others, builtInTools(ground));
  const todos = lateTodos(ground, store, {
    emit: (event) => pipeline.emit(event, run.place),
    activeTools: () => (models.model ? toolbox.active.names(models.model) : []),
  });
  const gate = await lateApprovals(ground, store);
  // Told to the host as well: because of them every call may be asked.
  for (const problem of gate?.problems ?? []) notices.tell("warning", problem);
  const hostUris = lateHostUris();
  const subAgents = lateSubAgents(ground, {
    store,
    approvals: gate?.approvals,
    hostUris: () => hostUris.made,
    models,
    toolbox,
    resources,
    emit: (event) => pipeline.emit(event, run.place),
    onProblem: (problem) => notices.tell("warning", problem),
    run: () => run,
    retrySettings: () => retrySettings(),
    isCompacting: () => modes.autoCompactionEnabled,
    attachDisk: async (child) => (child.needsDisk ? attachDisk(child, disk) : undefined),
  });
  const markEnd = (status: "aborted" | "error" | "completed"): void =>
    void store.append({ type: "custom", customType: "tiller.run_end", data: { status } });
  const jobs = lateJobs(ground, store, {
    emit: pipeline.emit,
    isIdle: () => run.isSettled,
    isLast: () => !handled.isAny,
    mayBegin: () => run.endedWell && run.exhausted === undefined && found.unusable(models.model) === undefined,
    begin() {
      const prompt = { promptId: ids.count("prompt"), commandId: undefined, isOwn: true as const };
      const job = run.accept("results", prompt, limitsOf(settings, "prompt"));
      // Not now: whoever has told of the end is still at work.
      clock.after(0, () => void job().catch((error: Error) => notices.tell("error", error.message)));
    },
    markEnd: () => markEnd("completed"),
  });
  const machinery = lateMachinery(ground, {
    store,
    models,
    resources,
    toolbox,
    todos,
    jobs,
    hostUris,
    subAgents,
    approvals: gate?.approvals,
    emit: (event) => pipeline.emit(event, run.place),
  });
  const retry = retryOf(settings);
  const retrySettings = () => (modes.autoRetryEnabled ? retry : undefined);
  const summaries = late(async () => {
    const { createSessionCompaction } = await import("./session-compaction.ts");
    const isEnabled = () => modes.autoCompactionEnabled;
    return createSessionCompaction({
      store,
      pipeline,
      settings,
      isEnabled,
      machinery,
      model,
      retrySettings,
      lot: ids.lot,
      run,
      hooks,
    });
  });
  const compactor = lateCompactor(
    async () => (await summaries.load()).compactor,
    () => summaries.made?.compactor,
  );

  const resumption = createResumption();
  const journal = lateJournal(ground, store, disk);
  const openDisk = async (): Promise<void> => {
    if (store.needsDisk) await attachDisk(store, disk);
  };
  const handled = createHandledPrompts(pipeline.emit, {
    isRunning: () => !run.isSettled || jobs.results.isPending,
    isWaiting: () => !queue.isEmpty,
  });
  const warming = lateCacheWarming(ground, { store, pipeline, models, machinery, run: () => run });
  const run = createSessionRun({
    pipeline,
    queue,
    clock,
    ids,
    async machinery(signal) {
      resumption.begin();
      const begun = joined && orAborted(joined.started(), signal);
      const [loaded] = await Promise.all([
        begun ? begun.then(machinery) : machinery(),
        begun ? begun.then(() => mcp.ready(signal)) : mcp.ready(signal),
        summaries.load(),
        models.prepare(),
        openDisk(),
        todos.load(),
        // Only who speaks the protocol can be asked again.
        args.mode === "rpc" ? journal.load() : undefined,
      ]);
      return warming?.watching(loaded) ?? loaded;
    },
    model,
    retrySettings,
    ...(warming && { rest: warming.rest }),
    ...(hooks && {
      open: (...opening) => joined!.open(...opening),
      observed: hooks.settled,
      beforeSettle: hooks.beforeSettle,
    }),
    isAnyHandled: () => handled.isAny,
    atRest: () => bash.deliver(),
    toolsOver: () => subAgents.made?.main.settled(),
    leaveOut: store.leaveOut,
    todos: {
      takeNews: () => todos.made?.takeNews(),
      reminder: (attempt) => todos.made?.reminder(attempt),
    },
    jobs: jobs.results,
    compaction: compactor,
    markEnd,
    sessionLimits: limitsOf(settings, "session"),
    sessionSpending: noSpending(),
    sessionStartedAt: clock.now(),
  });
  const bash = createBashRunner({
    runShell: lateShell(ground, store),
    clock,
    isBusy: () => run.isStreaming,
    keep: store.appendMessage,
    emit: pipeline.emit,
  });
  const stop = (reason: string): Promise<void> => session.stop(reason);
  const history = late(async () => {
    const { joinHistory } = await import("./join-history.ts");
    return joinHistory(ground, {
      store,
      pipeline,
      models,
      disk,
      compactor,
      resumption,
      summaries,
      stop,
      hooks: joined?.hooks,
      tellLevel: (level, previous) => tellLevel(joined?.hooks, level, previous),
      todos,
      subAgents,
      journal,
      isStreaming: () => run.isStreaming,
      openDisk,
    });
  });
  let joined: JoinedExtensions | undefined;
  const started = (): Promise<void> => joined?.started() ?? Promise.resolve();
  if (extensions) {
    const { joinExtensions } = await import("./session-extensions.ts");
    joined = joinExtensions({
      ground,
      extensions,
      store,
      pipeline,
      models,
      queue,
      run,
      toolbox,
      mcp,
      clock,
      ids,
      session: () => session,
      openDisk,
      resources,
      machinery,
    });
  }
  const session: AgentSession = createAgentSession({
    models,
    modes,
    bash,
    queue,
    run,
    handled,
    store,
    pipeline,
    clock,
    ids,
    busyText: args.dialect.busyText,
    promptLimits: limitsOf(settings, "prompt"),
    history: history.load,
    compactor,
    contextUsage: createContextUsage(store, model, () => summaries.made?.contextUsage),
    wasInterrupted: () => resumption.wasInterrupted,
    endProcesses: () => endProcesses(ground.guestMark),
    closeServers: mcp.close,
    unusable: found.unusable,
    expand: async (text) => (await resources()).expand(text),
    async resources() {
      await joined?.startedSoon();
      const [{ createSessionResources }, loaded] = await Promise.all([import("./session-resources.ts"), resources()]);
      const offersSkills = settings.get("enableSkillCommands");
      const extensionCommands = joined?.commandItems ?? (() => []);
      const parts = { resources: loaded, store, clock, machinery, toolbox, offersSkills, extensionCommands };
      return createSessionResources(parts);
    },
    journal,
    hostTools: lateHostTools(toolbox).load,
    askThrough: gate?.approvals.askThrough,
    todos,
    subAgents,
    hostUris: hostUris.load,
    jobs: jobs.results,
    hooks: joined?.hooks,
    started,
    extensions: joined && beginningWith(joined, mcp),
    inputSource: args.mode === "rpc" ? "rpc" : "interactive",
    exportPage: lateExport(ground, store, () => (models.model ? machinery : undefined)),
  });
  // Extensions come first: they may have a say about the project.
  if (!joined && mcp.isWanted) clock.after(START_SERVERS_MS, () => void mcp.ready());
  return { session, store, models, history, notices };
}

/** Whoever waits for the process has its answer by then. The first prompt does not wait for this. */
const START_SERVERS_MS = 50;

/** When their session has begun, the servers are started, if there are any. */
function beginningWith({ session, started }: JoinedExtensions, mcp: LateMcp): JoinedExtensions["session"] {
  return {
    ...session,
    begin(host) {
      session.begin(host);
      if (mcp.isWanted) void started().then(() => mcp.ready());
    },
  };
}

function tellLevel(hooks: SessionHooks | undefined, level: ThinkingLevel, previousLevel: ThinkingLevel): void {
  if (hooks?.listens("thinking_level_select")) void hooks.run("thinking_level_select", { level, previousLevel });
}

function tellModel(hooks: SessionHooks | undefined, model: Model, { previous, source }: ModelChange): void {
  const isSame = previous?.provider === model.provider && previous.id === model.id;
  if (isSame || !hooks?.listens("model_select")) return;
  void hooks.run("model_select", { model, ...(previous && { previousModel: previous }), source });
}

/** The session that the command line asks for, or the new one that is in the store already. Gives back why not. */
async function enterFirstSession(ground: Ground, { store, models, history }: Joined): Promise<string | undefined> {
  const { agentDir, cwd, env } = ground;
  const { options, dialect } = ground.run;
  if (!choosesSession(options)) {
    if (models.model) store.appendModelChange(models.model);
    store.appendThinkingLevel(models.thinkingLevel);
    return undefined;
  }
  const { chooseSession } = await import("./session-choice.ts");
  const choice = chooseSession({ options, dialect, agentDir, sessionDir: sessionDir(ground, cwd), cwd, env });
  const { enter } = await history.load();
  return enter(choice, {
    keepsModel: (options.model ?? options.provider ?? options.models ?? options.script) !== undefined,
    keepsLevel: options.thinking !== undefined,
  });
}

/** The built-in tools that the settings add to those that are always there, and those that they leave out. */
function builtInTools({ run, settings }: Ground): BuiltIn {
  const isOff: Record<string, boolean> = {
    todo: !settings.get("todo.enabled"),
    task: settings.get("task.maxRecursionDepth") === 0,
  };
  const usual = run.dialect.moreTools.filter((name) => !isOff[name]);
  const needy = [...TOOL_ROWS.values()].flatMap(({ name, needs }) =>
    needs ? [{ name, isOn: settings.get(needs) }] : [],
  );
  const named = (wanted: boolean): string[] => needy.filter(({ isOn }) => isOn === wanted).map(({ name }) => name);
  return { usual: [...usual, ...named(true)], chosen: settings.get("defaultTools"), missing: named(false) };
}

/** What the command line names, or else the settings, and is no tool. */
function unknownToolNames(ground: Ground): string[] {
  const { chosen, missing } = builtInTools(ground);
  const { options } = ground.run;
  const tools = options.tools ?? (chosen && [...chosen]);
  return unknownTools({ ...options, tools }, ground.extensions?.tools.names(), missing);
}

/** What a person should know. Before anybody listens it is kept. */
interface Notices {
  tell: DiskSettings["onNotice"];
  /** What was kept; from then on everything is told at once. */
  takeEarly(): string[];
}

function createNotices(emit: (event: SessionEvent) => void): Notices {
  let early: string[] | undefined = [];
  return {
    tell(level, message) {
      if (early) early.push(message);
      else emit({ type: "notice", level, message, source: "session" });
    },
    takeEarly() {
      const kept = early ?? [];
      early = undefined;
      return kept;
    },
  };
}
