import type { AgentTool } from "@tiller/agent/types";
import type { Clock } from "@tiller/protocol/clock";
import { sleep } from "../lib/clock.ts";
import type { McpServerState } from "../session/ports.ts";
import type { ServerConfig } from "./config.ts";
import { createServer, type McpServer, type ServerSurroundings } from "./server.ts";
import { callResult, plain, type ServerTool, toolName } from "./tools.ts";

/** All servers of this process, and their tools. */
export interface McpServers {
  /** From now on these: those that are there already stay as they are. */
  set(configs: readonly ServerConfig[]): void;
  /** Starts those that do not run, and waits for them, but not for ever. Never rejects. */
  ready(signal: AbortSignal): Promise<void>;
  list(): McpServerState[];
  /** In their order. */
  names(): readonly string[];
  tool(name: string): AgentTool | undefined;
  close(): void;
}

export interface McpServersOptions extends Omit<ServerSurroundings, "onChange" | "onProblem"> {
  clock: Clock;
  /** Another tool has this name. */
  isTaken(name: string): boolean;
  /** A tool that was not there before. */
  onAdded(name: string): void;
  onChange(servers: McpServerState[]): void;
  onProblem(problem: string): void;
}

/** How long a prompt waits for servers that are still starting. */
const PATIENCE_MS = 10_000;
/** Between two words of progress. */
const PROGRESS_MS = 50;

interface NamedTool {
  agentTool: AgentTool;
  of: ServerTool;
}

export function createServers(options: McpServersOptions): McpServers {
  const { clock, isTaken, onAdded, onChange, onProblem } = options;
  let servers: McpServer[] = [];
  let tools = new Map<string, NamedTool>();
  /** By server and tool: a tool keeps its name for as long as the process lives. */
  const given = new Map<string, string>();
  const used = new Set<string>();
  /** What servers are called in the names of their tools; by their order, so that it does not matter which of them starts first. */
  const labels = new Map<string, string>();
  const told = new Set<string>();
  /** Those that a prompt has waited for in vain. */
  const tooSlow = new Set<McpServer>();
  let lastTold = "[]";

  const labelOf = ({ name }: ServerConfig): string => {
    const known = labels.get(name);
    if (known !== undefined) return known;
    const others = new Set(labels.values());
    let label = plain(name);
    for (let number = 2; others.has(label); number++) label = `${plain(name)}_${number}`;
    labels.set(name, label);
    return label;
  };
  const nameOf = (server: McpServer, tool: ServerTool): string => {
    const key = JSON.stringify([server.config.name, tool.name]);
    const known = given.get(key);
    if (known !== undefined) return known;
    const name = toolName(labelOf(server.config), tool.name, (one) => used.has(one) || isTaken(one));
    given.set(key, name);
    used.add(name);
    return name;
  };
  const stateOf = (server: McpServer): McpServerState => ({
    name: server.config.name,
    status: server.status,
    tools: server.tools.map((tool) => nameOf(server, tool)),
    ...(server.error !== undefined && { error: server.error }),
  });
  const list = (): McpServerState[] => servers.map(stateOf);
  const renew = (): void => {
    const before = tools;
    tools = new Map();
    for (const server of servers) {
      for (const of of server.tools) {
        const name = nameOf(server, of);
        const old = before.get(name);
        tools.set(name, old?.of === of ? old : { of, agentTool: agentTool(name, server, of, clock) });
      }
    }
    for (const name of tools.keys()) if (!before.has(name)) onAdded(name);
    const now = JSON.stringify(list());
    if (now === lastTold) return;
    lastTold = now;
    onChange(list());
  };
  const problemOf = (name: string) => (problem: string) => {
    const text = `MCP server ${JSON.stringify(name)}: ${problem}`;
    if (told.has(text)) return;
    told.add(text);
    onProblem(text);
  };
  const make = (config: ServerConfig): McpServer =>
    createServer(config, { ...options, onChange: renew, onProblem: problemOf(config.name) });

  return {
    set(configs) {
      const kept = configs.map((config) => {
        const same = servers.find((server) => JSON.stringify(server.config) === JSON.stringify(config));
        return same ?? make(config);
      });
      for (const server of servers) if (!kept.includes(server)) server.close();
      servers = kept;
      configs.forEach(labelOf);
      renew();
    },
    async ready(signal) {
      // One that nobody waited for any longer may have come by now, or be gone.
      for (const server of tooSlow) if (server.status !== "connecting") tooSlow.delete(server);
      const wanted = servers.filter((server) => !tooSlow.has(server));
      const over = new AbortController();
      const patience = sleep(clock, PATIENCE_MS, AbortSignal.any([signal, over.signal]));
      const all = Promise.all(wanted.map((server) => server.ready())).then(() => false);
      const isLate = await Promise.race([all, patience.then(() => !signal.aborted)]);
      over.abort();
      if (!isLate) return;
      for (const server of wanted.filter(({ status }) => status === "connecting")) {
        tooSlow.add(server);
        const problem = `has not started within ${PATIENCE_MS / 1000} s: the prompt goes on without its tools, which come when it has`;
        problemOf(server.config.name)(problem);
      }
    },
    list,
    names: () => [...tools.keys()],
    tool: (name) => tools.get(name)?.agentTool,
    close() {
      for (const server of servers) server.close();
    },
  };
}

function agentTool(
  name: string,
  server: McpServer,
  { name: own, title, description, parameters, isReader }: ServerTool,
  clock: Clock,
): AgentTool {
  return {
    name,
    label: title ?? own,
    description,
    parameters,
    concurrency: isReader ? "shared" : "exclusive",
    source: `mcp:${server.config.name}`,
    async execute({ args, signal, onUpdate }) {
      const onProgress = paced(clock, (text) => onUpdate({ content: [{ type: "text", text }] }));
      try {
        return callResult(await server.call(own, args, { signal, onProgress }));
      } catch (error) {
        throw new Error(
          `MCP server ${JSON.stringify(server.config.name)}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
  };
}

/** The first at once, then the newest some times a second: servers may tell of every step. */
function paced(clock: Clock, tell: (text: string) => void): (text: string) => void {
  let newest: string | undefined;
  let isPausing = false;
  const next = (): void => {
    isPausing = newest !== undefined;
    if (newest === undefined) return;
    tell(newest);
    newest = undefined;
    clock.after(PROGRESS_MS, next);
  };
  return (text) => {
    newest = text;
    if (!isPausing) next();
  };
}
