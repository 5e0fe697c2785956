import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type ReadPage, readPage, useFolder } from "../../../test/support/exported-page.ts";
import { parseArgs } from "./args.ts";
import { type ExportOutcome, exportOutcome } from "./export-command.ts";
import { systemClock } from "./lib/clock.ts";

const folder = useFolder();
const inFolder = (...path: string[]): string => join(folder(), ...path);
beforeEach(() => {
  mkdirSync(inFolder("project"));
  mkdirSync(inFolder("agent"));
});

const KEY = "fantasy-key-0123456789";
const timestamp = "2026-11-15T18:41:02.460Z";
const header = (more: object = {}) => ({ type: "session", version: 3, id: "01a1", timestamp, cwd: "/x", ...more });
const said = (text: string, id = "a") => ({
  ...{ type: "message", id, parentId: null, timestamp },
  message: { role: "user", content: text, timestamp: 1 },
});

function write(name: string, lines: readonly (object | string)[]): string {
  const path = inFolder("project", name);
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return path;
}

async function run(argv: readonly string[], { env = {}, programName = "tiller" } = {}): Promise<ExportOutcome> {
  const parsed = parseArgs(argv, programName);
  if (parsed.kind === "error") return { code: parsed.exitCode, errors: [parsed.message] };
  if (parsed.kind !== "export") throw new Error(JSON.stringify(parsed));
  const around = { HOME: folder(), TILLER_DIR: inFolder("agent"), ...env };
  return exportOutcome({ ...parsed, env: around, cwd: inFolder("project"), clock: systemClock });
}

const page = (name: string): ReadPage => readPage(inFolder("project", name));

describe("tiller export", () => {
  it("writes the page into the working folder, named after the session and the dialect", async () => {
    write("2026_01a1.jsonl", [header(), said("hello")]);
    expect(await run(["export", "2026_01a1.jsonl"])).toEqual({
      ...{ code: 0, out: "Exported to: tiller-session-2026_01a1.html", errors: [] },
    });
    expect(page("tiller-session-2026_01a1.html").entries).toHaveLength(1);
    for (const programName of ["pi", "omp", "xcsh"]) {
      const { out } = await run(["--export", "2026_01a1.jsonl"], { programName });
      expect(out).toBe(`Exported to: ${programName}-session-2026_01a1.html`);
    }
  });

  it("or where it is told to, also in the words of other systems", async () => {
    const path = write("a.jsonl", [header(), said("hello")]);
    await run(["export", path, "--out", "one.html"]);
    await run(["export", path, "two.html"]);
    await run(["--export", path, "~/project/three.html"]);
    await run(["--mode", "rpc", "--export", path, "four.html"]);
    const { out } = await run(["export", path, "--out", "five.html", "--json"]);
    expect(JSON.parse(out ?? "")).toEqual({ path: "five.html", entries: 1, damagedLines: 0 });
    for (const name of ["one", "two", "three", "four", "five"]) expect(page(`${name}.html`).end.entries).toBe(1);
  });

  it("finds a session by its id, and goes on without a header and with damage", async () => {
    mkdirSync(inFolder("sessions"));
    write("../sessions/2026-11-15T18-41-02-460Z_01a1.jsonl", [header(), said("hello")]);
    const byId = await run(["export", "01a", "--out", "x.html", "--session-dir", inFolder("sessions")]);
    expect(byId.code).toBe(0);
    const path = write("headless.jsonl", [`${JSON.stringify(header()).slice(0, 20)}`, said("hello"), "{{{"]);
    expect(await run(["export", path, "--out", "y.html"])).toEqual({
      ...{ code: 0, out: "Exported to: y.html", errors: [`tiller: ${path}: 2 damaged lines are not in the page`] },
    });
    expect(page("y.html").end).toMatchObject({ entries: 1, damagedLines: 2 });
  });
});

describe("what cannot be exported", () => {
  const rows: [what: string, argv: string[], says: RegExp, code?: number][] = [
    ["nothing", ["export"], /use it as `tiller export FILE/, 2],
    ["two paths", ["export", "a.jsonl", "b", "--out", "c"], /use it as/, 2],
    ["no such file", ["export", "./none.jsonl"], /none\.jsonl does not exist/],
    ["no such id", ["export", "none"], /No session found matching 'none'/],
    ["a folder", ["export", "./"], /is a folder, not a session file/],
    ["no session", ["export", "text.jsonl"], /text\.jsonl is no session file: it has neither a header nor an entry/],
    ["an empty file", ["export", "nothing.jsonl"], /is no session file/],
    ["a session without entries", ["export", "empty.jsonl"], /empty\.jsonl: Nothing to export yet - start a/],
    ["into a folder", ["export", "a.jsonl", "--out", "sub"], /sub: it is a folder; name a file in it/],
    ["into no folder", ["export", "a.jsonl", "--out", "no/x.html"], /the folder \S+\/no does not exist/],
    ["below a file", ["export", "a.jsonl", "--out", "a.jsonl/x"], /Cannot export to .*: (ENOTDIR|the folder)/],
    ["over a session", ["export", "a.jsonl", "--out", "a.jsonl"], /it is a session file, which the page would/],
    ["into a device", ["export", "a.jsonl", "--out", "/dev/null"], /neither a file nor free/],
    ["--out elsewhere", ["--mode", "rpc", "--out", "x"], /--out is for `tiller export`/, 2],
  ];
  it.each(rows)("%s", async (_, argv, says, code = 1) => {
    mkdirSync(inFolder("project", "sub"));
    write("a.jsonl", [header(), said("hello")]);
    write("text.jsonl", ["hello"]);
    write("nothing.jsonl", []);
    write("empty.jsonl", [header()]);
    const before = readdirSync(inFolder("project"));
    const outcome = await run(argv);
    expect(outcome.errors.join("\n")).toMatch(says);
    expect(outcome).toMatchObject({ code });
    expect(readdirSync(inFolder("project"))).toEqual(before);
  });

  it.each([
    ["a file of the user's", "../own"],
    ["what is not there", "../new"],
  ])("under the usual name over a link to %s, and does so when that path is named", async (_, to) => {
    write("2026_01a1.jsonl", [header(), said("hello")]);
    writeFileSync(inFolder("own"), "mine");
    const name = "tiller-session-2026_01a1.html";
    symlinkSync(to, inFolder("project", name));
    const { code, errors } = await run(["export", "2026_01a1.jsonl"]);
    const reason = "a link lies there; remove it, or name the path you want";
    expect([code, ...errors]).toEqual([1, `Error: Cannot export to ${inFolder("project", name)}: ${reason}`]);
    expect([readFileSync(inFolder("own"), "utf8"), existsSync(inFolder("new"))]).toEqual(["mine", false]);
    expect((await run(["export", "2026_01a1.jsonl", "--out", name])).code).toBe(0);
    expect(readPage(inFolder(to.slice(3))).entries).toHaveLength(1);
  });

  it("through a link into no folder", async () => {
    write("a.jsonl", [header(), said("x")]);
    symlinkSync("no/x.html", inFolder("project", "link.html"));
    const { code, errors } = await run(["export", "a.jsonl", "--out", "link.html"]);
    expect(code).toBe(1);
    expect(errors.join()).toMatch(/the folder \S+\/no does not exist/);
    expect(readdirSync(inFolder("project")).sort()).toEqual(["a.jsonl", "link.html"]);
  });

  it("into a folder that must not be written", async () => {
    const path = write("a.jsonl", [header(), said("hello")]);
    mkdirSync(inFolder("locked"));
    chmodSync(inFolder("locked"), 0o555);
    // Nothing is locked for root, but for what the kernel itself keeps.
    const locked = process.getuid?.() === 0 ? "/proc/page.html" : inFolder("locked", "page.html");
    const { code, errors } = await run(["export", path, "--out", locked]);
    expect(code).toBe(1);
    expect(errors.join()).toMatch(/^Error: Cannot export to \S+page\.html: (EACCES|ENOENT|EPERM): /);
    chmodSync(inFolder("locked"), 0o755);
  });
});

describe("secrets", () => {
  const files = (): void => {
    writeFileSync(inFolder("agent", "auth.json"), JSON.stringify({ acme: { type: "api_key", key: `auth-${KEY}` } }), {
      mode: 0o600,
    });
    const provider = { apiKey: "$OWN_VARIABLE", headers: { "X-Key": `Token header-${KEY}` }, models: [] };
    writeFileSync(
      inFolder("agent", "models.json"),
      JSON.stringify({ providers: { own: { ...provider, baseUrl: `https://me:url-${KEY}@example.com` } } }),
    );
  };
  const env = { OPENAI_API_KEY: `env-${KEY}`, MY_DB_PASSWORD: `db-${KEY}`, OWN_VARIABLE: `own-${KEY}` };
  const kinds = ["auth", "header", "url", "env", "db", "own"];
  const text = kinds.map((kind) => `${kind}-${KEY}`).join(" / ");

  it("of the environment and of the files are not told, nor where the home folder is", async () => {
    files();
    const path = write("a.jsonl", [header({ cwd: inFolder("project") }), said(`${text} in ${inFolder("x")}`)]);
    expect((await run(["export", path, "--out", "x.html"], { env })).code).toBe(0);
    const { html, start, entries } = page("x.html");
    expect(html).not.toContain(KEY);
    expect(html).not.toContain(folder());
    expect(start).toMatchObject({ redacted: true, cwd: "~/project" });
    expect(entries[0]).toMatchObject({ message: { content: `${kinds.map(() => "[redacted]").join(" / ")} in ~/x` } });
  });

  it("are told with --no-redact, and as the settings say", async () => {
    files();
    const path = write("a.jsonl", [header(), said(`${text} Project X in ${inFolder("x")}`)]);
    const exported = async (...more: string[]): Promise<ReadPage> => {
      await run(["export", path, "--out", "x.html", ...more], { env });
      return page("x.html");
    };
    const whole = await exported("--no-redact");
    expect(whole.start.redacted).toBe(false);
    expect(whole.entries[0]).toMatchObject({ message: { content: `${text} Project X in ${inFolder("x")}` } });
    expect((await exported("--set", "export.redact.mode=none")).html).toContain(KEY);
    const keys = await exported("--set", "export.redact.mode=keys");
    expect(keys.html).not.toContain(KEY);
    expect(keys.html).toContain(inFolder("x"));
    expect((await exported("--set", "export.redact.patterns=Project X")).html).not.toContain("Project X");
  });

  it("stay secret in a project that nobody trusts", async () => {
    mkdirSync(inFolder("project", ".tiller"));
    const settings = JSON.stringify({ export: { redact: { mode: "none" } } });
    writeFileSync(inFolder("project", ".tiller", "settings.json"), settings);
    const path = write("a.jsonl", [header(), said(text)]);
    const { errors } = await run(["export", path, "--out", "x.html"], { env });
    expect(page("x.html").html).not.toContain(`env-${KEY}`);
    expect(errors.join()).toContain("export.redact.mode");
  });
});
