#!/usr/bin/env node
// `npm run bench`: measures the built product against plain Node, the floor agent and its peers.
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensure } from "../scripts/ensure.mjs";
import { chart } from "./chart.mjs";
import { comparison } from "./comparison.mjs";
import { growthChart } from "./growth-chart.mjs";
import { createQuiet } from "./machine.mjs";
import { METRICS, rememberCompiledCode } from "./metrics.mjs";
import { HELP, readOptions, readSizes } from "./options.mjs";
import { installPeers } from "./peers.mjs";
import { startMock } from "./processes.mjs";
import { markdown } from "./report.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/** Before anything is measured: a run takes most of an hour, and would end where one of them is first wanted. */
function requirePrograms(options) {
  const missing = [];
  for (const name of options.only) {
    for (const [program, remedy] of Object.entries(METRICS[name].needs ?? {}))
      if (spawnSync(program, ["--version"]).error)
        missing.push(`${name} needs ${program}, which is not here: ${remedy}`);
  }
  if (missing.length === 0) return;
  process.stderr.write(`${missing.join("\n")}\nOr choose other metrics with --only.\n`);
  process.exit(1);
}

/** The build as it is now: a later one must not change halfway what is measured. */
function freeze(cli, tmp) {
  cpSync(dirname(cli), join(tmp, "dist"), { recursive: true });
  // The package that compiles extensions is found from where the program lies.
  symlinkSync(fileURLToPath(new URL("../node_modules", import.meta.url)), join(tmp, "node_modules"));
  return join(tmp, "dist", basename(cli));
}

function createBench(options, tmp, port) {
  const quiet = createQuiet({ patienceMs: options.quick ? 0 : Number(options.wait ?? 15) * 1000 });
  const nodeCopy = join(tmp, "node");
  return {
    tmp,
    port,
    quick: options.quick,
    sessionSizes: readSizes(options),
    node: process.execPath,
    cli: freeze(options.cli ? resolve(options.cli) : ensure(), tmp),
    floor: resolve(options.floor ?? join(here, "floor-agent.mjs")),
    forgetCompiledCode: () => rmSync(join(tmp, "dist/code-cache"), { recursive: true, force: true }),
    quiet: quiet.wait,
    undisturbed: quiet.undisturbed,
    noise: quiet.describe,
    reps: (usual) => (options.quick ? 1 : Number(options.reps ?? usual)),
    privateNode() {
      if (!existsSync(nodeCopy)) copyFileSync(process.execPath, nodeCopy);
      return nodeCopy;
    },
  };
}

async function measureAll(options) {
  const tmp = mkdtempSync(join(tmpdir(), "tiller-bench-"));
  process.on("exit", () => rmSync(tmp, { recursive: true, force: true }));
  const mock = await startMock();
  const bench = createBench(options, tmp, mock.port);
  await rememberCompiledCode(bench);
  const results = [];
  for (const name of options.only) {
    const { title, measure } = METRICS[name];
    const began = performance.now();
    results.push({ title, rows: await measure(bench) });
    process.stderr.write(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  }
  const peers = options.withPeers ? await measurePeers(bench, options) : undefined;
  await mock.close();
  const facts = [
    ["Date", new Date().toISOString().slice(0, 10)],
    ["Node", process.version],
    ["Processors", `${availableParallelism()}, ${cpus()[0]?.model ?? "unknown"}`],
    ["Noise", bench.noise()],
  ];
  return { report: markdown(facts, results, peers), peers };
}

async function measurePeers(bench, options) {
  const began = performance.now();
  bench.peers = installPeers(options.peers ? resolve(options.peers) : join(bench.tmp, "peers"));
  const compared = await comparison(bench);
  process.stderr.write(`peers: ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
  return compared;
}

const options = readOptions(process.argv.slice(2));
if (options.help) process.stdout.write(HELP);
else {
  requirePrograms(options);
  const { report, peers } = await measureAll(options);
  const out = options.out ?? (options.isWhole ? join(here, "RESULTS.md") : undefined);
  if (out) writeFileSync(out, report);
  else process.stdout.write(report);
  if (options.isWhole && peers) {
    writeFileSync(join(here, "peers.svg"), chart(peers.rows.filter(({ limit }) => limit !== undefined)));
    writeFileSync(join(here, "growth.svg"), growthChart(peers.rows));
  }
}
