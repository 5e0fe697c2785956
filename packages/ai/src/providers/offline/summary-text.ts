import type { Entries, FileCounts } from "./listing.ts";
import type { ProjectFacts } from "./manifest.ts";
import { type ReadmeFacts, shorten } from "./readme.ts";
import { code, joinAnd, plural } from "./reply.ts";

/** Writes down what was found in a project. Pure. */

export interface Findings {
  /** The folder's own name, for projects that do not say theirs. */
  folder: string;
  entries: Entries;
  projects: { language: string; facts: ProjectFacts }[];
  readme?: ReadmeFacts;
  counts?: FileCounts;
  /** Files that were read, in order. */
  sources: string[];
  allFiles: readonly string[];
  wishes: string[];
}

const MOST_COMMANDS = 6;
const MOST_FOLDERS = 12;
const MOST_EXTENSIONS = 6;
const LONGEST_NOTE = 70;

const FOLDER_NOTES: readonly [name: RegExp, note: string][] = [
  [/^(?:src|source|lib|app)$/, "source code"],
  [/^(?:tests?|__tests__|spec|e2e)$/, "tests"],
  [/^docs?$/, "documentation"],
  [/^(?:packages|crates|modules)$/, "the packages of the workspace"],
  [/^(?:cmd|bin)$/, "programs"],
  [/^(?:scripts|tools)$/, "helper scripts"],
  [/^examples?$/, "examples"],
  [/^(?:bench|benchmarks?)$/, "measurements"],
  [/^(?:public|static|assets)$/, "static files"],
  [/^schemas?$/, "schemas"],
  [/^(?:changes|changelog)$/, "change notes"],
];

const CLOSING =
  "I am scout, the offline model. I follow rules and am not a language model, so this is what the files say about themselves.";

export function summaryText(found: Findings): string {
  const parts = [
    intro(found),
    howToRun(found),
    structure(found),
    counts(found),
    ...found.wishes.map((wish) => answer(wish, found)),
  ];
  const sources =
    found.sources.length > 0
      ? `Read: ${joinAnd(found.sources.map(code))}.`
      : "There was no manifest or README to read.";
  return [...parts.filter((part) => part !== ""), `${sources} ${CLOSING}`].join("\n\n");
}

export function emptyFolderText(folder: string): string {
  return `The folder ${code(folder)} is empty: there is nothing to summarize yet. Try "write README.md: ..." to begin.\n\n${CLOSING}`;
}

function intro(found: Findings): string {
  const facts = found.projects[0]?.facts;
  const name = facts?.name ?? found.readme?.title ?? found.folder;
  const version = facts?.version ? ` ${facts.version}` : "";
  const languages = languagesOf(found);
  const kind = languages.length > 0 ? ` (${joinAnd(languages)})` : "";
  const purpose = found.readme?.purpose ?? facts?.description ?? "It does not say what it is for.";
  return `**${name}**${version}${kind}: ${purpose}`;
}

function languagesOf(found: Findings): string[] {
  const hasTypeScript = found.allFiles.some((path) => /\.[cm]?tsx?$/.test(path));
  const named = found.projects.map(({ language }) =>
    language === "JavaScript or TypeScript" ? (hasTypeScript ? "TypeScript" : "JavaScript") : language,
  );
  return [...new Set(named.filter((language) => language !== ""))];
}

function howToRun(found: Findings): string {
  const commands = found.projects.flatMap(({ facts }) => facts.commands).slice(0, MOST_COMMANDS);
  if (commands.length === 0) return "";
  const rows = commands.map(
    ({ command, note }) => `- ${code(command)}${note ? `: ${shorten(note, LONGEST_NOTE)}` : ""}`,
  );
  return `How to run it:\n${rows.join("\n")}`;
}

function structure(found: Findings): string {
  const folders = found.entries.folders.filter((name) => !name.startsWith(".") && name !== "node_modules");
  if (folders.length === 0) return "";
  const rows = folders.slice(0, MOST_FOLDERS).map((name) => {
    const files = found.counts?.byFolder.get(name);
    const size = files === undefined ? "" : ` (${plural(files, "file")})`;
    const note = FOLDER_NOTES.find(([pattern]) => pattern.test(name))?.[1];
    return `- ${code(`${name}/`)}${size}${note ? `: ${note}` : ""}`;
  });
  if (folders.length > MOST_FOLDERS) rows.push(`- and ${plural(folders.length - MOST_FOLDERS, "more folder")}`);
  return `Structure:\n${rows.join("\n")}`;
}

function counts(found: Findings): string {
  const { counts } = found;
  if (!counts)
    return `Counts: ${plural(found.entries.folders.length, "folder")} and ${plural(found.entries.files.length, "file")} at the top.`;
  const shown = counts.byExtension
    .slice(0, MOST_EXTENSIONS)
    .map(({ name, files }) => `${files} ${name || "without extension"}`);
  const rest = counts.byExtension.slice(MOST_EXTENSIONS).reduce((sum, { files }) => sum + files, 0);
  if (rest > 0) shown.push(plural(rest, "other"));
  return `Counts: ${counts.partial ? "at least " : ""}${plural(counts.total, "file")}${shown.length > 0 ? ` (${shown.join(", ")})` : ""}.`;
}

function answer(wish: string, found: Findings): string {
  if (/\b(?:risks?|problems?|issues?|concerns?)\b/i.test(wish)) return risksText(found);
  return `You also asked: "${shorten(wish, 120)}". My rules do not reach that far; a connected model would answer it.`;
}

/** Rules of thumb: what a careful reader misses in a project. */
const RISKS: readonly { risk: string; applies(found: Findings): boolean }[] = [
  { risk: "no README at the top", applies: (found) => found.readme === undefined },
  {
    risk: "no licence",
    applies: (found) =>
      !topFile(found, /^(?:licen[cs]e|copying)/i) && !found.projects.some(({ facts }) => facts.license),
  },
  { risk: "no tests that I recognise", applies: (found) => !found.allFiles.some((path) => TEST_FILE.test(path)) },
  {
    risk: "no continuous integration that I recognise",
    applies: (found) =>
      !topFile(found, /^(?:\.gitlab-ci\.yml|Jenkinsfile|\.travis\.yml|azure-pipelines\.yml)$/) &&
      !found.entries.folders.some((name) => /^\.(?:github|ci|circleci|woodpecker|buildkite)$/.test(name)),
  },
  {
    risk: "dependencies without a lock file",
    applies: (found) =>
      found.projects.some(({ facts }) => (facts.dependencies ?? 0) > 0) && !topFile(found, /lock|npm-shrinkwrap/i),
  },
];

const TEST_FILE = /(?:^|\/)(?:tests?|__tests__|spec)\/|(?:[._-](?:test|spec)\.\w+$)|(?:^|\/)test_\w+\.py$/i;

function topFile(found: Findings, name: RegExp): boolean {
  return found.entries.files.some((file) => name.test(file));
}

function risksText(found: Findings): string {
  const seen = RISKS.filter(({ applies }) => applies(found)).map(({ risk }) => `- ${risk}`);
  if (found.counts?.partial) seen.push("- the project is larger than what I counted");
  const list =
    seen.length > 0
      ? seen.join("\n")
      : "- none of the usual gaps: README, licence, tests, integration and lock file are there";
  return `Risks, by rules of thumb and without reading the code:\n${list}`;
}
