import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createBlobReader } from "./session-blobs.ts";

const SHA = "ab".repeat(32);
const PICTURE = Buffer.from("89504e470d0a1a0a", "hex");

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-blobs-"));
  for (const agent of ["one", "other"]) mkdirSync(join(root, agent, "blobs"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const sessionOf = (agent: string): string => join(root, agent, "sessions/app/a.jsonl");
const keep = (agent: string, name: string, bytes: Buffer | string): void =>
  writeFileSync(join(root, agent, "blobs", name), bytes);

describe("an image that is kept outside of the session file", () => {
  it.each([
    ["as a picture", PICTURE],
    ["as base64", PICTURE.toString("base64")],
    ["as base64 with a line end", `${PICTURE.toString("base64")}\n`],
  ])("is found beside the sessions, %s", (_how, bytes) => {
    keep("one", SHA, bytes);
    expect(createBlobReader([sessionOf("one")])(SHA)).toBe(PICTURE.toString("base64"));
  });

  it("is looked for beside the session that this one is a copy of", () => {
    keep("other", SHA, PICTURE);
    expect(createBlobReader([sessionOf("one"), sessionOf("other")])(SHA)).toBe(PICTURE.toString("base64"));
    expect(createBlobReader([sessionOf("one")])(SHA)).toBeUndefined();
  });

  it.runIf(process.platform !== "win32")("is a file: neither a link to another one nor a pipe", () => {
    const blob = join(root, "one/blobs", SHA);
    writeFileSync(join(root, "secret"), "secret");
    symlinkSync(join(root, "secret"), blob);
    expect(createBlobReader([sessionOf("one")])(SHA)).toBeUndefined();
    rmSync(blob);
    execFileSync("mkfifo", [blob]);
    expect(createBlobReader([sessionOf("one")])(SHA)).toBeUndefined();
  });

  it.each(["../../../etc/hostname", "../secret", "", SHA.toUpperCase(), `${SHA}0`, "secret"])(
    "is never a file with another kind of name: %j",
    (name) => {
      writeFileSync(join(root, "one/secret"), "secret");
      keep("one", "secret", "secret");
      expect(createBlobReader([sessionOf("one")])(name)).toBeUndefined();
    },
  );
});
