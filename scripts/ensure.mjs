#!/usr/bin/env node
// Makes a fresh clone usable: installs the pinned dependencies and builds, each only when needed, and says so.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const cliPath = join(root, "packages/coding-agent/dist/cli.js");

const lockFile = join(root, "package-lock.json");
const installedLock = join(root, "node_modules/.package-lock.json");
const stampFile = join(root, "node_modules/.installed-lock-sha256");

const say = (text) => process.stderr.write(`${text}\n`);
const mtime = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);
const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Why an install is needed, or undefined. A lock file that only got a new date (a checkout) is not a reason. */
export function installReason() {
  if (!existsSync(installedLock)) return "node_modules is missing";
  if (mtime(installedLock) >= mtime(lockFile)) return undefined;
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === lockHash()) return undefined;
  return "package-lock.json is newer than node_modules";
}

function lockHash() {
  return createHash("sha256").update(readFileSync(lockFile)).digest("hex");
}

function run(what, command, args) {
  // Installing and building are remarks, not results: both go to stderr, so that stdout stays with the caller.
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (result.status !== 0) throw new Error(`${what} failed (${result.error?.message ?? `exit code ${result.status}`})`);
}

export function ensureInstalled() {
  const reason = installReason();
  if (!reason) return false;
  const began = performance.now();
  say(`${reason}: running npm ci`);
  run("npm ci", "npm", ["ci", "--no-audit", "--no-fund"]);
  writeFileSync(stampFile, lockHash());
  say(`dependencies installed in ${seconds(began)}`);
  return true;
}

/** Everything whose change makes the bundle stale. Tests and generated Markdown do not. */
function sourceFiles() {
  const files = [
    join(root, "scripts/build.mjs"),
    join(root, "scripts/build-types.mjs"),
    join(root, "scripts/licences.mjs"),
    join(root, "schema/rpc.schema.json"),
    lockFile,
  ];
  for (const name of readdirSync(join(root, "packages"))) {
    files.push(join(root, "packages", name, "package.json"));
    const source = join(root, "packages", name, "src");
    if (!existsSync(source)) continue;
    for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && !entry.name.endsWith(".test.ts"))
        files.push(join(entry.parentPath ?? entry.path, entry.name));
    }
  }
  return files;
}

export function buildReason() {
  const built = mtime(cliPath);
  if (built === 0) return "dist/cli.js is missing";
  const newer = sourceFiles().find((path) => mtime(path) > built);
  return newer && `${newer.slice(root.length + 1)} is newer than dist/cli.js`;
}

export function ensureBuilt() {
  const reason = buildReason();
  if (!reason) return false;
  say(`${reason}: building`);
  run("the build", process.execPath, [join(root, "scripts/build.mjs")]);
  return true;
}

/** Installs and builds if needed; returns the path of the CLI. */
export function ensure() {
  ensureInstalled();
  ensureBuilt();
  return cliPath;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  try {
    ensure();
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
