import { afterEach, describe, expect, it } from "vitest";
import { resolveExistingPath, resolvePath } from "./path.ts";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

const context = { cwd: "/project", env: { HOME: "/home/me" } };

describe("a path as a model writes it", () => {
  it.each([
    ["src/a.ts", "/project/src/a.ts"],
    ["./src/../b", "/project/b"],
    ["/etc/hosts", "/etc/hosts"],
    ["~", "/home/me"],
    ["~/notes.md", "/home/me/notes.md"],
    ["~other/x", "/project/~other/x"],
    ["@src/a.ts", "/project/src/a.ts"],
    ["@~/notes.md", "/home/me/notes.md"],
    ["my\u00a0file\u202f1.txt", "/project/my file 1.txt"],
  ])("%s is %s", (path, absolute) => expect(resolvePath(context, path)).toBe(absolute));
});

describe("a file that is really called that way", () => {
  let fixture: ToolFixture;
  afterEach(() => fixture.remove());

  it("is found before the tidied name", async () => {
    fixture = createToolFixture({ "@types.txt": "", "a\u202fb": "", plain: "" });
    const here = { cwd: fixture.root, env: {} };
    expect(await resolveExistingPath(here, "@types.txt")).toBe(`${fixture.root}/@types.txt`);
    expect(await resolveExistingPath(here, "a\u202fb")).toBe(`${fixture.root}/a\u202fb`);
    expect(await resolveExistingPath(here, "@plain")).toBe(`${fixture.root}/plain`);
  });
});
