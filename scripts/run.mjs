// Runs a TypeScript script on plain Node: `node scripts/run.mjs scripts/generate.ts --check`.
// Our own files are bundled into one module under node_modules/.cache; packages stay imports. The script runs with the
// repository root as working directory.
import { mkdirSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { pagePlugin } from "./page-plugin.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const [script, ...args] = process.argv.slice(2);
if (script === undefined) {
  process.stderr.write("usage: node scripts/run.mjs SCRIPT.ts [arguments]\n");
  process.exit(2);
}

const entry = resolve(script);
const folder = join(root, "node_modules", ".cache", "tiller-scripts", `${basename(entry, ".ts")}-${process.pid}`);
const isOurs = (id) => id.startsWith(".") || id.startsWith("/") || id.startsWith("@tiller/");

mkdirSync(folder, { recursive: true });
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const bundle = await rolldown({
  input: entry,
  platform: "node",
  external: (id, importer) => importer !== undefined && !isOurs(id),
  plugins: [pagePlugin()],
  logLevel: "warn",
});
const { output } = await bundle.write({
  dir: folder,
  format: "esm",
  entryFileNames: "[name].mjs",
  sourcemap: "inline",
});
await bundle.close();

process.argv = [process.argv[0], entry, ...args];
process.chdir(root);
await import(pathToFileURL(join(folder, output[0].fileName)).href);
