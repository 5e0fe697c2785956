import type { AgentTool, ToolInvocation } from "@tiller/agent/types";
import { plainName } from "@tiller/ai/plain-names";
import type { HostToolDefinition } from "@tiller/protocol/host-tools";
import type { ToolResult } from "@tiller/protocol/tool";
import { wrongField } from "../lib/wrong-field.ts";

/** Tools that the host lends the agent: what is registered, as tools like any other. */
export interface HostTools {
  /** All at once: either these are the tools of the host from now on, or everything stays as it was. */
  set(given: readonly unknown[], run: RunHostTool): { toolNames: string[] } | { refused: string };
  /** In their order. */
  names(): readonly string[];
  /** Those that are offered without being asked for, in their order. */
  visible(): readonly string[];
  tool(name: string): AgentTool | undefined;
}

/** Asks the host; rejects with what the model shall read when it comes to nothing. */
export type RunHostTool = (call: ToolInvocation & { toolName: string; timeoutMs?: number }) => Promise<ToolResult>;

type Definition = Required<Pick<HostToolDefinition, "name" | "description" | "parameters">> & {
  label: string;
  hidden: boolean;
  timeoutMs?: number;
};

export interface HostToolsOptions {
  /** There is another tool of this name: built in, or an extension's. */
  isTaken(name: string): boolean;
  /** Tools that were not there before are offered from now on. */
  onAdded(names: readonly string[]): void;
}

export function createHostTools({ isTaken, onAdded }: HostToolsOptions): HostTools {
  let tools = new Map<string, { tool: AgentTool; hidden: boolean }>();
  return {
    set(given, run) {
      const definitions = readDefinitions(given, isTaken);
      if ("refused" in definitions) return definitions;
      const before = tools;
      tools = new Map(definitions.map((one) => [one.name, { tool: hostTool(one, run), hidden: one.hidden }]));
      onAdded(definitions.filter(({ name, hidden }) => !hidden && !before.has(name)).map(({ name }) => name));
      return { toolNames: definitions.map(({ name }) => name) };
    },
    names: () => [...tools.keys()],
    visible: () => [...tools].filter(([, { hidden }]) => !hidden).map(([name]) => name),
    tool: (name) => tools.get(name)?.tool,
  };
}

function hostTool({ name, label, description, parameters, timeoutMs }: Definition, run: RunHostTool): AgentTool {
  return {
    name,
    label,
    description,
    parameters,
    concurrency: "shared",
    execute: (call) => run({ ...call, toolName: name, timeoutMs }),
  };
}

/** In their normal form; or what is wrong with the first that cannot be used. Pure. */
export function readDefinitions(
  given: readonly unknown[],
  isTaken: (name: string) => boolean,
): Definition[] | { refused: string } {
  const definitions: Definition[] = [];
  for (const [index, one] of given.entries()) {
    const definition = readDefinition(one, index);
    if ("refused" in definition) return definition;
    definitions.push(definition);
  }
  if (new Set(definitions.map(({ name }) => name)).size < definitions.length) {
    return { refused: "RPC host tool names must be unique" };
  }
  const taken = definitions.find(({ name }) => isTaken(name));
  if (taken) return { refused: `RPC host tool "${taken.name}" conflicts with an existing tool` };
  const refused = plainNameProblem(definitions, isTaken);
  return refused === undefined ? definitions : { refused };
}

/** Providers are told plain names (see `withPlainNames`): with those, too, each tool must be the only one. */
function plainNameProblem(definitions: readonly Definition[], isTaken: (name: string) => boolean): string | undefined {
  const owners = new Map(definitions.map(({ name }) => [name, name]));
  for (const { name } of definitions) {
    const plain = plainName(name);
    const owner = owners.get(plain) ?? (isTaken(plain) ? plain : name);
    if (owner !== name) {
      return `Host tool "${name}" is "${plain}" for models, as is the tool "${owner}": use a name of letters, digits, "_" and "-", at most 64 of them`;
    }
    owners.set(plain, name);
  }
  return undefined;
}

const OPTIONAL = { label: "text", hidden: "yesOrNo", timeoutMs: "milliseconds" } as const;

function readDefinition(given: unknown, index: number): Definition | { refused: string } {
  const fields = isRecord(given) ? given : {};
  const name = trimmed(fields.name);
  if (name === "") return { refused: `Host tool at index ${index} must provide a non-empty name` };
  const description = trimmed(fields.description);
  if (description === "") return { refused: `Host tool "${name}" must provide a non-empty description` };
  const { parameters, timeoutMs } = fields;
  if (!isRecord(parameters)) return { refused: `Host tool "${name}" must provide a JSON Schema object` };
  // What is wrong further inside shows when the tool is called; this one word makes providers refuse every request.
  if (parameters.type !== undefined && parameters.type !== "object") {
    const type = JSON.stringify(parameters.type);
    return { refused: `"parameters" of host tool "${name}" must have the type "object", or none, got ${type}` };
  }
  const wrong = wrongField(fields, OPTIONAL, `host tool "${name}"`);
  if (wrong !== undefined) return { refused: wrong };
  return {
    name,
    label: trimmed(fields.label) || name,
    description,
    parameters,
    hidden: fields.hidden === true,
    ...(typeof timeoutMs === "number" && { timeoutMs }),
  };
}

function trimmed(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
