/** Providers refuse a whole request for one wrong word in the schema of a tool: what is wrong with it, as far as that can be told cheaply. */

const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/** What is far deeper cannot be written as JSON. */
const MOST_LEVELS = 200;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}

/** Why this is no JSON Schema of an object, in one sentence. It must be plain data. */
export function objectSchemaProblem(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (isDeeper(schema, MOST_LEVELS)) return `it is more than ${MOST_LEVELS} levels deep`;
  if (schema.type !== undefined && schema.type !== "object") return `"type" is ${JSON.stringify(schema.type)}`;
  return partProblem(schema, "");
}

function partProblem(schema: unknown, at: string): string | undefined {
  if (schema === true || schema === false) return undefined;
  if (!isRecord(schema)) return `${at || "it"} is no object`;
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  const unknown = types.find((type) => typeof type !== "string" || !TYPES.has(type));
  if (unknown !== undefined) return `${at || "it"} has the type ${JSON.stringify(unknown)}`;
  if (schema.required !== undefined && !Array.isArray(schema.required)) return `${at}.required is no list`;
  const { properties } = schema;
  if (properties !== undefined && !isRecord(properties)) return `${at}.properties is no object`;
  for (const [name, part] of Object.entries(properties ?? {})) {
    const wrong = partProblem(part, at ? `${at}.${name}` : name);
    if (wrong) return wrong;
  }
  return isRecord(schema.items) ? partProblem(schema.items, `${at}[]`) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
