import { join } from "node:path";
import { type Env, resolvePath } from "../../config/paths.ts";
import { isPlainObject } from "../../config/setting-value.ts";
import { isListOfTexts } from "./manifest.ts";

/** The entries of the setting `packages`, and where what they name would lie. Nothing is installed here. */

export interface PackageEntry {
  /** As written. */
  source: string;
  folder: string;
  /** How to get it when it is not there. */
  advice: string;
  /** What of it is wanted; what is not mentioned is wanted whole. */
  filters: { extensions?: string[]; skills?: string[]; prompts?: string[] };
}

export interface PackageBase {
  agentDir: string;
  /** What a relative path counts from. */
  base: string;
  env: Env;
}

export function isPackageSource(text: string): boolean {
  return /^(npm:|git:|git@|ssh:\/\/|https?:\/\/)/.test(text);
}

/** The name without the version: `npm:@scope/name@1.0.0` -> `@scope/name`. */
function npmName(source: string): string {
  return source.slice("npm:".length).replace(/(?<=.)@[^/]*$/, "");
}

/** Host and path without the reference: `git:github.com/a/b@v1`, `https://github.com/a/b.git`, `git@github.com:a/b`. */
function gitPath(source: string): string {
  return source
    .replace(/^git:/, "")
    .replace(/^(ssh|https?):\/\//, "")
    .replace(/^[^/@:]+@/, "")
    .replace(/^([^/:]+):(?!\d)/, "$1/")
    .replace(/[@#][^/]*$/, "")
    .replace(/\/+$/, "")
    .replace(/\.git$/, "");
}

export function packageEntry(source: string, { agentDir, base, env }: PackageBase): PackageEntry {
  if (source.startsWith("npm:")) {
    const name = npmName(source);
    const root = join(agentDir, "npm");
    const advice = `install it with: npm install --prefix "${root}" ${source.slice("npm:".length)}`;
    return { source, folder: join(root, "node_modules", name), advice, filters: {} };
  }
  if (isPackageSource(source)) {
    const folder = join(agentDir, "git", gitPath(source));
    const advice = `clone it into that folder, and run npm install there if it has dependencies`;
    return { source, folder, advice, filters: {} };
  }
  const folder = resolvePath(source, base, env);
  return { source, folder, advice: "correct the path in the setting packages", filters: {} };
}

/** All that is understood; the rest becomes a sentence each. */
export function packageEntries(setting: unknown, base: PackageBase, problems: string[]): PackageEntry[] {
  if (setting === undefined || setting === null) return [];
  if (!Array.isArray(setting)) {
    problems.push(`the setting packages must be a list, not ${JSON.stringify(setting)}; it is ignored`);
    return [];
  }
  return setting.flatMap((item: unknown) => {
    if (typeof item === "string") return [packageEntry(item, base)];
    if (isPlainObject(item) && typeof item.source === "string")
      return [{ ...packageEntry(item.source, base), filters: filtersOf(item, item.source, problems) }];
    problems.push(`the setting packages has an entry without source: ${JSON.stringify(item)}; it is ignored`);
    return [];
  });
}

function filtersOf(item: Record<string, unknown>, source: string, problems: string[]): PackageEntry["filters"] {
  const filters: PackageEntry["filters"] = {};
  for (const key of ["extensions", "skills", "prompts"] as const) {
    const value = item[key];
    if (value === undefined) continue;
    if (isListOfTexts(value)) filters[key] = value;
    else problems.push(`the setting packages: "${key}" of ${source} must be a list of paths; it is ignored`);
  }
  return filters;
}
