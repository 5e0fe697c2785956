#!/usr/bin/env node
// Extensions that others wrote, run by the real program: the examples of two versions of pi, and packages from the
// registry. Installs them into a temp folder, runs test/compat, writes docs/compatibility-extensions.md, and fails when
// one that passed before does not pass any more. Needs the package registry; models answer on loopback.
//
//   node scripts/compat-extensions.mjs                    all of it
//   node scripts/compat-extensions.mjs --pi DIR           a pi that is installed in DIR/node_modules; may be repeated
//   node scripts/compat-extensions.mjs --packages DIR     packages that are installed in DIR/node_modules
//   node scripts/compat-extensions.mjs --only WORD        only those with WORD in their name; nothing is written
//   node scripts/compat-extensions.mjs --pin              those that pass are to pass from now on
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startVitest } from "vitest/node";
import { cliPath, ensure, root } from "./ensure.mjs";

/** The second is the newest whose dependencies are all in the registry. */
const PIS = [
  { name: "@mariozechner/pi-coding-agent", version: "0.73.1" },
  { name: "@earendil-works/pi-coding-agent", version: "0.87.1" },
];
const EXAMPLES = "examples/extensions";
/** Not installed: they need what is not here anyway. Something of ours stands in for them, in test/compat/stand-ins. */
const STOOD_IN_FOR = { "@earendil-works/gondolin": "gondolin" };

const PINNED = join(root, "test/compat/pinned.json");
const TABLE = join(root, "docs/compatibility-extensions.md");

const say = (text) => process.stderr.write(`${text}\n`);

/** Scripts of packages are never run, and what they want of their host is what we offer in its place. */
function install(folder, wanted) {
  mkdirSync(folder, { recursive: true });
  const how = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=peer", "--legacy-peer-deps"];
  say(`installing ${wanted.join(" ")}`);
  const args = ["install", "--prefix", folder, ...how, ...wanted];
  const result = spawnSync("npm", args, { encoding: "utf8", timeout: 600_000 });
  if (result.status === 0) return;
  throw new Error(`npm could not install ${wanted.join(" ")}; the check needs the package registry.\n${result.stderr}`);
}

function versionIn(folder, { name }) {
  const file = join(folder, "node_modules", name, "package.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : undefined;
}

/** Only the examples are taken, so that an import of pi finds our modules and nothing else. */
function takeExamples(temp, given) {
  const places = [];
  for (const pi of PIS) {
    let source = given.find((folder) => versionIn(folder, pi) === pi.version);
    if (source === undefined && given.length > 0) continue;
    if (source === undefined) {
      source = join(temp, `pi-${pi.version}`);
      install(source, [`${pi.name}@${pi.version}`]);
    }
    const folder = join(temp, "examples", pi.version);
    cpSync(join(source, "node_modules", pi.name, EXAMPLES), folder, { recursive: true });
    places.push({ title: `pi ${pi.version}`, folder });
  }
  if (places.length === 0) throw new Error(`none of ${given.join(", ")} has one of ${PIS.map(({ name }) => name)}`);
  return places;
}

/** What the package.json files of examples ask for, into the folder above all of them. */
function installDependencies(temp, places) {
  const wanted = new Map();
  for (const { folder } of places) {
    for (const name of readdirSync(folder)) {
      const file = join(folder, name, "package.json");
      const { dependencies = {} } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
      for (const [dependency, range] of Object.entries(dependencies)) wanted.set(dependency, `${dependency}@${range}`);
    }
  }
  for (const name of Object.keys(STOOD_IN_FOR)) wanted.delete(name);
  install(join(temp, "examples"), [...wanted.values()]);
  for (const [name, folder] of Object.entries(STOOD_IN_FOR)) {
    const target = join(temp, "examples/node_modules", name);
    cpSync(join(root, "test/compat/stand-ins", folder), target, { recursive: true });
  }
}

function argumentsFor(name) {
  return process.argv.flatMap((word, i) => (word === name ? [process.argv[i + 1]] : []));
}

/** The names of packages are the keys of the table of checks. */
function packageNames() {
  const text = readFileSync(join(root, "test/compat/packages.ts"), "utf8");
  return [...text.matchAll(/^ {2}"([^"]+@\d[^"]*)": \w+\(/gm)].map(([, name]) => name);
}

async function runChecks(place, resultsFile, only) {
  Object.assign(process.env, { COMPAT_PLACE: JSON.stringify(place), COMPAT_RESULTS: resultsFile });
  const options = {
    root,
    config: false,
    watch: false,
    include: ["test/compat/**/*.compat.ts"],
    testNamePattern: only,
    pool: "threads",
  };
  const { version } = JSON.parse(readFileSync(join(root, "packages/coding-agent/package.json"), "utf8"));
  const define = { __TILLER_VERSION__: JSON.stringify(version) };
  const vitest = await startVitest("test", ["test/compat"], options, { define });
  await vitest.close();
  return JSON.parse(readFileSync(resultsFile, "utf8"));
}

const WORDS = { check: "works", part: "works in part", terminal: "loads; needs a terminal" };

function tableOf(results) {
  const groups = Map.groupBy ? Map.groupBy(results, ({ group }) => group) : grouped(results);
  const parts = [...groups].map(([group, rows]) => {
    const lines = rows.map(({ name, kind, says, passed }) => {
      const cells = [`\`${name}\``, passed ? WORDS[kind] : "**fails**", says.replaceAll("|", "\\|")];
      return `| ${cells.join(" | ")} |`;
    });
    const counts = Object.keys(WORDS).map((kind) => [rows.filter((row) => row.kind === kind).length, WORDS[kind]]);
    const sum = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
    const title = group === "packages" ? "Packages from the registry" : `The examples of ${group}`;
    return `## ${title}\n\n${sum.join(", ")}.\n\n| Extension | Here | What is seen |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `# Extensions that others wrote\n\nWritten by \`npm run test:compat -- extensions\`, which loads each of them unmodified in \`tiller --mode rpc\` and looks at what it does. Those that need a terminal load without an error, and the host is told by a notice what it cannot have.\n\n${parts.join("\n")}`;
}

function grouped(results) {
  const groups = new Map();
  for (const result of results) groups.set(result.group, [...(groups.get(result.group) ?? []), result]);
  return groups;
}

const labelOf = ({ group, name }) => `${group}: ${name}`;

/** How much of an extension is seen to work. */
const RANK = ["terminal", "part", "check"];

/** The list may only grow, and an extension may only rise in it. */
function compareWithPinned(results, groups, isPinning) {
  const pinned = existsSync(PINNED) ? JSON.parse(readFileSync(PINNED, "utf8")) : {};
  const passed = results.filter((result) => result.passed && RANK.includes(result.kind));
  const now = Object.fromEntries(passed.map((result) => [labelOf(result), result.kind]));
  const isBelow = ([label, kind]) => RANK.indexOf(now[label]) < RANK.indexOf(kind);
  const missing = Object.entries(pinned).filter((pin) => groups.has(pin[0].split(":")[0]) && isBelow(pin));
  for (const label of Object.keys(now)) {
    if (!isPinning && pinned[label] !== now[label])
      say(`passes and is not pinned yet (--pin): ${label}, ${now[label]}`);
  }
  const all = Object.entries({ ...pinned, ...(missing.length === 0 && now) }).sort(([a], [b]) => (a < b ? -1 : 1));
  if (isPinning) writeFileSync(PINNED, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
  return missing.map(([label, kind]) => `${label}, ${kind}`);
}

async function main() {
  if (process.env.TILLER_CLI === undefined || process.env.TILLER_CLI === cliPath) ensure();
  const began = performance.now();
  const [only] = argumentsFor("--only");
  const temp = mkdtempSync(join(tmpdir(), "tiller-compat-extensions-"));
  process.on("exit", () => rmSync(temp, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  const examples = takeExamples(temp, argumentsFor("--pi"));
  installDependencies(temp, examples);
  let [packages] = argumentsFor("--packages");
  if (packages === undefined) {
    packages = join(temp, "packages");
    install(packages, packageNames());
  }
  const results = await runChecks({ examples, packages }, join(temp, "results.json"), only);
  if (only !== undefined) return;
  const groups = new Set([...examples.map(({ title }) => title), "packages"]);
  const isWhole = groups.size === PIS.length + 1;
  const missing = compareWithPinned(results, groups, process.argv.includes("--pin"));
  if (isWhole) writeFileSync(TABLE, tableOf(results));
  const failed = results.filter(({ passed }) => !passed);
  for (const label of missing) say(`passed before, and does not now: ${label}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`${results.length} extensions of others, ${failed.length} failed, ${seconds} s\n`);
  if (missing.length > 0 || failed.length > 0) process.exitCode = 1;
}

main().catch((error) => {
  say(`compat-extensions: ${error.message}`);
  process.exitCode = 1;
});
