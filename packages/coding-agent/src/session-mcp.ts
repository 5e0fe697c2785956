import { delimiter } from "node:path";
import {
  PACKAGE_KEY_VARIABLES,
  secretsOfAuthFile,
  secretsOfModelsFile,
  variablesOf,
} from "@tiller/ai/configured-secrets";
import type { ParsedFile } from "@tiller/ai/parsed-file";
import { PROVIDERS } from "@tiller/ai/providers/index";
import { readJsonFile } from "./config/json-file.ts";
import type { McpFile } from "./config/mcp-files.ts";
import { readModelsFiles } from "./config/models-file.ts";
import type { Env } from "./config/paths.ts";
import { TOKEN_VARIABLE } from "./exec/end-processes.ts";
import type { RegisteredServer } from "./extensions/actions.ts";
import type { Ground } from "./ground.ts";
import { searchPath } from "./lib/search-path.ts";
import { type ConfigGround, readServer, readServers, type ServerConfig } from "./mcp/config.ts";
import { createServers, type McpServers } from "./mcp/servers.ts";
import { createSecretCommands } from "./secret-command.ts";
import type { SessionHooks } from "./session/ports.ts";
import type { Toolbox } from "./toolbox.ts";

declare const __TILLER_VERSION__: string;

/** The MCP servers joined to a session: which there are, what they get of us, who hears of them. */
export interface SessionMcp {
  readonly servers: McpServers;
  /** Which servers there are is looked at again: extensions may have registered others. */
  update(): void;
}

export interface SessionMcpParts {
  files: readonly McpFile[];
  registered: ReadonlyMap<string, RegisteredServer>;
  /** See `keyVariables`. */
  keyVariables: ReadonlySet<string>;
  hooks: SessionHooks | undefined;
  toolbox(): Toolbox;
  onProblem(problem: string): void;
}

export function createSessionMcp(ground: Ground, parts: SessionMcpParts): SessionMcp {
  const { env, clock, cwd, agentDir, recording } = ground;
  const { registered, hooks, onProblem } = parts;
  const servers = createServers({
    clock,
    env() {
      const ofExtensions = ground.extensions?.models.providers.keyVariables ?? [];
      return environmentFor(env, new Set([...parts.keyVariables, ...ofExtensions]), ground.guestMark);
    },
    fullEnv: env,
    runCommand: createSecretCommands({ cwd: agentDir, env, clock }),
    clientVersion: __TILLER_VERSION__,
    isTaken: (name) => parts.toolbox().hasBuiltIn(name) || parts.toolbox().other(name) !== undefined,
    onAdded: (name) => parts.toolbox().active.add(name),
    onProblem,
    onChange(states) {
      if (hooks?.listens("mcp_servers_change")) void hooks.run("mcp_servers_change", { servers: states });
    },
  });
  const written = recording ? undefined : configured(ground, parts);
  if (!written) onProblem(UNRECORDED);
  const fromExtension = ({ extensionPath, name, config }: RegisteredServer): ServerConfig[] => {
    const problem = (path: readonly (string | number)[], what: string): undefined => {
      const why = [path.join("."), what].join(" ").trim();
      onProblem(`${extensionPath} registers the MCP server ${JSON.stringify(name)}, which is left out: ${why}`);
      return undefined;
    };
    return [readServer({ name, from: extensionPath, scope: "extension" }, config, { cwd, env, problem }) ?? []].flat();
  };
  const update = (): void => {
    if (!written) return;
    const all = [...written, ...[...registered.values()].flatMap(fromExtension)];
    servers.set([...new Map(all.map((server) => [server.name, server])).values()]);
  };
  update();
  return { servers, update };
}

/** What they do is not written down, and a replay could not do without it. */
const UNRECORDED =
  "MCP servers are not started while a session is recorded or played back; --no-mcp says so beforehand";

function configured(ground: Ground, { files, onProblem }: SessionMcpParts): ServerConfig[] {
  const isTrusted = ground.extensions?.isTrusted ?? ground.run.projectTrust === "code";
  const untrusted = files.filter(({ scope }) => scope === "project" && !isTrusted).map(({ path }) => path);
  if (untrusted.length > 0) {
    const why = "because nobody has said that it is trusted";
    onProblem(
      `MCP servers of this project were not started, ${why}: ${untrusted.join(", ")}. Start with --approve to start them.`,
    );
  }
  const { cwd, env, agentDir } = ground;
  const trusted = files.filter(({ path }) => !untrusted.includes(path));
  // `npx` and its like take programs out of the folder that they are started in: not out of one that nobody trusts.
  const { servers, problems } = readMcpFiles(trusted, { cwd, env, startFolder: isTrusted ? cwd : agentDir });
  for (const problem of problems) onProblem(problem);
  return servers;
}

/** What stands in the files, and what is wrong with them. */
export function readMcpFiles(
  files: readonly McpFile[],
  ground: ConfigGround,
): { servers: ServerConfig[]; problems: string[] } {
  const all = files.map(({ path, scope }) => {
    const { object, locate, problem } = readJsonFile(path);
    if (!object) return { servers: [], problems: problem === undefined ? [] : [problem] };
    const file: ParsedFile = { name: path, value: object, locate };
    return readServers(file, scope, ground);
  });
  return { servers: all.flatMap(({ servers }) => servers), problems: all.flatMap(({ problems }) => problems) };
}

/** The variables that hold keys of providers: those that we know of, those that packages read, those the user's files name. */
export async function keyVariables(agentDir: string): Promise<Set<string>> {
  const { auth, models } = await readModelsFiles(agentDir);
  const named = variablesOf([...secretsOfAuthFile(auth?.value), ...secretsOfModelsFile(models?.value)]);
  return new Set([...PROVIDERS.flatMap((row) => row.keyVariables), ...PACKAGE_KEY_VARIABLES, ...named]);
}

/**
 * Keys of providers are no business of servers: one that needs a key is given it by name in its `env`. Programs are looked
 * for in absolute folders only: a relative one is the project's.
 */
function environmentFor(env: Env, keys: ReadonlySet<string>, guestMark: string | undefined): Env {
  const others = Object.entries(env).filter(([name]) => !keys.has(name));
  // What carries the mark of a session ends with it; a server may be of use to the next one.
  const token = env[TOKEN_VARIABLE]?.replace(guestMark ?? "", "");
  return {
    ...Object.fromEntries(others),
    ...(env.PATH !== undefined && { PATH: searchPath(env.PATH).join(delimiter) }),
    ...(token !== undefined && { [TOKEN_VARIABLE]: token }),
  };
}
