import { NAMED_TYPES } from "../../packages/protocol/src/types.ts";
import type { JsonSchemaNode } from "./compile-check.ts";

/** Finds the name of a type inside a schema, where only its structure is left. */

const nameByStructure = new Map<string, string>();
for (const [name, schema] of Object.entries(NAMED_TYPES)) nameByStructure.set(structure(schema), name);

export function typeName(node: JsonSchemaNode): string | undefined {
  return nameByStructure.get(structure(node));
}

/** A description belongs to the place where a type is used, not to the type. */
function structure(node: JsonSchemaNode): string {
  const { description: _, ...rest } = node;
  return JSON.stringify(rest);
}
