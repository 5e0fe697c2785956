// What a user gets: the packed product, installed into an empty folder. Shared by the checks that look at it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensure, root } from "./ensure.mjs";

const productDir = join(root, "packages/coding-agent");

export function check(truth, sentence) {
  if (!truth) throw new Error(sentence);
}

export function npm(args, cwd) {
  const result = spawnSync("npm", args, { cwd, encoding: "utf8", shell: process.platform === "win32" });
  check(result.status === 0, `npm ${args.join(" ")} failed:\n${result.stderr}${result.stdout}`);
  return result.stdout;
}

export function pack(destination) {
  const [packed] = JSON.parse(
    npm(["pack", "--json", "--ignore-scripts", "--pack-destination", destination], productDir),
  );
  const paths = packed.files.map((file) => file.path);
  for (const wanted of [
    "package.json",
    "README.md",
    "LICENSE",
    "SECURITY.md",
    "THIRD-PARTY-LICENSES.md",
    "dist/cli.js",
    "dist/index.js",
    "dist/client.js",
    "dist/rpc.schema.json",
  ]) {
    check(paths.includes(wanted), `the tarball lacks ${wanted}; it has ${paths.join(", ")}`);
  }
  const stray = paths.find((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"));
  check(!stray, `the tarball contains source: ${stray}`);
  return { file: join(destination, packed.filename), size: packed.size, count: paths.length };
}

export function install(tarball, folder) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true }));
  npm(["install", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", tarball], folder);
  const bin = join(folder, "node_modules/.bin/tiller");
  check((statSync(bin).mode & 0o100) !== 0, `${bin} is not executable`);
  return bin;
}

/** Packs and installs, hands over what is there, and removes it all. */
export async function withPacked(use) {
  ensure();
  const folder = mkdtempSync(join(tmpdir(), "tiller-pack-"));
  try {
    const tarball = pack(folder);
    const user = join(folder, "user");
    mkdirSync(user);
    return await use({ folder, user, tarball, bin: install(tarball.file, user) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
