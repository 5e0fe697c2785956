#!/usr/bin/env node
// `npm run test:package`: is the packed product a good package? Two tools of others look at it, and every entry is loaded
// with import and with require. Needs the package registry; the tools are 63 packages of 39 MB, so they are no
// dependencies of the project but installed into a temporary folder.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, npm, withPacked } from "./packed.mjs";

const TOOLS = ["publint@0.3.25", "@arethetypeswrong/cli@0.18.5"];

function installTools(folder) {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "tools", private: true }));
  npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", ...TOOLS], folder);
  const program = (name, path) => join(folder, "node_modules", name, path);
  const binOf = (name, bin) => program(name, JSON.parse(readFileSync(program(name, "package.json"), "utf8")).bin[bin]);
  return { publint: binOf("publint", "publint"), attw: binOf("@arethetypeswrong/cli", "attw") };
}

function run(program, args, cwd) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd, encoding: "utf8" });
  check(status === 0, `${program.split("/").at(-1)} ${args.join(" ")} found something:\n${stdout}${stderr}`);
}

/** The names that an entry has, which must be the same for both kinds of programs. */
const NAMES = `const names = (module) => Object.keys(module).filter((name) => !["default", "module.exports", "__esModule"].includes(name)).sort();
const entries = JSON.parse(process.argv[1]);`;
const IMPORTED = `${NAMES}
const all = [];
for (const entry of entries) all.push(names(await import(entry)));
process.stdout.write(JSON.stringify(all));`;
const REQUIRED = `${NAMES}
process.stdout.write(JSON.stringify(entries.map((entry) => names(require(entry)))));`;

function namesFor(kind, program, entries, cwd) {
  const args = [`--input-type=${kind}`, "--eval", program, JSON.stringify(entries)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  check(status === 0, `the entries cannot be loaded by a program of type ${kind}:\n${stderr}`);
  return JSON.parse(stdout);
}

function loadEntries(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, "node_modules/tiller/package.json"), "utf8"));
  const entries = Object.keys(exports).filter((path) => !path.endsWith(".json"));
  const specifiers = entries.map((path) => `tiller${path.slice(1)}`);
  const imported = namesFor("module", IMPORTED, specifiers, folder);
  const required = namesFor("commonjs", REQUIRED, specifiers, folder);
  for (const [i, specifier] of specifiers.entries()) {
    check(imported[i].length > 0, `${specifier} exports nothing`);
    check(imported[i].join() === required[i].join(), `${specifier} has other names for import than for require`);
  }
  return specifiers;
}

withPacked(async ({ folder, user, tarball }) => {
  const entries = loadEntries(user);
  const { publint, attw } = installTools(join(folder, "tools"));
  run(publint, ["run", tarball.file, "--strict"], folder);
  // The resolution of Node 10 knows no "exports"; no Node that we run on has it, and TypeScript has dropped it.
  run(attw, [tarball.file, "--profile", "node16", "--format", "ascii", "--no-emoji"], folder);
  process.stdout.write(
    `${entries.join(", ")}: loaded by import and by require; ${TOOLS.join(" and ")} find nothing; fine\n`,
  );
}).catch((error) => {
  process.stderr.write(`check-package: ${error.message}\n`);
  process.exitCode = 1;
});
