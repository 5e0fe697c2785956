import { beforeEach, describe, expect, it } from "vitest";
import { type BusFailure, createEventBus, type EventBus, type EventBusHub } from "./event-bus.ts";

let failures: BusFailure[];
let calls: string[];
let hub: EventBusHub;
let a: EventBus;
let b: EventBus;
beforeEach(() => {
  failures = [];
  calls = [];
  hub = createEventBus({
    onError: (failure) => failures.push(failure),
    enter(label) {
      calls.push(`> ${label}`);
      return () => calls.push("<");
    },
  });
  a = hub.forExtension("/x/a.ts");
  b = hub.forExtension("/x/b.ts");
});

const noted = () => {
  const got: unknown[] = [];
  return { got, handler: (data: unknown) => void got.push(data) };
};

describe("messages between extensions", () => {
  it("go to everybody who listens, in the order of listening, also to the sender", () => {
    const order: string[] = [];
    a.on("hello", (data) => order.push(`a ${data}`));
    b.on("hello", (data) => order.push(`b ${data}`));
    b.on("other", () => order.push("never"));
    a.emit("hello", 1);
    expect(order).toEqual(["a 1", "b 1"]);
  });

  it("go to nobody when nobody listens", () => {
    expect(() => a.emit("hello")).not.toThrow();
  });

  it("stop when the returned function is called, or off; once means once", () => {
    const { got, handler } = noted();
    const stop = b.on("hello", handler);
    b.once("hello", handler);
    a.emit("hello", 1);
    expect(got).toEqual([1, 1]);
    stop();
    a.emit("hello", 2);
    b.on("hello", handler);
    b.off("hello", handler);
    a.emit("hello", 3);
    expect(got).toEqual([1, 1]);
  });

  it("once holds also when the handler sends the same message again", () => {
    let count = 0;
    b.once("hello", () => {
      count += 1;
      a.emit("hello");
    });
    a.emit("hello");
    expect(count).toBe(1);
  });

  it("reach those who listened when it was sent, whoever comes and goes meanwhile", () => {
    const { got, handler } = noted();
    a.on("hello", () => void b.on("hello", handler));
    a.emit("hello", 1);
    expect(got).toEqual([]);
    a.emit("hello", 2);
    expect(got).toEqual([2]);
  });

  it("are told to whoever watches, with the name of the extension that is called", () => {
    b.on("hello", () => calls.push("called"));
    a.emit("hello");
    expect(calls).toEqual(["> /x/b.ts (events: hello)", "called", "<"]);
  });

  it("go to nobody once all is cleared", () => {
    const { got, handler } = noted();
    b.on("hello", handler);
    hub.clear();
    a.emit("hello", 1);
    expect(got).toEqual([]);
  });
});

describe("a handler that fails", () => {
  it("is named, and the others still get the message", async () => {
    const { got, handler } = noted();
    const thrown = new Error("thrown");
    a.on("hello", () => {
      throw thrown;
    });
    a.on("hello", () => Promise.reject("rejected"));
    b.on("hello", handler);
    b.emit("hello", 1);
    await Promise.resolve();
    await Promise.resolve();
    expect(got).toEqual([1]);
    expect(calls.filter((call) => call === "<")).toHaveLength(3);
    expect(failures).toEqual([
      { extensionPath: "/x/a.ts", channel: "hello", error: thrown },
      { extensionPath: "/x/a.ts", channel: "hello", error: "rejected" },
    ]);
  });

  it("that calls itself for ever does not take the process with it", () => {
    b.on("hello", () => a.emit("hello"));
    a.emit("hello");
    expect(String(failures[0]?.error)).toContain("Maximum call stack");
  });

  it("must be a function", () => {
    expect(() => a.on("hello", "no" as never)).toThrow('events.on("hello"): the handler must be a function');
  });
});
