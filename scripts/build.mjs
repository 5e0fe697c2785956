#!/usr/bin/env node
// Bundles the product into packages/coding-agent/dist.
//
// cli.js is one small eager file; every `import()` in the sources becomes a lazy chunk under dist/chunks/. It is
// CommonJS, which Node starts 5 ms faster than an ES module.
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const productDir = join(root, "packages/coding-agent");
const sourceDir = join(productDir, "src");

/** Lazy chunks that a start in RPC mode loads anyway; they count as part of the start path in the printed size. */
const START_ROOTS = ["main.ts", "modes/rpc/rpc-mode.ts"];

const ENTRIES = [
  { source: "cli.ts", name: "cli", chunks: "chunks", format: "cjs", extension: "js" },
  { source: "app.ts", name: "app", chunks: "chunks", format: "cjs", extension: "js" },
];

const COPIES = [
  { from: join(root, "schema/rpc.schema.json"), to: join(productDir, "dist/rpc.schema.json") },
  { from: join(root, "packages/ai/src/models.json"), to: join(productDir, "dist/models.json") },
  { from: join(root, "README.md"), to: join(productDir, "README.md") },
  { from: join(root, "LICENSE"), to: join(productDir, "LICENSE") },
];

/** What every first prompt needs is one file: each further one costs half a millisecond. */
const RUN_MODULES = [
  /coding-agent\/src\/(run-machinery|system-prompt\/build|session\/messages-to-llm|tools\/(limits|specs|create-tools))\.ts$/,
  /packages\/agent\/src\/(agent-loop|assistant-turn|tool-calls|tell)\.ts$/,
  /packages\/ai\/src\/(stream|redact|assemble|cost|partial-json|overflow)\.ts$/,
  /packages\/ai\/src\/apis\/(over-http|history|call-ids|wrapped-text)\.ts$/,
  /packages\/ai\/src\/http\/(?!routes|proxy\.|certificates|bun-fetch|get-json|environment|test-)/,
];

const exists = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );

async function bundle(entry, version, minify) {
  const build = await rolldown({
    input: { [entry.name]: join(sourceDir, entry.source) },
    platform: "node",
    external: [/^node:/],
    transform: { target: "node20.19", define: { __TILLER_VERSION__: JSON.stringify(version) } },
    // Chunks may export what other chunks need of them.
    preserveEntrySignatures: "allow-extension",
    logLevel: "warn",
  });
  const { output } = await build.generate({
    format: entry.format,
    entryFileNames: `[name].${entry.extension}`,
    chunkFileNames: `${entry.chunks}/[name]-[hash].${entry.extension}`,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: "run-machinery", test: (id) => RUN_MODULES.some((file) => file.test(id)) }],
    },
    sourcemap: false,
    minify,
  });
  await build.close();
  return output.filter((file) => file.type === "chunk");
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

/** New files first, stale ones last: a process that starts meanwhile finds all it needs. */
async function writeDist(dist, chunks) {
  for (const chunk of chunks) {
    const path = join(dist, chunk.fileName);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, chunk.code);
  }
  await chmod(join(dist, "cli.js"), 0o755);
  await rm(join(dist, "code-cache"), { recursive: true, force: true });
  await writeFile(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  const fresh = new Set(chunks.map((chunk) => chunk.fileName));
  for (const file of await readdir(dist, { recursive: true, withFileTypes: true })) {
    if (!file.isFile() || !/\.m?js$/.test(file.name)) continue;
    const path = join(file.parentPath ?? file.path, file.name);
    if (!fresh.has(relative(dist, path).split(sep).join("/"))) await rm(path);
  }
}

function startPathOf(chunks) {
  const roots = START_ROOTS.map((name) => join(sourceDir, name));
  const entry = chunks.filter((chunk) => chunk.isEntry);
  const lazyStart = chunks.filter((chunk) => chunk.facadeModuleId && roots.includes(chunk.facadeModuleId));
  return { eager: staticClosure(chunks, entry), start: staticClosure(chunks, [...entry, ...lazyStart]) };
}

/** Builds everything; resolves to the sizes in bytes. `outDir` and `minify` are for measurements. */
export async function build({ outDir = join(productDir, "dist"), minify = { compress: true, mangle: false } } = {}) {
  const { version } = JSON.parse(await readFile(join(productDir, "package.json"), "utf8"));
  const chunks = [];
  for (const entry of ENTRIES) {
    if (await exists(join(sourceDir, entry.source))) chunks.push(...(await bundle(entry, version, minify)));
  }
  if (!chunks.some((chunk) => chunk.fileName === "cli.js")) {
    throw new Error(`nothing to build: ${join(sourceDir, "cli.ts")} does not exist`);
  }
  await writeDist(outDir, chunks);
  for (const copy of COPIES) if (await exists(copy.from)) await copyFile(copy.from, copy.to);
  const { eager, start } = startPathOf(chunks);
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
