import { execFileSync } from "node:child_process";
import fs, {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeClock } from "../../../../../test/support/fake-clock.ts";
import { type Damage, repairSession, repairText, salvage } from "./salvage.ts";

const header = '{"type":"session","version":3,"id":"s"}';
const time = "2026-01-01T00:00:00.000Z";
const entry = (id: string, content: unknown = "hi"): string =>
  JSON.stringify({ type: "message", id, parentId: null, timestamp: time, message: { role: "user", content } });
const a = entry("a");
const b = entry("b", [{ type: "text", text: 'a "quote", a { and a }, a \\ and ü' }]);

describe("salvaging damaged bytes", () => {
  const cases: [what: string, bytes: string, good: string[], bad: string[]][] = [
    ["nothing", "", [], []],
    ["a torn entry", a.slice(0, -1), [], [a.slice(0, -1)]],
    ["an entry behind zeros", `\0\0\0${a}`, [a], []],
    ["an entry before zeros", `${a}\0\0`, [a], []],
    ["zeros alone", "\0\0\0", [], []],
    ["zeros in an entry", `${a.slice(0, 20)}\0\0${a.slice(22)}`, [], [a.slice(0, 20), a.slice(22)]],
    ["two entries without a line end between them", a + b, [a, b], []],
    ["a header with an entry behind it", header + a, [header, a], []],
    ["an entry behind a torn one", `${b.slice(0, 40)}${a}`, [a], [b.slice(0, 40)]],
    [
      "an entry behind one torn in a text",
      `${b.slice(0, b.indexOf("quote"))}${a}`,
      [a],
      [b.slice(0, b.indexOf("quote"))],
    ],
    [
      "an entry behind one torn where an object may follow",
      `${b.slice(0, b.indexOf("[") + 1)}${a}`,
      [a],
      [b.slice(0, b.indexOf("[") + 1)],
    ],
    ["an entry before a torn one", a + b.slice(0, 50), [a], [b.slice(0, 50)]],
    ["an entry between garbage", `x{"y${b}}z`, [b], ['x{"y', "}z"]],
    ["garbage over several lines", `one\n\n{"two"\r\n${a}\r\n`, [a], ["one", '{"two"\r']],
    ["a part of a message that is whole", b.slice(0, b.indexOf("]")), [], [b.slice(0, b.indexOf("]"))]],
    ["an object that is no entry", '{"type":7,"timestamp":"x"}', [], ['{"type":7,"timestamp":"x"}']],
    ["blank space", " \t\r", [], []],
  ];
  it.each(cases)("%s", (_what, bytes, good, bad) => {
    const found = salvage(Buffer.from(bytes));
    expect({ good: found.good.map(String), bad: found.bad.map(String) }).toEqual({ good, bad });
  });

  it("ends soon on a megabyte of beginnings, and loses nothing of it", () => {
    const bytes = Buffer.from('{"":'.repeat(1 << 18));
    const { good, bad } = salvage(bytes);
    expect([good.length, bad.length, bad[0]?.equals(bytes)]).toEqual([0, 1, true]);
  });

  it("loses no byte but zeros and blank space, whatever it is given", () => {
    const piece = fc.oneof(
      fc.constantFrom(a, b, header, "\0", "\n", '{"', "}", '"', "\\"),
      fc.nat(80).map((n) => b.slice(0, n)),
      fc.nat(80).map((n) => b.slice(n)),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const bytes = Buffer.from(pieces.join(""));
        const { good, bad } = salvage(bytes);
        const parts = [...good, ...bad].sort((one, other) => one.byteOffset - other.byteOffset);
        let at = bytes.byteOffset;
        let between = "";
        for (const part of parts) {
          expect(part.byteOffset).toBeGreaterThanOrEqual(at);
          between += bytes.toString("latin1", at - bytes.byteOffset, part.byteOffset - bytes.byteOffset);
          at = part.byteOffset + part.length;
        }
        between += bytes.toString("latin1", at - bytes.byteOffset);
        expect(between).toMatch(/^[\0-\x20]*$/);
        for (const one of good) expect(JSON.parse(one.toString())).toHaveProperty("type");
      }),
    );
  });
});

/** Lines that are no entries. */
function findDamage(bytes: Buffer): Damage[] {
  const damage: Damage[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf("\n", start);
    const end = found < 0 ? bytes.length : found;
    if (!isWhole(bytes.toString("utf8", start, end))) damage.push({ start, end });
    start = end + 1;
  }
  return damage;
}

function isWhole(line: string): boolean {
  try {
    return typeof JSON.parse(line)?.type === "string";
  } catch {
    return false;
  }
}

function replaceSync(fsyncSync: typeof fs.fsyncSync): void {
  Object.assign(fs, { fsyncSync });
  syncBuiltinESMExports();
}

describe("repairing a session file", () => {
  let home = "";
  let path = "";
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "tiller-salvage-"));
    path = join(home, "s.jsonl");
  });
  let undo: (() => void) | undefined;
  afterEach(() => {
    undo?.();
    undo = undefined;
    rmSync(home, { recursive: true, force: true });
  });

  const clock = new FakeClock();
  const repair = (bytes: Buffer) => repairSession({ path, bytes, damage: findDamage(bytes), clock });
  const damaged = (text: string): Buffer => {
    writeFileSync(path, text);
    return readFileSync(path);
  };

  it("cuts a torn tail off, in the same file and the same memory, and keeps it aside", () => {
    const torn = b.slice(0, 30);
    const bytes = damaged(`${header}\n${a}\n${torn}`);
    const { ino } = statSync(path);
    const { bytes: repaired, ...rest } = repair(bytes);
    expect(rest).toEqual({ written: true, badBytes: 30, salvaged: 0, setAside: `${path}.damaged` });
    expect(repaired.toString()).toBe(`${header}\n${a}\n`);
    expect(repaired.buffer).toBe(bytes.buffer);
    expect(readFileSync(path).equals(repaired)).toBe(true);
    expect(statSync(path).ino).toBe(ino);
    const offset = header.length + a.length + 2;
    const note = `{"time":"2026-01-01T00:00:00.000Z","file":"s.jsonl","offset":${offset},"bytes":30}`;
    expect(readFileSync(`${path}.damaged`, "utf8")).toBe(`${note}\n${torn}\n`);
    expect(statSync(`${path}.damaged`).mode & 0o777).toBe(0o600);
  });

  it("writes a file that is damaged in the middle anew, with what could be saved in its place", () => {
    const repaired = repair(damaged(`${header}\n\0\0${a}${b}\nrubbish\n${entry("c")}`));
    expect(repaired).toMatchObject({ written: true, badBytes: 9, salvaged: 2 });
    expect(readFileSync(path, "utf8")).toBe(`${header}\n${a}\n${b}\n${entry("c")}\n`);
    expect(repaired.bytes.equals(readFileSync(path))).toBe(true);
    expect(readFileSync(`${path}.damaged`, "utf8").split("\n")[1]).toBe("rubbish");
  });

  it("adds to what was set aside before", () => {
    repair(damaged(`${header}\nfirst\n`));
    repair(damaged(`${header}\nsecond\n`));
    const aside = readFileSync(`${path}.damaged`, "utf8").split("\n");
    expect([aside[1], aside[3]]).toEqual(["first", "second"]);
    expect(readdirSync(home).sort()).toEqual(["s.jsonl", "s.jsonl.damaged"]);
  });

  const mine = "my own\n";
  const isUnix = process.platform !== "win32";
  it.runIf(isUnix).each<[what: string, put: (aside: string, own: string) => unknown]>([
    ["a link to a file of the user's", (aside, own) => symlinkSync(own, aside)],
    ["a link to what is not there", (aside, own) => symlinkSync(`${own}-new`, aside)],
    ["a second name of a file of the user's", (aside, own) => linkSync(own, aside)],
    ["a pipe that nobody reads", (aside) => execFileSync("mkfifo", [aside])],
  ])("writes into a new file when %s lies where it sets aside", (_what, put) => {
    const own = join(home, "own");
    writeFileSync(own, mine);
    put(`${path}.damaged`, own);
    const { written, setAside = "" } = repair(damaged(`${header}\nrubbish\n${a}\n`));
    expect(written).toBe(true);
    expect(setAside.replace(/[0-9a-f]{16}$/, "HEX")).toBe(`${path}.damaged-HEX`);
    expect(readFileSync(setAside, "utf8").split("\n")[1]).toBe("rubbish");
    expect([readFileSync(own, "utf8"), existsSync(`${own}-new`)]).toEqual([mine, false]);
    expect(repairText(path, { written, badBytes: 7, salvaged: 0, setAside })).toContain(`They are in ${setAside} now`);
  });

  it.runIf(process.getuid?.() === 0)("writes nothing into a file of another user (root only)", () => {
    const theirs = `${path}.damaged`;
    writeFileSync(theirs, "");
    fs.chownSync(theirs, 4711, 4711);
    expect(repair(damaged(`${header}\nrubbish\n`)).setAside).toMatch(/damaged-[0-9a-f]{16}$/);
    expect(readFileSync(theirs, "utf8")).toBe("");
  });

  it("sets nothing aside when only zeros were in the way", () => {
    const found = repair(damaged(`${header}\n\0\0\0\0`));
    expect(found).toMatchObject({ written: true, badBytes: 4, setAside: undefined });
    expect(repairText(path, found)).toContain("They were zeros or blanks and are gone.");
    expect(existsSync(`${path}.damaged`)).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(`${header}\n`);
  });

  it("leaves the file as it is when the bad bytes cannot be set aside, and repairs what is in memory", () => {
    const bytes = damaged(`${header}\nrubbish\n${a}\n`);
    mkdirSync(`${path}.damaged`);
    const { bytes: repaired, written } = repair(bytes);
    expect([repaired.toString(), written]).toEqual([`${header}\n${a}\n`, false]);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  it("leaves a file alone that grew while it was read: somebody is writing the line that looks torn", () => {
    const bytes = damaged(`${header}\n${a.slice(0, 9)}`);
    writeFileSync(path, `${header}\n${a}\n`);
    expect(repair(bytes)).toMatchObject({ written: false });
    expect(readFileSync(path, "utf8")).toBe(`${header}\n${a}\n`);
    expect(existsSync(`${path}.damaged`)).toBe(false);
  });

  it("keeps the mode of a file that it writes anew", () => {
    const bytes = damaged(`x\n${header}\n`);
    chmodSync(path, 0o640);
    repair(bytes);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  const content = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "{", "}", '"', "\\", "ü", "𝄞", "\n", "\0") }),
    fc.array(fc.record({ type: fc.string(), text: fc.string() })),
  );
  const lines = fc
    .array(content, { minLength: 1, maxLength: 8 })
    .map((all) => [header, ...all.map((one, i) => entry(`entry-${i}`, one))]);
  /** Damages the lines: what is left of the file, and which lines were not touched. */
  const harm = lines.chain((all) => {
    const whole = Buffer.from(all.map((line) => `${line}\n`).join(""));
    const ends = all.map((_, i) => Buffer.byteLength(all.slice(0, i + 1).join("\n")));
    const untouched = (from: number, to: number): string[] =>
      all.filter((line, i) => from === to || ends[i]! <= from || ends[i]! - Buffer.byteLength(line) >= to);
    const place = fc.nat(whole.length);
    return fc.oneof(
      fc.tuple(place, place).map(([one, other]) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        return { bytes: Buffer.from(whole).fill(0, from, to), untouched: untouched(from, to) };
      }),
      place.map((at) => ({ bytes: whole.subarray(0, at), untouched: untouched(at, whole.length) })),
      fc.tuple(fc.nat(all.length), fc.array(fc.string(), { minLength: 1, maxLength: 3 })).map(([at, garbage]) => {
        const text = [...all.slice(0, at), ...garbage, ...all.slice(at)].map((line) => `${line}\n`).join("");
        return { bytes: Buffer.from(text), untouched: all };
      }),
    );
  });

  it("keeps every line that was not touched, in order and byte for byte, and every other byte aside", () => {
    // Waiting for the disk hundreds of times would take a minute.
    const { fsyncSync } = fs;
    undo = () => replaceSync(fsyncSync);
    replaceSync(() => undefined);
    fc.assert(
      fc.property(harm, ({ bytes, untouched }) => {
        writeFileSync(path, bytes);
        rmSync(`${path}.damaged`, { force: true });
        const { bytes: repaired, written } = repair(bytes);
        expect(written).toBe(true);
        expect(readFileSync(path).equals(repaired)).toBe(true);
        expect(findDamage(repaired)).toEqual([]);
        expect(repaired.toString().split("\n").filter(Boolean)).toEqual(untouched);
        const aside = existsSync(`${path}.damaged`) ? readFileSync(`${path}.damaged`) : Buffer.alloc(0);
        for (const { start, end } of findDamage(bytes)) {
          for (const piece of bytes.toString("latin1", start, end).split("\0")) {
            const isSaved = repaired.includes(Buffer.from(piece, "latin1"));
            expect(isSaved || /^\s*$/.test(piece) || aside.includes(Buffer.from(piece, "latin1"))).toBe(true);
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});
