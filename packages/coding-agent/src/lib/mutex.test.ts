import { expect, it } from "vitest";
import { createKeyedMutex } from "./mutex.ts";

it("lets work on the same key wait its turn, also after a failure, and other keys pass", async () => {
  const mutex = createKeyedMutex();
  const order: string[] = [];
  let openGate: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  const first = mutex.run("a", async () => {
    await gate;
    order.push("first");
    throw new Error("broken");
  });
  const second = mutex.run("a", async () => order.push("second"));
  await mutex.run("b", async () => order.push("other key"));
  openGate();
  await expect(first).rejects.toThrow("broken");
  await second;
  expect(order).toEqual(["other key", "first", "second"]);
});
