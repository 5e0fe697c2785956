import type { ModelRequest } from "@tiller/ai/provider";
import type { Approvals } from "./approvals/approvals.ts";
import type { Ground } from "./ground.ts";
import type { WarmingParts } from "./join-cache-warming.ts";
import type { SubAgentParts } from "./join-sub-agents.ts";
import { type Late, late, latePer } from "./lib/late.ts";
import { asksApproval, imageBlock, requestOf, rulesOf, shellOf } from "./part-settings.ts";
import type { Resources } from "./resources.ts";
import type { Machinery } from "./run-machinery.ts";
import type { AgentSession } from "./session/agent-session.ts";
import type { RunShell } from "./session/bash-runner.ts";
import type { HostTools } from "./session/host-tools.ts";
import type { HostUris } from "./session/host-uris.ts";
import type { JobResults, JobResultsOptions } from "./session/job-results.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { RunMachinery, SessionRunOptions } from "./session/run-options.ts";
import type { SessionEvent } from "./session/session-event.ts";
import type { EventJournal } from "./session/store/event-journal.ts";
import type { DiskSettings } from "./session/store/session-disk.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import type { Todos } from "./session/todos.ts";
import type { sessionApprovals } from "./session-approvals.ts";
import type { StreamRules } from "./stream-rules.ts";
import type { SessionSubAgents } from "./sub-agents.ts";
import type { Toolbox } from "./toolbox.ts";
import type { JobKeeper } from "./tools/tool.ts";

/** Parts that are loaded when they are first needed: whoever only starts the process does not wait for them. */

interface MachineryParts {
  store: SessionStore;
  models: ModelControl;
  resources(): Promise<Resources>;
  toolbox: Toolbox;
  todos: Late<Todos>;
  jobs: LateJobs;
  hostUris: Late<HostUris>;
  subAgents: Late<SessionSubAgents>;
  approvals: Approvals | undefined;
  emit(event: SessionEvent): unknown;
}

/** What a run needs, made for the folder that the session is about. */
export function lateMachinery(
  ground: Ground,
  { store, models, resources, toolbox, todos, jobs, hostUris, subAgents, approvals, emit }: MachineryParts,
): () => Promise<Machinery> {
  const { env, clock, cwd, settings, extensions } = ground;
  return latePer(
    () => placeKey(ground, store),
    async () => {
      const [{ createMachinery }, { systemPrompt, rules }] = await Promise.all([
        import("./run-machinery.ts"),
        resources(),
      ]);
      return createMachinery({
        rules: rules.length > 0 ? await watchedBy(rules, ground, store, emit) : undefined,
        cwd: store.cwd,
        env,
        clock,
        sessionId: () => store.sessionId,
        shell: shellOf(settings, cwd, env),
        messages: () => store.messages,
        model: () => models.model,
        thinkingLevel: () => models.thinkingLevel,
        credentials: ground.models.source.credentials,
        toolbox,
        plan: todos.load,
        delegate: async () => (await subAgents.load()).main,
        jobs: jobs.keeper,
        hostUris: () => hostUris.made,
        systemPrompt,
        hooks: extensions?.host.hooks,
        approvals,
        recording: ground.recording,
        shown: await imageBlock(settings),
        request: requestOf(settings, store),
      });
    },
  );
}

/** The rules that the answers of a session are held to. */
async function watchedBy(
  rules: Resources["rules"],
  { settings, clock }: Ground,
  store: SessionStore,
  emit: (event: SessionEvent) => unknown,
): Promise<StreamRules> {
  const { createStreamRules } = await import("./stream-rules.ts");
  return createStreamRules({ rules, store, clock, emit, settings: rulesOf(settings) });
}

/** Another folder, or other places to look in, mean other texts. */
function placeKey({ extensions }: Ground, store: SessionStore): string {
  return `${extensions?.resourceVersion ?? 0} ${store.cwd}`;
}

/** The texts of the user and the project, found for the folder that the session is about. */
export function lateResources(
  ground: Ground,
  store: SessionStore,
  onProblem: (problem: string) => void,
): () => Promise<Resources> {
  return latePer(
    () => placeKey(ground, store),
    async () => {
      const { loadResources } = await import("./resources.ts");
      const resources = await loadResources(ground, store.cwd);
      for (const problem of resources.problems) onProblem(problem);
      return resources;
    },
  );
}

/** The shell commands of the host. */
export function lateShell(ground: Ground, store: SessionStore): RunShell {
  const { run, env, cwd, settings, extensions, recording } = ground;
  const clock = recording?.liveClock ?? ground.clock;
  const load = latePer(
    () => store.cwd,
    async (folder) => {
      const { createShellCommands } = await import("./shell-command.ts");
      const shell = shellOf(settings, cwd, env);
      return createShellCommands({
        cwd: folder,
        env,
        clock,
        sessionId: () => store.sessionId,
        shell,
        keepsState: run.dialect.keepsShellState,
      });
    },
  );
  const plain: RunShell = async (...command) => (await load())(...command);
  const runShell = recording ? recording.shell(plain) : plain;
  const hooks = extensions?.host.hooks;
  if (!hooks) return runShell;
  return async (...command) => {
    if (!hooks.listens("user_bash")) return runShell(...command);
    const { runUserBash } = await import("./user-bash.ts");
    return runUserBash({ hooks, cwd: store.cwd, runShell }, ...command);
  };
}

/** The plan, loaded with the first run or the first that has to do with it. */
export function lateTodos(ground: Ground, store: SessionStore, parts: TodoParts): Late<Todos> {
  const { settings, clock } = ground;
  return late(async () => {
    const { createTodos } = await import("./session/todos.ts");
    return createTodos({
      store,
      clock,
      emit: parts.emit,
      settings: {
        clearDelay: settings.get("tasks.todoClearDelay"),
        reminders: settings.get("todo.enabled") && settings.get("todo.reminders"),
        maxReminders: settings.get("todo.reminders.max"),
        eager: settings.get("todo.enabled") && settings.get("todo.eager"),
      },
      isToolActive: () => parts.activeTools().includes("todo"),
    });
  });
}

interface TodoParts {
  emit(event: SessionEvent): unknown;
  activeTools(): readonly string[];
}

/** The sub-agents, once a model is offered the tool that starts them, or the host asks for them. */
export function lateSubAgents(ground: Ground, parts: SubAgentParts): Late<SessionSubAgents> {
  return late(async () => {
    const { joinSubAgents } = await import("./join-sub-agents.ts");
    return joinSubAgents(ground, parts);
  });
}

/** The gate before the tools. Where nobody is to be asked and nothing is forbidden there is none. */
export async function lateApprovals(
  ground: Ground,
  store: SessionStore,
): Promise<ReturnType<typeof sessionApprovals> | undefined> {
  if (!ground.approvalsUnread && !asksApproval(ground.settings)) return undefined;
  const loaded = await import("./session-approvals.ts");
  return loaded.sessionApprovals(ground, () => store.sessionId);
}
export interface LateJobs {
  /** For the tools; undefined while nothing may run in the background. */
  keeper: (() => Promise<JobKeeper>) | undefined;
  results: JobResults;
}

/** The background jobs, loaded with the first of them. Before that nothing waits and nothing has to be ended. */
export function lateJobs({ settings, clock, ids, recording }: Ground, store: SessionStore, parts: JobParts): LateJobs {
  const loaded = late(async () => {
    const [{ createJobs }, { createJobResults }, text] = await Promise.all([
      import("./session/jobs.ts"),
      import("./session/job-results.ts"),
      import("./tools/job-text.ts"),
    ]);
    const jobs = createJobs({
      clock,
      ids,
      maxJobs: settings.get("async.maxJobs"),
      toMessage: (job) => ({ content: text.jobText(job), details: text.jobDetails(job) }),
      wasShown: (job) => text.showsEnd(store.messages, job),
      onEnd: () => results.deliver(),
    });
    const results = createJobResults({ jobs, ...parts });
    return { jobs, results };
  });
  const made = (): JobResults | undefined => loaded.made?.results;
  return {
    keeper: settings.get("async.enabled") ? async () => keeperOf((await loaded.load()).jobs, recording) : undefined,
    results: {
      get isEmpty() {
        return made()?.isEmpty ?? true;
      },
      take: () => made()?.take() ?? [],
      get isPending() {
        return made()?.isPending ?? false;
      },
      deliver: () => made()?.deliver(),
      leave: async () => made()?.leave(),
      left: () => made()?.left(),
    },
  };
}

function keeperOf(jobs: JobKeeper, recording: Ground["recording"]): JobKeeper {
  return recording ? { ...jobs, start: (work) => jobs.start(recording.job(work)) } : jobs;
}

type JobParts = Omit<JobResultsOptions, "jobs">;

/** The tools of the host, once it lends any. */
export function lateHostTools(toolbox: Toolbox): Late<HostTools> {
  return late(async () => {
    const { createHostTools } = await import("./session/host-tools.ts");
    const tools = createHostTools({
      isTaken: toolbox.isTaken,
      onAdded: (names) => {
        for (const name of names) toolbox.active.add(name);
      },
    });
    toolbox.lend(tools);
    return tools;
  });
}

/** What the host is told of the session, kept for it. */
export function lateJournal(ground: Ground, store: SessionStore, disk: DiskSettings): Late<EventJournal> {
  return late(async () => (await import("./session-journal.ts")).sessionJournal(ground, store, disk));
}

export interface LateWarming {
  /** The same, and remembers what the model was asked. */
  watching(machinery: Machinery): RunMachinery;
  rest: NonNullable<SessionRunOptions["rest"]>;
}

/** What keeps the caches of providers warm between runs: only for hosts that stay, and where the user wants to pay for it. */
export function lateCacheWarming(ground: Ground, parts: WarmingParts): LateWarming | undefined {
  const { settings, clock, run, recording } = ground;
  if (settings.get("cacheWarming") !== "idle" || run.mode !== "rpc" || recording) return undefined;
  let last: { request: ModelRequest; at: number } | undefined;
  const warming = late(async () => (await import("./join-cache-warming.ts")).joinCacheWarming(ground, parts));
  return {
    watching: (loaded) => ({
      ...loaded,
      ports: {
        ...loaded.ports,
        stream(request) {
          last = { request, at: clock.now() };
          return loaded.ports.stream(request);
        },
      },
    }),
    rest: {
      begin() {
        const asked = last;
        if (!asked) return;
        const loaded = warming.load().then(({ begin }) => (asked === last ? begin(asked) : undefined));
        // Without it nothing is lost but money.
        loaded.catch(() => undefined);
      },
      end() {
        last = undefined;
        warming.made?.end();
      },
    },
  };
}

/** The URLs of the host, once it lends any. */
export function lateHostUris(): Late<HostUris> {
  return late(async () => (await import("./session/host-uris.ts")).createHostUris());
}

/** Gives the session in the store the disk that it still lacks. */
export async function attachDisk(store: SessionStore, disk: DiskSettings): Promise<void> {
  const { createSessionDisk } = await import("./session/store/session-disk.ts");
  if (store.needsDisk) store.attach(createSessionDisk({ ...disk, path: store.sessionFile ?? "" }));
}

/** The session as a page. `machinery` is undefined while there is no model. */
export function lateExport(
  { run, cwd, env, agentDir, settings, clock }: Ground,
  store: SessionStore,
  machinery: () => (() => Promise<Machinery>) | undefined,
): AgentSession["exportPage"] {
  return async (outputPath) => {
    const { exportOpenSession } = await import("./export-page.ts");
    const { dialect, options } = run;
    return exportOpenSession(outputPath, {
      ...{ store, machinery: machinery(), dialect: dialect.name, cwd, env, agentDir, settings, clock },
      ...(options.apiKey !== undefined && { apiKey: options.apiKey }),
    });
  };
}
