import { isAbsolute } from "node:path";
import { describe, expect, it } from "vitest";
import {
  agentFolder,
  cwdFolderName,
  homeFolder,
  locksFolder,
  resolvePath,
  sessionFileName,
  sessionFolder,
  sessionsRoot,
  trashFolder,
} from "./paths.ts";

describe("the agent folder", () => {
  const cases: [string, Record<string, string>, string][] = [
    ["of an existing set-up", { HOME: "/h", PI_CODING_AGENT_DIR: "/pi", TILLER_DIR: "/t" }, "/pi"],
    ["of our own variable", { HOME: "/h", TILLER_DIR: "/t" }, "/t"],
    ["at home", { HOME: "/h" }, "/h/.tiller/agent"],
    ["when a variable is empty", { HOME: "/h", PI_CODING_AGENT_DIR: "", TILLER_DIR: "" }, "/h/.tiller/agent"],
    ["with a tilde", { HOME: "/h", PI_CODING_AGENT_DIR: "~/.pi/agent" }, "/h/.pi/agent"],
    ["relative to where we were started", { HOME: "/h", TILLER_DIR: "conf" }, "/cwd/conf"],
  ];
  it.each(cases)("%s", (_, env, expected) => {
    expect(agentFolder(env, "/cwd")).toBe(expected);
  });

  it("is absolute even without HOME", () => {
    for (const env of [{}, { HOME: "" }, { HOME: "relative" }]) expect(isAbsolute(homeFolder(env))).toBe(true);
  });
});

describe("the home folder", () => {
  it.each([
    ["/h", "/h"],
    ["/h/", "/h"],
    ["/h//", "/h"],
    ["//x/../h/.", "/h"],
    ["/", "/"],
  ])("%s has one name: paths in it are compared with others", (HOME, expected) => {
    expect(homeFolder({ HOME })).toBe(expected);
    expect(resolvePath("~", "/b", { HOME })).toBe(expected);
  });
});

describe("resolving a path", () => {
  it.each([
    ["~", "/h"],
    ["~/x", "/h/x"],
    ["~x", "/b/~x"],
    ["x", "/b/x"],
    ["/x", "/x"],
  ])("%s is %s", (path, expected) => {
    expect(resolvePath(path, "/b", { HOME: "/h" })).toBe(expected);
  });
});

describe("session files", () => {
  const place = { agentDir: "/a", cwd: "/home/me/app", env: { HOME: "/h" } };

  it.each([
    ["/home/me/app", "--home-me-app--"],
    ["/", "----"],
    ["C:\\work\\app", "--C--work-app--"],
    ["/a b/ü:x", "--a b-ü-x--"],
  ])("of %s lie in %s", (cwd, expected) => {
    expect(cwdFolderName(cwd)).toBe(expected);
  });

  it("of a very deep folder still have a folder name that file systems take", () => {
    const name = cwdFolderName(`/${"ü".repeat(300)}/ends-like-this`);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/^--ü+-ends-like-this--$/);
  });

  it("have a folder per working folder", () => {
    expect(sessionFolder({ ...place, sessionDir: undefined })).toBe("/a/sessions/--home-me-app--");
  });

  it.each([
    ["/s", "/s"],
    ["s", "/home/me/app/s"],
    ["~/s", "/h/s"],
  ])("lie directly in sessionDir %s", (sessionDir, expected) => {
    expect(sessionFolder({ ...place, sessionDir })).toBe(expected);
  });

  it("have their neighbours in the agent folder", () => {
    expect([sessionsRoot("/a"), locksFolder("/a"), trashFolder("/a")]).toEqual(["/a/sessions", "/a/locks", "/a/trash"]);
  });

  it("are named by time and id", () => {
    expect(sessionFileName(Date.UTC(2026, 10, 15, 18, 41, 2, 460), "01a1")).toBe("2026-11-15T18-41-02-460Z_01a1.jsonl");
  });
});
