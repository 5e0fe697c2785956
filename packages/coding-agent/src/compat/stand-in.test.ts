import { expect, test } from "vitest";
import { openModule } from "./stand-in.ts";

type Class = new () => { render(width: number): string[]; own?(): string };

test("a module has what it has, and something for every other name", () => {
  const module = openModule("pi-x", { answer: 42, nothing: undefined });
  expect(module.answer).toBe(42);
  expect(module.nothing).toBeUndefined();
  expect(Object.keys(module)).toEqual(["answer", "nothing"]);
  expect((module.doesNothing as () => unknown)()).toBeUndefined();
  expect(module.doesNothing).toBe(module.doesNothing);
  expect("anything" in module).toBe(true);
  expect(module.default).toBe(module);
});

test.each(["then", "toJSON", "__esModule"])("%s is not made up: others would draw wrong conclusions", (name) => {
  const module = openModule("pi-x", {});
  expect(module[name]).toBeUndefined();
  expect(name in module).toBe(false);
});

test("a module can be awaited", async () => {
  const module = openModule("pi-x", { a: 1 });
  expect(await Promise.resolve(module)).toBe(module);
});

test("a class that nobody has can be extended, made and called", () => {
  const module = openModule("pi-x", {});
  const Unknown = module.UnknownComponent as Class & { create(): unknown };
  class Mine extends Unknown {
    override own(): string {
      return "mine";
    }
  }
  const mine = new Mine();
  expect(mine).toBeInstanceOf(Unknown);
  expect(mine.own()).toBe("mine");
  expect(mine.render(80)).toEqual([]);
  expect(Unknown.create()).toBeUndefined();
  expect(Unknown.name).toBe("UnknownComponent");
});

test("each use of a stand-in is told once, and its mere name not at all", () => {
  const told: string[] = [];
  const module = openModule("pi-x", {}, (name) => told.push(name));
  const Unknown = module.Unknown as Class;
  class Mine extends Unknown {}
  expect(new Mine().render(1)).toEqual([]);
  expect(told).toEqual([]);
  for (let i = 0; i < 3; i++) {
    (module.act as () => void)();
    new Unknown();
  }
  expect(told).toEqual(["pi-x: act", "pi-x: Unknown"]);
});
