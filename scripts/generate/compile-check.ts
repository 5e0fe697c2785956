/**
 * Turns the JSON Schema of a command's fields into a plain TypeScript expression. It knows exactly the keywords our
 * tables use and refuses every other one, so that a row can never carry a rule that is not checked.
 */

export interface JsonSchemaNode {
  type?: string;
  const?: unknown;
  anyOf?: JsonSchemaNode[];
  properties?: Record<string, JsonSchemaNode>;
  required?: string[];
  items?: JsonSchemaNode;
  patternProperties?: Record<string, JsonSchemaNode>;
  minimum?: number;
  description?: string;
}

const KNOWN = new Set([
  "type",
  "const",
  "anyOf",
  "properties",
  "required",
  "items",
  "patternProperties",
  "minimum",
  "description",
]);

/** Named helper functions, written once each however many commands use them. */
export class HelperFunctions {
  readonly #nameByBody = new Map<string, string>();

  nameOf(body: string): string {
    const known = this.#nameByBody.get(body);
    if (known !== undefined) return known;
    const name = `shape${this.#nameByBody.size + 1}`;
    this.#nameByBody.set(body, name);
    return name;
  }

  source(): string {
    const lines = [...this.#nameByBody].map(([body, name]) => `const ${name} = (v: unknown): boolean => ${body};`);
    return lines.join("\n");
  }
}

/** An expression that is true when the fields of the object `variable` fit the schema. */
export function compileFields(schema: JsonSchemaNode, variable: string, helpers: HelperFunctions): string {
  refuseUnknownKeywords(schema);
  const required = new Set(schema.required ?? []);
  const checks: string[] = [];
  for (const [name, node] of Object.entries(schema.properties ?? {})) {
    const field = `${variable}.${name}`;
    const check = compileValue(node, field, helpers);
    if (required.has(name)) checks.push(check === "true" ? `${field} !== undefined` : check);
    else if (check !== "true") checks.push(`(${field} === undefined || ${check})`);
  }
  return checks.length === 0 ? "true" : checks.join(" && ");
}

export function compileValue(node: JsonSchemaNode, variable: string, helpers: HelperFunctions): string {
  refuseUnknownKeywords(node);
  if (node.anyOf) return `(${node.anyOf.map((option) => compileValue(option, variable, helpers)).join(" || ")})`;
  if ("const" in node) return `${variable} === ${JSON.stringify(node.const)}`;
  switch (node.type) {
    case undefined:
      return "true";
    case "string":
    case "boolean":
      return `typeof ${variable} === "${node.type}"`;
    case "number":
      return `Number.isFinite(${variable})${minimum(node, variable)}`;
    case "integer":
      return `Number.isInteger(${variable})${minimum(node, variable)}`;
    case "null":
      return `${variable} === null`;
    case "array":
      return compileArray(node, variable, helpers);
    case "object":
      return compileObject(node, variable, helpers);
    default:
      throw new Error(`compile-check: type "${node.type}" is not supported`);
  }
}

function compileArray(node: JsonSchemaNode, variable: string, helpers: HelperFunctions): string {
  const isArray = `Array.isArray(${variable})`;
  const item = compileValue(node.items ?? {}, "v", helpers);
  if (item === "true") return isArray;
  const every = /^(shape\d+)\(v\)$/.exec(item)?.[1] ?? helpers.nameOf(item);
  return `(${isArray} && ${variable}.every(${every}))`;
}

function compileObject(node: JsonSchemaNode, variable: string, helpers: HelperFunctions): string {
  const patterns = Object.entries(node.patternProperties ?? {});
  if (patterns.some(([pattern, value]) => pattern !== "^.*$" || compileValue(value, "v", helpers) !== "true")) {
    throw new Error("compile-check: a record must take any key and any value");
  }
  const fields = compileFields(node, "v", helpers);
  if (fields === "true") return `isObject(${variable})`;
  return `${helpers.nameOf(`isObject(v) && ${fields}`)}(${variable})`;
}

function minimum(node: JsonSchemaNode, variable: string): string {
  return node.minimum === undefined ? "" : ` && Number(${variable}) >= ${node.minimum}`;
}

function refuseUnknownKeywords(node: JsonSchemaNode): void {
  for (const keyword of Object.keys(node)) {
    if (!KNOWN.has(keyword)) throw new Error(`compile-check: keyword "${keyword}" is not supported`);
  }
}
