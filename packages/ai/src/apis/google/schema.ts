import type { JsonSchema } from "@tiller/protocol/tool";

/** A JSON Schema in the subset of OpenAPI that older servers know. What it cannot say is left out; it stays looser. */

const KEPT = new Set([
  "type",
  "format",
  "title",
  "description",
  "nullable",
  "enum",
  "required",
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
  "pattern",
  "default",
  "propertyOrdering",
]);
/** The API refuses every other format of a string. */
const STRING_FORMATS = new Set(["enum", "date-time"]);

/** Undefined for an object without properties: the subset has no way to say it. */
export function openApiSchema(schema: JsonSchema): JsonSchema | undefined {
  const converted = convert(schema);
  return converted.type === "object" && converted.properties === undefined ? undefined : converted;
}

function convert(schema: JsonSchema): JsonSchema {
  const out: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (KEPT.has(key)) out[key] = value;
  }
  setType(schema, out);
  setValues(schema, out);
  if (out.type === "string" && typeof out.format === "string" && !STRING_FORMATS.has(out.format)) delete out.format;
  const choices = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(choices)) setChoices(choices.filter(isSchema), out);
  if (isSchema(schema.items)) out.items = convert(schema.items);
  else if (out.type === "array") out.items = { type: "string" };
  setProperties(schema, out);
  return out;
}

/** `["string", "null"]` is a string that may be null. */
function setType(schema: JsonSchema, out: JsonSchema): void {
  if (!Array.isArray(schema.type)) return;
  const types = schema.type.filter((type) => type !== "null");
  if (types.length < schema.type.length) out.nullable = true;
  delete out.type;
  if (types.length === 1) out.type = types[0];
  else if (types.length > 1) out.anyOf = types.map((type) => ({ type }));
}

/** Only strings can be listed. */
function setValues(schema: JsonSchema, out: JsonSchema): void {
  const values: unknown[] | undefined = Array.isArray(schema.enum)
    ? schema.enum
    : "const" in schema
      ? [schema.const]
      : undefined;
  if (values === undefined) return;
  const texts = values.filter((value) => typeof value === "string");
  if (texts.length > 0 && texts.length === values.length) {
    out.enum = texts;
    out.type ??= "string";
  } else delete out.enum;
}

function setChoices(choices: readonly JsonSchema[], out: JsonSchema): void {
  const real = choices.filter((choice) => choice.type !== "null");
  if (real.length < choices.length) out.nullable = true;
  const [only] = real;
  if (only && real.length === 1) Object.assign(out, { ...convert(only), ...out });
  else if (only) out.anyOf = real.map(convert);
}

function setProperties(schema: JsonSchema, out: JsonSchema): void {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const known = properties.filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]));
  if (known.length > 0) out.properties = Object.fromEntries(known.map(([name, value]) => [name, convert(value)]));
  if (!Array.isArray(out.required)) return;
  const required = out.required.filter((name) => known.some(([known]) => known === name));
  if (required.length > 0) out.required = required;
  else delete out.required;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
