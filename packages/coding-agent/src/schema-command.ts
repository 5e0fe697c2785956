import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { log } from "./lib/log.ts";

/** `tiller schema [NAME]`: the JSON Schema of this very version, as it is packaged. */

export const SCHEMA_NAMES = ["rpc", "session", "settings"] as const;

/** Beside cli.js in the bundle, whose chunks are one folder deeper; in the sources at the top. */
const PLACES = ["./", "../", "../../../schema/"];

/** Resolves to the exit code. */
export function runSchema({ words, print }: { words: readonly string[]; print(text: string): void }): number {
  const [asked = "rpc"] = words;
  const name = SCHEMA_NAMES.find((known) => known === asked);
  if (name === undefined) {
    log(`Error: there is no schema "${asked}", only: ${SCHEMA_NAMES.join(", ")}`, "");
    return 2;
  }
  print(readFileSync(placeOf(`${name}.schema.json`), "utf8").trimEnd());
  return 0;
}

function placeOf(file: string): URL {
  const places = PLACES.map((folder) => new URL(folder + file, import.meta.url));
  const found = places.find((place) => existsSync(place));
  if (found) return found;
  const tried = places.map((place) => fileURLToPath(place)).join(", ");
  throw new Error(`The schema is missing (looked for ${tried}); install Tiller again`);
}
