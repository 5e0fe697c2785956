// The comparison as a picture: how many times the floor agent's number each program needs, on a logarithmic scale.
import { ratioOf } from "./statistics.mjs";

export const WIDTH = 760;
const LEFT = 240;
const RIGHT = 70;
const ROW = 46;
const TOP = 58;
export const DOT = 5;
export const FLOOR_LINE = "#8a8f98";
export const OURS_COLOUR = "#0b7a5b";
export const PEER_COLOURS = ["#c2571a", "#b3872b", "#6f5bb5", "#3f7cac"];

export const STYLE = `<style>text{font:12px system-ui,sans-serif;fill:#8a8f98}.guide{stroke:#8a8f98;stroke-opacity:.25}.floor{stroke:${FLOOR_LINE};stroke-dasharray:3 3}</style>`;

const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("`", "");

/** Rows of `comparison`; the picture stands on white and on dark pages alike. */
export function chart(rows) {
  const names = Object.keys(rows[0].peers);
  const ratios = rows.map((row) => ({
    what: row.what,
    ours: ratioOf(row.ours, row.floor),
    peers: names.map((name) => ratioOf(row.peers[name], row.floor)),
  }));
  const all = ratios.flatMap(({ ours, peers }) => [ours, ...peers]).filter((ratio) => ratio !== undefined);
  const least = Math.log10(Math.min(0.1, ...all));
  const most = Math.log10(Math.max(10, ...all) * 1.2);
  const x = (ratio) => LEFT + ((Math.log10(ratio) - least) / (most - least)) * (WIDTH - LEFT - RIGHT);
  const height = TOP + rows.length * (ROW / 2) + 30;
  /** Nothing for a number that could not be had. */
  const dot = (ratio, y, colour, name) =>
    ratio === undefined
      ? ""
      : `<circle cx="${x(ratio).toFixed(1)}" cy="${y}" r="${DOT}" fill="${colour}"><title>${plain(name)}: ${ratio.toFixed(2)}×</title></circle>`;
  const lines = ratios.map(({ what, ours, peers }, i) => {
    const y = TOP + i * (ROW / 2);
    const others = peers.map((ratio, k) => dot(ratio, y, PEER_COLOURS[k], names[k]));
    const own = dot(ours, y, OURS_COLOUR, "Tiller");
    const label = `<text x="${LEFT - 14}" y="${y + 4}" text-anchor="end">${plain(what)}</text>`;
    return `${label}<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}" class="guide"/>${others.join("")}${own}`;
  });
  const legend = [["Tiller", OURS_COLOUR], ...names.map((name, k) => [name, PEER_COLOURS[k]])].map(
    ([name, colour], i) =>
      `<circle cx="${LEFT + i * 105}" cy="20" r="${DOT}" fill="${colour}"/><text x="${LEFT + 10 + i * 105}" y="24">${name}</text>`,
  );
  const marks = [0.1, 1, 10, 100, 1000]
    .filter((ratio) => Math.log10(ratio) >= least && Math.log10(ratio) <= most)
    .map(
      (ratio) =>
        `<line x1="${x(ratio)}" x2="${x(ratio)}" y1="${TOP - 16}" y2="${height - 26}" class="${ratio === 1 ? "floor" : "guide"}"/>` +
        `<text x="${x(ratio)}" y="${height - 8}" text-anchor="middle">${ratio === 1 ? "floor agent" : `${ratio}×`}</text>`,
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Numbers of Tiller and its peers as multiples of the floor agent's, for the start of bare Node's; less is better">
${STYLE}
${[...legend, ...marks, ...lines].join("\n")}
</svg>
`;
}
