import { describe, expect, it } from "vitest";
import { createLanes, type Lanes } from "./lanes.ts";

/** Work that notes when it starts and ends, and ends when told to. */
function workshop() {
  const notes: string[] = [];
  const endings = new Map<string, () => void>();
  return {
    notes,
    slow: (name: string) => () => {
      notes.push(`${name} starts`);
      return new Promise<void>((resolve) => {
        endings.set(name, () => {
          notes.push(`${name} ends`);
          resolve();
        });
      });
    },
    quick: (name: string) => () => {
      notes.push(name);
      return undefined;
    },
    end: async (name: string) => {
      endings.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

/** Background work that holds the lanes until it is released. */
function held(lanes: Lanes, work: () => Promise<void>): () => void {
  let release = (): void => undefined;
  lanes.background(() => {
    release = lanes.hold();
    return work();
  });
  return () => release();
}

describe("lanes", () => {
  it("does quick ordered work on the spot", () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.ordered(shop.quick("a"));
    lanes.ordered(shop.quick("b"));
    expect(shop.notes).toEqual(["a", "b"]);
  });

  it("runs ordered work one at a time, in line order", async () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.ordered(shop.slow("a"));
    lanes.ordered(shop.quick("b"));
    expect(shop.notes).toEqual(["a starts"]);
    await shop.end("a");
    expect(shop.notes).toEqual(["a starts", "a ends", "b"]);
  });

  it("lets control overtake", async () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.ordered(shop.slow("a"));
    lanes.control(shop.quick("abort"));
    expect(shop.notes).toEqual(["a starts", "abort"]);
    await shop.end("a");
  });

  it("starts nothing more while background work holds it, but control overtakes", async () => {
    const shop = workshop();
    const lanes = createLanes();
    const release = held(lanes, shop.slow("prompt"));
    lanes.ordered(shop.quick("steer"));
    lanes.background(shop.quick("prompt 2"));
    lanes.control(shop.quick("abort"));
    expect(shop.notes).toEqual(["prompt starts", "abort"]);
    release();
    expect(shop.notes).toEqual(["prompt starts", "abort", "steer", "prompt 2"]);
    await shop.end("prompt");
  });

  it("knows that all is started while the work that held it goes on", async () => {
    const shop = workshop();
    const lanes = createLanes();
    const release = held(lanes, shop.slow("prompt"));
    lanes.ordered(shop.quick("get_state"));
    let started = false;
    void lanes.started().then(() => {
      started = true;
    });
    await shop.end("nothing");
    expect(started).toBe(false);
    release();
    await shop.end("nothing");
    expect(started).toBe(true);
    await shop.end("prompt");
  });

  it("does work in its turn: after what was taken before has been started, and before anything later", async () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.ordered(shop.slow("a"));
    lanes.background(shop.slow("prompt 1"));
    const done = lanes.inTurn(shop.slow("abort"));
    lanes.background(shop.slow("prompt 2"));
    expect(shop.notes).toEqual(["a starts"]);
    await shop.end("a");
    expect(shop.notes.slice(2)).toEqual(["prompt 1 starts", "abort starts", "prompt 2 starts"]);
    await shop.end("abort");
    await done;
  });

  it("starts background work in line order and does not wait for it", async () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.ordered(shop.slow("set_model"));
    lanes.background(shop.slow("prompt"));
    lanes.ordered(shop.quick("get_state"));
    expect(shop.notes).toEqual(["set_model starts"]);
    await shop.end("set_model");
    expect(shop.notes).toEqual(["set_model starts", "set_model ends", "prompt starts", "get_state"]);
    await shop.end("prompt");
  });

  it("has started everything when nothing waits, though some of it still runs", async () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.ordered(shop.slow("a"));
    lanes.background(shop.slow("prompt"));
    let started = false;
    const waiting = lanes.started().then(() => {
      started = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toBe(false);
    await shop.end("a");
    await waiting;
    expect(shop.notes.at(-1)).toBe("prompt starts");
    await shop.end("prompt");
  });

  it("is drained when everything it took has finished", async () => {
    const shop = workshop();
    const lanes = createLanes();
    lanes.background(shop.slow("prompt"));
    lanes.ordered(shop.slow("a"));
    let drained = false;
    const waiting = lanes.drained().then(() => {
      drained = true;
    });
    await shop.end("a");
    expect(drained).toBe(false);
    await shop.end("prompt");
    await waiting;
    expect(drained).toBe(true);
  });
});

it("counts what waits, and starts thousands in their order", async () => {
  const lanes = createLanes();
  const begun: number[] = [];
  let open = (): void => undefined;
  lanes.ordered(() => new Promise((resolve) => (open = resolve)));
  for (let n = 0; n < 3500; n++) lanes.background(() => void begun.push(n));
  expect(lanes.waiting).toBe(3500);
  open();
  await lanes.drained();
  lanes.ordered(() => void begun.push(3500));
  expect([lanes.waiting, begun]).toEqual([0, Array.from({ length: 3501 }, (_, n) => n)]);
});
