// The options of `npm run bench`.
import { parseArgs } from "node:util";
import { METRICS } from "./metrics.mjs";

const USUAL_SIZES = "50000,10000,150000";

export const HELP = `npm run bench -- [options]

  --only a,b     only these metrics: ${Object.keys(METRICS).join(", ")}, peers
  --reps N       N samples of everything, instead of each metric's own number
  --quick        one tiny sample of everything: shows that it works, says nothing about speed
  --out FILE     where the report goes; without it a whole run goes to bench/RESULTS.md, any other to standard output
  --cli FILE     the built cli.js to measure, instead of the current sources
  --floor FILE   another floor agent
  --sessions A,B,C
                 messages of the sessions that are opened, given on the command line and forked; multiples of four,
                 ${USUAL_SIZES} by default
  --peers DIR    where pi and omp are, or shall be, installed; a temporary folder unless told
  --without-peers
                 Tiller and the floor agent alone
  --wait S       seconds to wait for a quiet machine before each sample, 15 by default
`;

const TEXT = { type: "string" };
const FLAG = { type: "boolean", default: false };
const OPTIONS = {
  only: TEXT,
  reps: TEXT,
  quick: FLAG,
  out: TEXT,
  cli: TEXT,
  floor: TEXT,
  sessions: TEXT,
  peers: TEXT,
  "without-peers": FLAG,
  wait: TEXT,
  help: FLAG,
};

export function readOptions(args) {
  const { values } = parseArgs({ options: OPTIONS, args });
  const all = [...Object.keys(METRICS), "peers"];
  const chosen = values.only?.split(",") ?? all;
  const unknown = chosen.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`--only ${unknown}: the metrics are ${all.join(", ")}`);
  return {
    ...values,
    only: chosen.filter((name) => name !== "peers"),
    withPeers: chosen.includes("peers") && !values["without-peers"],
    isWhole: isWhole(values),
  };
}

/** With one of these a run measures less, or something else, than what the committed report tells. */
const NARROWING = ["only", "reps", "quick", "cli", "floor", "sessions", "without-peers"];

/** Whether all was measured as it is told in the committed report. */
const isWhole = (values) => Number(values.wait ?? 1) > 0 && !NARROWING.some((name) => values[name]);

export function readSizes({ quick, sessions = quick ? "40,20,60" : USUAL_SIZES }) {
  const [open, resume, fork] = sessions.split(",").map(Number);
  const areUsable = [open, resume, fork].every((size) => size > 0 && size % 4 === 0);
  if (!areUsable) throw new Error(`--sessions ${sessions}: give three multiples of four, such as ${USUAL_SIZES}`);
  return { open, resume, fork };
}
