import type { ToolResult } from "@tiller/protocol/tool";
import type { BashOperations } from "../session/ports.ts";
import { createTools } from "../tools/create-tools.ts";
import { type BuiltinToolName, TOOL_PRESETS, TOOL_ROWS } from "../tools/index.ts";
import { TOOL_SPECS } from "../tools/specs.ts";
import { createLocalBashOperations, runOverOperations } from "./bash-operations.ts";
import {
  type EditOperations,
  editOver,
  type FindOperations,
  findOver,
  type LsOperations,
  lsOver,
  type Over,
  type ReadOperations,
  readOver,
  type WriteOperations,
  writeOver,
} from "./file-operations.ts";
import type { CompatHost } from "./host.ts";

/** The built-in tools in the form in which extensions take, change and register them. */

export interface ExtensionTool {
  name: string;
  label: string;
  description: string;
  parameters: object;
  executionMode: "sequential" | "parallel";
  execute(
    toolCallId: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    onUpdate?: (partial: ToolResult) => void,
    ctx?: unknown,
  ): Promise<ToolResult>;
}

interface BashCall {
  command: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export interface ToolOptions {
  /** Of the kind that the tool needs; each has its own. */
  operations?: object;
  /** bash: put before every command. */
  commandPrefix?: string;
  /** bash: a last word on what is run, where, and with which environment. */
  spawnHook?(call: BashCall): BashCall | Promise<BashCall>;
  /** bash. */
  shellPath?: string;
}

type Run = (
  args: never,
  signal: AbortSignal,
  onUpdate: (partial: ToolResult) => void,
  toolCallId: string,
) => Promise<ToolResult>;

/** Files in other places; `never` as each takes its own arguments, which were checked against its parameters. */
const OVER: Partial<Record<BuiltinToolName, (operations: never, context: PlaceContext) => Over<never>>> = {
  read: (operations: ReadOperations, context) => readOver(operations, context),
  write: (operations: WriteOperations, context) => writeOver(operations, context),
  edit: (operations: EditOperations, context) => editOver(operations, context),
  ls: (operations: LsOperations, context) => lsOver(operations, context),
  find: (operations: FindOperations, context) => findOver(operations, context),
  // grep: what it could be given is how to read context lines; the search itself is always local.
};

type PlaceContext = Pick<CompatHost, "cwd" | "env" | "clock" | "shell">;

export function createExtensionTool(
  host: PlaceContext,
  name: BuiltinToolName,
  cwd: string = host.cwd,
  options: ToolOptions = {},
): ExtensionTool {
  const context: PlaceContext = { ...host, cwd };
  const over = options.operations && OVER[name]?.(options.operations as never, context);
  const run: Run = name === "bash" ? bashRun(context, options) : (over ?? builtInRun(context, name));
  return {
    name,
    ...TOOL_SPECS[name],
    executionMode: TOOL_ROWS.get(name)?.concurrency === "exclusive" ? "sequential" : "parallel",
    execute: (toolCallId, params, signal = new AbortController().signal, onUpdate = () => undefined) =>
      run(params as never, signal, onUpdate, toolCallId),
  };
}

function builtInRun({ cwd, env, clock, shell }: PlaceContext, name: BuiltinToolName): Run {
  const [tool] = createTools({ names: [name], cwd, env, clock, shell });
  return (args, signal, onUpdate, toolCallId) => tool!.execute({ toolCallId, args, signal, onUpdate });
}

function bashRun(context: PlaceContext, options: ToolOptions): Run {
  const { commandPrefix, spawnHook, shellPath } = options;
  const operations = options.operations as BashOperations | undefined;
  const shell = { ...context.shell, ...(shellPath && { path: shellPath }) };
  return async (args: { command: string; timeout?: number }, signal, onUpdate, toolCallId) => {
    const command = commandPrefix ? `${commandPrefix}\n${args.command}` : args.command;
    const plain: BashCall = { command, cwd: context.cwd, env: { ...context.env } };
    const call = spawnHook ? await spawnHook(plain) : plain;
    if (operations) {
      return runOverOperations(operations, { ...call, timeout: args.timeout, signal, onUpdate }, context.clock);
    }
    const place = { ...context, cwd: call.cwd, env: call.env, shell };
    return builtInRun(place, "bash")({ ...args, command: call.command } as never, signal, onUpdate, toolCallId);
  };
}

/** Those that need something of a session, and those that do not. */
const OF_A_SESSION: readonly BuiltinToolName[] = ["todo", "task", "poll", "cancel_job"];
const ON_FILES = TOOL_PRESETS.all.filter((name) => !OF_A_SESSION.includes(name));

/** Every way to name the tools: `createReadTool(cwd, options)`, `createCodingTools(cwd)`, `readTool`, `codingTools` ... */
export function toolFactoryNames(host: PlaceContext): Record<string, unknown> {
  const names: Record<string, unknown> = {
    createLocalBashOperations: (options?: { shellPath?: string }) => createLocalBashOperations(host, options),
    codingTools: TOOL_PRESETS.coding.map((name) => createExtensionTool(host, name)),
    readOnlyTools: TOOL_PRESETS["read-only"].map((name) => createExtensionTool(host, name)),
    createCodingTools: (cwd?: string, options: Record<string, ToolOptions> = {}) =>
      TOOL_PRESETS.coding.map((name) => createExtensionTool(host, name, cwd, options[name])),
    createReadOnlyTools: (cwd?: string, options: Record<string, ToolOptions> = {}) =>
      TOOL_PRESETS["read-only"].map((name) => createExtensionTool(host, name, cwd, options[name])),
    createAllTools: (cwd?: string, options: Record<string, ToolOptions> = {}) =>
      Object.fromEntries(ON_FILES.map((name) => [name, createExtensionTool(host, name, cwd, options[name])])),
  };
  for (const name of ON_FILES) {
    const create = (cwd?: string, options?: ToolOptions) => createExtensionTool(host, name, cwd, options);
    const title = name.charAt(0).toUpperCase() + name.slice(1);
    names[`create${title}Tool`] = create;
    names[`create${title}ToolDefinition`] = create;
    names[`${name}Tool`] = create();
  }
  return names;
}
