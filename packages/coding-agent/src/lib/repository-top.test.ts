import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownRepositoryTop, repositoryTop } from "./repository-top.ts";

const US = 1000;
const STRANGER = 2000;

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-top-")));
  mkdirSync(join(root, "shared/.git"), { recursive: true });
  mkdirSync(join(root, "shared/work"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the top of a repository that texts are taken from", () => {
  it.each([
    { git: US, folder: 0, counts: true },
    { git: 0, folder: US, counts: true },
    { git: STRANGER, folder: 0, counts: false },
    { git: STRANGER, folder: US, counts: false },
    // Mounted in a container, all of it.
    { git: STRANGER, folder: STRANGER, counts: true },
    { git: undefined, folder: 0, counts: false },
  ])("$git made a .git in a folder of $folder: $counts", ({ git, folder, counts }) => {
    const ownerOf = (path: string) => (basename(path) === ".git" ? git : folder);
    const found = ownRepositoryTop(join(root, "shared/work"), US, ownerOf);
    expect(found === join(root, "shared")).toBe(counts);
  });

  it("is that of the files here", () => {
    const work = join(root, "shared/work");
    expect([ownRepositoryTop(work), repositoryTop(work)]).toEqual([join(root, "shared"), join(root, "shared")]);
  });
});
