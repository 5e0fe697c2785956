import { mcpFiles } from "./config/mcp-files.ts";
import type { RegisteredServer } from "./extensions/actions.ts";
import type { Ground } from "./ground.ts";
import { late } from "./lib/late.ts";
import type { McpServerState } from "./session/ports.ts";
import type { SessionMcp, SessionMcpParts } from "./session-mcp.ts";
import type { OtherTools } from "./toolbox.ts";

/** The MCP servers. Nothing of them is loaded unless a file or an extension names one. */
export interface LateMcp {
  tools: OtherTools;
  /** There are some, or there may be. */
  readonly isWanted: boolean;
  /** Reads the files and starts what they name; waits for it, but not for ever. Undefined when there is nothing. */
  ready(signal?: AbortSignal): undefined | Promise<void>;
  renew(servers: readonly RegisteredServer[]): void;
  register(server: RegisteredServer): void;
  unregister(name: string): void;
  list(): McpServerState[];
  close(): void;
}

export function lateMcp(
  ground: Ground,
  parts: Omit<SessionMcpParts, "files" | "registered" | "keyVariables">,
): LateMcp {
  const { agentDir, cwd, run } = ground;
  const files = run.options.noMcp ? [] : mcpFiles({ agentDir, cwd, projectTrust: run.projectTrust });
  const registered = new Map<string, RegisteredServer>();
  const loaded = late(async (): Promise<SessionMcp> => {
    const { createSessionMcp, keyVariables } = await import("./session-mcp.ts");
    return createSessionMcp(ground, { ...parts, files, registered, keyVariables: await keyVariables(agentDir) });
  });
  const never = new AbortController().signal;
  let hasBegun = false;
  let isClosed = false;
  const isWanted = (): boolean => !run.options.noMcp && (files.length > 0 || registered.size > 0);
  const start = async (signal: AbortSignal, isChanged = false): Promise<void> => {
    hasBegun = true;
    const { servers, update } = await loaded.load();
    if (isClosed) return;
    if (isChanged) update();
    await servers.ready(signal);
  };
  /** What is registered later is started at once: whoever registers it wants to use it. */
  const changed = (): void => {
    if (isWanted() ? hasBegun : loaded.made) void start(never, true);
  };
  return {
    tools: {
      names: () => loaded.made?.servers.names() ?? [],
      tool: (name) => loaded.made?.servers.tool(name),
    },
    get isWanted() {
      return isWanted();
    },
    ready: (signal = never) => (isWanted() ? start(signal) : undefined),
    renew(servers) {
      if (registered.size === 0 && servers.length === 0) return;
      registered.clear();
      for (const server of servers) registered.set(server.name, server);
      changed();
    },
    register(server) {
      registered.set(server.name, server);
      changed();
    },
    unregister(name) {
      if (registered.delete(name)) changed();
    },
    list: () => loaded.made?.servers.list() ?? [],
    close() {
      isClosed = true;
      loaded.made?.servers.close();
    },
  };
}
