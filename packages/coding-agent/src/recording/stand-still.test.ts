import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { createStandStill } from "./stand-still.ts";

const real = { setImmediate: globalThis.setImmediate, clearImmediate: globalThis.clearImmediate };
afterEach(() => void Object.assign(globalThis, real));

const turn = (): Promise<void> => new Promise((resolve) => void real.setImmediate(resolve));

test("nothing goes on while it is held, and then in its order, but for what was taken back", async () => {
  const turns = createStandStill();
  const done: string[] = [];
  setImmediate((word: string) => void done.push(word), "before");
  turns.hold();
  setImmediate(() => void done.push("meanwhile"));
  const taken = setImmediate(() => void done.push("taken back"));
  await turn();
  await turn();
  expect(done).toEqual([]);
  clearImmediate(taken);
  turns.goOn();
  setImmediate(() => void done.push("behind"));
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual(["before", "meanwhile", "behind"]);
});

test("what is let go on before its turn has come is in its place", async () => {
  const turns = createStandStill();
  const done: number[] = [];
  setImmediate(() => void done.push(1));
  turns.hold();
  setImmediate(() => void done.push(2));
  turns.goOn();
  await turn();
  expect(done).toEqual([1, 2]);
});

test("as a promise it gives its value", async () => {
  createStandStill();
  expect(await promisify(setImmediate)("a value")).toBe("a value");
});
