import { describe, expect, it, vi } from "vitest";
import { parseYaml } from "./yaml-text.ts";

describe("YAML of anybody", () => {
  it.each([
    ["a: &a [*a]", "ENDLESS_ALIAS", 1],
    ["a: &a {b: {c: *a}}", "ENDLESS_ALIAS", 1],
    ["a: *b", "UNRESOLVED_ALIAS", 1],
    [`a: &a [x]\nb: [${"*a,".repeat(200)}]`, "TOO_MANY_ALIASES", 2],
    ["- &a x\n- *a\n".repeat(5000), "TOO_MANY_ALIASES", 202],
    ["a: &a [x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]", "TOO_MANY_ALIASES", 1],
    [`# ${"]".repeat(5000)}\na: ${"[".repeat(5000)}`, "TOO_DEEP", 2],
    [`${"- ".repeat(5000)}a`, "TOO_DEEP", 1],
    ["a: 1\nb: 2\na: 3", "DUPLICATE_KEY", 3],
    ["a:\n  b: 1\n  b: 2", "DUPLICATE_KEY", 3],
    ["a: ]", "UNEXPECTED_TOKEN", 1],
  ])("refuses %.40j", (text, code, line) => {
    expect(parseYaml(text)).toMatchObject({ code, line });
  });

  it("reads what is sound, the same name in several places too", () => {
    const text = "a: &a {b: 1}\nc: [*a, *a]\nd: {<<: *a, e: 2}";
    expect(parseYaml(text, { merge: true })).toMatchObject({
      value: { a: { b: 1 }, c: [{ b: 1 }, { b: 1 }], d: { b: 1, e: 2 } },
    });
    expect(parseYaml("")).toMatchObject({ value: null });
  });

  it("does not compare every key with all others", () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `k${index}`);
    expect(parseYaml(`{${keys.join(",")}}`)).toHaveProperty("value.k29999", null);
  });

  it("says nothing of its own on stderr", () => {
    const warn = vi.spyOn(process, "emitWarning");
    expect(parseYaml("? [a, b]\n: 1")).toMatchObject({ value: { "[ a, b ]": 1 } });
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});
