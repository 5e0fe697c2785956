import { describe, expect, it } from "vitest";
import { late, latePer } from "./late.ts";

describe("what is made late", () => {
  it("is made once, when it is first asked for", async () => {
    let times = 0;
    const value = late(async () => ++times);
    expect([times, value.made]).toEqual([0, undefined]);
    expect(await Promise.all([value.load(), value.load()])).toEqual([1, 1]);
    expect([await value.load(), value.made]).toEqual([1, 1]);
  });

  it("may be tried again after a failure", async () => {
    let times = 0;
    const value = late(async () => {
      times += 1;
      if (times === 1) throw new Error("not yet");
      return times;
    });
    await expect(value.load()).rejects.toThrow("not yet");
    expect(value.made).toBeUndefined();
    expect(await value.load()).toBe(2);
  });

  it("is made anew for another key", async () => {
    let folder = "/a";
    const asked: string[] = [];
    const value = latePer(
      () => folder,
      async (key) => asked.push(key),
    );
    await value();
    await value();
    folder = "/b";
    await value();
    expect(asked).toEqual(["/a", "/b"]);
  });
});
