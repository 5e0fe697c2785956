// How what a program writes grows with an answer, as a picture with logarithmic scales.
import { DOT, FLOOR_LINE, OURS_COLOUR, PEER_COLOURS, STYLE, WIDTH } from "./chart.mjs";
import { median } from "./statistics.mjs";

const HEIGHT = 300;
const LEFT = 70;
const RIGHT = 150;
const TOP = 24;
const BOTTOM = 48;
const LEGEND = WIDTH - RIGHT + 30;
const LEGEND_ROW = 22;

/** The rows with megabytes on stdout, by how many pieces the answer had. */
function outputs(rows) {
  return rows
    .flatMap((row) => {
      const [, count] = /^([\d,]+) deltas, stdout$/.exec(row.what) ?? [];
      return count ? [{ count: Number(count.replaceAll(",", "")), row }] : [];
    })
    .toSorted((a, b) => a.count - b.count);
}

/** One for each program; one that gave no number for some answer has a shorter line. */
function linesOf(rows) {
  const pointsOf = (samplesOf) =>
    outputs(rows)
      .map(({ count, row }) => ({ count, samples: samplesOf(row) }))
      .filter(({ samples }) => samples.length > 0)
      .map(({ count, samples }) => ({ count, mb: median(samples) }))
      .filter(({ mb }) => mb > 0);
  const peers = Object.keys(rows[0].peers).map((name, k) => [name, PEER_COLOURS[k], (row) => row.peers[name]]);
  const all = [
    ["floor agent", FLOOR_LINE, ({ floor }) => floor],
    ...peers,
    ["Tiller", OURS_COLOUR, ({ ours }) => ours],
  ];
  return all
    .map(([name, colour, samplesOf]) => ({ name, colour, points: pointsOf(samplesOf) }))
    .filter(({ points }) => points.length > 0);
}

/** Where a count and a number of megabytes lie, and the lines of the grid. */
function axes(lines) {
  const points = lines.flatMap((line) => line.points);
  const counts = [...new Set(points.map(({ count }) => count))];
  const megabytes = points.map(({ mb }) => Math.log10(mb));
  const [least, most] = [Math.floor(Math.min(...megabytes)), Math.ceil(Math.max(...megabytes))];
  const [from, to] = [Math.log10(Math.min(...counts)), Math.log10(Math.max(...counts))];
  const part = (value, low, high) => (high > low ? (value - low) / (high - low) : 0);
  return {
    counts,
    levels: Array.from({ length: most - least + 1 }, (_, i) => 10 ** (least + i)),
    x: (count) => Math.round(LEFT + part(Math.log10(count), from, to) * (WIDTH - LEFT - RIGHT)),
    y: (mb) => Math.round(TOP + (1 - part(Math.log10(mb), least, most)) * (HEIGHT - TOP - BOTTOM)),
  };
}

export function growthChart(rows) {
  const lines = linesOf(rows);
  const { counts, levels, x, y } = axes(lines);
  const grid = levels.map(
    (mb) =>
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(mb)}" y2="${y(mb)}" class="guide"/>` +
      `<text x="${LEFT - 10}" y="${y(mb) + 4}" text-anchor="end">${mb} MB</text>`,
  );
  const below = counts.map(
    (count) =>
      `<text x="${x(count)}" y="${HEIGHT - BOTTOM + 22}" text-anchor="middle">${count.toLocaleString("en")}</text>`,
  );
  const drawn = lines.map(({ name, colour, points }) => {
    const path = points.map(({ count, mb }) => `${x(count)},${y(mb)}`).join(" ");
    const dots = points.map(
      ({ count, mb }) =>
        `<circle cx="${x(count)}" cy="${y(mb)}" r="${DOT}" fill="${colour}"><title>${name}: ${count} pieces, ${mb.toFixed(2)} MB</title></circle>`,
    );
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join("")}`;
  });
  const legend = lines.map(({ name, colour }, i) => {
    const at = TOP + 10 + i * LEGEND_ROW;
    return `<circle cx="${LEGEND}" cy="${at}" r="${DOT}" fill="${colour}"/><text x="${LEGEND + 12}" y="${at + 4}">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Megabytes that each program writes to stdout, against the number of pieces of one answer; less is better">
${STYLE}
${[...grid, ...below, ...drawn, ...legend].join("\n")}
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">pieces of one answer</text>
</svg>
`;
}
