/**
 * How the loader, which is a bundle of its own, learns that a turn is over: the program says so here. Where the program is a
 * library, nobody listens.
 */
const LISTENER = Symbol.for("tiller.turn-end");

const shared = globalThis as { [LISTENER]?: () => void };

export function onTurnEnd(act: () => void): void {
  shared[LISTENER] = act;
}

export function tellTurnEnd(): void {
  shared[LISTENER]?.();
}
