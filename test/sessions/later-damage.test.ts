import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Frame } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { lineOf, madeSession } from "./support/made-session.ts";
import { beside, dataOf, entriesOf, messagesOf, noticesOf, script, textsOf } from "./support/stories.ts";

/**
 * Garbage inside a line near the beginning of a large file, where opening does not look: it is found and repaired
 * afterwards, while the session is in use.
 */

const start = useRpc();
let made: Awaited<ReturnType<typeof madeSession>>;
beforeAll(async () => {
  made = await madeSession();
});

const SAID = 60;
const BAD = 31;
const PADS = 20;
const PAD_BYTES = 1024 * 1024;
const GARBAGE = '\u0001 not of this file {"';

interface Large {
  /** Header and entries as they were before the damage. */
  lines: string[];
  damaged: string[];
  /** Of the line that is damaged. */
  bad: string;
  texts: string[];
}

/** Copies of one exchange, each the child of the one before, and behind them 20 MiB that no model is shown. */
function large(cwd: string): Large {
  const [header = "", ...exchange] = made(cwd);
  const [user, assistant] = ["first", "one"].map((word) =>
    JSON.parse(exchange[lineOf(exchange, word)] ?? ""),
  ) as Frame[];
  const said = (n: number): string => `${n} ${"ü".repeat(20)}`;
  const id = (n: number): string => n.toString(16).padStart(8, "0");
  const entries = Array.from({ length: SAID + PADS }, (_, n) => {
    const { message, ...entry } = (n % 2 ? assistant : user) as Frame;
    const place = { ...entry, id: id(n), parentId: n === 0 ? null : id(n - 1) };
    if (n >= SAID) return JSON.stringify({ ...place, type: "custom", customType: "x", data: "x".repeat(PAD_BYTES) });
    return JSON.stringify({ ...place, message: { ...(message as Frame), content: [{ type: "text", text: said(n) }] } });
  });
  const lines = [header, ...entries];
  const bad = String(entries[BAD]).replace('"text":', `"te${GARBAGE}`);
  const texts = Array.from({ length: SAID }, (_, n) => said(n)).filter((_, n) => n !== BAD);
  return { lines, damaged: lines.map((line, n) => (n === BAD + 1 ? bad : line)), bad, texts };
}

const text = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
const linesOf = (path: string): string[] => readFileSync(path, "utf8").trimEnd().split("\n");
const isDamageNotice = (frame: Frame): boolean => frame.type === "notice" && /damaged: /.test(String(frame.message));

function prepared(content: (file: Large) => string[] = (file) => file.damaged) {
  const host = start({ script: script("go on", "and here") });
  const path = join(host.sandbox.cwd, "s.jsonl");
  const file = large(host.sandbox.cwd);
  writeFileSync(path, text(content(file)));
  return { host, path, file };
}

/** The file, in which an entry that says nothing has taken the place of the damaged one. */
function expectRepaired(path: string, { lines, bad }: Large): void {
  const found = linesOf(path);
  const lost = JSON.parse(found[BAD + 1] ?? "");
  expect(lost).toMatchObject({ type: "custom", customType: "tiller.lost", id: JSON.parse(lines[BAD + 1] ?? "").id });
  expect(found.slice(0, lines.length).filter((line, n) => n !== BAD + 1 && line !== lines[n])).toEqual([]);
  expect(readFileSync(`${path}.damaged`, "utf8").split("\n")[1]).toBe(bad);
}

describe("garbage inside a line near the beginning of a file of 20 MiB", () => {
  it.each(["--session", "switch_session"])("is repaired after it was opened by %s", async (how) => {
    const { host, path, file } = prepared();
    const rpc = how === "--session" ? start({ script: script("go on"), ...beside(host, how, path) }) : host;
    if (rpc === host) await dataOf(host, { type: "switch_session", sessionPath: path });
    // At once: it is in the file before the damage is found.
    expect((await rpc.prompt("again")).result).toMatchObject({ status: "completed" });
    const { message } = await rpc.waitFor(isDamageNotice);
    expect(message).toMatch(/was damaged: \d+ bytes cannot be read\. They are in .*s\.jsonl\.damaged now/);
    expectRepaired(path, file);
    const said = [...file.texts, "again", "go on"];
    expect(textsOf(await messagesOf(rpc))).toEqual(said);
    expect((await entriesOf(rpc)).map((entry) => entry.id)).toEqual(
      linesOf(path)
        .slice(1)
        .map((line) => JSON.parse(line).id),
    );
    rpc.closeStdin();
    await rpc.waitExit();
    const next = start(beside(host, "--session", path));
    expect(textsOf(await messagesOf(next))).toEqual(said);
    expect(noticesOf(next).filter(isDamageNotice)).toEqual([]);
    expect(readdirSync(host.sandbox.cwd).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("stays when the session is left before, and is found by the next who opens it", async () => {
    const { host, path, file } = prepared();
    await dataOf(host, { type: "switch_session", sessionPath: path });
    await dataOf(host, { type: "new_session" });
    await host.prompt("elsewhere");
    expect(noticesOf(host).filter(isDamageNotice)).toEqual([]);
    expect(readFileSync(path, "utf8") === text(file.damaged)).toBe(true);
    await dataOf(host, { type: "switch_session", sessionPath: path });
    await host.waitFor(isDamageNotice);
    expectRepaired(path, file);
  });

  it("is told and stays when it cannot be set aside", async () => {
    const { host, path, file } = prepared();
    mkdirSync(`${path}.damaged`);
    await dataOf(host, { type: "switch_session", sessionPath: path });
    expect((await host.waitFor(isDamageNotice)).message).toContain("They stay in it");
    expect(readFileSync(path, "utf8") === text(file.damaged)).toBe(true);
    expect((await host.prompt("again")).result).toMatchObject({ status: "completed" });
    expect(textsOf(await messagesOf(host))).toEqual([...file.texts, "again", "go on"]);
  });

  it("is told and stays while another process has the file", async () => {
    const { host, path, file } = prepared(({ lines }) => lines);
    await dataOf(host, { type: "switch_session", sessionPath: path });
    // In its place, as a disk does it.
    const fd = openSync(path, "r+");
    const at = Buffer.from(text(file.lines)).indexOf(String(file.lines[BAD + 1])) + 200;
    writeSync(fd, "\u0001\u0002\u0003", at);
    closeSync(fd);
    const damaged = readFileSync(path);
    const other = start(beside(host, "--session", path));
    expect((await other.waitFor(isDamageNotice)).message).toContain("another process is using it");
    expect(textsOf(await messagesOf(other))).toEqual(file.texts);
    expect(readFileSync(path).equals(damaged)).toBe(true);
    expect(existsSync(`${path}.damaged`)).toBe(false);
  });
});

describe("kill -9 while such a file is repaired", () => {
  /** About as long as it takes. */
  const REPAIR_MS = 600;
  const KILLS = Math.max(2, Math.floor(Number(process.env.TILLER_KILLS ?? 25) / 25));

  it("loses nothing, whenever it comes", { timeout: 30_000 + KILLS * 5_000 }, async () => {
    const { host, path, file } = prepared();
    const folder = host.sandbox.cwd;
    for (let kill = 0; kill < KILLS; kill++) {
      for (const name of readdirSync(folder)) if (/\.(tmp|damaged)$/.test(name)) rmSync(join(folder, name));
      writeFileSync(path, text(file.damaged));
      const rpc = start({ script: script("go on"), ...beside(host, "--session", path) });
      await rpc.prompt("again");
      // From the beginning of the new file until after it is in its place.
      while (!readdirSync(folder).some((name) => /\.(tmp|damaged)$/.test(name))) await moment();
      const end = performance.now() + (REPAIR_MS * kill) / KILLS;
      while (performance.now() < end) await moment();
      rpc.kill("SIGKILL");
      await rpc.waitExit();
      expectNothingLost(path, file);
    }
    const last = start(beside(host, "--session", path));
    expect(textsOf(await messagesOf(last))).toEqual([...file.texts, "again", "go on"]);
  });

  const moment = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  function expectNothingLost(path: string, { damaged, bad }: Large): void {
    const found = linesOf(path);
    const isRepaired = !found.includes(bad);
    expect(found.slice(0, damaged.length).filter((line, n) => n !== BAD + 1 && line !== damaged[n])).toEqual([]);
    expect(found.slice(damaged.length).filter((line) => /"(again|go on)"/.test(line))).toHaveLength(2);
    if (isRepaired) expect(readFileSync(`${path}.damaged`, "utf8")).toContain(bad);
  }
});
