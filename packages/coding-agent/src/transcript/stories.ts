import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseTranscript, type Transcript } from "./parse.ts";

/** Where stories come from: files, folders, or the file that the package has. */

export interface Story {
  /** As it is told. */
  name: string;
  transcript?: Transcript;
  /** Why there is none: the file is missing, or a line of it cannot be understood. */
  problem?: string;
  /** For the `extension` lines of it. */
  extensionsFolder: string;
}

const ENDING = ".rpc.txt";
/** Beside cli.js in the bundle, whose chunks are one folder deeper. */
const SHIPPED = ["./transcripts.json", "../transcripts.json"];
const EXTENSIONS = join("fixtures", "extensions");

/** The stories of these paths in their order; a folder has all that lie in it. */
export function storiesIn(paths: readonly string[], shownFrom: string): Story[] {
  return paths.flatMap((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return [{ name: path, problem: "there is no such file", extensionsFolder: "" }];
    if (!stat.isDirectory()) return [storyOf(path, shownFrom)];
    const names = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(ENDING));
    if (names.length === 0) return [{ name: path, problem: `no file in it ends with ${ENDING}`, extensionsFolder: "" }];
    return names.sort().map((name) => storyOf(join(path, name), shownFrom));
  });
}

function storyOf(path: string, shownFrom: string): Story {
  const near = relative(shownFrom, path);
  const name = near.startsWith("..") ? path : near;
  return read(name, () => readFileSync(path, "utf8"), extensionsAbove(path));
}

function read(name: string, text: () => string, extensionsFolder: string): Story {
  try {
    return { name, transcript: parseTranscript(name, text()), extensionsFolder };
  } catch (error) {
    return { name, problem: (error as Error).message, extensionsFolder };
  }
}

/** `fixtures/extensions` beside the story or in a folder above it. */
function extensionsAbove(path: string): string {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = join(folder, EXTENSIONS);
    if (existsSync(found)) return found;
    if (folder === dirname(folder)) return join(dirname(path), EXTENSIONS);
  }
}

/** The stories that this version was tested with, but for those that need extensions. Undefined when run from the sources. */
export function shippedStories(): Story[] | undefined {
  const place = SHIPPED.map((name) => new URL(name, import.meta.url)).find((url) => existsSync(url));
  if (!place) return undefined;
  const texts = JSON.parse(readFileSync(place, "utf8")) as Record<string, string>;
  return Object.entries(texts).map(([name, text]) => read(name, () => text, dirname(fileURLToPath(place))));
}
