import { afterAll, describe, expect, test } from "vitest";
import { CELLS, type Cell, FAULTS, nameOf } from "./faults.ts";
import { keyOf, type Outcomes, readOutcomes, readPage, reliabilityPage, writeOutcomes } from "./page.ts";
import { playCell } from "./play-fault.ts";
import { STATES } from "./states.ts";

/**
 * Faults by states, against the real process. `npm run test:faults` plays every cell (TILLER_FAULTS=all) or those whose name
 * matches TILLER_FAULTS; `npm test` plays each fault in one state, and in each state some faults.
 */

const SAMPLE: readonly string[] = [
  "provider: cut · streaming",
  "provider: stall · compacting",
  "provider: 5xx · waiting for the first byte",
  "provider: garbage · tool running",
  "provider: slow drip · host call open",
  "provider: 4xx · dialog open",
  "provider: length too long · bash command running",
  "provider: length too short · job running",
  "provider: TLS cut · queue filled",
  "disk: read-only · just started",
  "disk: slow · queue filled",
  "disk: full · tool running",
  "disk: torn write · streaming",
  "disk: failing sync · idle",
  "disk: power cut · tool running",
  "disk: file removed · host call open",
  "host: stops reading · dialog open",
  "host: closes stdin in mid-frame · queue filled",
  "host: closes stdout in mid-frame · bash command running",
  "host: never answers · host call open",
  "host: reads byte by byte · just started",
  "host: floods · waiting for the first byte",
  "host: dies · compacting",
  "process: SIGTERM · retry wait",
  "process: SIGINT · compacting",
  "process: SIGHUP · waiting for the first byte",
  "process: SIGKILL · job running",
  "process: SIGSTOP, SIGCONT · streaming",
  "process: out of descriptors · queue filled",
  "process: little memory · idle",
  "extension: throws · tool running",
  "extension: hangs · streaming",
  "extension: loops · just started",
  "extension: floods · job running",
  "extension: exits · dialog open",
];

const WANTED = process.env.TILLER_FAULTS;
const LIMIT_MS = Number(process.env.TILLER_FAULTS_MS ?? 600_000);
const isUpdate = process.env.UPDATE_RELIABILITY === "1";

const isWanted = (cell: Cell): boolean => {
  if (WANTED === undefined) return SAMPLE.includes(nameOf(cell));
  return WANTED === "all" || new RegExp(WANTED).test(nameOf(cell));
};

describe("faults by states", { concurrent: true }, () => {
  const accepted: Outcomes = readOutcomes();
  const played: Outcomes = structuredClone(accepted);
  const cells = CELLS.filter(isWanted);
  const end = performance.now() + LIMIT_MS;

  // The one that takes a minute goes first. Then state by state, so that floods do not meet each other.
  const rank = (cell: Cell): number => (isLong(cell) ? -1 : STATES.indexOf(cell.state));
  const inOrder = cells.toSorted((a, b) => rank(a) - rank(b));
  test.each(inOrder.map((cell) => [nameOf(cell), cell] as const))("%s", { timeout: 150_000 }, async (_name, cell) => {
    if (performance.now() > end) throw new Error("not played: the time is over");
    const word = await playCell(cell);
    played[keyOf(cell.fault)] = { ...played[keyOf(cell.fault)], [cell.state.name]: word };
    if (!isUpdate) expect(word).toBe(accepted[keyOf(cell.fault)]?.[cell.state.name]);
  });

  afterAll(() => {
    if (isUpdate) writeOutcomes(played);
  });
});

const isLong = ({ fault, state }: Cell): boolean => fault.name === "stops reading" && state.name === "streaming";

test("every fault has an outcome in every state, or a reason why not", () => {
  const outcomes = readOutcomes();
  const expected = FAULTS.map((fault) => [
    keyOf(fault),
    STATES.filter((state) => fault.leftOut?.(state) === undefined).map(({ name }) => name),
  ]);
  expect(Object.entries(outcomes).map(([key, row]) => [key, Object.keys(row)])).toEqual(expected);
  expect(reliabilityPage(outcomes)).toBe(readPage());
});

/** Nothing has gone wrong, as far as the outcome says. */
const isUneventful = ({ fault, state }: Cell): boolean => readOutcomes()[keyOf(fault)]?.[state.name] === "completed";

test("a fault that a process lives through, and ends well, shows that it has struck", () => {
  const untold = CELLS.filter(({ fault }) => !fault.felt && !fault.feltWithNext);
  expect(untold.filter(isUneventful).map(nameOf)).toEqual([]);
});

test("the sample has every fault and every state", () => {
  const sampled = CELLS.filter((cell) => SAMPLE.includes(nameOf(cell)));
  expect(sampled).toHaveLength(SAMPLE.length);
  expect(new Set(sampled.map(({ state }) => state.name)).size).toBe(STATES.length);
  expect(new Set(sampled.map(({ fault }) => fault)).size).toBe(FAULTS.length);
});
