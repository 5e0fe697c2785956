import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { partly } from "../support/part-of.ts";
import { type RpcProcess, useProcessForAll, useRpc } from "../support/rpc-process.ts";
import { lineOf, madeSession } from "./support/made-session.ts";
import { messagesIn, readSessionFile } from "./support/session-tree.ts";
import { beside, dataOf, entriesOf, fileOf, messagesOf, noticesOf, script, textsOf } from "./support/stories.ts";

/** Files that a crash, a disk or somebody has damaged: whatever can be read is there, the rest is set aside and told. */

const start = useRpc();
let made: Awaited<ReturnType<typeof madeSession>>;
beforeAll(async () => {
  made = await madeSession();
});

const ALL = ["first", "one", "second", "two", "third", "three"];
const GARBAGE = '\u0001\ufffd not of this file {"';

interface Damage {
  what: string;
  damage(lines: string[]): string;
  /** What is said in the end. */
  texts: string[];
  /** Bytes that must be kept aside; undefined when there is nothing to keep. */
  aside?: (lines: string[]) => string;
  isWhole?: boolean;
  isInterrupted?: boolean;
}

const text = (lines: readonly string[]): string => `${lines.join("\n")}\n`;
const half = (line: string | undefined): string => String(line).slice(0, String(line).length / 2);
/** Changes the line of the message that says `word`. */
const changed = (lines: readonly string[], word: string, change: (line: string) => string): string =>
  text(lines.map((line, i) => (i === lineOf(lines, word) ? change(line) : line)));

const DAMAGES: Damage[] = [
  {
    what: "a torn last line",
    damage: (lines) => text(lines).slice(0, -String(lines.at(-1)).length / 2),
    texts: ALL.slice(0, -1),
    aside: (lines) => half(lines.at(-1)).slice(0, -1),
    isInterrupted: true,
  },
  {
    what: "a last line without its end",
    damage: (lines) => text(lines).slice(0, -1),
    texts: ALL,
    isWhole: true,
  },
  { what: "zeros at its end", damage: (lines) => text(lines) + "\0".repeat(4096), texts: ALL },
  {
    what: "zeros in the place of a line",
    damage: (lines) => changed(lines, "two", (line) => "\0".repeat(line.length)),
    texts: ["first", "one", "second", "third", "three"],
  },
  {
    what: "zeros before a line",
    damage: (lines) => changed(lines, "two", (line) => "\0".repeat(100) + line),
    texts: ALL,
  },
  {
    what: "a line of garbage",
    damage: (lines) => changed(lines, "two", (line) => `${GARBAGE}\n${line}`),
    texts: ALL,
    aside: () => GARBAGE,
  },
  {
    what: "two lines without a line end between them",
    damage: (lines) => text(lines).replace(/\n(?=.*"two")/, ""),
    texts: ALL,
  },
  {
    what: "a half line and a whole one in one",
    damage: (lines) => text([...lines.slice(0, -1), half(lines.at(-2)) + lines.at(-1)]),
    texts: ALL,
    aside: (lines) => half(lines.at(-2)),
  },
  {
    what: "garbage inside a line",
    damage: (lines) => changed(lines, "two", (line) => line.replace('"two"', `"tw${GARBAGE}`)),
    texts: ["first", "one", "second", "third", "three"],
    aside: () => GARBAGE,
  },
  {
    what: "no header",
    damage: (lines) => text(lines.slice(1)),
    texts: ALL,
    isWhole: true,
  },
  {
    what: "half a header",
    damage: (lines) => text([half(lines[0]), ...lines.slice(1)]),
    texts: ALL,
    aside: (lines) => half(lines[0]),
  },
];

/** The file with its damage, in a folder of its own. */
function damagedFile(folder: string, damage: Damage): { path: string; lines: string[] } {
  mkdirSync(folder, { recursive: true });
  const lines = made(folder);
  const path = join(folder, "s.jsonl");
  writeFileSync(path, damage.damage(lines));
  return { path, lines };
}

/** Everything else is there and the damage is told; then a prompt is answered. */
async function expectRest(rpc: RpcProcess, damage: Damage, { path, lines }: ReturnType<typeof damagedFile>, since = 0) {
  expect(textsOf(await messagesOf(rpc))).toEqual(damage.texts);
  expect(messagesIn(await entriesOf(rpc))).toEqual(await messagesOf(rpc));
  expect(await fileOf(rpc)).toBe(path);
  const { lastRunInterrupted } = await dataOf(rpc, { type: "get_state" });
  expect(lastRunInterrupted ?? false).toBe(damage.isInterrupted ?? false);

  const told = noticesOf(rpc, since).map(({ message }) => String(message));
  expect(told).toEqual(damage.isWhole ? [] : [expect.stringMatching(/was damaged.*Everything else is there/)]);
  const aside = damage.aside?.(lines);
  expect(existsSync(`${path}.damaged`)).toBe(aside !== undefined);
  if (aside !== undefined) {
    expect(readFileSync(`${path}.damaged`, "utf8")).toContain(aside);
    expect(told[0]).toContain(`${path}.damaged`);
  }
  expect((await rpc.prompt("again")).result).toMatchObject({ status: "completed" });
}

const afterwards = ({ texts }: Damage): string[] => [...texts, "again", "go on"];

/** The next one who opens it finds nothing wrong. */
async function expectRepaired(next: RpcProcess, path: string, texts: string[]): Promise<void> {
  const { header, entries, torn } = readSessionFile(path);
  expect([header?.type, torn]).toEqual(["session", ""]);
  expect(textsOf(messagesIn(entries))).toEqual(texts);
  const since = next.mark();
  await dataOf(next, { type: "switch_session", sessionPath: path });
  expect(textsOf(await messagesOf(next))).toEqual(texts);
  expect(noticesOf(next, since).filter(({ message }) => String(message).includes(path))).toEqual([]);
}

describe("opened by --session, a file with", () => {
  const nextOf = useProcessForAll();
  // All of them are opened by switch_session below.
  partly(3).each(DAMAGES)("$what has everything else", async (damage) => {
    const next = nextOf();
    const file = damagedFile(join(next.sandbox.cwd, damage.what), damage);
    const rpc = start({ script: script("go on"), ...beside(next, "--session", file.path) });
    await expectRest(rpc, damage, file);
    rpc.closeStdin();
    await rpc.waitExit();
    await expectRepaired(next, file.path, afterwards(damage));
  });
});

describe("opened by switch_session, one after the other in one process, a file with", () => {
  const oneOf = useProcessForAll({ script: DAMAGES.map(() => 'text "go on"') });
  const nextOf = useProcessForAll();
  it.each(DAMAGES)("$what has everything else", async (damage) => {
    const rpc = oneOf();
    const file = damagedFile(join(rpc.sandbox.cwd, damage.what), damage);
    const since = rpc.mark();
    const opened = await dataOf(rpc, { type: "switch_session", sessionPath: file.path });
    expect(opened).toEqual({ cancelled: false });
    await expectRest(rpc, damage, file, since);
    await dataOf(rpc, { type: "new_session" });
    await expectRepaired(nextOf(), file.path, afterwards(damage));
  });
});

describe("a file with nothing in it yet", () => {
  const nextOf = useProcessForAll();
  it.each([
    ["an empty one", () => ""],
    ["one with only a header", (lines: string[]) => text(lines.slice(0, 1))],
    ["one of zeros", () => "\0".repeat(5000)],
  ])("%s begins there", async (what, content) => {
    const next = nextOf();
    const folder = join(next.sandbox.cwd, what);
    mkdirSync(folder);
    const path = join(folder, "s.jsonl");
    writeFileSync(path, content(made(folder)));
    const rpc = start({ script: script("one"), ...beside(next, "--session", path) });
    expect(await messagesOf(rpc)).toEqual([]);
    await rpc.prompt("first");
    rpc.closeStdin();
    await rpc.waitExit();
    await expectRepaired(next, path, ["first", "one"]);
  });
});

describe("what is no session", () => {
  const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000a", "hex");
  const others: [what: string, make: (path: string) => void, says: RegExp][] = [
    ["a text", (path) => writeFileSync(path, "my-host\n"), /is not a session file/],
    [
      "a JSON file",
      (path) => writeFileSync(path, '{\n  "name": "x",\n  "list": [1, {"type": "y"}]\n}\n'),
      /is not a session file/,
    ],
    ["JSON in one line", (path) => writeFileSync(path, '{"type":"module","name":"x"}'), /is not a session file/],
    ["a picture", (path) => writeFileSync(path, PNG), /is not a session file/],
    ["a folder", (path) => mkdirSync(path), /folder|not a file/],
    ["a pipe", (path) => execFileSync("mkfifo", [path]), /pipe|not a file/],
  ];

  const hostOf = useProcessForAll({ script: others.map(() => 'text "one"') });
  it.each(others)("is refused and left as it is: %s", async (what, make, says) => {
    const host = hostOf();
    const path = join(host.sandbox.cwd, `${what}.jsonl`);
    make(path);
    const content = statSync(path).isFile() ? readFileSync(path) : undefined;
    const refused = await host.call({ type: "switch_session", sessionPath: path });
    expect(refused).toMatchObject({ success: false, error: expect.stringMatching(says) });
    expect(refused.error).toContain(path);
    expect((await host.prompt("still here")).result).toMatchObject({ status: "completed" });

    const rpc = start(beside(host, "--session", path));
    expect(await rpc.waitExit()).toMatchObject({ code: 1 });
    expect(rpc.stderr).toMatch(says);
    expect(rpc.frames).toEqual([]);
    if (content) expect(readFileSync(path).equals(content)).toBe(true);
    expect(existsSync(`${path}.damaged`)).toBe(false);
  });
});

describe("a file of many megabytes with garbage inside a line in its middle", () => {
  const COUNT = 200;
  const BAD = 31;
  /** Behind the damage there is more than is looked through at the start, of a kind that no model is shown. */
  const PADDED = 60;

  /** Copies of one exchange, each the child of the one before. */
  function large(cwd: string): { content: string; texts: string[] } {
    const lines = made(cwd);
    const [user, assistant] = ["first", "one"].map((word) => JSON.parse(lines[lineOf(lines, word)] ?? "")) as Frame[];
    const said = (i: number): string => `${i} ${"ü".repeat(20)}`;
    const id = (n: number): string => n.toString(16).padStart(8, "0");
    const entries = Array.from({ length: COUNT }, (_, i) => {
      const { message, ...entry } = (i % 2 ? assistant : user) as Frame;
      const content = [{ type: "text", text: said(i) }];
      const place = { ...entry, id: id(i), parentId: i === 0 ? null : id(i - 1) };
      if (i === PADDED)
        return JSON.stringify({ ...place, type: "custom", customType: "x", data: "x".repeat(18_000_000) });
      const line = JSON.stringify({ ...place, message: { ...(message as Frame), content } });
      return i === BAD ? line.replace('"text":', `"te${GARBAGE}`) : line;
    });
    const texts = entries.flatMap((_, i) => (i === BAD || i === PADDED ? [] : [said(i)]));
    return { content: text([lines[0] ?? "", ...entries]), texts };
  }

  it("tells everything else, in frames that are JSON, and goes on", async () => {
    const host = start({ script: script("go on", "and here") });
    const path = join(host.sandbox.cwd, "s.jsonl");
    const { content, texts } = large(host.sandbox.cwd);
    expect(content.length).toBeGreaterThan(16 * 1024 * 1024);
    writeFileSync(path, content);
    await dataOf(host, { type: "switch_session", sessionPath: path });
    expect(textsOf(await messagesOf(host))).toEqual(texts);
    expect(textsOf(messagesIn(await entriesOf(host)))).toEqual(texts);
    const { data } = await host.call({ type: "get_tree" });
    expect(list(at(data, "tree"))).not.toEqual([]);
    expect((await dataOf(host, { type: "get_session_stats" })).totalMessages).toBe(COUNT - 2);
    expect(list((await dataOf(host, { type: "get_fork_messages" })).messages)).toHaveLength(COUNT / 2 - 1);
    expect((await host.prompt("again")).result).toMatchObject({ status: "completed" });
    await dataOf(host, { type: "clone" });
    await host.prompt("in the copy");
    expect(textsOf(await messagesOf(host))).toEqual([...texts, "again", "go on", "in the copy", "and here"]);
    const copy = await fileOf(host);
    const rpc = start(beside(host, "--session", copy));
    expect(textsOf(await messagesOf(rpc))).toEqual([...texts, "again", "go on", "in the copy", "and here"]);
  });
});
