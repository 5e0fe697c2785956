import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readFileArguments } from "./file-arguments.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tiller-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(folder, name), content);
const read = (...paths: string[]) => readFileArguments(paths, folder, { HOME: folder });

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

test("no file brings nothing", () => {
  expect(read()).toEqual({ text: "", images: [] });
});

test("texts come with their whole paths, in the order they were named", () => {
  put("b.txt", "second\n");
  put("a.txt", "first");
  expect(read("~/a.txt", "b.txt")).toEqual({
    text: `<file name="${folder}/a.txt">\nfirst\n</file>\n<file name="${folder}/b.txt">\nsecond\n\n</file>\n`,
    images: [],
  });
});

test("an image is attached, whatever its name says; its path stands in the text", () => {
  put("picture.txt", PNG);
  expect(read("picture.txt")).toEqual({
    text: `<file name="${folder}/picture.txt"></file>\n`,
    images: [{ type: "image", mimeType: "image/png", data: PNG.toString("base64") }],
  });
});

test("a text with a byte order mark is read as what it is", () => {
  put("utf8.txt", "\uFEFFé");
  put("utf16.txt", Buffer.from("\uFEFFé", "utf16le"));
  expect(read("utf8.txt", "utf16.txt")).toMatchObject({
    text: `<file name="${folder}/utf8.txt">\né\n</file>\n<file name="${folder}/utf16.txt">\né\n</file>\n`,
  });
});

test.each<[string, string]>([
  ["missing.txt", "no such file"],
  [".", "is a folder; name a file in it"],
  ["program", "neither text nor an image that models take"],
])("%s cannot be used, and that is said", (name, problem) => {
  put("program", Buffer.from("7f454c4600000000", "hex"));
  expect(read(name)).toEqual({ error: `Error: @${name}: ${problem} (${join(folder, name)})` });
});
