import { expectedText } from "../../packages/coding-agent/src/config/setting-value.ts";
import { SETTING_ROWS, type SettingRow } from "../../packages/coding-agent/src/config/settings-schema.ts";
import type { Json } from "./json-schema.ts";
import { forVersion } from "./note.ts";

/** A place in the file: a value, an object with more places, or either. */
interface Place {
  value?: Json;
  inside: Map<string, Place>;
}

/** `settings.json` as JSON Schema, for editors. Keys that are not ours are welcome, as they are when the file is read. */
export function renderSettingsSchema(): string {
  const top: Place = { inside: new Map() };
  for (const [key, row] of Object.entries(SETTING_ROWS)) {
    placeOf(top, key).value = valueSchema(row);
    for (const name of row.formerly ?? []) placeOf(top, name).value ??= { ...valueSchema(row), deprecated: true };
  }
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $comment: forVersion(),
    title: "Tiller settings.json",
    description: "Written by `npm run generate` from the table in packages/coding-agent/src/config. Do not edit.",
    ...objectSchema(top),
  };
  return `${JSON.stringify(schema, undefined, 2)}\n`;
}

/** A dotted key stands for nested objects. */
function placeOf(top: Place, key: string): Place {
  let place = top;
  for (const part of key.split(".")) {
    const inner = place.inside.get(part) ?? { inside: new Map() };
    place.inside.set(part, inner);
    place = inner;
  }
  return place;
}

function objectSchema({ inside }: Place): Json {
  const properties = Object.fromEntries([...inside].map(([name, place]) => [name, placeSchema(place)]));
  return { type: "object", properties };
}

function placeSchema(place: Place): Json {
  if (place.value === undefined) return objectSchema(place);
  return place.inside.size === 0 ? place.value : { anyOf: [place.value, objectSchema(place)] };
}

function valueSchema(row: SettingRow): Json {
  const text = row.status === "works" ? row.summary : `${row.summary} Not built yet.`;
  const described = row.default === undefined ? { description: text } : { description: text, default: row.default };
  return { ...formOf(row), ...described };
}

function formOf(row: SettingRow): Json {
  switch (row.type) {
    case "boolean":
    case "string":
      return { type: row.type };
    case "integer":
    case "number":
      return { type: row.type, minimum: row.min ?? 0 };
    case "choice":
      return { enum: [...(row.values ?? []), ...Object.keys(row.valueAliases ?? {})] };
    case "strings":
      return { type: "array", items: { type: "string" } };
    case "map":
      return { type: "object" };
    case "any":
      return { $comment: expectedText(row) };
  }
}
