import { expect, it } from "vitest";
import { type ByteSource, readTextWindow, wholeCharacters } from "./text-window.ts";

const never = new AbortController().signal;

function endless(text: string): ByteSource & { given(): number } {
  let given = 0;
  return {
    given: () => given,
    async read(into) {
      // A disk takes its time, too.
      await new Promise((resolve) => setImmediate(resolve));
      into.fill(text);
      given += into.length;
      return into.length;
    },
  };
}

it("an endless text is shown by its beginning, and its lines are counted only so far", async () => {
  const source = endless("line\n");
  const request = { startLine: 0, lineCount: Infinity, maxBytes: 100, maxCountedBytes: 1024 * 1024 };
  const window = await readTextWindow(source, request, never);
  expect(window).toMatchObject({ complete: false, damaged: false });
  expect(window.text).toHaveLength(102);
  expect(window.totalLines).toBeGreaterThan(1024 * 200);
  expect(source.given()).toBeLessThan(2 * 1024 * 1024);
});

it("an endless line ends too", async () => {
  const request = { startLine: 0, lineCount: 1, maxBytes: 100, maxCountedBytes: 1024 * 1024 };
  const window = await readTextWindow(endless("x"), request, never);
  expect(window).toMatchObject({ complete: false, totalLines: 1 });
  expect(window.firstLineBytes).toBeGreaterThan(1024 * 1024);
});

it("a far line is looked for until it is found, or nobody wants it any more", async () => {
  const request = { startLine: 300_000, lineCount: 2, maxBytes: 100, maxCountedBytes: 1024 };
  const window = await readTextWindow(endless("12345\n"), request, never);
  expect(window).toMatchObject({ text: "12345\n12345\n", complete: false });
  await expect(readTextWindow(endless("x"), { ...request, startLine: 9 }, AbortSignal.timeout(20))).rejects.toThrow(
    "Operation aborted",
  );
});

it("a character that is cut off at the end is left out", () => {
  for (const length of [1, 2, 3])
    expect(wholeCharacters(Buffer.from("a😀").subarray(0, 1 + length)).toString()).toBe("a");
  expect(wholeCharacters(Buffer.from("a😀")).toString()).toBe("a😀");
  expect(wholeCharacters(Buffer.alloc(0))).toHaveLength(0);
});
