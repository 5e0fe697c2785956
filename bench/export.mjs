// A long session as a page: how long it takes to write, how large it is, and how a browser gets on with it.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timeToExit } from "./processes.mjs";
import { inTurns, OURS, row, withAgent } from "./sampling.mjs";
import { plantSession, sessionEntries } from "./sessions.mjs";

const READING = "reading and parsing it";
const SESSION = "the session file";
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const MB = 1e6;

/** The least that anybody does with a session file. */
const READ = `
  let types = 0;
  for (const line of require("fs").readFileSync(process.argv[1], "utf8").split("\\n")) {
    if (line !== "") types += JSON.parse(line).type.length;
  }
  if (types === 0) process.exit(1);`;

/**
 * Loaded before the program: leaves behind how much memory the process has had at most. As the kernel counts it for this program:
 * its `maxRSS` begins with that of the process that started it, which is the benchmark.
 */
const PEAK = `
  const fs = require("fs");
  const peak = () => /^VmHWM:\\s*(\\d+) kB$/m.exec(fs.readFileSync("/proc/self/status", "utf8"))[1];
  process.on("exit", () => fs.writeFileSync(process.env.TMPDIR + "/peak", peak()));`;

export async function exporting(bench) {
  const count = bench.sessionSizes.open;
  const folder = join(bench.tmp, "export");
  mkdirSync(join(folder, "project"), { recursive: true });
  const entries = sessionEntries(count);
  const file = plantSession({ cwd: join(folder, "project") }, entries);
  const page = join(folder, "page.html");
  const peakScript = join(folder, "peak.cjs");
  writeFileSync(peakScript, PEAK);
  const ours = async () => {
    // To replace a file takes the time to write it out.
    rmSync(page, { force: true });
    const ms = await timeToExit(bench.node, ["-r", peakScript, bench.cli, "export", file, "--out", page], folder);
    const peak = (Number(readFileSync(join(folder, "peak"), "utf8")) * 1024) / MB;
    return { ms, peak, size: statSync(page).size / MB };
  };
  const reading = async () => ({ ms: await timeToExit(bench.node, ["-e", READ, file], folder) });
  await ours();
  const samples = await inTurns(bench, 9, { [READING]: reading, [OURS]: ours });
  const open = await inTurns(bench, 5, { [READING]: reading, [OURS]: () => exportOpen(bench, entries) });
  const sizes = { [OURS]: samples[OURS], [SESSION]: [{ size: statSync(file).size / MB }] };
  const at = `${count} messages (${Math.round(entries.length / MB)} MB)`;
  return [
    row(`\`tiller export\` of ${at}, start to end`, "ms", samples, { key: "ms", base: READING, limit: 2 }),
    row(`\`export_html\` of ${at} that are open`, "ms", open, { key: "ms", base: READING, limit: 2 }),
    row("memory of `tiller export` at its peak", "MB", samples, { key: "peak", base: null, limit: 150 }),
    row("size of the page", "MB", sizes, { key: "size", base: SESSION, limit: 1.5 }),
    // A browser takes longer to start than all the rest of a quick run.
    ...(bench.quick ? [] : await inBrowser(bench, page)),
  ];
}

async function exportOpen(bench, entries) {
  return withAgent(bench, OURS, async (agent, home) => {
    const sessionPath = plantSession(home, entries);
    await agent.call({ type: "switch_session", sessionPath });
    const began = performance.now();
    const { at } = await agent.call({ type: "export_html", outputPath: join(home.cwd, "page.html") });
    return { ms: at - began };
  });
}

/** With the first paint, and the longest task while somebody scrolls through all of it. */
async function inBrowser(bench, file) {
  const { chromium } = await import("playwright-core");
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args });
  try {
    const samples = await inTurns(bench, 5, { [OURS]: () => lookAt(browser, file) });
    return [
      row("first paint of that page in a browser", "ms", samples, { key: "paint", base: null, limit: 1000 }),
      row("longest task while it is scrolled through", "ms", samples, { key: "task", base: null, limit: 50 }),
    ];
  } finally {
    await browser.close();
  }
}

const SCROLLS = 150;
const FIRST_PAINT = `performance.getEntriesByName("first-contentful-paint")[0].startTime`;
/** In steps of a wheel, then in leaps through the whole page. */
const SCROLL = `new Promise((done) => {
  let step = 0;
  const next = () => {
    if (step++ === ${SCROLLS}) return done();
    const place = step <= ${SCROLLS} / 2 ? step * 400 : (step / ${SCROLLS}) * document.documentElement.scrollHeight;
    scrollTo(0, place);
    requestAnimationFrame(next);
  };
  next();
})`;

async function lookAt(browser, file) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    await page.goto(`file://${file}`);
    await page.waitForSelector("main:not([aria-busy])");
    const paint = await page.evaluate(FIRST_PAINT);
    await browser.startTracing(page, { categories: ["toplevel", "disabled-by-default-devtools.timeline"] });
    await page.evaluate(SCROLL);
    return { paint, task: longestTask(JSON.parse((await browser.stopTracing()).toString())) };
  } finally {
    await page.close();
  }
}

/** Of the thread that runs the page. */
function longestTask({ traceEvents }) {
  const threads = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}:${tid}`),
  );
  const tasks = traceEvents.filter(({ name, pid, tid }) => /RunTask$/.test(name) && threads.has(`${pid}:${tid}`));
  if (tasks.length === 0) throw new Error("the trace has no tasks");
  // Of its own: what others do on this machine meanwhile is not the page's.
  return Math.max(...tasks.map(({ dur = 0, tdur = dur }) => tdur / 1000));
}
