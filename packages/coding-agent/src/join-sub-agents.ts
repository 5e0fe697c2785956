import { join } from "node:path";
import { findAgents } from "./agents/discover.ts";
import type { Approvals } from "./approvals/approvals.ts";
import type { ChildCompaction, ChildMachinery } from "./child-run.ts";
import { plainName, subAgentsFolder } from "./config/paths.ts";
import type { Ground } from "./ground.ts";
import { latePer } from "./lib/late.ts";
import { imageBlock, requestOf, rulesOf, shellOf } from "./part-settings.ts";
import type { Resources } from "./resources.ts";
import type { Machinery } from "./run-machinery.ts";
import type { HostUris } from "./session/host-uris.ts";
import type { ModelControl } from "./session/model-control.ts";
import type { HookName, SessionHooks } from "./session/ports.ts";
import type { RetrySettings } from "./session/retry-policy.ts";
import type { SessionEvent } from "./session/session-event.ts";
import type { SessionRun } from "./session/session-run.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import { paidEntry } from "./session/sub-agents.ts";
import { createSessionSubAgents, type SessionSubAgents } from "./sub-agents.ts";
import type { Toolbox } from "./toolbox.ts";
import { isBuiltinTool, TOOL_ROWS } from "./tools/index.ts";

/** The parts of the session that its sub-agents have to do with. */
export interface SubAgentParts {
  store: SessionStore;
  models: ModelControl;
  toolbox: Toolbox;
  resources(): Promise<Resources>;
  /** Who has to be asked for the tools of the session has to be asked for theirs. */
  approvals: Approvals | undefined;
  /** Undefined as long as the host lends no URLs. */
  hostUris(): HostUris | undefined;
  emit(event: SessionEvent): undefined | Promise<void>;
  onProblem(problem: string): void;
  run(): SessionRun;
  retrySettings(): RetrySettings | undefined;
  isCompacting(): boolean;
  /** Gives a session that has a path its disk. */
  attachDisk(store: SessionStore): Promise<void>;
}

/** Makes the sub-agents of a session from its own parts: the same loop, the same tools, the same models. */
export function joinSubAgents(ground: Ground, parts: SubAgentParts): SessionSubAgents {
  const { settings, clock, ids, agentDir, models: found } = ground;
  const { store, models, toolbox, run } = parts;
  const folder = subAgentsFolder(agentDir);
  const agents = latePer(
    () => store.cwd,
    async (cwd) => {
      const { placeOf } = await import("./resources.ts");
      const read = await findAgents(placeOf(ground, cwd));
      for (const problem of read.problems) parts.onProblem(problem);
      return read;
    },
  );
  return createSessionSubAgents({
    settings: {
      maxConcurrency: settings.get("task.maxConcurrency"),
      maxRecursionDepth: settings.get("task.maxRecursionDepth"),
      disabledAgents: settings.get("task.disabledAgents"),
      agentModelOverrides: settings.get("task.agentModelOverrides"),
      eager: settings.get("task.eager"),
    },
    agents,
    models: found,
    clock,
    emit: parts.emit,
    folder,
    sessionFolder: () => (store.sessionFile === undefined ? undefined : join(folder, plainName(store.sessionId))),
    child: {
      clock,
      ids,
      cwd: () => store.cwd,
      retrySettings: parts.retrySettings,
      attachDisk: parts.attachDisk,
      machinery: (child) => childMachinery(ground, parts, child),
      compaction: (child) => childCompaction(ground, parts, child),
    },
    main: {
      depth: 0,
      budget: () => run().budget,
      toolNames: () => (models.model ? toolbox.active.names(models.model) : []),
      mayHave: (name) => models.model !== null && toolbox.active.mayOffer(name, models.model),
      model: () => models.model,
      thinkingLevel: () => models.thinkingLevel,
      sessionFile: () => store.sessionFile,
      paid: (usage, { provider, id }) => void store.append(paidEntry(usage, provider, id)),
    },
  });
}

async function childMachinery(
  ground: Ground,
  { toolbox, resources, approvals, hostUris }: SubAgentParts,
  { record, store, agent, model, thinkingLevel, toolNames, delegate, emit }: ChildMachinery,
): Promise<Machinery> {
  const { env, clock, cwd, settings, models, extensions } = ground;
  const [{ createMachinery }, { systemPrompt, rules }] = await Promise.all([import("./run-machinery.ts"), resources()]);
  // What its answers were told stands in its own conversation.
  const watch = rules.length > 0 ? (await import("./stream-rules.ts")).createStreamRules : undefined;
  return createMachinery({
    rules: watch?.({ rules, store, clock, emit, settings: rulesOf(settings) }),
    cwd: store.cwd,
    env,
    clock,
    sessionId: () => store.sessionId,
    shell: shellOf(settings, cwd, env),
    messages: () => store.messages,
    model: () => model,
    thinkingLevel: () => thinkingLevel,
    credentials: models.source.credentials,
    // Tools of the host and of extensions may go while it works.
    toolbox: {
      toolsFor: (_model, builtIn) =>
        toolNames.flatMap((name) => toolbox.other(name) ?? (isForSubAgents(name) ? builtIn(name) : [])),
    },
    hostUris,
    delegate: async () => delegate,
    systemPrompt: { ...systemPrompt, base: agent.prompt },
    hooks: extensions && childHooks(extensions.host.hooks),
    approvals,
    subAgent: { id: record.id, agent: agent.name },
    recording: ground.recording,
    shown: await imageBlock(settings),
    request: requestOf(settings, store),
  });
}

/** Background jobs are the main agent's: what a sub-agent has started could not tell it how it ended. */
function isForSubAgents(name: string): boolean {
  return isBuiltinTool(name) && TOOL_ROWS.get(name)?.needs !== "async.enabled";
}

/** Guards of tools and of requests hold for sub-agents too; what is about the conversation is about the main one alone. */
function childHooks(hooks: SessionHooks): SessionHooks {
  return {
    ...hooks,
    listens: (hook) => REQUEST_HOOKS.has(hook) && hooks.listens(hook),
    forAgent() {
      const { beforeTool, afterTool } = hooks.forAgent() ?? {};
      return { ...(beforeTool && { beforeTool }), ...(afterTool && { afterTool }) };
    },
  };
}

const REQUEST_HOOKS: ReadonlySet<HookName> = new Set<HookName>([
  "before_provider_headers",
  "before_provider_request",
  "after_provider_response",
  "provider_stream_event",
]);

async function childCompaction(
  { settings, ids }: Ground,
  { retrySettings, isCompacting }: SubAgentParts,
  { store, pipeline, model, machinery, run }: ChildCompaction,
) {
  const { createSessionCompaction } = await import("./session-compaction.ts");
  return createSessionCompaction({
    store,
    pipeline,
    settings,
    isEnabled: isCompacting,
    machinery: async () => machinery,
    model: () => model,
    retrySettings,
    lot: ids.lot,
    run,
  }).compactor;
}
