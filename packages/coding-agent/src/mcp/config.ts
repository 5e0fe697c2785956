import { isAbsolute } from "node:path";
import { type Environment, readHeader } from "@tiller/ai/auth";
import { type KeyPath, type ParsedFile, problemAt } from "@tiller/ai/parsed-file";
import type { RunCommand } from "@tiller/ai/secret-commands";
import { resolvePath } from "../config/paths.ts";
import { isPlainObject } from "../config/setting-value.ts";
import type { Endpoint } from "./http.ts";
import type { Launch } from "./stdio.ts";

/** What people write about servers: `{"mcpServers": {"name": {"command": ...} or {"url": ...}}}`. */

/** As it stands there: values are expanded when the server is started. */
export interface ServerConfig {
  name: string;
  /** Where it is written, for messages: a file, or the path of an extension. */
  from: string;
  scope: "user" | "project" | "extension";
  isDisabled: boolean;
  /** How long a call may take without a word from the server. */
  timeoutMs: number;
  /** What variables have brought into it, and nobody else shall read. */
  secrets: readonly string[];
  reach: Launch | Endpoint;
}

/** Where relative paths count from, and what `$NAME` stands for. */
export interface ConfigGround {
  cwd: string;
  env: Environment;
  /** Where a server is started that does not say where; `cwd` without it. */
  startFolder?: string;
}

type Fields = Readonly<Record<string, unknown>>;
type Problem = (path: KeyPath, what: string) => undefined;

const DEFAULT_TIMEOUT_MS = 120_000;
const HTTP_TYPES = ["http", "streamable-http", "streamableHttp"];

/** The servers of a file, and what is wrong with the others: each mistake costs one server. */
export function readServers(
  file: ParsedFile,
  scope: "user" | "project",
  ground: ConfigGround,
): { servers: ServerConfig[]; problems: string[] } {
  const problems: string[] = [];
  const problem: Problem = (path, what) => void problems.push(problemAt(file, path, what));
  const { value } = file;
  if (!isPlainObject(value) || !isPlainObject(value.mcpServers)) {
    problem([], 'expected {"mcpServers":{...}}');
    return { servers: [], problems };
  }
  const servers = Object.entries(value.mcpServers).flatMap(([name, given]) => {
    const inServer: Problem = (path, what) => problem(["mcpServers", name, ...path], what);
    return readServer({ name, from: file.name, scope }, given, { ...ground, problem: inServer }) ?? [];
  });
  return { servers, problems };
}

/** One server; undefined when something is wrong with it, which is told. */
export function readServer(
  about: Pick<ServerConfig, "name" | "from" | "scope">,
  given: unknown,
  { cwd, env, startFolder = cwd, problem }: ConfigGround & { problem: Problem },
): ServerConfig | undefined {
  if (about.name.trim() === "") return problem([], "needs a name");
  if (!isPlainObject(given)) return problem([], "must be an object");
  const wrong = Object.entries(CHECKS).find(([field, { fits }]) => given[field] !== undefined && !fits(given[field]));
  if (wrong) return problem([wrong[0]], `must be ${wrong[1].expected}`);
  const { type, command, url, timeout } = given;
  if (type === "sse")
    return problem(["type"], 'is "sse", a transport that is gone: use the "http" address of the server');
  if ((command === undefined) === (url === undefined)) return problem([], 'needs either "command" or "url"');
  const unset = unsetIn(given, env);
  if (unset) return problem(unset.path, `cannot be used: ${unset.missing}`);
  const expand = (text: string): string => text.replace(VARIABLE, (_, name: string) => env[name] ?? "");
  return {
    ...about,
    isDisabled: given.disabled === true || given.enabled === false,
    timeoutMs: (timeout as number | undefined) ?? DEFAULT_TIMEOUT_MS,
    secrets: secretsIn(given, env),
    reach:
      typeof url === "string"
        ? { url: expand(url), headers: textsOf(given.headers) }
        : {
            command: expand(command as string),
            args: ((given.args as string[] | undefined) ?? []).map(expand),
            env: textsOf(given.env),
            cwd: typeof given.cwd === "string" ? resolvePath(expand(given.cwd), cwd, env) : startFolder,
          },
  };
}

const VARIABLE = /\$\{(\w+)\}/g;

/** The variables in `command`, `args`, `cwd` and `url`. */
function variablesIn({ command, args, cwd, url }: Fields): { path: KeyPath; name: string }[] {
  const texts: [KeyPath, unknown][] = [
    [["command"], command],
    [["cwd"], cwd],
    [["url"], url],
    ...((args ?? []) as string[]).map((text, index): [KeyPath, unknown] => [["args", index], text]),
  ];
  return texts.flatMap(([path, text]) =>
    [...String(text ?? "").matchAll(VARIABLE)].map(([, name = ""]) => ({ path, name })),
  );
}

/** Their values, but for paths: those are worth more in an error than hidden. */
function secretsIn(given: Fields, env: Environment): string[] {
  const values = variablesIn(given).map(({ name }) => env[name] ?? "");
  return values.filter((value) => !isAbsolute(value));
}

/** The first value that needs a variable which is not there. */
function unsetIn(given: Fields, env: Environment): { path: KeyPath; missing: string } | undefined {
  for (const { path, name } of variablesIn(given)) {
    if (env[name] === undefined) return { path, missing: `the environment variable ${name} is not set` };
  }
  for (const field of ["env", "headers"]) {
    for (const [name, text] of Object.entries(textsOf(given[field]))) {
      const value = readHeader(text, env);
      if ("missing" in value) return { path: [field, name], missing: value.missing };
    }
  }
  return undefined;
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isTextMap = (value: unknown): boolean =>
  isPlainObject(value) && Object.values(value).every((one) => typeof one === "string");

const CHECKS: Readonly<Record<string, { expected: string; fits(value: unknown): boolean }>> = {
  command: { expected: "the name or path of a program", fits: isText },
  args: {
    expected: "a list of texts",
    fits: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
  },
  env: { expected: "an object of texts", fits: isTextMap },
  cwd: { expected: "the path of a folder", fits: isText },
  url: {
    expected: "an address that begins with http:// or https://",
    fits: (value) => typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value),
  },
  headers: { expected: "an object of texts", fits: isTextMap },
  type: {
    expected: '"stdio" or "http"',
    fits: (value) => ["stdio", "sse", ...HTTP_TYPES].includes(value as string),
  },
  disabled: { expected: "true or false", fits: isBoolean },
  enabled: { expected: "true or false", fits: isBoolean },
  timeout: {
    expected: "a number of milliseconds above 0",
    fits: (value) => typeof value === "number" && value > 0 && Number.isFinite(value),
  },
};

function textsOf(value: unknown): Record<string, string> {
  return { ...(value as Record<string, string> | undefined) };
}

/** The values behind `$NAME`, `${NAME}` and `!command`, and those of them that nobody else shall read. */
export async function expandValues(
  given: Readonly<Record<string, string | undefined>>,
  env: Environment,
  run: RunCommand,
): Promise<{ values: Record<string, string>; secrets: string[] }> {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, text = ""] of Object.entries(given)) {
    const read = readHeader(text, env);
    if ("missing" in read) throw new Error(`${name} cannot be used: ${read.missing}`);
    const value = "value" in read ? read.value : await printed(name, read.command, run);
    // Node's own words would show the value.
    if (value.includes("\0")) throw new Error(`${name} cannot be used: it has a NUL character`);
    values[name] = value;
    if (value !== text) secrets.push(value, ...value.split(/\s+/));
  }
  return { values, secrets };
}

async function printed(name: string, command: string, run: RunCommand): Promise<string> {
  const result = await run(command);
  const value = "output" in result ? result.output.trim() : "";
  if (value !== "") return value;
  throw new Error(
    `the command that gives ${name} failed (${"failure" in result ? result.failure : "it printed nothing"})`,
  );
}
