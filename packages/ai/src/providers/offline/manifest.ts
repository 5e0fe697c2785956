/** What the usual project manifests say about a project. One row per kind; a reader never throws. Pure. */

export interface ProjectFacts {
  name?: string;
  version?: string;
  description?: string;
  license?: string;
  /** A command and, where it helps, what it does. */
  commands: { command: string; note?: string }[];
  dependencies?: number;
}

export interface ManifestKind {
  file: string;
  language: string;
  read(text: string, files: readonly string[]): ProjectFacts;
}

/** Asked in this order; a project may have several. */
export const MANIFESTS: readonly ManifestKind[] = [
  { file: "package.json", language: "JavaScript or TypeScript", read: readPackageJson },
  { file: "pyproject.toml", language: "Python", read: readPyproject },
  { file: "Cargo.toml", language: "Rust", read: (text) => fromToml(text, ["package"], ["cargo run", "cargo test"]) },
  { file: "go.mod", language: "Go", read: readGoMod },
  { file: "pom.xml", language: "Java", read: readPom },
  { file: "composer.json", language: "PHP", read: readComposer },
  { file: "deno.json", language: "TypeScript on Deno", read: readDeno },
  { file: "pubspec.yaml", language: "Dart", read: (text) => fromYaml(text, ["dart run", "dart test"]) },
  {
    file: "build.gradle.kts",
    language: "Kotlin or Java",
    read: () => withCommands("./gradlew build", "./gradlew test"),
  },
  { file: "build.gradle", language: "Java", read: () => withCommands("./gradlew build", "./gradlew test") },
  { file: "Gemfile", language: "Ruby", read: () => withCommands("bundle install") },
  { file: "mix.exs", language: "Elixir", read: () => withCommands("mix deps.get", "mix test") },
  { file: "CMakeLists.txt", language: "C or C++", read: readCmake },
  { file: "Makefile", language: "", read: readMakefile },
];

const RUNNERS: readonly [lockFile: string, runner: string][] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];
/** The scripts people look for first. */
const WELL_KNOWN = ["start", "dev", "build", "test", "lint"];

function readPackageJson(text: string, files: readonly string[]): ProjectFacts {
  const json = parseObject(text);
  const runner = RUNNERS.find(([lock]) => files.includes(lock))?.[1] ?? "npm";
  const short = (name: string) => runner !== "bun" && (name === "start" || name === "test");
  return {
    ...basics(json),
    commands: scriptsOf(json).map(([name, note]) => ({
      command: `${runner} ${short(name) ? "" : "run "}${name}`,
      note,
    })),
    dependencies: sizeOf(json.dependencies) + sizeOf(json.devDependencies),
  };
}

function readComposer(text: string): ProjectFacts {
  const json = parseObject(text);
  const commands = scriptsOf(json).map(([name, note]) => ({ command: `composer ${name}`, note }));
  return { ...basics(json), commands, dependencies: sizeOf(json.require) };
}

function readDeno(text: string): ProjectFacts {
  const json = parseObject(text);
  return {
    ...basics(json),
    commands: scriptsOf({ scripts: json.tasks }).map(([name, note]) => ({ command: `deno task ${name}`, note })),
  };
}

function readPyproject(text: string): ProjectFacts {
  const facts = fromToml(text, ["project", "tool.poetry"], []);
  const scripts = [...(sectionsOf(text).get("project.scripts") ?? [])];
  return {
    ...facts,
    commands: [{ command: "pip install -e ." }, ...scripts.map(([command, note]) => ({ command, note }))],
  };
}

function readGoMod(text: string): ProjectFacts {
  const name = /^module\s+(\S+)/m.exec(text)?.[1];
  return { ...withCommands("go build ./...", "go test ./..."), name };
}

function readPom(text: string): ProjectFacts {
  const own = text.replace(/<(parent|dependencies|build|profiles|dependencyManagement)>[\s\S]*?(?:<\/\1>|$)/g, "");
  const tag = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(own)?.[1]?.trim() || undefined;
  const facts = withCommands("mvn package", "mvn test");
  return { ...facts, name: tag("name") ?? tag("artifactId"), version: tag("version"), description: tag("description") };
}

function readCmake(text: string): ProjectFacts {
  const name = /\bproject\s*\(\s*([\w.-]+)/i.exec(text)?.[1];
  return { ...withCommands("cmake -B build && cmake --build build"), name };
}

function readMakefile(text: string): ProjectFacts {
  const targets = [...text.matchAll(/^([A-Za-z][\w-]*)\s*:(?!=)/gm)].map((match) => match[1]!);
  return withCommands(...[...new Set(targets)].map((target) => `make ${target}`));
}

function withCommands(...commands: string[]): ProjectFacts {
  return { commands: commands.map((command) => ({ command })) };
}

function basics(json: Record<string, unknown>): Pick<ProjectFacts, "name" | "version" | "description" | "license"> {
  return {
    name: textOrNothing(json.name),
    version: textOrNothing(json.version),
    description: textOrNothing(json.description),
    license: textOrNothing(json.license),
  };
}

/** Scripts with the well-known ones first; hooks such as `pretest` run by themselves and are left out. */
function scriptsOf(json: Record<string, unknown>): [name: string, note: string][] {
  const scripts = Object.entries(asObject(json.scripts)).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const names = new Set(scripts.map(([name]) => name));
  const own = scripts.filter(([name]) => !/^(?:pre|post)/.test(name) || !names.has(name.replace(/^(?:pre|post)/, "")));
  const rank = (name: string) => (WELL_KNOWN.includes(name) ? WELL_KNOWN.indexOf(name) : WELL_KNOWN.length);
  return own.sort(([a], [b]) => rank(a) - rank(b));
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return asObject(JSON.parse(text));
  } catch {
    // Cut off or commented JSON still tells the plain fields.
    const field = (name: string) => new RegExp(`"${name}"\\s*:\\s*"([^"]*)"`).exec(text)?.[1];
    return {
      name: field("name"),
      version: field("version"),
      description: field("description"),
      license: field("license"),
    };
  }
}

function fromToml(text: string, sections: readonly string[], commands: readonly string[]): ProjectFacts {
  const all = sectionsOf(text);
  const fields = sections.map((name) => all.get(name)).find((section) => section !== undefined);
  return { ...withCommands(...commands), ...basics(Object.fromEntries(fields ?? [])) };
}

/** The quoted values of each `[section]`: all that is needed here of TOML. */
function sectionsOf(text: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>();
  let current = new Map<string, string>();
  for (const line of text.split("\n")) {
    const header = /^\s*\[([^[\]]+)\]\s*$/.exec(line);
    const field = /^\s*([\w-]+)\s*=\s*["']([^"']*)["']/.exec(line);
    if (header) {
      current = new Map();
      sections.set(header[1]!, current);
    } else if (field) current.set(field[1]!, field[2]!);
  }
  return sections;
}

function fromYaml(text: string, commands: readonly string[]): ProjectFacts {
  const fields = [...text.matchAll(/^(\w+):(.*)$/gm)].flatMap(([, key, rest]) => {
    const value = /^["']?([^"'#]+)["']?$/.exec(rest!.trim())?.[1];
    return value === undefined ? [] : [[key!, value] as const];
  });
  return { ...withCommands(...commands), ...basics(Object.fromEntries(fields)) };
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function sizeOf(value: unknown): number {
  return Object.keys(asObject(value)).length;
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
