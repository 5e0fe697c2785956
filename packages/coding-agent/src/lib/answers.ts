/**
 * How the loader, which is a bundle of its own, learns what the program has behind it: the program counts the answers of its
 * models here. Where the program is a library, nobody listens.
 */
const LISTENER = Symbol.for("tiller.answers");

const shared = globalThis as { [LISTENER]?: () => void };

export function countAnswer(): void {
  shared[LISTENER]?.();
}

/** What is done after so many answers, each when what there is to say about the answer is on its way. */
export function afterAnswers(acts: Readonly<Record<number, () => void>>): void {
  const last = Math.max(...Object.keys(acts).map(Number));
  let count = 0;
  shared[LISTENER] = () => {
    const act = acts[++count];
    if (act) setImmediate(() => setImmediate(act));
    if (count === last) delete shared[LISTENER];
  };
}
