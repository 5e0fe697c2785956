import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSessionHistory } from "../../session-history.ts";
import { beginSession } from "./begin-session.ts";
import { openSession } from "./open-session.ts";
import { createSessionDisk, type DiskSettings } from "./session-disk.ts";
import { createSessionStore, type NewEntry, type SessionStore } from "./session-store.ts";
import {
  assistant,
  bash,
  countingIds,
  entriesOf,
  naiveContext,
  naiveLabels,
  naivePath,
  type PlainEntry,
  plain,
  STARTED,
  stillClock,
  user,
} from "./test-sessions.ts";

/** `npm run test:long` looks at more of them. */
const PLAYS_ALL = process.env.TILLER_ALL === "1";

let root = "";
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "tiller-model-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Plain arrays of objects: what the session should be. */
interface Model {
  entries: PlainEntry[];
  leaf: string | null;
}

type Op =
  | { op: "append"; kind: string; pick: number }
  | { op: "navigate"; pick: number; summarize: boolean }
  | { op: "leaveOut" | "label" | "unlabel" | "fork" | "switch"; pick: number }
  | { op: "name" | "clone" | "new" | "reload" };

/** A real session and the model of it, side by side. */
function desk(folder: string) {
  const clock = stillClock;
  const ids = countingIds();
  const notices: string[] = [];
  const disk: DiskSettings = {
    locksFolder: join(folder, "locks"),
    fsync: "never",
    clock,
    onNotice: (_level, message) => notices.push(message),
  };
  const cwd = folder;
  const sessionDir = join(folder, "sessions");
  mkdirSync(sessionDir, { recursive: true });
  const first = beginSession({ clock, ids, cwd }, { path: join(sessionDir, "first.jsonl") });
  let store = createSessionStore({ clock, ids, first });
  const build = (from: SessionStore) =>
    createSessionHistory({
      store: from,
      hooks: undefined,
      disk,
      clock,
      ids,
      agentDir: folder,
      sessionDir: () => sessionDir,
      keepsFiles: true,
      env: {},
      emit: () => undefined,
      stop: async () => undefined,
      adopt: () => undefined,
      summarize: async (entries) => ({ summary: `of ${entries.map(({ id }) => id).join(" ")}` }),
      handoff: { isBusy: () => false, summarize: async () => ({ summary: "notes" }), add: async () => undefined },
    });
  let history = build(store);

  let model: Model = { entries: [], leaf: null };
  /** What was left behind, by its path; only what has a file can be opened again. */
  const files = new Map<string, Model>();

  const path = (): PlainEntry[] => naivePath(model.entries, model.leaf);
  const add = (fields: { type: string } & Record<string, unknown>, id = store.leafId): void => {
    model.entries.push(plain(id ?? "", model.leaf, fields));
    model.leaf = id;
  };
  const ready = (): void => {
    if (store.needsDisk) store.attach(createSessionDisk({ ...disk, path: store.sessionFile ?? "" }));
  };
  const append = (entry: NewEntry): void => {
    ready();
    store.append(entry);
    add(entry);
  };
  const hasBegun = ({ entries }: Model): boolean =>
    entries.some(
      ({ type, message }) =>
        type === "custom_message" || (type === "message" && (message as { role: string }).role !== "bashExecution"),
    );
  const remember = (): void => {
    const known = files.get(store.sessionFile ?? "");
    if (hasBegun(model) || known) files.set(store.sessionFile ?? "", model);
  };
  const pickOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(list.length, 1)];

  const kinds: Record<string, (n: number) => NewEntry> = {
    user: (n) => ({ type: "message", message: user(`user ${n}`) }),
    assistant: (n) => ({ type: "message", message: assistant(`answer\u2028 ${n}`) }),
    bash: (n) => ({ type: "message", message: bash(`echo ${n}`) }),
    custom_message: (n) => ({ type: "custom_message", customType: "x", content: `note ${n} 😀`, display: true }),
    custom: (n) => ({ type: "custom", customType: "data", data: { n } }),
    model_change: (n) => ({ type: "model_change", provider: "p", modelId: `m${n}`, model: `p/m${n}` }),
    thinking: () => ({ type: "thinking_level_change", thinkingLevel: "low" }),
    other: (n) => ({ type: "mode_change", mode: `plan ${n}` }),
  };
  let written = 0;

  const copied = (entries: PlainEntry[], before: Model): void => {
    model = { entries: [...entries], leaf: entries.at(-1)?.id ?? null };
    const onPath = naiveLabels(entries);
    const targets = new Set([...naiveLabels(before.entries).keys(), ...onPath.keys()]);
    for (const targetId of targets) {
      const label = naiveLabels(before.entries).get(targetId);
      if (!entries.some(({ id }) => id === targetId) || label === onPath.get(targetId)) continue;
      const at = model.entries.length;
      add({ type: "label", targetId, ...(label === undefined ? {} : { label }) }, store.log.id(at));
    }
  };

  const ops: { [K in Op["op"]]: (op: Extract<Op, { op: K }>) => Promise<void> | void } = {
    append({ kind, pick }) {
      if (kind !== "compaction") return append(kinds[kind]!(++written));
      const firstKeptEntryId = pick % 7 === 0 ? "nowhere" : (pickOf(model.entries, pick)?.id ?? "nowhere");
      append({ type: "compaction", summary: `sum ${++written}`, firstKeptEntryId, tokensBefore: 5 });
    },
    async navigate({ pick, summarize }) {
      ready();
      const target = pickOf(model.entries, pick);
      if (!target) return;
      const done = await history.tree.navigate({ entryId: target.id, summarize });
      const isUser = (target.message as { role?: string } | undefined)?.role === "user";
      const to = isUser ? target.parentId : target.id;
      if (to === model.leaf) return;
      const from = model.leaf;
      const reached = naivePath(model.entries, to).map(({ id }) => id);
      const left = path().filter(({ id }) => !reached.includes(id));
      model.leaf = to;
      const summary = `of ${left.map(({ id }) => id).join(" ")}`;
      if (summarize && left.length > 0) add({ type: "branch_summary", fromId: to ?? "root", summary });
      else add({ type: "custom", customType: "tiller.leaf", data: { from } });
      expect(done).toMatchObject({ cancelled: false, leafId: model.leaf });
    },
    leaveOut({ pick }) {
      const conversation = path().filter(({ type }) => ["message", "custom_message", "branch_summary"].includes(type));
      const target = pickOf(conversation.slice(-3), pick);
      const told = JSON.stringify(target ? naiveContext([target])[0] : undefined);
      const shown = store.messages.find((message) => JSON.stringify(message) === told);
      // A compaction may have taken it out of the conversation.
      if (!target || !shown) return;
      const choices = path()
        .slice(path().indexOf(target))
        .filter(({ type }) => type === "model_change" || type === "thinking_level_change");
      ready();
      store.leaveOut([shown]);
      model.leaf = target.parentId;
      const ids = store.path().slice(store.path().length - choices.length);
      for (const [at, { type, id: _, parentId: _p, timestamp: _t, ...fields }] of choices.entries())
        add({ type, ...fields }, store.log.id(ids[at]!));
    },
    async label({ pick }) {
      ready();
      const targetId = pickOf(model.entries, pick)?.id;
      if (!targetId) return;
      await history.tree.setLabel(targetId, ` label ${++written} `);
      add({ type: "label", targetId, label: `label ${written}` });
    },
    async unlabel({ pick }) {
      ready();
      const targetId = pickOf(model.entries, pick)?.id;
      if (!targetId) return;
      await history.tree.setLabel(targetId, " ");
      add({ type: "label", targetId });
    },
    name() {
      ready();
      history.tree.setName(` name ${++written} `);
      add({ type: "session_info", name: `name ${written}` });
    },
    async fork({ pick }) {
      const users = model.entries.filter(({ message }) => (message as { role?: string } | undefined)?.role === "user");
      const target = pickOf(users, pick);
      if (!target) return;
      remember();
      const before = model;
      const forked = await history.files.fork(target.id);
      expect(forked).toEqual({ cancelled: false, text: (target.message as { content: string }).content });
      copied(naivePath(before.entries, target.parentId), before);
    },
    async clone() {
      const before = model;
      remember();
      const cloned = await history.files.clone();
      if (before.leaf === null) {
        expect(cloned).toEqual({ refused: "Cannot clone session: no current entry selected" });
        return;
      }
      copied(naivePath(before.entries, before.leaf), before);
    },
    async new() {
      remember();
      await history.files.newSession(undefined);
      model = { entries: [], leaf: null };
    },
    async switch({ pick }) {
      remember();
      const target = pickOf([...files.keys()], pick);
      if (target === undefined) return;
      expect(await history.files.switchTo(target)).toEqual({ cancelled: false });
      model = files.get(target)!;
      model.leaf = model.entries.at(-1)?.id ?? null;
    },
    async reload() {
      const file = store.sessionFile ?? "";
      if (!existsSync(file)) return;
      await store.close();
      const reopened = openSession(file, { ...disk, ids, cwd, onReopened: () => undefined });
      store = createSessionStore({ clock, ids, first: reopened });
      history = build(store);
      model.leaf = model.entries.at(-1)?.id ?? null;
    },
  };

  const check = (): void => {
    const { log } = store;
    expect(entriesOf(log)).toEqual(model.entries);
    const at = model.entries.map(({ parentId }) => model.entries.findIndex(({ id }) => id === parentId));
    expect(at.map((_, position) => log.parent(position))).toEqual(at);
    expect(store.leafId).toBe(model.leaf);
    expect(store.branch()).toEqual(path());
    expect(store.messages).toEqual(naiveContext(path()));
    expect(store.messageCount).toBe(store.messages.length);
    expect(store.context).toHaveLength(store.messages.length);
    expect([...history.tree.labels()].sort()).toEqual([...naiveLabels(model.entries)].sort());
    const name = model.entries.findLast(({ type }) => type === "session_info")?.name;
    expect(store.name).toBe(name);
    expect(notices).toEqual([]);
    const file = store.sessionFile ?? "";
    expect(existsSync(file)).toBe(hasBegun(model) || files.has(file));
    if (existsSync(file)) expect(readFileSync(file, "utf8")).toBe(fileText(model, log.header));
  };
  return {
    async play(op: Op) {
      await (ops[op.op] as (given: Op) => Promise<void> | void)(op);
      check();
    },
    close: () => store.close(),
    get store() {
      return store;
    },
    get model() {
      return model;
    },
  };
}

const fileText = ({ entries }: Model, header: object): string =>
  [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");

const APPENDED = ["user", "user", "assistant", "assistant", "bash", "custom_message", "custom", "model_change"];
const kind = fc.constantFrom(...APPENDED, "thinking", "other", "compaction");
const pick = fc.nat({ max: 50 });

const anyOp: fc.Arbitrary<Op> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ op: fc.constant("append" as const), kind, pick }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("navigate" as const), pick, summarize: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ op: fc.constantFrom("leaveOut", "label", "unlabel", "fork", "switch"), pick }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom("name", "clone", "new", "reload") }) },
) as fc.Arbitrary<Op>;

let folders = 0;
async function played(ops: readonly Op[], look: (end: ReturnType<typeof desk>) => Promise<void>): Promise<void> {
  const folder = join(root, String(folders++));
  const end = desk(folder);
  try {
    for (const op of ops) await end.play(op);
    await look(end);
  } finally {
    await end.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const someOps = fc.array(anyOp, { minLength: 5, maxLength: 40, size: "max" });

describe("any sequence of append, fork, clone, switch, compact, navigate, leave out, label, name and reload", () => {
  it("gives the same tree, leaf, conversation and file as a few plain arrays", async () => {
    await fc.assert(
      fc.asyncProperty(someOps, (ops) => played(ops, async () => undefined)),
      { numRuns: PLAYS_ALL ? 150 : 40 },
    );
  }, 60_000);
});

/** Everything up to a byte, opened by another process. */
function openCut(bytes: Buffer, cut: number, folder: string) {
  const path = join(folder, `cut-${cut}.jsonl`);
  writeFileSync(path, bytes.subarray(0, cut));
  const notices: string[] = [];
  const session = openSession(path, {
    locksFolder: join(folder, "locks"),
    fsync: "never",
    clock: stillClock,
    ids: countingIds(),
    cwd: folder,
    onNotice: (_level, message) => notices.push(message),
    onReopened: () => undefined,
  });
  return { path, session, notices };
}

/** Every whole line before the cut is there, and the next entry can be written behind it. */
async function checkCut(bytes: Buffer, cut: number, folder: string): Promise<void> {
  const { path, session } = openCut(bytes, cut, folder);
  const whole = wholeLines(bytes, cut);
  const [header, ...entries] = whole.map((text) => JSON.parse(text));
  expect(entriesOf(session.log)).toEqual(entries);
  if (header) expect(session.log.header).toEqual(header);
  const store = createSessionStore({ clock: stillClock, ids: countingIds(), first: session });
  if (store.needsDisk) {
    const onNotice = () => undefined;
    const locksFolder = join(folder, "locks");
    store.attach(createSessionDisk({ locksFolder, fsync: "never", clock: stillClock, onNotice, path }));
  }
  expect(store.leafId).toBe(entries.at(-1)?.id ?? null);
  store.appendMessage(user("and on"));
  const lines = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text));
  expect(lines.slice(1, -1)).toEqual(entries);
  expect(lines.at(-1)).toMatchObject({ parentId: entries.at(-1)?.id ?? null, message: user("and on") });
  await store.close();
  for (const file of [path, `${path}.damaged`]) rmSync(file, { force: true });
}

/** Lines that are whole without their line end count too. */
function wholeLines(bytes: Buffer, cut: number): string[] {
  const texts = bytes.toString("utf8", 0, cut).split("\n");
  const last = texts.pop() ?? "";
  const next = bytes.toString("utf8").split("\n")[texts.length];
  return last !== "" && last === next ? [...texts, last] : texts;
}

describe("every beginning of a session file", () => {
  const name = PLAYS_ALL ? "at each byte" : "at every third byte, and around each line end,";
  it(`opens and holds every whole line before the cut: ${name} of a small file`, async () => {
    const lines = [
      { type: "session", version: 3, id: "s1", timestamp: STARTED, cwd: root },
      plain("aaaaaaaa", null, { type: "message", message: user('ä {"a":{}} 😀') }),
      plain("bbbbbbbb", "aaaaaaaa", { type: "message", message: assistant("hm", { content: [] }) }),
      plain("cccccccc", "aaaaaaaa", { type: "custom", customType: "x", data: { deep: [{ er: {} }] } }),
    ];
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const isNearLineEnd = (cut: number): boolean => bytes.subarray(Math.max(0, cut - 2), cut + 2).includes("\n");
    for (let cut = 0; cut <= bytes.length; cut++)
      if (PLAYS_ALL || cut % 3 === 0 || isNearLineEnd(cut)) await checkCut(bytes, cut, root);
  }, 60_000);

  it("opens and holds every whole line before the cut: anywhere in files of any history", async () => {
    await fc.assert(
      fc.asyncProperty(someOps, fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), (ops, cuts) =>
        played([...ops, { op: "append", kind: "user", pick: 0 }], async ({ store, model }) => {
          const bytes = Buffer.from(fileText(model, store.log.header));
          for (const cut of cuts) await checkCut(bytes, cut % (bytes.length + 1), root);
        }),
      ),
      { numRuns: PLAYS_ALL ? 40 : 20 },
    );
  }, 60_000);
});
