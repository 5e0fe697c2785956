import { describe, expect, it } from "vitest";
import { EventQueue } from "./event-queue.ts";

function queueOf(limit = 4) {
  const changes: boolean[] = [];
  let left = 0;
  const queue: EventQueue<number> = new EventQueue({
    limit,
    onChange: () => changes.push(queue.isFull),
    onLeave: () => {
      left += 1;
    },
  });
  return { queue, changes, left: () => left };
}

async function all(queue: EventQueue<number>): Promise<number[]> {
  const seen: number[] = [];
  for await (const value of queue) seen.push(value);
  return seen;
}

describe("a queue of events", () => {
  it("gives all of them in order, those before and those during the reading", async () => {
    const { queue } = queueOf();
    queue.push(1);
    const reading = all(queue);
    queue.push(2);
    await Promise.resolve();
    queue.push(3);
    queue.end();
    queue.push(4);
    expect(await reading).toEqual([1, 2, 3]);
    expect(await all(queue)).toEqual([]);
  });

  it("is full at its limit and has room again at half of it", async () => {
    const { queue, changes } = queueOf(4);
    for (let i = 0; i < 4; i++) queue.push(i);
    expect(changes).toEqual([true]);
    await queue.next();
    expect(changes).toEqual([true]);
    await queue.next();
    expect(changes).toEqual([true, false]);
  });

  it("tells an error once, behind what is there", async () => {
    const { queue } = queueOf();
    queue.push(1);
    queue.end(new Error("gone"));
    expect(await queue.next()).toEqual({ value: 1, done: false });
    await expect(queue.next()).rejects.toThrow("gone");
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });

  it("keeps nothing for a reader who has left, and says so once", async () => {
    const { queue, changes, left } = queueOf(1);
    queue.push(1);
    for await (const _ of queue) break;
    await queue.return();
    queue.push(2);
    expect([queue.size, queue.isFull, left()]).toEqual([0, false, 1]);
    expect(changes).toEqual([true, false]);
    expect(await queue.next()).toEqual({ value: undefined, done: true });
  });
});
