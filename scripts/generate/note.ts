import { readFileSync } from "node:fs";

export const GENERATED_NOTE = "Written by `npm run generate` from the tables in packages/protocol/src. Do not edit.";

/** Which version a schema is for. */
export function forVersion(): string {
  const { version } = JSON.parse(readFileSync("packages/coding-agent/package.json", "utf8")) as { version: string };
  return `Tiller ${version}`;
}
