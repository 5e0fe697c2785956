import { explainFrame, explainResult } from "@tiller/protocol/check";
import { COMMANDS } from "@tiller/protocol/commands/index";
import type { ExtensionUIRequest } from "@tiller/protocol/extension-ui";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { FakeClock, fakeIds } from "../../../../../test/support/fake-clock.ts";
import type { DialogOptions } from "../../session/ports.ts";
import { createUiBridge, type UiBridge, type UiBridgeOptions } from "./ui-bridge.ts";

function desk(options: Partial<UiBridgeOptions> = {}) {
  const clock = new FakeClock();
  const frames: ExtensionUIRequest[] = [];
  const surprises: string[] = [];
  const ui = createUiBridge({
    write(frame) {
      expect(explainFrame("extension_ui_request", frame)).toBeUndefined();
      frames.push(frame);
    },
    ids: fakeIds(),
    clock,
    emitTitle: true,
    announcesCancel: true,
    onSurprise: (text) => surprises.push(text),
    ...options,
  });
  const answer = (id: unknown, fields: object = {}) => ui.answer({ type: "extension_ui_response", id, ...fields });
  return { clock, frames, surprises, ui, answer };
}

type Ask = (ui: UiBridge, how?: DialogOptions) => Promise<unknown>;
type Dialog = [method: string, ask: Ask, fields: object, answer: object, result: unknown, fallback: unknown];

const DIALOGS: readonly Dialog[] = [
  [
    "select",
    (ui, how) => ui.select("Which?", ["a", "b"], how),
    { title: "Which?", options: ["a", "b"] },
    { value: "b" },
    "b",
    undefined,
  ],
  [
    "confirm",
    (ui, how) => ui.confirm("Sure?", "It is gone then.", how),
    { title: "Sure?", message: "It is gone then." },
    { confirmed: true },
    true,
    false,
  ],
  [
    "input",
    (ui, how) => ui.input("Name", "feature/...", how),
    { title: "Name", placeholder: "feature/..." },
    { value: "" },
    "",
    undefined,
  ],
  [
    "editor",
    (ui, how) => ui.editor("Message", "fix: ", how),
    { title: "Message", prefill: "fix: " },
    { value: "fix: all\n" },
    "fix: all\n",
    undefined,
  ],
];

describe.each(DIALOGS)("%s", (method, ask, fields, right, result, fallback) => {
  const request = { type: "extension_ui_request", id: "ui-1", method, ...fields };

  it("is sent, listed, and answered under its id", async () => {
    const { ui, frames, answer, clock, surprises } = desk();
    const asked = ask(ui);
    expect(frames).toEqual([request]);
    expect(ui.pending()).toEqual([{ id: "ui-1", method, ...fields, openedAt: clock.now() }]);
    answer("ui-1", right);
    expect(await asked).toBe(result);
    expect([ui.pending(), frames.length, surprises]).toEqual([[], 1, []]);
  });

  it("gets its default when it is cancelled, whatever else the answer says", async () => {
    const { ui, answer, surprises } = desk();
    const asked = ask(ui);
    answer("ui-1", { ...right, cancelled: true });
    expect(await asked).toBe(fallback);
    expect(surprises).toEqual([]);
  });

  it("is answered although the answer says that it was not cancelled", async () => {
    const { ui, answer } = desk();
    const asked = ask(ui);
    answer("ui-1", { ...right, cancelled: false });
    expect(await asked).toBe(result);
  });

  it("is withdrawn when its time is over, and the late answer is ignored", async () => {
    const { ui, frames, answer, clock, surprises } = desk();
    let timeouts = 0;
    const asked = ask(ui, { timeout: 500, onTimeout: () => timeouts++ });
    expect(frames).toEqual([{ ...request, timeout: 500 }]);
    expect(ui.pending()).toMatchObject([{ id: "ui-1", timeout: 500 }]);
    clock.advanceSync(499);
    expect([frames.length, timeouts]).toEqual([1, 0]);
    clock.advanceSync(1);
    expect(await asked).toBe(fallback);
    answer("ui-1", right);
    expect(frames.slice(1)).toEqual([{ type: "extension_ui_request", id: "ui-2", method: "cancel", targetId: "ui-1" }]);
    expect([timeouts, surprises, ui.pending()]).toEqual([1, [], []]);
  });

  it("is withdrawn when the extension aborts it", async () => {
    const { ui, frames, clock } = desk();
    const controller = new AbortController();
    const asked = ask(ui, { signal: controller.signal, timeout: 500 });
    controller.abort();
    expect(await asked).toBe(fallback);
    expect(frames[1]).toMatchObject({ method: "cancel", targetId: "ui-1" });
    expect([clock.pending, ui.pending()]).toEqual([0, []]);
  });

  it("is not even sent when it was aborted before", async () => {
    const { ui, frames } = desk();
    expect(await ask(ui, { signal: AbortSignal.abort() })).toBe(fallback);
    expect(frames).toEqual([]);
  });

  it("is withdrawn silently in the dialect that knows no cancel", async () => {
    const { ui, frames, clock } = desk({ announcesCancel: false });
    const asked = ask(ui, { timeout: 500 });
    clock.advanceSync(500);
    expect(await asked).toBe(fallback);
    expect(frames).toHaveLength(1);
  });

  it("keeps its first answer when it is answered twice", async () => {
    const { ui, answer, surprises, frames } = desk();
    const asked = ask(ui);
    answer("ui-1", right);
    answer("ui-1", { cancelled: true });
    answer("ui-1", {});
    expect(await asked).toBe(result);
    expect([surprises, frames.length]).toEqual([[], 1]);
  });

  it.each(["ui-7", 1, undefined, null, "__proto__", { id: "ui-1" }, ["ui-1"]])(
    "waits on when an answer has the id %j",
    async (id) => {
      const { ui, answer, surprises, frames } = desk();
      const asked = ask(ui);
      answer(id, { cancelled: true });
      expect([ui.pending().length, surprises, frames.length]).toEqual([1, [], 1]);
      answer("ui-1", right);
      expect(await asked).toBe(result);
    },
  );

  it("gets its default when stdin closes, without a further frame; later ones too", async () => {
    const { ui, frames, clock, answer } = desk();
    const controller = new AbortController();
    const asked = ask(ui, { timeout: 500, signal: controller.signal });
    ui.close();
    expect(await asked).toBe(fallback);
    expect(await ask(ui)).toBe(fallback);
    controller.abort();
    clock.advanceSync(500);
    answer("ui-1", right);
    expect([frames.length, ui.pending(), clock.pending]).toEqual([1, [], 0]);
  });

  it.each([0, -5, Number.NaN, Number.POSITIVE_INFINITY])("waits for ever with a timeout of %s", async (timeout) => {
    const { ui, frames, clock, answer } = desk();
    const asked = ask(ui, { timeout });
    expect([frames, clock.pending]).toEqual([[request], 0]);
    answer("ui-1", right);
    expect(await asked).toBe(result);
  });
});

describe("answers of the wrong kind count as cancelled, and a notice says why", () => {
  const [select, confirm, input, editor] = DIALOGS.map(([, ask]) => ask) as [Ask, Ask, Ask, Ask];
  test.each<[string, Ask, object, unknown, string]>([
    ["a value for a confirm", confirm, { value: "yes" }, false, '(confirm) has no "confirmed"'],
    ["a yes for a select", select, { confirmed: true }, undefined, '(select) has no "value"'],
    ["nothing at all", input, {}, undefined, '(input) has no "value"'],
    ["null", editor, { value: null }, undefined, '(editor) has a "value" that is no string but null'],
    ["a number", select, { value: 1 }, undefined, '(select) has a "value" that is no string but a number'],
    ["a list", select, { value: ["a"] }, undefined, '(select) has a "value" that is no string but an array'],
    [
      "yes as a text",
      confirm,
      { confirmed: "true" },
      false,
      '(confirm) has a "confirmed" that is no boolean but a string',
    ],
    ["cancelled as a text", input, { cancelled: "true" }, undefined, '(input) has no "value"'],
  ])("%s", async (_name, ask, fields, fallback, says) => {
    const { ui, answer, surprises } = desk();
    const asked = ask(ui);
    answer("ui-1", fields);
    expect(await asked).toBe(fallback);
    expect(surprises).toEqual([`The answer to dialog ui-1 ${says}: taken as cancelled`]);
    expect(ui.pending()).toEqual([]);
  });

  it("but a value need not be one of the options", async () => {
    const { ui, answer, surprises } = desk();
    const asked = ui.select("Which?", ["a", "b"]);
    answer("ui-1", { value: "something else" });
    expect([await asked, surprises]).toEqual(["something else", []]);
  });
});

describe("a host that counts the time itself", () => {
  it("says so in its answer, and the extension is told", async () => {
    const { ui, answer } = desk();
    const timeouts: string[] = [];
    const asked = [1, 2, 3].map((n) => ui.confirm("Sure?", "", { onTimeout: () => timeouts.push(`dialog ${n}`) }));
    answer("ui-1", { cancelled: true, timedOut: true });
    answer("ui-2", { cancelled: true });
    answer("ui-3", { confirmed: true, timedOut: true });
    expect(await Promise.all(asked)).toEqual([false, false, true]);
    expect(timeouts).toEqual(["dialog 1"]);
  });

  it.each(["host", "clock"])("ends the dialog also when the extension throws at it (%s)", async (who) => {
    const { ui, answer, clock, surprises } = desk();
    const onTimeout = () => {
      throw new Error("no time for that");
    };
    const asked = ui.input("Name", undefined, { timeout: 100, onTimeout });
    if (who === "clock") clock.advanceSync(100);
    else answer("ui-1", { cancelled: true, timedOut: true });
    expect(await asked).toBeUndefined();
    expect(surprises).toEqual(["The onTimeout of dialog ui-1 (input) threw: no time for that"]);
  });
});

it("keeps several dialogs apart, answered in any order", async () => {
  const { ui, answer } = desk();
  const asked = [ui.select("Which?", ["a"]), ui.confirm("Sure?", ""), ui.input("Name"), ui.editor("Text")];
  expect(ui.pending().map(({ id, method }) => [id, method])).toEqual([
    ["ui-1", "select"],
    ["ui-2", "confirm"],
    ["ui-3", "input"],
    ["ui-4", "editor"],
  ]);
  answer("ui-4", { value: "text" });
  answer("ui-2", { confirmed: true });
  expect(ui.pending().map(({ id }) => id)).toEqual(["ui-1", "ui-3"]);
  answer("ui-1", { value: "a" });
  answer("ui-3", { value: "me" });
  expect(await Promise.all(asked)).toEqual(["a", true, "me", "text"]);
});

it("gives the same list as long as nothing changes, and one that fits get_state", () => {
  const { ui } = desk();
  const none = ui.pending();
  expect(ui.pending()).toBe(none);
  for (const [, ask] of DIALOGS) void ask(ui, { timeout: 5 });
  const some = ui.pending();
  expect(ui.pending()).toBe(some);
  const state = COMMANDS.get_state.examples[0]?.data;
  expect(explainResult("get_state", { ...state, pendingDialogs: some })).toBeUndefined();
});

it("tells what the options mean beside what they are", async () => {
  const { ui, frames, answer } = desk();
  const asked = ui.select("Which?", ["a", { label: "b", description: "the long way" }, { label: "c" }]);
  expect(frames).toMatchObject([
    { options: ["a", "b", "c"], optionDetails: [{}, { description: "the long way" }, {}] },
  ]);
  answer("ui-1", { value: "b" });
  expect(await asked).toBe("b");
  void ui.select("Which?", [{ label: "a" }]);
  expect(frames[1]).not.toHaveProperty("optionDetails");
});

it("passes the style of an editor on, and texts of any size", async () => {
  const { ui, frames, answer } = desk();
  const huge = "\u2028é".repeat(2_000_000);
  const asked = ui.editor(huge, huge, { promptStyle: true });
  expect(frames).toMatchObject([{ title: huge, prefill: huge, promptStyle: true }]);
  answer("ui-1", { value: huge });
  expect(await asked).toBe(huge);
});

it("fails for the extension, and waits for nothing, when a request cannot be written", async () => {
  const { ui, clock } = desk({
    write() {
      throw new RangeError("Invalid string length");
    },
  });
  await expect(ui.input("Name", undefined, { timeout: 5 })).rejects.toThrow("Invalid string length");
  expect([ui.pending(), clock.pending]).toEqual([[], 0]);
});

describe("what is only told", () => {
  test.each<[string, (ui: UiBridge) => void, object]>([
    ["a message", (ui) => ui.notify("Done"), { method: "notify", message: "Done" }],
    ["a warning", (ui) => ui.notify("Hm", "warning"), { method: "notify", message: "Hm", notifyType: "warning" }],
    ["a status", (ui) => ui.setStatus("k", "on"), { method: "setStatus", statusKey: "k", statusText: "on" }],
    ["an empty status", (ui) => ui.setStatus("k", ""), { method: "setStatus", statusKey: "k", statusText: "" }],
    ["no status any more", (ui) => ui.setStatus("k", undefined), { method: "setStatus", statusKey: "k" }],
    ["a widget", (ui) => ui.setWidget("w", ["1"]), { method: "setWidget", widgetKey: "w", widgetLines: ["1"] }],
    [
      "a widget below",
      (ui) => ui.setWidget("w", [], "belowEditor"),
      { method: "setWidget", widgetKey: "w", widgetLines: [], widgetPlacement: "belowEditor" },
    ],
    ["no widget any more", (ui) => ui.setWidget("w", undefined), { method: "setWidget", widgetKey: "w" }],
    ["a title", (ui) => ui.setTitle("T"), { method: "setTitle", title: "T" }],
    ["a text for the editor", (ui) => ui.setEditorText("x"), { method: "set_editor_text", text: "x" }],
  ])("%s", (_name, tell, fields) => {
    const { ui, frames } = desk();
    tell(ui);
    expect(frames).toStrictEqual([{ type: "extension_ui_request", id: "ui-1", ...fields }]);
    expect(ui.pending()).toEqual([]);
  });

  it("has an id of its own each time; a title only where titles are wanted", () => {
    const { ui, frames } = desk({ emitTitle: false });
    ui.setTitle("T");
    ui.notify("one");
    ui.notify("two");
    expect(frames.map(({ id }) => id)).toEqual(["ui-1", "ui-2"]);
  });

  it("still goes out when nobody can answer any more", () => {
    const { ui, frames } = desk();
    ui.close();
    ui.notify("the last word");
    expect(frames).toHaveLength(1);
  });
});

const step = fc.oneof(
  fc.record({
    do: fc.constant("open" as const),
    dialog: fc.nat(3),
    timeout: fc.option(fc.integer({ min: -1, max: 9 })),
  }),
  fc.record({ do: fc.constantFrom("answer", "cancel", "wrong", "abort"), target: fc.nat(9) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.nat(5) }),
);

it("settles each dialog exactly once, in whatever order answers, aborts, timeouts and the end come", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, announcesCancel) => {
      const { ui, frames, clock, answer, surprises } = desk({ announcesCancel });
      const controllers: AbortController[] = [];
      const settled: Promise<unknown>[] = [];
      const ends = new Map<string, number>();
      const ended = (id: string) => ends.set(id, (ends.get(id) ?? 0) + 1);
      const ids: string[] = [];
      for (const now of steps) {
        const target = "target" in now ? now.target : -1;
        const id = ids[target] ?? "ui-none";
        const isOpen = ui.pending().some((dialog) => dialog.id === id);
        if (now.do === "open") {
          const [, ask] = DIALOGS[now.dialog] as Dialog;
          const controller = new AbortController();
          // An extension that aborts its own dialog when it hears of the end of its time.
          const onTimeout = () => controller.abort();
          controllers.push(controller);
          settled.push(ask(ui, { signal: controller.signal, timeout: now.timeout ?? undefined, onTimeout }));
          ids.push(frames.at(-1)?.id as string);
        } else if (now.do === "wait") clock.advanceSync(now.ms);
        else if (now.do === "abort") controllers[target]?.abort();
        else {
          answer(
            id,
            { answer: { value: "x", confirmed: true }, cancel: { cancelled: true, timedOut: true }, wrong: {} }[now.do],
          );
          if (isOpen) ended(id);
        }
      }
      for (const frame of frames) if (frame.method === "cancel") ended(frame.targetId);
      const wasOpen = ui.pending().map(({ id }) => id);
      const written = frames.length;
      ui.close();
      for (const id of wasOpen) ended(id);
      expect(await Promise.all(settled)).toHaveLength(ids.length);
      const expected = ids.map((id) => [id, 1]);
      const found = ids.map((id) => [id, ends.get(id) ?? 0]);
      // Without cancel frames the withdrawn ones cannot be counted, but none may end twice.
      if (announcesCancel) expect(found).toEqual(expected);
      else expect([...ends.values()].every((count) => count === 1)).toBe(true);
      expect([frames.length, clock.pending, ui.pending()]).toEqual([written, 0, []]);
      expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length);
      expect(surprises.length).toBeLessThanOrEqual(steps.filter((one) => one.do === "wrong").length);
    }),
  );
});
