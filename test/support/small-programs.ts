import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Small programs in processes of their own, with some of our sources as modules beside them. */

const SOURCES = {
  watchdog: "extensions/guards/watchdog.ts",
  "guard-process": "extensions/guards/guard-process.ts",
  "guard-streams": "extensions/guards/guard-streams.ts",
  "run-process": "exec/run-process.ts",
};

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Program {
  child: ChildProcess;
  done: Promise<Finished>;
  /** Resolves when the text has been on stderr. */
  said(text: string): Promise<void>;
}

export async function createPrograms() {
  const folder = mkdtempSync(join(tmpdir(), "tiller-guards-"));
  const running = new Set<ChildProcess>();
  const input = Object.fromEntries(
    Object.entries(SOURCES).map(([name, path]) => [
      name,
      fileURLToPath(new URL(`../../packages/coding-agent/src/${path}`, import.meta.url)),
    ]),
  );
  const bundle = await rolldown({ input, platform: "node", external: [/^node:/], logLevel: "warn" });
  // As in the product: the text of the watching thread must survive what the build does to it.
  await bundle.write({ dir: folder, format: "cjs", minify: { compress: true, mangle: false } });
  await bundle.close();

  return {
    folder,
    start(name: string, text: string, stdin = ""): Program {
      const file = join(folder, name);
      writeFileSync(file, text);
      const child = spawn(process.execPath, [file], { stdio: "pipe", cwd: folder });
      running.add(child);
      child.stdin.on("error", () => undefined);
      child.stdin.end(stdin);
      const out = { stdout: "", stderr: "" };
      child.stdout.on("data", (chunk) => {
        out.stdout += chunk;
      });
      child.stderr.on("data", (chunk) => {
        out.stderr += chunk;
      });
      const done = new Promise<Finished>((resolve, reject) => {
        child.on("error", reject);
        child.on("close", (code, signal) => {
          running.delete(child);
          resolve({ code, signal, ...out });
        });
      });
      const said = (wanted: string): Promise<void> =>
        new Promise((resolve) => {
          const look = () => out.stderr.includes(wanted) && resolve();
          child.stderr.on("data", look);
          look();
        });
      return { child, done, said };
    },
    dispose() {
      for (const child of running) child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
