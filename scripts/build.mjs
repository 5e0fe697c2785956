#!/usr/bin/env node
// Bundles the product into packages/coding-agent/dist.
//
// cli.js loads app.js, the one eager file; every `import()` in the sources becomes a lazy chunk under dist/chunks/. It is
// CommonJS, which Node starts 5 ms faster than an ES module. What programs import (index.js and the others of LIBRARY)
// is made of the same chunks, with its types beside it (build-types.mjs). client.js is `tiller/client`, which shares no
// file with the agent.
import { createHash } from "node:crypto";
import { chmod, copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { parseAst } from "rolldown/parseAst";
import { buildTypes } from "./build-types.mjs";
import { licencesOf } from "./licences.mjs";
import { writePackageDocs } from "./package-docs.mjs";
import { pagePlugin } from "./page-plugin.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const productDir = join(root, "packages/coding-agent");
const sourceDir = join(productDir, "src");
const dist = join(productDir, "dist");

/** Lazy chunks that a start in RPC mode loads anyway; they count as part of the start path in the printed size. */
const START_ROOTS = ["main.ts", "modes/rpc/rpc-mode.ts"];

const MOST_EAGER_BYTES = 256 * 1024;

/** What other programs import, under the names that package.json exports. */
const LIBRARY = {
  index: "packages/coding-agent/src/index.ts",
  protocol: "packages/protocol/src/index.ts",
  ai: "packages/ai/src/index.ts",
  agent: "packages/agent/src/index.ts",
};

/** A program of its own, for hosts. */
const CLIENT = "packages/coding-agent/src/client/index.ts";

const COPIES = [
  "schema/rpc.schema.json",
  "schema/session.schema.json",
  "schema/settings.schema.json",
  "packages/ai/src/models.json",
];
/** The package has its own copies of these. */
const PACKAGE_COPIES = ["LICENSE"];

/** What every first prompt needs is one file: each further one costs half a millisecond. */
const RUN_MODULES = [
  /coding-agent\/src\/(run-machinery|system-prompt\/build|session\/messages-to-llm|tools\/create-tools)\.ts$/,
  /coding-agent\/src\/(session-(compaction|journal)|session\/(restore|next-step|retry-policy|run-(attempts|compaction)|compaction\/(ask-model|compactor|policy|silent-overflow)|store\/(session-(disk|file|lock)|event-journal|journal-file)))\.ts$/,
  /coding-agent\/src\/(resources|text-or-file|lib\/(repository-top|text-file)|session\/(todos|todo-plan)|prompts\/(arguments|discover|expand|frontmatter|handlebars|places)|skills\/(discover|ignored|skill)|rules\/discover|system-prompt\/(context-files|prompt-files))\.ts$/,
  /packages\/agent\/src\/(agent-loop|assistant-turn|tool-calls|hooked)\.ts$/,
  /packages\/ai\/src\/(stream|redact|spelled-secrets|assemble|cost|partial-json|overflow)\.ts$/,
  /packages\/ai\/src\/apis\/(over-http|wire-history|history|call-ids|wrapped-text|lessons|wire-values)\.ts$/,
  /packages\/ai\/src\/http\/(?!routes|proxy\.|certificates|bun-fetch|get-json|environment|test-)/,
];

/** What a run needs, and others without one. It does nothing when it is loaded, and a file of its own costs a first prompt more. */
const WITH_START = [
  /coding-agent\/src\/(session\/store\/(whole-file|file-errors)|lib\/(make-folder|without-ending|wildcard|wrong-field)|tools\/(limits|specs|ignore-work))\.ts$/,
  /packages\/(protocol\/src\/depth|ai\/src\/(cut-words|plain-names))\.ts$/,
];

/** What whoever opens a session needs is one file beside that. */
const HISTORY_MODULES = [
  /coding-agent\/src\/(join-history|session-(history|blobs)|session\/(adopt-session|handoff|session-(stats|switch|views)|tree-navigation))\.ts$/,
  /coding-agent\/src\/session\/store\/(companions|entry-index|find-session|json-scan|later-(look|repair)|listing|loaded-entries|mend|migrations|open-session|salvage|scan-lines|session-(folders|head|summary)|stand-ins|sub-agent-files|trash)\.ts$/,
];

/** What every start with extensions needs, and nothing without them does, is one file too. */
const EXTENSION_MODULES = [
  /coding-agent\/src\/(load-extensions|session-extensions|compat-host|virtual-models|session-model-registry|entry-drafts)\.ts$/,
  /coding-agent\/src\/extension-(?!ground)[a-z]+\.ts$/,
  /coding-agent\/src\/compat\/(index|light-types|model-context|theme|typebox)\.ts$/,
  /coding-agent\/src\/extensions\/(?!answers)[a-z-]+\.ts$/,
  /coding-agent\/src\/extensions\/guards\/(?!rejections)[a-z-]+\.ts$/,
  /coding-agent\/src\/extensions\/loading\/(?!trust|parse-json|files|transform|runtime-import)[a-z-]+\.ts$/,
  /packages\/ai\/src\/(registered-providers|whole-provider)\.ts$/,
];

/** What such a start needs, and others now and then. */
const EXTENSION_PARTS = [
  /coding-agent\/src\/extensions\/(answers|guards\/rejections|loading\/(trust|parse-json|files))\.ts$/,
  /coding-agent\/src\/lib\/(copies|plain-json|schema-problem|private-file|replace)\.ts$/,
  /coding-agent\/src\/(config\/choices|prompts\/command-list|session\/store\/fork|modes\/rpc\/(ui-bridge|pending-requests))\.ts$/,
];

/** It acts when it is loaded, which it must not for those who only import the library. */
const ACTS_ON_LOAD = "lib/guard-stdout.ts";

/** What every start needs is one file too; the architecture test keeps the list. */
async function startModules() {
  const entries = ["cli.ts", "app.ts", ACTS_ON_LOAD].map((name) => join(sourceDir, name));
  const listed = (await readFile(join(root, "test/eager-modules.txt"), "utf8")).trim().split("\n");
  return new Set(listed.map((path) => join(root, path)).filter((path) => !entries.includes(path)));
}

async function bundle(input, define, minify) {
  // The loader is one small file of its own.
  const start = "app" in input ? await startModules() : new Set();
  const build = await rolldown({
    input,
    platform: "node",
    // The compiler of extensions is a native package of its own, which the product depends on.
    external: [/^node:/, "oxc-transform"],
    transform: { target: "node20.19", define },
    // Chunks may export what other chunks need of them.
    preserveEntrySignatures: "allow-extension",
    plugins: [pagePlugin()],
    logLevel: "warn",
  });
  const { output } = await build.generate({
    format: "cjs",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: "start", test: (id) => start.has(id) || WITH_START.some((file) => file.test(id)) },
        { name: "load-extensions", test: (id) => EXTENSION_MODULES.some((file) => file.test(id)) },
        { name: "extension-parts", test: (id) => EXTENSION_PARTS.some((file) => file.test(id)) },
        { name: "history", test: (id) => HISTORY_MODULES.some((file) => file.test(id)) },
        { name: "run-machinery", test: (id) => RUN_MODULES.some((file) => file.test(id)) },
      ],
    },
    sourcemap: false,
    minify,
  });
  await build.close();
  return output
    .filter((file) => file.type === "chunk")
    .map(asciiOnly)
    .map(plainNamespaces)
    .map(plainExports);
}

/** One character outside Latin-1 would double the memory of the file that it is in, and the time to read it. */
function asciiOnly(file) {
  if (/\\[\u0080-\uffff]/.test(file.code))
    throw new Error(`${file.fileName}: a backslash before a character that is not ASCII`);
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return { ...file, code: file.code.replace(/[\u0080-\uffff]/g, escaped) };
}

const GETTER = /^Object\.defineProperty\(exports,"([\w$]+)",\{enumerable:!0,get:function\(\)\{return ?([^{}]+)\}\}\)$/;

/**
 * The bundler exports everything through getters, which cost each start a function and each use a call. Where nothing that is
 * exported is ever assigned to, all of it is one plain object.
 */
function plainExports(file) {
  const { code } = file;
  const { body } = parseAst(code);
  const last = body.at(-1)?.expression;
  const parts = (last?.expressions ?? [last ?? { start: 0, end: 0 }]).map(({ start, end }) => code.slice(start, end));
  const exported = parts.flatMap((part) => GETTER.exec(part)?.slice(1, 3).join(":") ?? []);
  const others = parts.filter((part) => !GETTER.test(part));
  const rest = [code.slice(0, body.at(-1)?.start), others.join(",")].join("");
  const [assigned, fixed] = [assignedNames(body), new Set(body.flatMap(fixedNames))];
  const changes = exported.map((pair) => pair.split(":")[1]).some((name) => assigned.has(name) && !fixed.has(name));
  if (exported.length === 0 || changes || /\bexports\b/.test(rest)) return file;
  return { ...file, code: `${rest}\nmodule.exports={${exported.join(",")}};\n` };
}

const RUNTIME = /\brequire_rolldown_runtime\b/;
const NAMESPACE = /(?:\/\* @__PURE__ \*\/ )?require_rolldown_runtime\.\w+\(\{((?:[\w$]+:\(\)=>[\w$]+,?)+)\}\)/g;
const RUNTIME_IMPORT = /\bconst require_rolldown_runtime=require\("[^"]+"\)(?:,|;)/;

/**
 * What a lazy import gets of a module that shares its file with others is made by a helper of the bundler's, in a file of
 * its own. As a plain object it needs neither.
 */
function plainNamespaces(file) {
  const functions = new Set(
    parseAst(file.code)
      .body.filter(isFunction)
      .map(({ id }) => id.name),
  );
  const member = (pair) => {
    const [name, value] = pair.split(":()=>");
    return functions.has(value) ? `${name}:${value}` : `get ${name}(){return ${value}}`;
  };
  const plain = file.code.replace(NAMESPACE, (_, pairs) => `{${pairs.split(",").map(member).join(",")}}`);
  const code = plain.replace(RUNTIME_IMPORT, (found) => (found.endsWith(",") ? "const " : ""));
  if (RUNTIME.test(code)) return { ...file, code: plain };
  return { ...file, code, imports: file.imports.filter((name) => !name.includes("rolldown-runtime")) };
}

/**
 * An uncaught error makes Node print the line that threw. Of what other programs import that shall not be the whole file, so
 * each statement and each method gets a line of its own.
 */
function readableEntry(file) {
  if (!Object.hasOwn(LIBRARY, file.name) || !file.isEntry) return file;
  const breaks = [...new Set(statementStarts(parseAst(file.code)))].toSorted((a, b) => a - b);
  const lines = breaks.map((start, index) => file.code.slice(start, breaks[index + 1]));
  return { ...file, code: [file.code.slice(0, breaks[0]), ...lines].join("\n") };
}

function statementStarts(node) {
  const own = Array.isArray(node.body) ? node.body.map(({ start }) => start) : [];
  const inner = Object.values(node).filter((child) => child && typeof child === "object");
  return [...own, ...inner.flatMap(statementStarts)];
}

const isFunction = ({ type }) => type === "FunctionDeclaration";

/** What of the top level cannot be assigned to; elsewhere something else may have the same name. */
function fixedNames({ type, kind, id, declarations }) {
  if (isFunction({ type })) return [id.name];
  return type === "VariableDeclaration" && kind === "const" ? declarations.map((each) => each.id.name) : [];
}

function assignedNames(node, names = new Set()) {
  if (node.type === "AssignmentExpression") names.add(node.left.name);
  if (node.type === "UpdateExpression") names.add(node.argument.name);
  for (const child of Object.values(node)) if (child && typeof child === "object") assignedNames(child, names);
  return names;
}

function buildId(chunks) {
  const hash = createHash("sha256");
  for (const { fileName, code } of chunks) hash.update(`${fileName}\n${code}`);
  return hash.digest("hex").slice(0, 12);
}

/** Chunks that need each other would find each other half loaded. */
function refuseCircles(chunks) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const visit = (name, path) => {
    if (path.includes(name)) throw new Error(`chunks import each other: ${[...path, name].join(" -> ")}`);
    for (const next of byName.get(name)?.imports ?? []) visit(next, [...path, name]);
  };
  for (const { fileName } of chunks) visit(fileName, []);
}

/** The files that are loaded with `start`, following static imports only. */
function staticClosure(chunks, start) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const seen = new Set();
  const todo = [...start];
  for (let chunk = todo.pop(); chunk; chunk = todo.pop()) {
    if (seen.has(chunk)) continue;
    seen.add(chunk);
    for (const name of chunk.imports) if (byName.has(name)) todo.push(byName.get(name));
  }
  return [...seen];
}

const sizeOf = (chunks) => chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk.code), 0);
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;

/** The stories that `tiller transcript run` plays by itself, as one file: all but those that need the extensions beside them. */
async function shippedStories() {
  const folder = join(root, "test/transcripts");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".rpc.txt")).sort();
  const texts = await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]));
  return JSON.stringify(Object.fromEntries(texts.filter(([, text]) => !/^extension /m.test(text))));
}

/** New files first, stale ones last: a process that starts meanwhile finds all it needs. */
async function writeDist(outDir, chunks) {
  for (const chunk of chunks) {
    const path = join(outDir, chunk.fileName);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, chunk.code);
  }
  await chmod(join(outDir, "cli.js"), 0o755);
  await rm(join(outDir, "code-cache"), { recursive: true, force: true });
  await writeFile(join(outDir, "package.json"), '{ "type": "commonjs" }\n');
  const fresh = new Set(chunks.map((chunk) => chunk.fileName));
  for (const file of await readdir(outDir, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || !/\.m?js$/.test(file.name)) continue;
    const path = join(file.parentPath ?? file.path, file.name);
    if (!fresh.has(relative(outDir, path).split(sep).join("/"))) await rm(path);
  }
}

function startPathOf(chunks) {
  const roots = START_ROOTS.map((name) => join(sourceDir, name));
  const entry = chunks.filter((chunk) => chunk.isEntry && ["cli", "app"].includes(chunk.name));
  const lazyStart = chunks.filter((chunk) => chunk.facadeModuleId && roots.includes(chunk.facadeModuleId));
  return { eager: staticClosure(chunks, entry), start: staticClosure(chunks, [...entry, ...lazyStart]) };
}

/** Builds everything; resolves to the sizes in bytes. `outDir` and `minify` are for measurements. */
export async function build({ outDir = dist, minify = { compress: true, mangle: false } } = {}) {
  const { version } = JSON.parse(await readFile(join(productDir, "package.json"), "utf8"));
  const library = Object.entries(LIBRARY).map(([name, path]) => [name, join(root, path)]);
  const input = { app: join(sourceDir, "app.ts"), ...Object.fromEntries(library) };
  const app = await bundle(input, { __TILLER_VERSION__: JSON.stringify(version) }, minify);
  // The loader is told which build it belongs to: compiled code of another one is of no use to it.
  const cli = await bundle(
    { cli: join(sourceDir, "cli.ts") },
    { __TILLER_BUILD__: JSON.stringify(buildId(app)) },
    minify,
  );
  const chunks = [...cli, ...app];
  // Bundled by itself: it shares no file with the agent. Node shows the line that threw, so its lines stay lines.
  const client = await bundle({ client: join(root, CLIENT) }, {}, false);
  refuseCircles(chunks);
  await writeDist(outDir, [...chunks.map(readableEntry), ...client]);
  for (const file of COPIES) await copyFile(join(root, file), join(outDir, basename(file)));
  await writeFile(join(outDir, "transcripts.json"), await shippedStories());
  if (outDir === dist) {
    for (const file of PACKAGE_COPIES) await copyFile(join(root, file), join(productDir, file));
    await writePackageDocs(root, productDir);
    await writeFile(join(productDir, "THIRD-PARTY-LICENSES.md"), await licencesOf([...chunks, ...client]));
  }
  await buildTypes({ root, entries: [...Object.values(LIBRARY), CLIENT], outDir: join(outDir, "types") });
  const { eager, start } = startPathOf(chunks);
  // Reading it is most of a start: what is not needed for the first answer belongs behind an `import()`.
  if (sizeOf(eager) > MOST_EAGER_BYTES)
    throw new Error(`${kb(sizeOf(eager))} are eager, at most ${kb(MOST_EAGER_BYTES)}`);
  return {
    eagerBytes: sizeOf(eager),
    eagerFiles: eager.length,
    startBytes: sizeOf(start),
    startFiles: start.length,
    totalBytes: sizeOf(chunks),
    totalFiles: chunks.length,
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const began = performance.now();
  const sizes = await build();
  const ms = Math.round(performance.now() - began);
  process.stderr.write(
    `built in ${ms} ms: eager ${kb(sizes.eagerBytes)} in ${sizes.eagerFiles} file(s), ` +
      `RPC start ${kb(sizes.startBytes)} in ${sizes.startFiles}, all ${kb(sizes.totalBytes)} in ${sizes.totalFiles}\n`,
  );
}
