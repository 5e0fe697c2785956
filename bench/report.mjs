// Rows of numbers as Markdown.
import { median, minimum, ratioOf } from "./statistics.mjs";

/** Three digits that count. */
function digits(number) {
  if (number >= 100) return Math.round(number).toLocaleString("en").replaceAll(",", " ");
  return number.toFixed(number >= 10 ? 1 : 2);
}

const NOT_AVAILABLE = "not available";

function spread(samples) {
  return samples.length > 0 ? `${digits(median(samples))} (${digits(minimum(samples))})` : NOT_AVAILABLE;
}

/** The number that has the limit: the ratio where there is somebody to compare with, else ours. */
function judged({ ours, against }) {
  return against ? median(ours) / median(against.samples) : median(ours);
}

/** A number that could not be had is NaN here, and has not met its target. */
const isMet = (row) => judged(row) <= row.limit;

export function verdict(row) {
  return verdictOn(judged(row), row);
}

function verdictOn(number, { limit, goal }) {
  if (limit === undefined) return "";
  if (!(number <= limit)) return "**not met**";
  if (goal === undefined) return "met";
  return number <= goal ? "met, goal too" : "met, goal not met";
}

function target(sign, { limit, goal }) {
  if (limit === undefined) return "";
  return goal === undefined ? `≤ ${limit}${sign}` : `≤ ${limit}${sign}, goal ${goal}${sign}`;
}

function tableRow(row) {
  const { what, unit, ours, against } = row;
  const ratio =
    against && ours.length > 0 && `${digits(judged(row))}× (${digits(minimum(ours) / minimum(against.samples))}×)`;
  const cells = [
    unit ? `${what}, ${unit}` : what,
    against?.name ?? "",
    against ? spread(against.samples) : "",
    spread(ours),
    ratio || "",
    target(against ? "×" : ` ${unit}`, row),
    verdict(row),
  ];
  return `| ${cells.join(" | ")} |`;
}

function section({ title, rows }) {
  const head = "| number | against | its | Tiller's | ratio | target | verdict |\n|---|---|---:|---:|---:|---|---|";
  return `## ${title}\n\n${head}\n${rows.map(tableRow).join("\n")}`;
}

function summary(results) {
  const rows = results.flatMap((result) => result.rows).filter(({ limit }) => limit !== undefined);
  const failed = rows.filter((row) => !isMet(row));
  const names = failed.length > 0 ? ` Not met: ${failed.map(({ what }) => what).join("; ")}.` : "";
  return `**${rows.length - failed.length} of ${rows.length} targets met.**${names}`;
}

/** Of how many something there is, less is not better: such a number has no unit, and no ratio. */
const isCount = ({ unit }) => unit === "";

function cell(samples, unit) {
  if (samples.length === 0) return "–";
  return unit === "" ? median(samples).toLocaleString("en").replaceAll(",", " ") : `${digits(median(samples))} ${unit}`;
}

const times = (ratio) => (ratio === undefined ? "–" : `${digits(ratio)}×`);

/** The peer that needed least; no samples where none has any. */
export function bestOf({ peers }) {
  const known = Object.values(peers).filter((samples) => samples.length > 0);
  return known.toSorted((a, b) => median(a) - median(b))[0] ?? [];
}

/** Of one that could not be measured it is beyond every limit. */
const ratioToFloor = ({ ours, floor }) => ratioOf(ours, floor) ?? Number.POSITIVE_INFINITY;
const isPeerMet = (row) => ratioToFloor(row) <= row.limit;

function peerRow(row) {
  const { what, unit, limit, floor, floorName, ours, peers } = row;
  const base = floorName === "floor agent" ? "" : ` (${floorName})`;
  const ratioTo = (numbers, to, number) => times(isCount(row) ? undefined : ratioOf(numbers, to, number));
  const ratio = ratioTo(ours, floor);
  const cells = [
    `${what}${base}`,
    cell(floor, unit),
    cell(ours, unit),
    limit === undefined ? ratio : `${ratio} (${ratioTo(ours, floor, minimum)})`,
    ...Object.values(peers).map((samples) => `${cell(samples, unit)}, ${ratioTo(samples, floor)}`),
    ratioTo(bestOf(row), ours),
    ...(limit === undefined ? [] : [target("×", row), verdictOn(ratioToFloor(row), row)]),
  ];
  return `| ${cells.join(" | ")} |`;
}

function peerTable(rows, more) {
  const names = Object.keys(rows[0].peers);
  const head = ["number", "floor", "Tiller", "ratio", ...names, "best of them / Tiller", ...more];
  const isNumber = (name) => name !== "number" && name !== "verdict";
  return `| ${head.join(" | ")} |
|${head.map((name) => (isNumber(name) ? "---:|" : "---|")).join("")}
${rows.map(peerRow).join("\n")}`;
}

/** What could not be measured, and why; of a peer the samples before it count. */
function failuresIn(failures) {
  if (failures.length === 0) return "No sample failed.";
  const lines = failures.map(({ doing, name, why }) => `- ${name}, ${doing}: ${why}`);
  return `Samples that failed, each the last one taken of it there:\n\n${lines.join("\n")}`;
}

function peerSection({ rows, failures }) {
  const judged = rows.filter(({ limit }) => limit !== undefined);
  const others = rows.filter(({ limit }) => limit === undefined);
  const met = judged.filter(isPeerMet).length;
  const goals = judged.filter((row) => ratioToFloor(row) <= row.goal).length;
  const rest = others.length > 0 ? `\n\nWithout a target, and with fewer samples:\n\n${peerTable(others, [])}` : "";
  return `## Beside its peers

${met} of ${judged.length} targets met, ${goals} of their goals reached. Medians; ratios against the floor agent, or what stands in brackets behind the number's name.
Behind Tiller's ratio stands, where there is a target, that of the minima. "–": it ended, its
end did not come within a minute, or it does not do that. All of them in one run, in turns; the programs that the packages
from the registry name, pi 0.87.1 on Node 24, omp on Bun (protocol version 1, as it speaks unasked), the others on the Node
above. Each has answered a prompt before, and finds again what it has compiled then; for its first start ever that was taken
away. A stream comes as deltas alone from Tiller, and as each of the others sends it. \`bash\` takes a shell of its own for each
command but in omp, which keeps one. Memory is that of a program and of all that it has started, peak RSS that of the program
alone; processor time is that of all of them, ended ones too. An answer that is not whole, a tool that did not run or a command
without an answer makes a sample fail.

A long session is opened, read with \`get_messages\`, appended to with \`bash\` and only then gone on with. Tiller reads of a file
what is needed when it is needed: part of the cost of opening is in the first \`get_messages\` or the first prompt, and part of the
memory in the first prompt. So there are rows of what they took together in one sample, and of memory after the prompts.

Left out: what is said of an answer that failed, as each of them tries again and gets it.

${failuresIn(failures)}

![Tiller beside its peers](peers.svg)

![What each writes while an answer grows](growth.svg)

${peerTable(judged, ["target", "verdict"])}${rest}`;
}

/** `facts` say when and where; `results` are the metrics with their rows; `peers` the comparison, if it was made. */
export function markdown(facts, results, peers) {
  const intro = `# Benchmark

${facts.map(([name, value]) => `- ${name}: ${value}`).join("\n")}

${summary(results)}

A number near its limit may fall on either side of it from run to run, and some targets are judged in two places, in their own
section and beside the peers, each from samples of its own.

Numbers are median (minimum) of the samples; a ratio is that of the medians (of the minima). What is compared was measured
in turns in the same run: look at the ratios, not at the milliseconds. Each sample is a fresh process with a fresh home
folder, and the model is a mock on loopback. The floor agent, \`bench/floor-agent.mjs\`, does the least that an agent on
plain Node can do. Unless it says snapshots, a stream is in update mode \`delta\`.
Tiller has answered one prompt before anything is measured, which leaves its compiled code beside it; where it says so, that
code was taken away.

\`npm run bench\` measures again and writes this file; \`npm run bench -- --help\` lists the options.`;
  const sections = [...(peers ? [peerSection(peers)] : []), ...results.map(section)];
  return `${[intro, ...sections].join("\n\n")}\n`;
}
