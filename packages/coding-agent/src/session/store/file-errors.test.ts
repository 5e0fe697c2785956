import { expect, test } from "vitest";
import { reasonOf, SessionFileError } from "./file-errors.ts";

const many = ", a '".repeat(200_000);

test.each<[error: unknown, reason: string]>([
  [new Error("ENOSPC: no space left on device, write"), "ENOSPC: no space left on device"],
  [new Error("ENOENT: no such file or directory, open '/a, b'"), "ENOENT: no such file or directory"],
  [new Error("EXDEV: not permitted, rename '/a' -> '/b'"), "EXDEV: not permitted"],
  [new Error("ENOENT: no such file, open '/a\n, b'"), "ENOENT: no such file"],
  [new SessionFileError("unwritable", "whole", new Error("EIO: i/o error, close")), "EIO: i/o error"],
  [new SessionFileError("unwritable", "whole"), "whole"],
  [new Error("it's broken, really"), "it's broken"],
  [new Error("broken, 2 times"), "broken, 2 times"],
  ["a text", "a text"],
])("the reason of %j", (error, reason) => expect(reasonOf(error)).toBe(reason));

test("a long path holds nobody up", () => {
  expect(reasonOf(new Error(`ENAMETOOLONG: name too long, open '${many}'`))).toBe("ENAMETOOLONG: name too long");
  expect(reasonOf(new Error(`${many}.`))).toBe(`${many}.`);
});
