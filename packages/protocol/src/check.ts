import { type TSchema, Type } from "typebox";
import { COMMANDS, type CommandType } from "./commands/index.ts";
import { EVENT_ENVELOPE, EVENTS, type EventType } from "./events.ts";
import { FRAMES, type FrameType } from "./frames.ts";

/**
 * Explains in one sentence why a frame does not fit its row. It loads the schema library, so it is only ever
 * `import()`ed: when the compiled check has already said no, and in tests.
 */

interface Problem {
  /** `images[0].mimeType`; empty for the value itself. */
  path: string;
  expected: string;
  value: unknown;
}

interface SchemaNode {
  type?: string;
  const?: unknown;
  anyOf?: SchemaNode[];
  properties?: Record<string, SchemaNode>;
  required?: string[];
  items?: SchemaNode;
  minimum?: number;
  description?: string;
}

/** Why the fields of a command are refused. Asked only after the compiled check refused them. */
export function explainCommand(type: CommandType, value: Record<string, unknown>): string {
  return explain(type, Type.Object(COMMANDS[type].params), value) ?? `${type}: the fields do not fit`;
}

/** Why an event frame, envelope included, is wrong; undefined when it is right. */
export function explainEvent(type: EventType, value: unknown): string | undefined {
  return explain(type, eventSchema(type), value);
}

/** The same for the frames that are neither command nor event. */
export function explainFrame(type: FrameType, value: unknown): string | undefined {
  return explain(type, FRAMES[type].schema, value);
}

/** Why the `data` of a success is wrong; undefined when it is right. */
export function explainResult(type: CommandType, data: unknown): string | undefined {
  const schema: TSchema | undefined = COMMANDS[type].result;
  if (schema !== undefined) return explain(`${type} data`, schema, data);
  return data === undefined ? undefined : `${type} data: must be absent, got ${describe(data)}`;
}

export function eventSchema(type: EventType): TSchema {
  return Type.Object({ type: Type.Literal(type), ...EVENT_ENVELOPE, ...EVENTS[type].fields });
}

function explain(label: string, schema: TSchema, value: unknown): string | undefined {
  const problem = findProblem(schema as SchemaNode, value, "");
  if (problem === undefined) return undefined;
  const name = problem.path === "" ? "" : `"${problem.path}" `;
  if (problem.value === undefined) return `${label}: ${name}is missing, it must be ${problem.expected}`;
  return `${label}: ${name}must be ${problem.expected}, got ${describe(problem.value)}`;
}

function findProblem(node: SchemaNode, value: unknown, path: string): Problem | undefined {
  if (node.anyOf) return findUnionProblem(node.anyOf, value, path);
  if (!fitsKind(node, value)) return { path, expected: expectation(node), value };
  if (node.items && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = findProblem(node.items, item, `${path}[${index}]`);
      if (problem) return problem;
    }
  }
  return node.properties ? findFieldProblem(node, value as Record<string, unknown>, path) : undefined;
}

function findFieldProblem(node: SchemaNode, value: Record<string, unknown>, path: string): Problem | undefined {
  const required = new Set(node.required ?? []);
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    const fieldPath = path === "" ? name : `${path}.${name}`;
    if (value[name] === undefined) {
      if (required.has(name)) return { path: fieldPath, expected: expectation(field), value: undefined };
      continue;
    }
    const problem = findProblem(field, value[name], fieldPath);
    if (problem) return problem;
  }
  return undefined;
}

/** When one form was clearly meant (a list, or its constant fields fit), its own problem says more than the list of forms. */
function findUnionProblem(options: SchemaNode[], value: unknown, path: string): Problem | undefined {
  const problems = options.map((option) => findProblem(option, value, path));
  if (problems.includes(undefined)) return undefined;
  const meant = options.findIndex((option) => isMeant(option, value));
  if (meant >= 0) return problems[meant];
  return { path, expected: listed(options.map(expectation)), value };
}

function isMeant(option: SchemaNode, value: unknown): boolean {
  if (Array.isArray(value)) return option.items !== undefined;
  if (typeof value !== "object" || value === null || !option.properties) return false;
  const constants = Object.entries(option.properties).filter(([, field]) => "const" in field);
  const fields = value as Record<string, unknown>;
  return constants.length > 0 && constants.every(([name, field]) => fields[name] === field.const);
}

function fitsKind(node: SchemaNode, value: unknown): boolean {
  if ("const" in node) return value === node.const;
  const isNumber = (test: boolean) => test && (node.minimum === undefined || Number(value) >= node.minimum);
  switch (node.type) {
    case undefined:
      return true;
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "number":
      return isNumber(Number.isFinite(value));
    case "integer":
      return isNumber(Number.isInteger(value));
    default:
      return typeof value === node.type;
  }
}

function expectation(node: SchemaNode): string {
  if (node.anyOf) return listed(node.anyOf.map(expectation));
  if ("const" in node) return JSON.stringify(node.const);
  // Anything fits: what is meant is only said in words.
  if (node.type === undefined) return node.description?.replaceAll("`", '"') ?? "present";
  if (node.type === "null") return "null";
  const limit = node.minimum === undefined ? "" : ` of at least ${node.minimum}`;
  return `${/^[aio]/.test(node.type) ? "an" : "a"} ${node.type}${limit}`;
}

function listed(expectations: string[]): string {
  const all = [...new Set(expectations)];
  return all.length < 2 ? (all[0] ?? "nothing") : `${all.slice(0, -1).join(", ")} or ${all.at(-1)}`;
}

const LONGEST_QUOTE = 60;

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  const text = JSON.stringify(value) ?? String(value);
  const quote = text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}...` : text;
  return `a ${typeof value} (${quote})`;
}
