import { describe, expect, it } from "vitest";
import { looseName, mayLookLikeAnother, parsePath, tidyPath } from "./path-syntax.ts";

const posix = { cwd: "/project", home: "/home/me", platform: "linux" as const };
const windows = { cwd: "C:\\project", home: "C:\\Users\\me", platform: "win32" as const };

describe("on Unix", () => {
  it.each([
    ["src/a.ts", "/project/src/a.ts"],
    ["../b", "/b"],
    ["~", "/home/me"],
    ["~/x", "/home/me/x"],
    ["~other/x", "/project/~other/x"],
    ["file:///etc/a%20b", "/etc/a b"],
    ["file://localhost/etc/hosts", "/etc/hosts"],
    ["file:///100%", "/100%"],
    ["/c/x", "/c/x"],
    ["C:\\x", "/project/C:\\x"],
    ["", "/project"],
  ])("%s is %s", (text, path) => expect(parsePath(text, posix)).toBe(path));
});

describe("on Windows", () => {
  it.each([
    ["src/a.ts", "C:\\project\\src\\a.ts"],
    ["src\\a.ts", "C:\\project\\src\\a.ts"],
    ["D:\\x\\y", "D:\\x\\y"],
    ["d:/x/y", "d:\\x\\y"],
    ["/c/Users/x", "C:\\Users\\x"],
    ["/d", "D:\\"],
    ["/cygdrive/e/x", "E:\\x"],
    ["/tmp/x", "C:\\tmp\\x"],
    ["\\\\server\\share\\x", "\\\\server\\share\\x"],
    ["~/x", "C:\\Users\\me\\x"],
    ["~\\x", "C:\\Users\\me\\x"],
    ["file:///D:/a%20b", "D:\\a b"],
  ])("%s is %s", (text, path) => expect(parsePath(text, windows)).toBe(path));
});

it("a mention loses its @, odd spaces become plain", () => {
  expect(tidyPath("@a\u00a0b\u3000c")).toBe("a b c");
  expect(tidyPath("a@b")).toBe("a@b");
});

it("names that look the same are the same", () => {
  expect(looseName("9.41\u202fAM")).toBe(looseName("9.41 AM"));
  expect(looseName("cafe\u0301")).toBe(looseName("caf\u00e9"));
  expect(looseName("it\u2019s \u201cso\u201d")).toBe('it\'s "so"');
  expect(["plain.txt", "two words", "é", "it's"].map(mayLookLikeAnother)).toEqual([false, true, true, true]);
});
