import { join } from "node:path";
import {
  kindOf,
  listFolder,
  type Place,
  placesOf,
  type ResourceRequest,
  type UsualFolders,
} from "../prompts/places.ts";
import type { RuleSource } from "./rule.ts";

/** Finds the files that may hold rules. It only looks at folders: without any, nothing else of this room is loaded. */

export const FOLDERS: UsualFolders = {
  project: [
    ".tiller/rules",
    ".omp/rules",
    ".xcsh/rules",
    ".pi/rules",
    ".cursor/rules",
    ".windsurf/rules",
    ".clinerules",
  ],
  agent: ["rules"],
  home: [],
};

/** Whose rules a folder holds; all others are our own kind. */
const PROVIDERS: Readonly<Record<string, string>> = {
  ".cursor/rules": "cursor",
  ".windsurf/rules": "windsurf",
  ".clinerules": "cline",
};

export function findRuleFiles(request: Omit<ResourceRequest, "named">): { files: RuleSource[]; problems: string[] } {
  const files: RuleSource[] = [];
  const problems: string[] = [];
  for (const place of placesOf({ ...request, named: [] }, FOLDERS)) {
    if (kindOf(place.path) !== "folder") continue;
    const { entries = [], problem } = listFolder(place.path);
    if (problem !== undefined) problems.push(problem);
    for (const { name, kind } of entries) {
      if (kind === "file" && /^[^.].*\.mdc?$/i.test(name)) files.push(sourceOf(join(place.path, name), place));
    }
  }
  return { files, problems };
}

function sourceOf(path: string, place: Place): RuleSource {
  const folder = place.path.replaceAll("\\", "/");
  const provider = Object.keys(PROVIDERS).find((ending) => folder.endsWith(`/${ending}`));
  const name = (provider && PROVIDERS[provider]) ?? "native";
  return { provider: name, providerName: name, path, level: place.location === "project" ? "project" : "user" };
}
