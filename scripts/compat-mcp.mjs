#!/usr/bin/env node
// The reference servers of the Model Context Protocol, unmodified, with the real program as their client. Installs them
// into a temp folder, writes docs/compatibility-mcp.md, and fails when something does not work. Needs the package
// registry; the models answer from a script.
//
//   node scripts/compat-mcp.mjs                  all of it
//   node scripts/compat-mcp.mjs --with DIR       servers that are installed in DIR/node_modules
//   node scripts/compat-mcp.mjs --only WORD      only rows with WORD in their name; nothing is written
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { checkServers } from "./compat/mcp-servers.mjs";
import { cliPath, ensure, root } from "./ensure.mjs";

const TABLE = join(root, "docs/compatibility-mcp.md");
const SERVERS = ["everything", "filesystem", "memory"].map((name) => `@modelcontextprotocol/server-${name}`);

const say = (text) => process.stderr.write(`${text}\n`);

function argumentFor(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

/** Scripts of packages are not run. */
function install(folder) {
  say(`installing ${SERVERS.join(" ")}`);
  const how = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
  const args = ["install", "--prefix", folder, ...how, ...SERVERS];
  const { status, stderr } = spawnSync("npm", args, { encoding: "utf8", timeout: 600_000 });
  if (status !== 0)
    throw new Error(`npm could not install the servers; the check needs the package registry.\n${stderr}`);
  return folder;
}

function tableOf(rows, modules) {
  const versions = SERVERS.map((name) => {
    const { version } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
    return `\`${name}\` ${version}`;
  });
  const lines = rows.map(({ name, says, problem }) => {
    const seen = (problem?.split("\n")[0].slice(0, 200) ?? says).replaceAll("|", "\\|");
    return `| ${name} | ${problem === undefined ? "works" : "**fails**"} | ${seen} |`;
  });
  return `# MCP servers that others wrote\n\nWritten by \`npm run test:compat -- mcp\`, which installs the reference servers of the Model Context Protocol and lets \`tiller --mode rpc\` use them unmodified, as [mcp.md](mcp.md) says: ${versions.join(", ")}.\n\n| What | Here | Seen |\n|---|---|---|\n${lines.join("\n")}\n`;
}

async function main() {
  const cli = process.env.TILLER_CLI ?? cliPath;
  if (cli === cliPath) ensure();
  const began = performance.now();
  const only = argumentFor("--only");
  const temp = mkdtempSync(join(tmpdir(), "tiller-compat-mcp-"));
  process.on("exit", () => rmSync(temp, { recursive: true, force: true, maxRetries: 3 }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  const modules = join(resolve(argumentFor("--with") ?? install(temp)), "node_modules");
  const onRow = ({ name, problem }) => say(problem === undefined ? `works: ${name}` : `fails: ${name}: ${problem}`);
  const rows = await checkServers({ cli, parent: temp, modules, only, onRow });
  if (only === undefined) writeFileSync(TABLE, tableOf(rows, modules));
  const failed = rows.filter(({ problem }) => problem !== undefined).length;
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`${rows.length} things that MCP servers of others do, ${failed} failed, ${seconds} s\n`);
  process.exitCode = failed > 0 ? 1 : 0;
}

main().catch((error) => {
  say(`compat-mcp: ${error.message}`);
  process.exitCode = 1;
});
