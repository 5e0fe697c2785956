/**
 * How the loader, which is a bundle of its own, learns that the program has loaded what an answer takes: the program says so
 * here. Where the program is a library, nobody listens.
 */
const LISTENER = Symbol.for("tiller.first-answer");

const shared = globalThis as { [LISTENER]?: () => void };

/** Calls back once, when what there is to say about the first answer of a model is on its way. */
export function onFirstAnswer(act: () => void): void {
  shared[LISTENER] = () => setImmediate(() => setImmediate(act));
}

export function tellAnswer(): void {
  const listener = shared[LISTENER];
  if (!listener) return;
  delete shared[LISTENER];
  listener();
}
