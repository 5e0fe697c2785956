import { existsSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import type { Subagent } from "@tiller/protocol/sub-agent";
import type { AgentDefinition } from "./agents/agent.ts";
import { GENERAL_AGENT, inlineAgent } from "./agents/bundled.ts";
import { toolsOf } from "./agents/tools-of.ts";
import type { Caller, CallerDelegate, ChildOutcome, ChildPorts, ChildRun } from "./child-run.ts";
import { nearNames } from "./lib/near-name.ts";
import { createSlots, type Slots } from "./lib/slots.ts";
import type { SessionEvent } from "./session/session-event.ts";
import { createSubAgents, type SubAgentRecord, type SubAgents } from "./session/sub-agents.ts";
import type { SessionModels } from "./session-models.ts";
import { modelFor } from "./sub-agent-model.ts";
import type { TaskReport, TaskRequest } from "./tools/tool.ts";

export interface SubAgentSettings {
  maxConcurrency: number;
  /** -1: no limit. */
  maxRecursionDepth: number;
  disabledAgents: readonly string[];
  agentModelOverrides: Readonly<Record<string, unknown>>;
  eager: boolean;
}

export interface SessionSubAgentsOptions {
  settings: SubAgentSettings;
  /** Found for the folder that the session is about; problems have been told. */
  agents(): Promise<{ agents: ReadonlyMap<string, AgentDefinition>; problems: readonly string[] }>;
  models: Pick<SessionModels, "registry" | "source">;
  /** What the conversations of sub-agents are made with. */
  child: ChildPorts;
  clock: Clock;
  emit(event: SessionEvent): undefined | Promise<void>;
  /** Where their files lie. */
  folder: string;
  /** Undefined when the session is kept in memory. */
  sessionFolder(): string | undefined;
  main: Caller;
}

export interface SessionSubAgents extends SubAgents {
  readonly main: CallerDelegate;
}

/** The sub-agents of a session, joined to it. Loaded when a model is first offered the tool, or a host asks for them. */
export function createSessionSubAgents(options: SessionSubAgentsOptions): SessionSubAgents {
  const { settings, clock, emit, models } = options;
  const isInside = (path: string): boolean => resolve(path).startsWith(options.folder + sep) && path.endsWith(".jsonl");
  const known = createSubAgents({ clock, emit, isSubAgentFile: (path) => isInside(path) && existsSync(path) });
  const slots = new Map<number, Slots>();
  const told = new Set<string>();
  const warn = (message: string): void => {
    if (told.has(message)) return;
    told.add(message);
    void emit({ type: "notice", level: "warning", source: "sub-agents", message });
  };

  /** Each depth has its own places: those who wait for others must not keep them from working. */
  const placesAt = (depth: number): Slots => {
    const there = slots.get(depth) ?? createSlots(settings.maxConcurrency);
    slots.set(depth, there);
    return there;
  };
  const mayDelegate = (depth: number): boolean => {
    const { maxRecursionDepth } = settings;
    return maxRecursionDepth < 0 || depth < maxRecursionDepth;
  };
  const offered = async (): Promise<AgentDefinition[]> => {
    const { agents } = await options.agents();
    return [...agents.values()].filter(({ name }) => !settings.disabledAgents.includes(name));
  };
  const definitionOf = async ({ agent, inline }: TaskRequest): Promise<AgentDefinition> => {
    if (inline) return inlineAgent(inline.instructions, inline.tools);
    const { agents, problems } = await options.agents();
    const name = agent ?? GENERAL_AGENT;
    if (settings.disabledAgents.includes(name)) {
      throw new Error(`The agent "${name}" is switched off (setting task.disabledAgents)`);
    }
    const found = agents.get(name);
    if (!found) throw new Error(unknownAgent(name, await offered(), problems));
    return found;
  };

  const toolNamesFor = (agent: AgentDefinition, caller: Caller): string[] => {
    const { names, refused } = toolsOf(agent, {
      own: caller.toolNames(),
      mayHave: caller.mayHave,
      mayDelegate: mayDelegate(caller.depth + 1),
    });
    if (refused.length > 0) {
      warn(`Agent "${agent.name}" does without these tools, which are not there or not allowed: ${refused.join(", ")}`);
    }
    return names;
  };

  const fileOf = (id: string): { path: string; isFree: boolean } | undefined => {
    const folder = options.sessionFolder();
    if (folder === undefined) return undefined;
    const path = join(folder, `${id}.jsonl`);
    return { path, isFree: !existsSync(path) };
  };

  const delegateOf = (caller: Caller): CallerDelegate => {
    const running = new Set<Promise<unknown>>();

    const runOne = async (record: SubAgentRecord, child: ChildRun, signal: AbortSignal): Promise<TaskReport> => {
      const release = await placesAt(caller.depth).take(signal);
      if (!release) {
        record.end({ status: "aborted", error: ABORTED });
        return { about: record.about };
      }
      // It may have waited while others have spent what there was.
      const reached = child.budget?.limit();
      const { text, usage, ...how }: ChildOutcome =
        reached === undefined ? await started(child, options.child) : { status: "failed", error: stopped(reached) };
      release();
      if (usage) caller.paid(usage, child.model);
      record.end(how);
      return { about: record.about, text };
    };

    return {
      settled: () => (running.size === 0 ? undefined : Promise.allSettled(running)),
      async describe() {
        const lines = (await offered()).map(({ name, description }) => `- ${name}: ${firstLine(description)}`);
        const eager = settings.eager ? "Prefer to hand out whatever can be handed out.\n" : "";
        return `${eager}Agents:\n${lines.join("\n")}`;
      },
      async run(request, { toolCallId, signal, onProgress }) {
        if (!mayDelegate(caller.depth)) {
          const limit = settings.maxRecursionDepth;
          throw new Error(`No sub-agents may be started here: task.maxRecursionDepth is ${limit}`);
        }
        const agent = await definitionOf(request);
        const { model, thinkingLevel } = await modelFor(agent, caller, {
          ...models,
          overrides: settings.agentModelOverrides,
          warn,
        });
        // Whoever waited may be gone: nothing is begun for nobody.
        if (signal.aborted) throw new Error(ABORTED);
        const toolNames = toolNamesFor(agent, caller);
        const budget = caller.budget();
        const records: SubAgentRecord[] = [];
        const tellAll = (): void => onProgress(records.map(({ about }): Subagent => about));
        const shared = {
          agent: agent.name,
          agentSource: agent.source,
          parentToolCallId: toolCallId,
          parentId: caller.id,
        };
        for (const [index, { id, description, assignment }] of request.tasks.entries()) {
          const texts = { description, task: inShort(wholeTask(request, index)), assignment: inShort(assignment) };
          records.push(known.add({ wantedId: id, index, ...shared, ...texts, fileOf, onChange: tellAll }));
        }
        tellAll();
        const work = records.map((record, index) => {
          const child: ChildRun = {
            record,
            task: wholeTask(request, index),
            agent,
            model,
            thinkingLevel,
            toolNames,
            // Who was given certain tools cannot hand out others.
            mayHave: (name) => toolNames.includes(name) || (!agent.tools && caller.mayHave(name)),
            budget,
            signal,
            parentSession: caller.sessionFile(),
            delegate: (part) => delegateOf({ ...part, depth: caller.depth + 1, id: record.id }),
          };
          return runOne(record, child, signal);
        });
        for (const one of work) {
          running.add(one);
          void one.finally(() => running.delete(one)).catch(() => undefined);
        }
        return Promise.all(work);
      },
    };
  };

  return { ...known, main: delegateOf(options.main) };
}

/** A file that could not be used may be the one that was meant. */
function unknownAgent(name: string, agents: readonly AgentDefinition[], problems: readonly string[]): string {
  const names = agents.map((agent) => agent.name);
  const [near] = nearNames(name, names);
  const meant = near === undefined ? "" : ` Did you mean "${near}"?`;
  const broken = problems.filter((problem) => problem.includes(`${sep}${name}.md:`) || problem.includes(`"${name}"`));
  const why = broken.length === 0 ? "" : `\n${broken.join("\n")}`;
  return `There is no agent "${name}"; there are: ${names.join(", ") || "none"}.${meant}${why}`;
}

/** Nobody who waits for it may wait for ever: what goes wrong is a way to end, too. */
async function started(child: ChildRun, ports: ChildPorts): Promise<ChildOutcome> {
  try {
    const { runChild } = await import("./child-run.ts");
    return await runChild(child, ports);
  } catch (error) {
    return { status: "failed", error: error instanceof Error ? error.message : String(error) };
  }
}

function wholeTask({ context, tasks }: TaskRequest, index: number): string {
  const { assignment } = tasks[index]!;
  return context?.trim() ? `${context.trim()}\n\n${assignment}` : assignment;
}

const ABORTED = "Request was aborted";

function stopped(reached: string): string {
  return `Nothing was started: ${reached}`;
}

const LONGEST_SHOWN = 10_000;

/** For lists: many sub-agents with a long task each must not fill the memory. Their files have all of it. */
function inShort(text: string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN).toWellFormed()}...`;
}

const LONGEST_DESCRIPTION = 500;

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]!.slice(0, LONGEST_DESCRIPTION).toWellFormed();
}
