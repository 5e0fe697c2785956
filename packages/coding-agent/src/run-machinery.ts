import { runAgent } from "@tiller/agent/agent-loop";
import type { AgentHooks, AgentPorts, AgentTool } from "@tiller/agent/types";
import { lastList, lastMade } from "@tiller/ai/last-made";
import type { ModelRequest } from "@tiller/ai/provider";
import { guardStream, streamAssistant } from "@tiller/ai/stream";
import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage, LlmMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import type { Approvals, CallToPermit } from "./approvals/approvals.ts";
import type { ShellSettings } from "./exec/shell.ts";
import type { Recording } from "./recording/seams.ts";
import type { HostUris } from "./session/host-uris.ts";
import { messagesToLlm } from "./session/messages-to-llm.ts";
import type { SessionHooks, SystemMessage } from "./session/ports.ts";
import type { RunMachinery } from "./session/run-options.ts";
import type { StreamRules } from "./stream-rules.ts";
import { buildSystemPrompt, type SystemPromptParts } from "./system-prompt/build.ts";
import type { Toolbox } from "./toolbox.ts";
import { createTools } from "./tools/create-tools.ts";
import type { ToolContext } from "./tools/tool.ts";

export interface MachineryOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  sessionId?: ToolContext["sessionId"];
  shell?: ShellSettings;
  messages(): readonly AgentMessage[];
  model(): Model | null;
  thinkingLevel(): ThinkingLevel;
  credentials: AgentPorts["credentials"];
  toolbox: Pick<Toolbox, "toolsFor">;
  plan?: ToolContext["plan"];
  delegate?: ToolContext["delegate"];
  jobs?: ToolContext["jobs"];
  /** Undefined as long as the host lends none. */
  hostUris?(): HostUris | undefined;
  systemPrompt: Omit<SystemPromptParts, "tools" | "cwd" | "date">;
  hooks?: SessionHooks;
  rules?: StreamRules;
  /** Undefined when nobody is to be asked and nothing is forbidden. */
  approvals?: Approvals;
  /** Whose machinery it is, for those who are asked; undefined for the main agent. */
  subAgent?: CallToPermit["subAgent"];
  recording?: Recording;
  /** Takes out what models must not get. */
  shown?(messages: readonly LlmMessage[]): LlmMessage[];
  /** What every request to a model says beside the conversation. */
  request: Pick<ModelRequest, "patience" | "cacheRetention" | "sessionId">;
}

export interface Machinery extends RunMachinery {
  /** What the model would be told now. There must be one. */
  systemPrompt(): string;
  /** The tools that it would be offered. */
  tools(): readonly AgentTool[];
}

/** Everything a run needs, joined. Loaded with the first prompt: an idle process does not pay for it. */
export function createMachinery(options: MachineryOptions): Machinery {
  const { clock, cwd, env, shell, messages, thinkingLevel, credentials, systemPrompt, hooks, rules } = options;
  /** A prompt is only accepted with a model, and no command takes it away. */
  const model = (): Model => {
    const current = options.model();
    if (!current) throw new Error("A run without a model");
    return current;
  };
  // The same all day long: a prompt that changes at midnight would cost the provider's cache, and thoughts bound to it.
  const date = new Date(clock.now()).toISOString().slice(0, 10);
  const { sessionId, plan, delegate, jobs, hostUris } = options;
  const uris: ToolContext["uris"] = (path) => hostUris?.()?.find(path);
  const context: ToolContext = { cwd, env, clock, sessionId, shell, plan, delegate, jobs, uris };
  const made = new Map<string, AgentTool>();
  /** As a model was told of them: with the URLs of the host, where there are any. */
  const told = new WeakSet<AgentTool>();
  const toolNamed = (name: string): AgentTool => {
    const tool = made.get(name) ?? makeTool(name, context, options.recording);
    made.set(name, tool);
    const shown = hostUris?.()?.described(tool) ?? tool;
    told.add(shown);
    return shown;
  };

  const known = lastList<AgentTool>();
  const offered = (): readonly AgentTool[] => known(options.toolbox.toolsFor(model(), toolNamed));
  /** The tool that starts sub-agents says which there are; what has to be looked up for that is looked up only then. */
  const described = (tools: readonly AgentTool[]): readonly AgentTool[] | Promise<AgentTool[]> => {
    const task = made.get("task");
    if (!options.delegate || !task || !tools.includes(task)) return tools;
    return withAgents(tools, task, options.delegate);
  };

  const promptFor = lastMade((tools: readonly AgentTool[]) => buildSystemPrompt({ ...systemPrompt, tools, cwd, date }));

  const { approvals, subAgent } = options;
  const around = { cwd, env, shell: shell?.path };
  const permit: AgentHooks["permit"] =
    approvals && (({ tool, ...call }) => approvals.permit({ ...call, isBuiltin: told.has(tool), subAgent }, around));

  const ports: RunMachinery["ports"] = {
    model,
    thinkingLevel,
    tools: async () => described(offered()),
    systemPrompt: promptFor,
    context: () => (hooks?.listens("context") ? shownContext(hooks, messages()) : messagesToLlm(messages())),
    ...(rules && { watch: rules.watch }),
    ...((hooks || permit) && { hooks: () => (permit ? { ...hooks?.forAgent(), permit } : hooks?.forAgent()) }),
    ...(hooks && {
      lastLook: (request) => (hooks.listens("context_with_system") ? lastLook(hooks, request) : undefined),
    }),
    credentials,
    stream(request) {
      const messages = options.shown?.(request.messages) ?? request.messages;
      const whole = { ...request, messages, ...options.request, ...(hooks && requestHooks(hooks, request.signal)) };
      if (!hooks?.listens("before_provider_headers")) return streamAssistant(whole);
      const open = async () => streamAssistant({ ...whole, headers: await shownHeaders(hooks, request) });
      return guardStream(open, request.signal);
    },
    cwd,
    clock,
  };
  return {
    runAgent,
    ports,
    ...(rules && { rules }),
    systemPrompt: () => ports.systemPrompt(offered()),
    tools: offered,
  };
}

/** In a replay most tools are not run: they live in the time of the machine, not in that of the recording. */
function makeTool(name: string, context: ToolContext, recording: Recording | undefined): AgentTool {
  if (!recording) return createTools({ names: [name], ...context })[0]!;
  const { uris } = context;
  const isOurs = (args: Record<string, unknown>): boolean =>
    (name === "bash" && args.async === true && context.jobs !== undefined) ||
    (typeof args.path === "string" && uris?.(args.path) !== undefined);
  const clock = recording.isRun(name) ? context.clock : recording.liveClock;
  return recording.tool(createTools({ names: [name], ...context, clock })[0]!, isOurs);
}

async function withAgents(
  tools: readonly AgentTool[],
  task: AgentTool,
  delegate: NonNullable<ToolContext["delegate"]>,
): Promise<AgentTool[]> {
  const agents = await (await delegate()).describe();
  return tools.map((tool) => (tool === task ? { ...tool, description: `${tool.description}\n\n${agents}` } : tool));
}

/** The conversation as extensions want the model to see it this time. */
async function shownContext(hooks: SessionHooks, messages: readonly AgentMessage[]): Promise<readonly LlmMessage[]> {
  const copies = structuredClone(messages) as AgentMessage[];
  return messagesToLlm((await hooks.run("context", { messages: copies })).messages);
}

/** The same with the system prompt and the tools; what comes back is sent as it is. */
async function lastLook(
  hooks: SessionHooks,
  { systemPrompt, messages, tools, clock, signal }: ModelRequest,
): Promise<Pick<ModelRequest, "systemPrompt" | "messages" | "tools">> {
  const toolsAdded = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const system: SystemMessage = { role: "system", content: systemPrompt, toolsAdded, timestamp: clock.now() };
  const copies = structuredClone([system, ...messages]);
  const shown = (await hooks.run("context_with_system", { messages: copies }, signal)).messages;
  const isMessage = (value: unknown): boolean => typeof value === "object" && value !== null && "role" in value;
  const said = shown.filter((message) => isMessage(message) && message.role === "system") as SystemMessage[];
  const offered = said[0]?.toolsAdded && new Set(said[0].toolsAdded.map(({ name }) => name));
  return {
    // Models have one system prompt: what stands further down is said at its end.
    systemPrompt: said.length > 0 ? said.map(({ content }) => content).join("\n\n") : systemPrompt,
    messages: messagesToLlm(
      shown.filter((message) => isMessage(message) && message.role !== "system") as AgentMessage[],
    ),
    tools: offered ? tools.filter(({ name }) => offered.has(name)) : tools,
  };
}

/** The headers of a request as extensions want them. */
async function shownHeaders(
  hooks: SessionHooks,
  { headers, signal }: ModelRequest,
): Promise<Record<string, string> | undefined> {
  const shown = (await hooks.run("before_provider_headers", { headers: { ...headers } }, signal)).headers;
  const kept = Object.entries(shown).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(kept);
}

/** What is sent and what comes back is shown only when somebody wants to see it. */
function requestHooks(
  hooks: SessionHooks,
  signal: AbortSignal,
): Pick<ModelRequest, "onPayload" | "onResponse" | "onEvent"> {
  return {
    ...(hooks.listens("before_provider_request") && {
      async onPayload(payload: unknown) {
        const seen = await hooks.run("before_provider_request", { payload }, signal);
        return seen.isReplaced ? seen.payload : undefined;
      },
    }),
    ...(hooks.listens("after_provider_response") && {
      onResponse: ({ status, headers }: { status: number; headers: Record<string, string> }) =>
        hooks.run("after_provider_response", { status, headers }, signal),
    }),
    ...(hooks.listens("provider_stream_event") && {
      onEvent: (data: unknown) => hooks.run("provider_stream_event", { data }, signal),
    }),
  };
}
