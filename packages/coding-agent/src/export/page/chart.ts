import { joinTurns, type Turn, turnsOf } from "../model/turns.ts";
import { el, svg } from "./dom.ts";
import { moneyText, plural, shortText } from "./numbers.ts";
import type { Session } from "./session.ts";

/** Tokens and cost of every turn on the path: bars, and a line for the cost. */

const HEIGHT = 100;
const STEP = 10;
const MOST_BARS = 160;
const LEAST_BARS = 20;

export function chartElement(session: Session): HTMLElement | undefined {
  const turns = turnsOf(session.index, session.path);
  const bars = joinTurns(turns, MOST_BARS);
  const highest = Math.max(...bars.map(tokensOf));
  if (turns.length < 2 || highest === 0) return undefined;
  const dearest = Math.max(...bars.map(({ cost }) => cost));
  const caption = el("figcaption", { "aria-hidden": "true" }, ...legend(dearest > 0));
  const summary = `Tokens and cost of ${plural(turns.length, "turn")}: at most ${shortText(highest)} tokens and ${moneyText(dearest)} each.`;
  const width = Math.max(bars.length, LEAST_BARS) * STEP;
  const drawing = svg(
    "svg",
    {
      class: "chart",
      viewBox: `0 0 ${width} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": summary,
    },
    ...bars.flatMap((turn, i) => barParts(turn, i, highest)),
    ...(dearest > 0 && bars.length > 1 ? [costLine(bars, dearest)] : []),
    ...bars.map((_, i) => svg("rect", { class: "hit", x: i * STEP, y: 0, width: STEP, height: HEIGHT, "data-bar": i })),
  );
  listen(drawing, caption, bars, session);
  return el("figure", { class: "timeline" }, drawing, caption);
}

const tokensOf = ({ input, output, cached }: Turn): number => input + output + cached;

function barParts(turn: Turn, i: number, highest: number): SVGElement[] {
  let y = HEIGHT;
  const parts: [name: string, amount: number][] = [
    ["cached", turn.cached],
    ["input", turn.input],
    ["output", turn.output],
  ];
  return parts
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) => {
      const height = Math.max((amount / highest) * (HEIGHT - 4), 0.6);
      y -= height;
      return svg("rect", {
        class: `bar-${name}`,
        x: i * STEP + 1,
        y: y.toFixed(2),
        width: STEP - 2,
        height: height.toFixed(2),
      });
    });
}

function costLine(bars: readonly Turn[], dearest: number): SVGElement {
  const points = bars.map(
    ({ cost }, i) => `${i * STEP + STEP / 2},${(HEIGHT - 2 - (cost / dearest) * (HEIGHT - 6)).toFixed(2)}`,
  );
  return svg("polyline", { class: "cost-line", points: points.join(" "), fill: "none" });
}

function legend(hasCost: boolean): HTMLElement[] {
  const names: [string, string][] = [
    ["cached", "read from the cache"],
    ["input", "input"],
    ["output", "output"],
  ];
  if (hasCost) names.push(["cost", "cost"]);
  return names.map(([name, label]) => el("span", { class: `key key-${name}` }, label));
}

function listen(drawing: SVGElement, caption: HTMLElement, bars: readonly Turn[], session: Session): void {
  const usual = [...caption.childNodes];
  const barOf = (event: Event): Turn | undefined => {
    const target = event.target instanceof Element ? event.target.getAttribute("data-bar") : null;
    return target === null ? undefined : bars[Number(target)];
  };
  drawing.addEventListener("pointermove", (event) => {
    const turn = barOf(event);
    if (turn) caption.replaceChildren(el("span", {}, turnText(turn)));
  });
  drawing.addEventListener("pointerleave", () => caption.replaceChildren(...usual));
  drawing.addEventListener("click", (event) => {
    const turn = barOf(event);
    if (turn) location.hash = encodeURIComponent(session.index.ids[turn.place] ?? "");
  });
}

function turnText({ number, count, input, output, cached, cost }: Turn): string {
  const name = count === 1 ? `Turn ${number}` : `Turns ${number}–${number + count - 1}`;
  return `${name}: ${shortText(cached)} cached + ${shortText(input)} in, ${shortText(output)} out · ${moneyText(cost)}`;
}
