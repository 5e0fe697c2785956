import type { Answer, Exchange } from "./call.ts";

/** Whoever stands between the models and the network: nobody, unless the traffic is written down or played back. */

type Send = (request: Exchange) => Promise<Answer>;
export type Between = (request: Exchange, send: Send) => Promise<Answer>;

let between: Between | undefined;

export function putBetween(next: Between): void {
  between = next;
}

export function standsBetween(): Between | undefined {
  return between;
}
