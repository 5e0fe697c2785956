import { at } from "./frame.ts";
import { type Import, lineOf, type Node, type SourceFile } from "./source-tree.ts";

/** The borders of the code base as data. Each rule gives one sentence per violation: `path:line: what`. */

const PRODUCT = "packages/coding-agent/src/";

/** The first pattern that fits names the zone of a file. */
const ZONES: readonly (readonly [zone: string, pattern: RegExp])[] = [
  ["protocol", /^packages\/protocol\//],
  ["ai", /^packages\/ai\//],
  ["agent", /^packages\/agent\//],
  ["session/store", /^packages\/coding-agent\/src\/session\/store\//],
  ["top", /^packages\/coding-agent\/src\/(cli|app|main|sub-commands|index)\.ts$/],
  ["command-line", /^packages\/coding-agent\/src\/(args|cli-options|given-options|help|options-table\.generated)\.ts$/],
  // What lies beside them puts the parts together: create-session and its helpers.
  ["composition", /^packages\/coding-agent\/src\/[\w-]+\.ts$/],
];

export function zoneOf(path: string): string {
  const known = ZONES.find(([, pattern]) => pattern.test(path));
  return known?.[0] ?? /^packages\/coding-agent\/src\/([\w-]+)\//.exec(path)?.[1] ?? path;
}

/** A zone may import itself and these; `types:` allows `import type` only. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  protocol: [],
  ai: ["protocol"],
  agent: ["protocol", "ai"],
  lib: ["types:protocol"],
  config: ["lib", "protocol", "types:ai"],
  exec: ["lib", "protocol"],
  tools: ["lib", "protocol", "exec", "types:agent"],
  "session/store": ["lib", "protocol"],
  session: ["lib", "protocol", "agent", "ai", "config", "session/store", "types:tools"],
  "system-prompt": ["lib", "protocol", "config", "types:agent"],
  extensions: ["lib", "protocol", "config", "types:agent", "types:session"],
  // What extensions import: our parts under the names they know. Nobody but the composition imports it.
  compat: [
    "lib",
    "protocol",
    "ai",
    "agent",
    "config",
    "exec",
    "tools",
    "session/store",
    "skills",
    "prompts",
    "types:session",
    "types:extensions",
  ],
  // The tools for one thing: what an ignore file says.
  skills: ["lib", "protocol", "config", "prompts", "tools", "types:agent", "types:session"],
  prompts: ["lib", "protocol", "config", "types:agent", "types:session"],
  agents: ["lib", "protocol", "config", "prompts"],
  rules: ["lib", "protocol", "config", "prompts", "tools", "types:agent"],
  export: ["lib", "protocol", "session/store"],
  mcp: ["lib", "protocol", "ai", "config", "exec", "tools", "types:agent", "types:session"],
  approvals: ["lib", "protocol", "exec", "tools", "types:config", "types:agent", "types:session"],
  // The client only because documentation names a path for it there.
  modes: ["lib", "protocol", "config", "client", "types:session"],
  client: ["lib", "types:protocol"],
  chat: ["lib", "client", "types:protocol"],
  "command-line": ["lib", "protocol", "config"],
  composition: [
    "command-line",
    "lib",
    "protocol",
    "ai",
    "agent",
    "config",
    "exec",
    "tools",
    "session/store",
    "session",
    "system-prompt",
    "extensions",
    "compat",
    "skills",
    "agents",
    "prompts",
    "rules",
    "export",
    "approvals",
    "mcp",
    "types:recording",
  ],
  // What a program in the same process gets: the commands of RPC mode without its pipes.
  library: ["command-line", "composition", "lib", "protocol", "modes", "types:session"],
  doctor: ["command-line", "composition", "lib", "protocol", "ai", "config"],
  sessions: ["command-line", "lib", "protocol", "config", "session/store"],
  "config-command": ["command-line", "lib", "protocol", "config"],
  recording: ["command-line", "lib", "protocol", "ai", "config", "types:agent", "types:session", "types:tools"],
  transcript: ["command-line", "lib", "protocol", "ai", "config"],
  top: [
    "command-line",
    "lib",
    "protocol",
    "config",
    "modes",
    "client",
    "composition",
    "chat",
    "doctor",
    "sessions",
    "config-command",
    "library",
    "recording",
    "transcript",
    "types:session",
  ],
};

/** From outside a zone only these of its files are open, whatever the zone allows. */
const PORTS_ONLY: Record<string, string> = {
  extensions: `${PRODUCT}session/ports.ts`,
  skills: `${PRODUCT}session/ports.ts`,
  prompts: `${PRODUCT}session/ports.ts`,
  approvals: `${PRODUCT}session/ports.ts`,
  mcp: `${PRODUCT}session/ports.ts`,
};

export function directionProblems(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.imports.flatMap((found) => {
      const problem = found.target && directionProblem(file.path, found.target, found.kind);
      return problem ? [`${file.path}:${found.line}: ${problem}`] : [];
    }),
  );
}

function directionProblem(from: string, target: string, kind: Import["kind"]): string | undefined {
  const [zone, other] = [zoneOf(from), zoneOf(target)];
  if (zone === other) return undefined;
  const allowed = MAY_IMPORT[zone];
  if (!allowed) return `the folder "${zone}" is not in the table of import directions`;
  const onlyTypes = allowed.includes(`types:${other}`);
  if (!allowed.includes(other) && !onlyTypes) return `${zone} must not import ${other} (${target})`;
  if (onlyTypes && kind !== "type") return `${zone} may import only types from ${other} (${target})`;
  const port = other === "session" ? PORTS_ONLY[zone] : undefined;
  return port && target !== port ? `${zone} may import only ${port} from ${other}` : undefined;
}

/** Groups of files that import each other in a circle, types and lazy imports included. */
export function importCycles(files: readonly SourceFile[]): string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string): void => {
    index.set(path, index.size);
    low.set(path, index.get(path) as number);
    stack.push(path);
    for (const { target } of byPath.get(path)?.imports ?? []) {
      if (!target || !byPath.has(target)) continue;
      if (!index.has(target)) visit(target);
      const reach = stack.includes(target) ? (low.get(target) as number) : Number.POSITIVE_INFINITY;
      low.set(path, Math.min(low.get(path) as number, reach));
    }
    if (low.get(path) !== index.get(path)) return;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1) cycles.push(group.sort());
  };
  for (const file of files) if (!index.has(file.path)) visit(file.path);
  return cycles;
}

/** Everything that is loaded before the first line of `entry` runs: our files, packages as `npm:name`, builtins left out. */
export function eagerModules(files: readonly SourceFile[], entry: string): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set<string>();
  const todo = [entry];
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    for (const found of byPath.get(path)?.imports ?? []) {
      if (found.kind !== "static" || found.specifier.startsWith("node:")) continue;
      todo.push(found.target ?? `npm:${found.specifier}`);
    }
  }
  return [...seen].sort();
}

export interface CodeRule {
  name: string;
  /** Files to which the rule applies; default: all. */
  where?: RegExp;
  /** Files that may do it. */
  except?: readonly string[];
  find(node: Node, file: SourceFile): string | undefined;
}

const product = (...paths: string[]): string[] => paths.map((path) => PRODUCT + path);

/** `process.stdout` as "process.stdout"; anything else undefined. */
function dotted(node: unknown): string | undefined {
  if (at(node, "type") === "Identifier") return String(at(node, "name"));
  if (at(node, "type") !== "MemberExpression" || at(node, "computed") === true) return undefined;
  const object = dotted(at(node, "object"));
  return object && `${object}.${at(node, "property", "name")}`;
}

const uses =
  (...names: string[]) =>
  (node: Node): string | undefined => {
    const name = node.type === "MemberExpression" || node.type === "Identifier" ? dotted(node) : undefined;
    return name && names.includes(name) ? name : undefined;
  };

/** A call or `new` of one of these. */
const calls =
  (...names: string[]) =>
  (node: Node): string | undefined => {
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return undefined;
    const name = dotted(node.callee);
    return name && names.includes(name) ? `${name}()` : undefined;
  };

const imports =
  (pattern: RegExp) =>
  (node: Node): string | undefined => {
    const isImport = /^(Import|Export\w+)(Declaration|Expression)$/.test(node.type) && node.importKind !== "type";
    const isBuiltin = node.type === "CallExpression" && dotted(node.callee) === "process.getBuiltinModule";
    const source = isBuiltin ? at(node, "arguments", 0, "value") : isImport ? at(node, "source", "value") : undefined;
    return typeof source === "string" && pattern.test(source) ? `import of ${source}` : undefined;
  };

/** `writeSync(1, …)`, `new Socket({ fd: 1 })` and the like: stdout by its number. */
function stdoutByNumber(node: Node): string | undefined {
  if (node.type === "Property" && at(node, "key", "name") === "fd" && at(node, "value", "value") === 1) return "fd: 1";
  if (node.type !== "CallExpression" || !/(^|\.)(write|writeSync|writev|writevSync)$/.test(dotted(node.callee) ?? "")) {
    return undefined;
  }
  return at(node, "arguments", 0, "value") === 1 ? "a write to file descriptor 1" : undefined;
}

/** Reads the clock: `new Date(ms)` only formats a time that came from elsewhere. */
function readsTime(node: Node): string | undefined {
  const isNow = node.type === "NewExpression" && dotted(node.callee) === "Date";
  if (isNow && (node.arguments as unknown[]).length === 0) return "new Date()";
  return uses("Date.now", "performance.now", "process.hrtime", "process.uptime")(node);
}

function emptyCatch(node: Node, file: SourceFile): string | undefined {
  if (node.type !== "CatchClause" || (at(node, "body", "body") as unknown[]).length > 0) return undefined;
  const { start, end } = node.body as Node;
  return /\/\/|\/\*/.test(file.text.slice(start, end)) ? undefined : "an empty catch";
}

function suppression(node: Node, file: SourceFile): string | undefined {
  if (node.type !== "Program") return undefined;
  return /@ts-(ignore|nocheck|expect-error)/.exec(file.text)?.[0];
}

const PURE =
  /^packages\/(protocol\/src\/.*|ai\/src\/apis\/[\w-]+\/stream|coding-agent\/src\/session\/(next-step|retry-policy|session-state|session-stats|compaction\/(policy|cut-point)|store\/(tree|context)))\.ts$/;

function impurity(node: Node): string | undefined {
  if (node.type === "AwaitExpression" || (node.type === "ForOfStatement" && node.await === true)) return "await";
  return (
    uses("Date", "Math.random", "setTimeout", "setInterval", "setImmediate", "process", "performance")(node) ??
    imports(/^node:/)(node)
  );
}

function reExport(node: Node): string | undefined {
  if (node.type === "ExportAllDeclaration") return "export * from";
  return node.type === "ExportNamedDeclaration" && node.source
    ? `a re-export from ${at(node, "source", "value")}`
    : undefined;
}

/** Where text becomes data. The wire is parsed in one place; every other one is a file format or somebody else's answer. */
const JSON_PARSERS = [
  ...product(
    "modes/rpc/dispatcher.ts",
    // Names and ids at the beginning of a line that is too long to be read.
    "modes/rpc/skipped-answer.ts",
    "client/process-transport.ts",
    "config/json-text.ts",
    "config/setting-value.ts",
    "export/read-entries.ts",
    "export/write-page.ts",
    "lib/plain-json.ts",
    "library/commands.ts",
    "mcp/json-rpc.ts",
    "recording/format.ts",
    "session/session-views.ts",
    "session/store/entries-from.ts",
    "session/store/entry-index.ts",
    "session/store/later-look.ts",
    "session/store/later-repair.ts",
    "session/store/stand-ins.ts",
    "session/store/journal-file.ts",
    "session/store/listing.ts",
    "session/store/loaded-entries.ts",
    "session/store/open-session.ts",
    "session/store/salvage.ts",
    "session/store/session-head.ts",
    "session/store/session-lock.ts",
    "session/store/verify.ts",
    "extensions/loading/parse-json.ts",
    // In the browser: the data of an exported page.
    "export/page/store.ts",
    "tools/edit.ts",
    "tools/grep-rg.ts",
    "tools/notebook.ts",
    "transcript/agent-process.ts",
    "transcript/model-server.ts",
    "transcript/parse.ts",
    "transcript/play.ts",
    "transcript/stories.ts",
  ),
  "packages/agent/src/check-arguments.ts",
  "packages/ai/src/http/payload.ts",
  "packages/ai/src/assemble.ts",
  "packages/ai/src/catalogue.ts",
  "packages/ai/src/discover.ts",
  "packages/ai/src/partial-json.ts",
  "packages/ai/src/http/sse.ts",
  "packages/ai/src/http/failure.ts",
  "packages/ai/src/providers/script.ts",
  "packages/ai/src/providers/script-notation.ts",
  "packages/ai/src/providers/offline/manifest.ts",
];

export const CODE_RULES: readonly CodeRule[] = [
  {
    name: "stdout belongs to the frame writer",
    except: product("modes/rpc/frame-writer.ts"),
    find: (node) => uses("process.stdout")(node) ?? stdoutByNumber(node),
  },
  {
    name: "console is nobody's",
    except: product("lib/guard-stdout.ts"),
    find: (node) => {
      const name = node.type === "MemberExpression" ? dotted(node) : undefined;
      return name?.startsWith("console.") ? name : undefined;
    },
  },
  {
    name: "only the CLI and the mode's shut-down end the process",
    // The guard takes these away from extensions.
    except: product("app.ts", "modes/rpc/shutdown.ts", "modes/rpc/rpc-mode.ts", "extensions/guards/guard-process.ts"),
    find: uses("process.exit", "process.abort", "process.reallyExit"),
  },
  { name: "text is parsed as JSON only in listed files", except: JSON_PARSERS, find: calls("JSON.parse") },
  {
    name: "only the clock reads the time",
    // The program of an exported page has no clock of ours: it looks how much of a frame is left.
    except: product("lib/clock.ts", "export/page/slices.ts"),
    find: readsTime,
  },
  {
    name: "only the clock sets timers",
    // That one is the code of another thread.
    except: product("lib/clock.ts", "extensions/guards/watchdog-thread.ts"),
    find: (node) => calls("setTimeout", "setInterval")(node) ?? imports(/^node:timers/)(node),
  },
  {
    name: "only the clock and the ids are random",
    except: product("lib/clock.ts", "lib/ids.ts", "exec/run-process.ts", "exec/output-buffer.ts"),
    find: uses("Math.random", "randomUUID", "randomBytes", "crypto.randomUUID"),
  },
  {
    name: "only run-process and the client's transport start processes",
    except: product(
      "exec/run-process.ts",
      "client/process-transport.ts",
      // The program that a story is played against.
      "transcript/agent-process.ts",
      // These watch extensions: one from a thread of its own, the other what they start.
      "extensions/guards/watchdog.ts",
      "extensions/guards/guard-streams.ts",
    ),
    find: imports(/^node:(child_process|cluster|worker_threads)$/),
  },
  {
    name: "only the transport talks to the network",
    where: /^(?!packages\/ai\/src\/http\/)/,
    except: product(
      // These open the standard streams, and the pipes of children, by their descriptors.
      "modes/rpc/frame-writer.ts",
      "modes/rpc/stdin.ts",
      "exec/output-pipe.ts",
      // A server on loopback, for the agent that a story is played against.
      "transcript/model-server.ts",
    ),
    find: (node) => imports(/^node:(https?|http2|net|tls|dgram|dns)/)(node) ?? calls("fetch")(node),
  },
  {
    name: "only the store writes session files",
    where: /^packages\/coding-agent\/src\/session\//,
    except: product(
      "session/store/session-file.ts",
      "session/store/whole-file.ts",
      "session/store/salvage.ts",
      "session/store/session-lock.ts",
      "session/store/later-repair.ts",
      // What a host was told of a session, in files of its own.
      "session/store/event-journal.ts",
      "session/store/journal-file.ts",
      // These read what is there, and move a deleted session to the trash.
      "session/store/companions.ts",
      "session/store/entries-from.ts",
      "session/store/session-folders.ts",
      "session/store/session-head.ts",
      "session/store/sub-agent-files.ts",
      "session/store/scan-lines.ts",
      "session/store/trash.ts",
    ),
    find: imports(/^node:fs/),
  },
  {
    name: "readline splits at U+2028 on some platforms; the rest is missing on Node 20",
    find: (node) => imports(/^node:readline/)(node) ?? uses("Promise.withResolvers", "Promise.try")(node),
  },
  { name: "pure files stay pure", where: PURE, find: impurity },
  { name: "no any", find: (node) => (node.type === "TSAnyKeyword" ? "any" : undefined) },
  { name: "no suppressed checks", find: suppression },
  { name: "no empty catch", find: emptyCatch },
  {
    name: "no default exports",
    find: (node) => (node.type === "ExportDefaultDeclaration" ? "a default export" : undefined),
  },
  {
    name: "barrels only at package roots",
    except: [
      ...["protocol", "ai", "agent", "coding-agent"].map((name) => `packages/${name}/src/index.ts`),
      // Paths that the protocol's documentation names.
      ...product("modes/rpc/rpc-types.ts", "modes/rpc/rpc-client.ts"),
      // The root of the sub-path `tiller/client`.
      ...product("client/index.ts"),
    ],
    find: reExport,
  },
];

export function ruleProblems(rule: CodeRule, files: readonly SourceFile[]): string[] {
  const problems: string[] = [];
  for (const file of files) {
    if (rule.except?.includes(file.path) || !(rule.where ?? /./).test(file.path)) continue;
    for (const node of file.nodes) {
      const found = rule.find(node, file);
      if (found) problems.push(`${file.path}:${lineOf(file.text, node.start)}: ${found}`);
    }
  }
  return problems;
}

/** Imports that are neither ours, nor a `node:` builtin, nor a package that the package.json beside names. */
export function dependencyProblems(files: readonly SourceFile[], allowed: (folder: string) => string[]): string[] {
  return files.flatMap((file) =>
    file.imports.flatMap(({ specifier, line }) => {
      if (specifier.startsWith(".") || specifier.startsWith("node:")) return [];
      const name = specifier
        .split("/")
        .slice(0, specifier.startsWith("@") ? 2 : 1)
        .join("/");
      const folder = file.path.split("/").slice(0, 2).join("/");
      return allowed(folder).includes(name) ? [] : [`${file.path}:${line}: ${specifier}`];
    }),
  );
}
