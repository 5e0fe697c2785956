#!/usr/bin/env node
// Clients that others wrote drive the real program, unmodified: every method of pi's and omp's RpcClient, and a whole
// conversation of an editor through pi-acp. Installs them into a temp folder, writes docs/compatibility-clients.md, and
// fails when something does not work. Needs the package registry; the models answer from a script.
//
//   node scripts/compat-clients.mjs                  all of it
//   node scripts/compat-clients.mjs --with DIR       installs into DIR, and uses what is installed there already
//   node scripts/compat-clients.mjs --only WORD      only clients, or rows, with WORD in their name; nothing is written
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { checkAcp } from "./compat/clients/acp-client.mjs";
import { checkPiClient } from "./compat/clients/pi-client.mjs";
import { cliPath, ensure, root } from "./ensure.mjs";

const TABLE = join(root, "docs/compatibility-clients.md");
const PI_CLIENT = "dist/modes/rpc/rpc-client.js";

/** Of pi and omp the newest whose dependencies are all in the registry; the first of each is the one of the protocol document. */
const CLIENTS = [
  { title: "RpcClient of pi", name: "@mariozechner/pi-coding-agent", version: "0.73.1", check: piClient },
  { title: "RpcClient of pi", name: "@earendil-works/pi-coding-agent", version: "0.87.1", check: piClient },
  {
    title: "RpcClient of omp",
    name: "@oh-my-pi/pi-coding-agent",
    version: "18.2.3",
    with: ["bun@1.4.4"],
    check: ompClient,
  },
  { title: "pi-acp", name: "pi-acp", version: "0.0.24", check: acpClient },
  { title: "pi-acp", name: "pi-acp", version: "latest", check: acpClient },
];

const say = (text) => process.stderr.write(`${text}\n`);

function argumentFor(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** Scripts of packages are not run, but Bun's, which fetches the program. */
function install(folder, wanted, runsScripts = false) {
  if (existsSync(join(folder, "node_modules"))) return;
  mkdirSync(folder, { recursive: true });
  say(`installing ${wanted}`);
  const how = [
    "--no-save",
    "--no-audit",
    "--no-fund",
    "--legacy-peer-deps",
    ...(runsScripts ? [] : ["--ignore-scripts"]),
  ];
  const args = ["install", "--prefix", folder, ...how, wanted];
  const result = spawnSync("npm", args, { encoding: "utf8", timeout: 600_000 });
  if (result.status === 0) return;
  rmSync(join(folder, "node_modules"), { recursive: true, force: true });
  throw new Error(`npm could not install ${wanted}; the check needs the package registry.\n${result.stderr}`);
}

async function piClient({ package: folder, ...rest }) {
  const { RpcClient } = await import(pathToFileURL(join(folder, PI_CLIENT)).href);
  return checkPiClient({ RpcClient, ...rest });
}

/** That client is TypeScript for Bun, and starts us with Bun, too. */
function ompClient({ package: folder, bin, ...rest }) {
  const client = join(folder, "src/modes/rpc/rpc-client.ts");
  const program = join(root, "scripts/compat/clients/omp-client.mjs");
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  const given = [program, JSON.stringify({ client, ...rest })];
  const { stdout, stderr } = spawnSync(join(bin, "bun"), given, {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 600_000,
  });
  const rows = stdout.trim().split("\n").at(-1);
  if (!rows.startsWith("[")) throw new Error(`the client of omp gave no answer:\n${stderr.slice(-2000)}`);
  return JSON.parse(rows);
}

function acpClient({ package: folder, ...rest }) {
  return checkAcp({ entry: join(folder, "dist/index.js"), ...rest });
}

async function runClient(client, { place, parent, cli, only }) {
  const key = `${client.name}-${client.version}`.replaceAll("/", "-");
  install(join(place, key), `${client.name}@${client.version}`);
  const folder = join(place, key, "node_modules", client.name);
  const bins = (client.with ?? []).map((extra) => {
    install(join(place, extra), extra, true);
    return join(place, extra, "node_modules/.bin");
  });
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  say(`${client.title} ${version}`);
  const isNamed = only === undefined || `${client.title} ${client.version}`.includes(only);
  const rows = await client.check({ package: folder, bin: bins[0], parent, cli, only: isNamed ? undefined : only });
  return { ...client, version, rows };
}

/** What we say of ourselves when something is not built. */
const WAITS = /not available in this version \(not built yet: ([^)]+)\)/;

function stateOf({ problem }) {
  if (problem === undefined) return "works";
  const [, capability] = WAITS.exec(problem) ?? [];
  return capability ? `waits for ${capability}` : "**fails**";
}

const hasFailed = (row) => stateOf(row) === "**fails**";

function tableOf(results) {
  const parts = results.map(({ title, name, version, rows }) => {
    const lines = rows.map((row) => {
      const seen = hasFailed(row) ? row.problem.split("\n")[0].slice(0, 200) : (row.says ?? "");
      return `| ${row.name.startsWith("/") || /^\w+$/.test(row.name) ? `\`${row.name}\`` : row.name} | ${stateOf(row)} | ${seen.replaceAll("|", "\\|")} |`;
    });
    const works = rows.filter((row) => stateOf(row) === "works").length;
    return `## ${title} ${version}\n\n\`${name}\`: ${works} of ${rows.length} work.\n\n| What | Here | Seen |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `# Clients that others wrote\n\nWritten by \`npm run test:compat -- clients\`, which installs each of them and lets it drive \`tiller\` unmodified. Every public method of an \`RpcClient\` is called against a process of its own, in the default dialect and in the client's; pi-acp finds Tiller on the PATH under the name \`pi\`. The client of omp runs under Bun, and starts Tiller with Bun.\n\n${parts.join("\n")}`;
}

async function main() {
  const cli = process.env.TILLER_CLI ?? cliPath;
  if (cli === cliPath) ensure();
  const began = performance.now();
  const only = argumentFor("--only");
  const temp = mkdtempSync(join(tmpdir(), "tiller-compat-clients-"));
  process.on("exit", () => rmSync(temp, { recursive: true, force: true, maxRetries: 3 }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  const place = resolve(argumentFor("--with") ?? join(temp, "clients"));
  const results = [];
  for (const client of CLIENTS) results.push(await runClient(client, { place, parent: temp, cli, only }));
  const failed = results.flatMap(({ title, version, rows }) =>
    rows.filter(hasFailed).map(({ name, problem }) => `${title} ${version}: ${name}: ${problem}`),
  );
  for (const line of failed) say(line);
  if (only === undefined) writeFileSync(TABLE, tableOf(results));
  const count = results.reduce((sum, { rows }) => sum + rows.length, 0);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`${count} things that clients of others do, ${failed.length} failed, ${seconds} s\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

main()
  .catch((error) => {
    say(`compat-clients: ${error.message}`);
    process.exitCode = 1;
  })
  // Clients leave timers behind.
  .finally(() => process.exit());
