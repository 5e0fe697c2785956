import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Frame } from "../support/frame.ts";
import { cliPath, RpcProcess } from "../support/rpc-process.ts";
import { inputLine } from "./input-lines.ts";
import { answerKey, expectedAnswers } from "./line-oracle.ts";
import { createLots } from "./lots.ts";

/** Very many lines for real processes, some thousand for each, in pieces behind each of which everything must be answered. */

const LINES_PER_PROCESS = 20_000;
const LINES_PER_PIECE = 1000;
const SIDE_BY_SIDE = 2;
const PATIENCE_MS = 60_000;
const NOBODY = 65534;

export interface Played {
  lines: number;
  answers: number;
  processes: number;
}

export async function playLines(runs: number, seed: number, commands: ReadonlySet<string>): Promise<Played> {
  const total: Played = { lines: 0, answers: 0, processes: 0 };
  const home = mkdtempSync(join(tmpdir(), "tiller-fuzz-"));
  const cli = asNobody(home);
  const chunks = Array.from({ length: Math.ceil(runs / LINES_PER_PROCESS) }, (_, n) => n).values();
  const worker = async (): Promise<void> => {
    for (const chunk of chunks) {
      const count = Math.min(LINES_PER_PROCESS, runs - chunk * LINES_PER_PROCESS);
      // In two steps: what is added to must not be read before the wait.
      const answers = await playChunk(cli, count, seed * 10_007 + chunk, commands);
      total.answers += answers;
      total.lines += count;
      total.processes += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  return total;
}

/** Whatever a line may happen to ask for, it shall not be asked of somebody who may do everything. */
function asNobody(home: string): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  chmodSync(home, 0o755);
  const dist = join(home, "dist");
  cpSync(dirname(cliPath()), dist, { recursive: true });
  const path = join(home, "as-nobody.mjs");
  writeFileSync(
    path,
    `import fs from "node:fs";
    import { join } from "node:path";
    import { spawn } from "node:child_process";
    const root = join(process.env.TILLER_DIR, "..");
    fs.chmodSync(root, 0o755);
    for (const path of [root, ...fs.readdirSync(root, { recursive: true }).map((path) => join(root, path))])
      fs.chownSync(path, ${NOBODY}, ${NOBODY});
    const child = spawn(process.execPath, [${JSON.stringify(join(dist, "cli.js"))}, ...process.argv.slice(2)],
      { stdio: "inherit", uid: ${NOBODY}, gid: ${NOBODY} });
    child.on("exit", (code) => { process.exitCode = code ?? 1; });`,
  );
  return path;
}

async function playChunk(cli: string | undefined, count: number, seed: number, commands: ReadonlySet<string>) {
  const lots = createLots(seed);
  const rpc = new RpcProcess({
    cli,
    script: Array<string>(3000).fill('text "ok"'),
    args: ["--set", "retry.baseDelayMs=1", ...(lots.oneIn(2) ? ["--no-session"] : [])],
    // Which answers there must be is counted here; the harness would not know what was asked by half a command.
    check: { grammar: false, schema: lots.oneIn(10) },
  });
  const open = new Map<string, number>();
  let seen = 0;
  let answers = 0;
  const settle = (): boolean => {
    for (; seen < rpc.frames.length; seen++) answers += take(rpc.frames[seen] as Frame, open);
    return [...open.values()].every((left) => left <= 0);
  };
  try {
    for (let n = 0; n < count; n += LINES_PER_PIECE) {
      const lines = Array.from({ length: Math.min(LINES_PER_PIECE, count - n) }, (_, i) => inputLine(lots, n + i));
      for (const [i, line] of lines.entries()) {
        for (const key of expectedAnswers(line, commands, n + i === 0)) open.set(key, (open.get(key) ?? 0) + 1);
      }
      rpc.send(Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")])));
      await rpc.waitFor(settle, { since: rpc.mark(), timeoutMs: PATIENCE_MS }).catch((error: Error) => {
        if (settle()) return;
        const missing = [...open].filter(([, left]) => left > 0).map(([key, left]) => `${left} x ${key}`);
        throw new Error(`seed ${seed}, lines up to ${n}: no answer for ${missing.slice(0, 5)}\n${error.message}`);
      });
      const extra = [...open].find(([, left]) => left < 0);
      if (extra) throw new Error(`seed ${seed}, lines up to ${n}: ${-extra[1]} answers too many for ${extra[0]}`);
    }
  } finally {
    await rpc.dispose(20_000);
  }
  return answers;
}

/**
 * More than one answer, or one that need not be: a prompt that was accepted may fail late, and say so under its id once more;
 * what the host says of its tools and URLs is refused when it is of no use to anybody.
 */
const MAY_BE_REFUSED = /^(prompt|abort_and_prompt|host_tool_result|host_tool_update|host_uri_result) /;

function take({ type, command, id, success }: Frame, open: Map<string, number>): number {
  if (type !== "response") return 0;
  const key = answerKey(command, id);
  const left = (open.get(key) ?? 0) - 1;
  if (left < 0 && success === false && MAY_BE_REFUSED.test(key)) return 1;
  open.set(key, left);
  return 1;
}
