/**
 * How the loader, which is a bundle of its own, learns that the program works: the program counts the answers of its models
 * here. Where the program is a library, nobody listens.
 */
const COUNTER = Symbol.for("tiller.answers");

type Counter = () => void;

const shared = globalThis as { [COUNTER]?: Counter };

export function countAnswer(): void {
  shared[COUNTER]?.();
}

/** Calls back once, after so many answers, when what there is to say about the last one is on its way. */
export function whenAnswered(count: number, act: () => void): void {
  let left = count;
  shared[COUNTER] = () => {
    if (--left > 0) return;
    delete shared[COUNTER];
    setImmediate(() => setImmediate(act));
  };
}
