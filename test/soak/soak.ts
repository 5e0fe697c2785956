import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLots } from "../fuzz/lots.ts";
import { fourFamilies } from "../support/four-families.ts";
import { type MockLlm, startMockLlm } from "../support/mock-llm.ts";
import { RpcProcess, repoRoot } from "../support/rpc-process.ts";
import { anyReply, keepBusy } from "./load.ts";
import { type Level, riseOf, type Sample } from "./trend.ts";

/** Many agents at once for some minutes. Memory stays level, descriptors come back, nothing is left. */

export interface SoakOptions {
  agents: number;
  durationMs: number;
  seed: number;
}

export interface SoakReport {
  actions: number;
  kills: number;
  /** Of those that meet faults within, and of those that do not: one half could hide what the other gains. */
  memoryMb: { frail: Level; plain: Level };
  /** Of an agent: the most above those that it had when it was warm. */
  moreDescriptors: number;
  problems: string[];
}

/** Part of the time before memory counts: code is compiled, heaps find their size. */
const WARM_UP = 0.4;
const SAMPLE_MS = 1000;
/** One in so many is killed again and again. */
const KILLED = 5;
const ARGS = ["retry.baseDelayMs=5", "retry.provider.idleTimeoutMs=400", "compaction.keepRecentTokens=100"];

/** What a frail agent has beside the others: a disk that may fail, and an extension that may misbehave. */
const FRAIL_ARGS = [
  ...["-e", join(repoRoot, "test/fixtures/extensions/run/moody.ts")],
  ...["--set", "extensionLimits.hookMs=300"],
];
const frailEnv = (props: string, n: number): Record<string, string> => ({
  NODE_OPTIONS: `--require=${join(repoRoot, "test/faults/bad-disk.cjs")}`,
  TILLER_TEST_DISK: join(props, `disk-${n}`),
  EXTENSION_MOOD: join(props, `mood-${n}`),
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function start(llm: MockLlm, n: number, props?: string): RpcProcess {
  const provider = ["mock", "mock-openai-completions", "mock-openai-responses", "mock-google-generative-ai"][n % 4];
  return new RpcProcess({
    agentFiles: { "models.json": fourFamilies(llm) },
    files: { "a.txt": "A\n" },
    args: [
      ...["--model", `${provider}/mock-1`, ...ARGS.flatMap((setting) => ["--set", setting])],
      ...(props === undefined ? [] : FRAIL_ARGS),
    ],
    env: props === undefined ? {} : frailEnv(props, n),
    check: { schema: false },
  });
}

/** Half of them, with each of the four providers. */
const isFrail = (n: number): boolean => n % 8 < 4;

export async function soak({ agents, durationMs, seed }: SoakOptions): Promise<SoakReport> {
  const lots = createLots(seed);
  const props = mkdtempSync(join(tmpdir(), "tiller-soak-"));
  const llm = await startMockLlm({ otherwise: () => anyReply(lots) });
  // What was asked is of no interest, and would be kept.
  const forgetting = setInterval(() => llm.requests.splice(0), 500);
  const report: SoakReport = {
    actions: 0,
    kills: 0,
    memoryMb: { frail: levelOf([]), plain: levelOf([]) },
    moreDescriptors: 0,
    problems: [],
  };
  const end = performance.now() + durationMs;
  const isOver = (): boolean => performance.now() > end;
  const note = (error: unknown): void => void report.problems.push((error as Error).message);
  try {
    const lasting = Array.from({ length: agents - Math.floor(agents / KILLED) }, (_, n) =>
      start(llm, n, isFrail(n) ? props : undefined),
    );
    const mortal = Array.from({ length: Math.floor(agents / KILLED) }, (_, n) =>
      dieAgainAndAgain(llm, n, createLots(seed + 1000 + n), isOver, report).catch(note),
    );
    const warm = end - durationMs * (1 - WARM_UP);
    const before = new Map<RpcProcess, number>();
    const watchLevel = async (frail: boolean): Promise<Level> =>
      levelOf(
        await watch(
          lasting.filter((_, n) => isFrail(n) === frail),
          warm,
          isOver,
        ),
      );
    const levels = Promise.all([watchLevel(true), watchLevel(false)]);
    const busy = lasting.map(async (rpc, n) => {
      const onQuiet = (): void => {
        if (performance.now() > warm && !before.has(rpc)) before.set(rpc, descriptorsOf(rpc));
      };
      const actions = await keepBusy(rpc, createLots(seed + n), isOver, onQuiet);
      report.actions += actions;
    });
    await Promise.all([...busy.map((work) => work.catch(note)), ...mortal]);
    for (const what of ["disk", "mood"])
      if (!wasMet(props, what)) report.problems.push(`no agent has met a fault of its ${what}`);
    const [frail, plain] = await levels;
    report.memoryMb = { frail, plain };
    llm.hangUp();
    // What the other side has closed is let go of in the next turn.
    await pause(500);
    report.moreDescriptors = Math.max(...lasting.map((rpc) => descriptorsOf(rpc) - (before.get(rpc) ?? 0)));
    await Promise.all(lasting.map((rpc) => rpc.dispose().catch(note)));
  } finally {
    clearInterval(forgetting);
    await llm.close();
    rmSync(props, { recursive: true, force: true });
  }
  return report;
}

/** Whoever meets a fault leaves a mark: one that misses would let every agent do well. */
const wasMet = (props: string, what: string): boolean =>
  readdirSync(props).some((name) => name.startsWith(`${what}-`) && name.endsWith(".met"));

/** An agent that is killed in the middle of its work, and its successors. */
async function dieAgainAndAgain(
  llm: MockLlm,
  n: number,
  lots: ReturnType<typeof createLots>,
  isOver: () => boolean,
  report: SoakReport,
): Promise<void> {
  while (!isOver()) {
    const rpc = start(llm, n);
    const work = keepBusy(rpc, lots, isOver).catch(() => undefined);
    await pause(500 + lots.below(3000));
    rpc.kill("SIGKILL");
    await rpc.waitExit();
    await work;
    report.kills += 1;
    for (let tries = 0; tries < 150 && rpc.sandbox.processes().length > 0; tries++) await pause(20);
    const left = rpc.sandbox.processes();
    if (left.length > 0) report.problems.push(`left running after SIGKILL: ${JSON.stringify(left)}`);
    await rpc.dispose();
  }
}

const descriptorsOf = ({ pid }: RpcProcess): number =>
  existsSync(`/proc/${pid}/fd`) ? readdirSync(`/proc/${pid}/fd`).length : 0;

/** What all of them need together, from a moment on. */
async function watch(agents: readonly RpcProcess[], from: number, isOver: () => boolean): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (!isOver()) {
    await pause(SAMPLE_MS);
    if (performance.now() < from) continue;
    const all = agents.map(({ pid }) => proportionalMb(pid)).filter((size) => size > 0);
    // All of them are gone, or there never was one.
    if (all.length === 0) continue;
    const mean = all.reduce((sum, size) => sum + size, 0) / all.length;
    samples.push({ at: performance.now(), value: mean });
  }
  return samples;
}

/** Its share of the memory, with what several processes share divided between them. */
function proportionalMb(pid: number): number {
  try {
    return Number(/^Pss:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    // It is gone, which is told elsewhere.
    return 0;
  }
}

function levelOf(samples: readonly Sample[]): Level {
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  return {
    first: rounded(samples[0]?.value ?? 0),
    last: rounded(samples.at(-1)?.value ?? 0),
    rise: rounded(riseOf(samples)),
  };
}
