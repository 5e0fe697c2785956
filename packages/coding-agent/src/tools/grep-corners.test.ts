import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../lib/clock.ts";
import { createGrepCollector, type GrepRequest } from "./grep-format.ts";
import { grepWithJs } from "./grep-js.ts";
import { findRipgrep, grepWithRipgrep } from "./grep-rg.ts";
import { textOf } from "./test-fixture.ts";

/** What is too large, or has too odd a name, for the cases that are data; with every engine that is here. */

const never = new AbortController().signal;
const ripgrep = await findRipgrep(process.env);

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-corners-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Engine = (options: Partial<GrepRequest>, limit?: number) => Promise<string>;

const byJs: Engine = async (options, limit = 100) => {
  const request = toRequest(options);
  const collector = createGrepCollector({ limit, context: request.context });
  await grepWithJs(request, collector, never);
  return textOf(collector.result());
};

const byRipgrep: Engine = async (options, limit = 100) => {
  const request = toRequest(options);
  const collector = createGrepCollector({ limit, context: request.context });
  const context = { cwd: root, env: { ...process.env, ...home() }, clock: systemClock };
  const done = await grepWithRipgrep(ripgrep!, request, context, collector, never);
  return done ? textOf(collector.result()) : byJs(options, limit);
};

/** Where git and ripgrep look for what the user likes to have ignored. */
function home() {
  return { HOME: root, XDG_CONFIG_HOME: join(root, ".config"), RIPGREP_CONFIG_PATH: join(root, ".config/ripgreprc") };
}

function toRequest(options: Partial<GrepRequest>): GrepRequest {
  return { pattern: "foo", literal: false, ignoreCase: false, context: 0, folder: root, ...options };
}

const engines: [string, Engine][] = [["our own search", byJs]];
if (ripgrep) engines.push(["ripgrep", byRipgrep]);

describe.each(engines)("%s", (_, grep) => {
  it("shows no lines of a file with a zero byte far down", async () => {
    writeFileSync(join(root, "late"), `foo\n${"x\n".repeat(1_000_000)}\0\nfoo\n`);
    writeFileSync(join(root, "text"), "foo\n");
    expect(await grep({})).toBe("text:1: foo");
    expect(await grep({ fileName: "late" })).toBe("No matches found\n\n[late is a binary file and was not searched]");
  });

  it("shows what it found when there is enough before the zero byte", async () => {
    writeFileSync(join(root, "late"), `foo\nfoo\nfoo\n${"x\n".repeat(1_000_000)}\0\nfoo\n`);
    expect(await grep({}, 2)).toMatch(/^late:1: foo\nlate:2: foo\n\n\[2 matches limit reached/);
    expect(await grep({ fileName: "late" }, 2)).toMatch(/^late:1: foo\nlate:2: foo\n\n\[2 matches limit reached/);
    expect(await grep({}, 3)).toBe("No matches found");
  });

  it("reads UTF-16 of any size", async () => {
    writeFileSync(join(root, "wide"), Buffer.from(`\ufeff${"x\n".repeat(600_000)}foo é\r\n`, "utf16le"));
    expect(await grep({ pattern: "foo .$" })).toBe("wide:600001: foo é");
  });

  it("passes over a line that is too long, but counts it", async () => {
    const long = `foo${"x".repeat(17 * 1024 * 1024)}`;
    writeFileSync(join(root, "f"), `${long}\nfoo\n${long}`);
    expect(await grep({})).toBe("f:2: foo");
    expect(await grep({ context: 1 })).toMatch(/^f-1- foox{497}\.\.\. \[truncated\]\nf:2: foo\nf-3- foox+\.\.\. /);
  });

  it("finds every match in a file of many blocks, and the lines around it across their edges", async () => {
    const lines = Array.from({ length: 300_000 }, (_, i) => `line ${i + 1}${i % 100_000 === 99_999 ? " foo" : ""}`);
    writeFileSync(join(root, "f"), lines.join("\r\n"));
    expect((await grep({ context: 1 })).split("\n")).toEqual(
      [99_999, 100_000, 100_001, 199_999, 200_000, 200_001, 299_999, 300_000].map((number) => {
        const mark = number % 100_000 === 0 ? ":" : "-";
        return `f${mark}${number}${mark} ${lines[number - 1]}`;
      }),
    );
  });

  it("does not care for the wishes in the user's home", async () => {
    mkdirSync(join(root, ".config/git"), { recursive: true });
    mkdirSync(join(root, "repo/.git/info"), { recursive: true });
    writeFileSync(join(root, ".config/git/ignore"), "a.ts\n");
    writeFileSync(join(root, ".config/ripgreprc"), "--ignore-case\n");
    writeFileSync(join(root, "repo/.git/info/exclude"), "b.ts\n");
    for (const name of ["a.ts", "b.ts"]) writeFileSync(join(root, "repo", name), "foo\nFOO\n");
    expect(await grep({ folder: join(root, "repo") })).toBe("a.ts:1: foo\nb.ts:1: foo");
  });

  // Elsewhere the system takes no such names.
  it.runIf(process.platform === "linux")("opens files and folders whose names are no UTF-8", async () => {
    const at = (...bytes: number[]) => Buffer.concat([Buffer.from(`${root}/n`), Buffer.from(bytes)]);
    writeFileSync(at(0xff), "foo 2\n");
    writeFileSync(at(0xfe), "foo 1\n");
    mkdirSync(at(0xfd));
    writeFileSync(at(0xfd, ...Buffer.from("/a.ts")), "foo 0\n");
    writeFileSync(at(0xfd, ...Buffer.from("/b.ts")), "foo ignored\n");
    writeFileSync(at(0xfd, ...Buffer.from("/.ignore")), "b.ts\n");
    expect(await grep({})).toBe("n\ufffd/a.ts:1: foo 0\nn\ufffd:1: foo 1\nn\ufffd:1: foo 2");
    expect(await grep({ glob: "*.ts" })).toBe("n\ufffd/a.ts:1: foo 0");
  });
});
