import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepLogin } from "./auth-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tiller-auth-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const path = () => join(folder, "auth.json");
const written = () => JSON.parse(readFileSync(path(), "utf8"));

test("a login stands beside what was there, for nobody else to read, and goes again", () => {
  writeFileSync(path(), '{"other":{"type":"api_key","key":"k"}}');
  keepLogin(folder, "corp", { type: "oauth", access: "tok" });
  expect(written()).toEqual({ other: { type: "api_key", key: "k" }, corp: { type: "oauth", access: "tok" } });
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  keepLogin(folder, "corp", undefined);
  expect(written()).toEqual({ other: { type: "api_key", key: "k" } });
});

test("what somebody has put where the file is prepared is not followed, and keys stay in the private file", () => {
  const victim = join(folder, "victim");
  writeFileSync(victim, "precious");
  // The name of an earlier version.
  symlinkSync(victim, `${path()}.${process.pid}`);
  keepLogin(folder, "corp", { type: "oauth", access: "tok" });
  expect(readFileSync(victim, "utf8")).toBe("precious");
  expect(lstatSync(path()).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).sort()).toEqual(["auth.json", `auth.json.${process.pid}`, "victim"]);
});

test("the folder need not be there; a broken file is left alone, and that is said", () => {
  rmSync(folder, { recursive: true });
  keepLogin(folder, "corp", { type: "oauth", access: "tok" });
  expect(Object.keys(written())).toEqual(["corp"]);
  writeFileSync(path(), "{");
  expect(() => keepLogin(folder, "corp", undefined)).toThrow('The login of "corp" was not kept');
  expect(readFileSync(path(), "utf8")).toBe("{");
});
