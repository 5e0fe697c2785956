import { chmodSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { killAllProcesses } from "../exec/run-process.ts";
import { createToolFixture, type ToolFixture } from "./test-fixture.ts";

/** A PATH without any rg, so that our own search is tested wherever the tests run. */
const WITHOUT_RIPGREP = { PATH: "/nowhere" };

let fixture: ToolFixture;
beforeEach(() => {
  fixture = createToolFixture(
    {
      "a.ts": "import x\nconst Foo = 1;\nfoo(1);\nend\n",
      "src/b.ts": "nothing\r\nfoo$\r\n",
      "src/c.md": "foo in prose",
      ".hidden/d.ts": "foo hidden",
      "node_modules/e.ts": "foo",
      ".git/f.ts": "foo",
      "ignored.ts": "foo",
      ".gitignore": "ignored.ts\n",
    },
    { env: WITHOUT_RIPGREP },
  );
  fixture.write("binary.bin", Buffer.from("foo\0foo"));
});
afterEach(() => {
  killAllProcesses();
  fixture.remove();
});

describe("what is found", () => {
  it.each([
    [{ pattern: "foo" }, ".hidden/d.ts:1: foo hidden\na.ts:3: foo(1);\nsrc/b.ts:2: foo$\nsrc/c.md:1: foo in prose"],
    [{ pattern: "foo", ignoreCase: true, glob: "a.*" }, "a.ts:2: const Foo = 1;\na.ts:3: foo(1);"],
    [{ pattern: "(?i)FOO =" }, "a.ts:2: const Foo = 1;"],
    [{ pattern: "^foo\\(\\d\\);$" }, "a.ts:3: foo(1);"],
    [{ pattern: "foo\\$$" }, "src/b.ts:2: foo$"],
    [{ pattern: "foo$", literal: true }, "src/b.ts:2: foo$"],
    [{ pattern: "foo(1)", literal: true }, "a.ts:3: foo(1);"],
    [{ pattern: "foo", path: "src" }, "b.ts:2: foo$\nc.md:1: foo in prose"],
    [{ pattern: "foo", path: "src/c.md" }, "c.md:1: foo in prose"],
    [{ pattern: "foo", glob: "*.md" }, "src/c.md:1: foo in prose"],
    [{ pattern: "foo", glob: "src/**/*.ts" }, "src/b.ts:2: foo$"],
    [{ pattern: "foo(?!\\()", glob: "a.ts" }, "No matches found"],
    [{ pattern: "nothing like this" }, "No matches found"],
  ])("%j", async (args, found) => expect(await fixture.text("grep", args)).toBe(found));

  it("comes with the lines around it, none twice", async () => {
    fixture.write("list", "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n9\n");
    expect(await fixture.text("grep", { pattern: "x", path: "list", context: 1 })).toBe(
      [
        "list-1- 1",
        "list:2: 2 x",
        "list-3- 3",
        "list:4: 4 x",
        "list-5- 5",
        "list-7- 7",
        "list:8: 8 x",
        "list-9- 9",
      ].join("\n"),
    );
  });
});

describe("limits", () => {
  it("stops at the limit when there is more, with the lines after the last match", async () => {
    fixture.write("many", "m1\nm2\nafter\nfar\nm3\n");
    expect(await fixture.call("grep", { pattern: "^m", path: "many", limit: 2, context: 1 })).toEqual({
      content: [
        {
          type: "text",
          text: "many:1: m1\nmany:2: m2\nmany-3- after\n\n[2 matches limit reached. Use limit=4 for more, or refine pattern]",
        },
      ],
      details: { matchLimitReached: 2 },
    });
    expect(await fixture.call("grep", { pattern: "^m", path: "many", limit: 3 })).not.toHaveProperty("details");
  });

  it("shortens long lines and long results, and says both", async () => {
    fixture.write("wide", `${"y".repeat(600)}\n`.repeat(100));
    const result = await fixture.call("grep", { pattern: "y", path: "wide" });
    const text = result.content[0]?.type === "text" ? result.content[0].text : "";
    expect(text.split("\n")[0]).toBe(`wide:1: ${"y".repeat(500)}... [truncated]`);
    expect(text).toMatch(
      /\n\n\[50\.0KB limit reached\. Some lines truncated to 500 chars\. Use read tool to see full lines\]$/,
    );
    expect(result.details).toMatchObject({ linesTruncated: true, truncation: { truncatedBy: "bytes" } });
  });
});

describe("what goes wrong", () => {
  it("names a missing path and a pattern that is none", async () => {
    await expect(fixture.call("grep", { pattern: "x", path: "no" })).rejects.toThrow("Path not found: no");
    await expect(fixture.call("grep", { pattern: "(" })).rejects.toThrow(
      /^Invalid pattern "\(": .*Use literal=true to search for the text itself\.$/,
    );
  });

  it("stops when told", async () => {
    const stop = new AbortController();
    const search = fixture.call("grep", { pattern: "foo" }, stop.signal);
    stop.abort();
    await expect(search).rejects.toThrow("Operation aborted");
  });

  it("gives up on a pattern that would take for ever only when there is no other way", async () => {
    fixture.write("trap", `${"a".repeat(60)}b`);
    expect(await fixture.text("grep", { pattern: "^(a+)+$", path: "trap" })).toBe("No matches found");
    expect(await fixture.text("grep", { pattern: "^(a+)+b$", path: "trap" })).toBe(`trap:1: ${"a".repeat(60)}b`);
    await expect(fixture.call("grep", { pattern: "^(a+)+\\1$", path: "trap" })).rejects.toThrow(
      "The pattern takes too long on trap. Use a simpler pattern or literal=true.",
    );
  });
});

describe("with ripgrep", () => {
  /** A stand-in that notes its arguments and prints what ripgrep would. */
  function install(script: string): ToolFixture {
    const path = fixture.write("bin/rg", `#!/bin/sh\nprintf '%s\\n' "$@" > ${fixture.root}/args\n${script}\n`);
    chmodSync(path, 0o755);
    const other = createToolFixture({ "a.ts": "foo js\n" }, { env: { PATH: `${dirname(path)}:/usr/bin:/bin` } });
    return other;
  }
  const event = (type: string, line: number, text: string) =>
    JSON.stringify({ type, data: { path: { text: "./x/a.ts" }, lines: { text }, line_number: line } });

  it("reports its lines in the same form, and passes pattern and glob without a shell", async () => {
    const lines = [
      event("begin", 0, ""),
      event("context", 1, "before\n"),
      event("match", 2, "$(foo)\r\n"),
      event("end", 0, ""),
    ];
    const other = install(`cat <<'END'\n${lines.join("\n")}\nEND`);
    expect(await other.text("grep", { pattern: "-e $(x)", glob: "*.ts", ignoreCase: true, context: 1 })).toBe(
      "x/a.ts-1- before\nx/a.ts:2: $(foo)",
    );
    const args = readFileSync(`${fixture.root}/args`, "utf8").split("\n");
    expect(args).toEqual(
      expect.arrayContaining(["--ignore-case", "--context=1", "--glob=*.ts", "--glob=!node_modules"]),
    );
    expect(args.slice(args.indexOf("--regexp"))).toEqual(["--regexp", "-e $(x)", "--", "./", ""]);
    other.remove();
  });

  it("is stopped at the limit", async () => {
    const other = install(`echo '${event("begin", 0, "")}'; while :; do echo '${event("match", 1, "foo")}'; done`);
    const result = await other.call("grep", { pattern: "foo", limit: 3 });
    expect(result.details).toEqual({ matchLimitReached: 3 });
    other.remove();
  });

  it("that cannot do it is replaced by our own search", async () => {
    const other = install("echo 'regex parse error' >&2; exit 2");
    expect(await other.text("grep", { pattern: "foo" })).toBe("a.ts:1: foo js");
    other.remove();
  });

  it("ends with the call", async () => {
    const other = install(`echo $$ > ${fixture.root}/pid; exec sleep 100`);
    const stop = new AbortController();
    const search = other.call("grep", { pattern: "foo" }, stop.signal);
    while (!fixtureHas("pid")) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();
    await expect(search).rejects.toThrow("Operation aborted");
    const pid = Number(fixture.read("pid"));
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    other.remove();
  });

  function fixtureHas(name: string): boolean {
    try {
      return fixture.read(name).trim() !== "";
    } catch {
      return false;
    }
  }
});
