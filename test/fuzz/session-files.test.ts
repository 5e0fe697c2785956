import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { SessionFileError } from "../../packages/coding-agent/src/session/store/file-errors.ts";
import { openSession } from "../../packages/coding-agent/src/session/store/open-session.ts";
import { createSessionStore } from "../../packages/coding-agent/src/session/store/session-store.ts";
import {
  countingIds,
  entriesOf,
  stillClock,
  user,
} from "../../packages/coding-agent/src/session/store/test-sessions.ts";
import { SAMPLES } from "../sessions/support/other-sessions.ts";
import { createLots, type Lots, planOf } from "./lots.ts";
import { mutatedBytes, mutatedValue } from "./mutations.ts";
import { problemsOfSession } from "./sound-session.ts";

/** Session files with something wrong in them: they open or are refused by name, and what was opened can be gone on with. */

const { runs, seed } = planOf("SESSION_FILES", 100);
const folder = mkdtempSync(join(tmpdir(), "tiller-fuzz-sessions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function mutatedFile(bytes: Buffer, lots: Lots): Buffer {
  const lines = bytes.toString("utf8").split("\n");
  const at = lots.below(lines.length);
  switch (lots.below(4)) {
    case 0:
      return mutatedBytes(bytes, lots);
    case 1:
      return Buffer.from(lines.toSpliced(at, 1, lots.one(lines)).join("\n"));
    case 2:
      return Buffer.from(lines.toSpliced(at, 1 + lots.below(3)).join("\n"));
    default:
      return Buffer.from(lines.with(at, mutatedLine(lines[at] ?? "", lots)).join("\n"));
  }
}

function mutatedLine(line: string, lots: Lots): string {
  try {
    return JSON.stringify(mutatedValue(JSON.parse(line), lots)) ?? "";
  } catch {
    // A damaged sample: the line is no JSON to begin with.
    return mutatedBytes(Buffer.from(line), lots).toString();
  }
}

test(`${runs} mutated files open or are refused, and go on, seed ${seed}`, { timeout: 1_200_000 }, async () => {
  const lots = createLots(seed);
  const counts = { opened: 0, refused: 0 };
  for (let n = 0; n < runs; n++) {
    const bytes = mutatedFile(lots.one(SAMPLES).bytes, lots);
    const path = join(folder, `s${n % 100}.jsonl`);
    for (const name of [path, `${path}.damaged`]) rmSync(name, { force: true });
    writeFileSync(path, bytes);
    const opened = await goesOn(path, bytes).catch((error: unknown) => {
      throw new Error(`file ${n}: ${(error as Error).stack}\n${bytes}`);
    });
    counts[opened ? "opened" : "refused"] += 1;
  }
  if (runs > 0) expect(counts.opened).toBeGreaterThan(0);
  if (runs > 1000) process.stdout.write(`${JSON.stringify(counts)} TILLER_SEED=${seed}\n`);
});

function open(path: string) {
  const notices: string[] = [];
  const session = openSession(path, {
    locksFolder: join(folder, "locks"),
    fsync: "never",
    clock: stillClock,
    ids: countingIds(),
    cwd: "/here",
    onNotice: (level, message) => notices.push(`${level}: ${message}`),
    onReopened: () => undefined,
  });
  return { session, notices, store: createSessionStore({ clock: stillClock, ids: countingIds(), first: session }) };
}

/** False when it is refused. Throws what is wrong. */
async function goesOn(path: string, bytes: Buffer): Promise<boolean> {
  let first: ReturnType<typeof open>;
  try {
    first = open(path);
  } catch (error) {
    if (!(error instanceof SessionFileError)) throw error;
    expect(error.message).toContain(path);
    expect([error.message, readFileSync(path, "utf8")]).toEqual([error.message, bytes.toString()]);
    return false;
  }
  await first.store.lookedThrough;
  expect(problemsOfSession(first.store.messages)).toEqual([]);
  const message = user("and on");
  first.store.appendMessage(message);
  expect(first.store.messages.at(-1)).toEqual(message);
  const before = entriesOf(first.session.log).map(({ id }) => id);
  await first.store.close();
  expect(existsSync(path)).toBe(true);
  const again = open(path);
  await again.store.lookedThrough;
  expect(again.notices).toEqual([]);
  expect(entriesOf(again.session.log).map(({ id }) => id)).toEqual(before);
  expect(again.store.messages.at(-1)).toEqual(message);
  await again.store.close();
  return true;
}
