import { expect, test } from "vitest";
import { createSlots } from "./slots.ts";

const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("so many at a time, the others in the order they came", async () => {
  const slots = createSlots(2);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = async (name: string): Promise<void> => {
    const release = await slots.take(never);
    begun.push(name);
    await new Promise<void>((end) => ends.set(name, end));
    release?.();
  };
  const all = ["a", "b", "c", "d"].map(work);
  await turn();
  expect(begun).toEqual(["a", "b"]);
  ends.get("b")?.();
  await turn();
  expect(begun).toEqual(["a", "b", "c"]);
  for (const name of ["a", "c"]) ends.get(name)?.();
  await turn();
  ends.get("d")?.();
  await Promise.all(all);
  expect(begun).toEqual(["a", "b", "c", "d"]);
});

test("who gives up leaves its place to the next, and a place is given back once", async () => {
  const slots = createSlots(1);
  const first = await slots.take(never);
  const impatient = new AbortController();
  const second = slots.take(impatient.signal);
  const third = slots.take(never);
  impatient.abort();
  expect(await second).toBeUndefined();
  first?.();
  first?.();
  expect(await third).toBeTypeOf("function");
  let fourthHasBegun = false;
  void slots.take(never).then(() => {
    fourthHasBegun = true;
  });
  await turn();
  expect(fourthHasBegun).toBe(false);
  expect(await slots.take(AbortSignal.abort())).toBeUndefined();
});
