import { describe, expect, it, test } from "vitest";
import type { DialogOptions, ExtensionUi } from "../session/ports.ts";
import { type UiForExtension, uiForExtension } from "./ui-for-extensions.ts";

interface DeskOptions {
  hasUI?: boolean;
  life?: AbortSignal;
  call?: AbortSignal[];
  answer?: () => Promise<never>;
}

/** `calls` are those that reached the host; dialogs wait until `end` is called. */
function desk({ hasUI = true, life, call, answer }: DeskOptions = {}) {
  const calls: unknown[][] = [];
  const notices: [key: string, text: string][] = [];
  const dialogs: boolean[] = [];
  const ends: ((value: never) => void)[] = [];
  const told =
    (method: string) =>
    (...given: unknown[]): void =>
      void calls.push([method, ...given]);
  const asked =
    (method: string) =>
    (...given: unknown[]): Promise<never> => {
      calls.push([method, ...given]);
      return answer?.() ?? new Promise((resolve) => ends.push(resolve));
    };
  const host: ExtensionUi = {
    hasUI,
    select: asked("select"),
    confirm: asked("confirm"),
    input: asked("input"),
    editor: asked("editor"),
    notify: told("notify"),
    setStatus: told("setStatus"),
    setWidget: told("setWidget"),
    setTitle: told("setTitle"),
    setEditorText: told("setEditorText"),
  };
  const theme = { name: "plain" };
  const ui = uiForExtension({
    ui: () => host,
    theme,
    notice: (key, text) => notices.push([key, text]),
    onDialog() {
      dialogs.push(true);
      return () => void dialogs.push(false);
    },
    life,
    call: call && (() => call),
  });
  return { ui, calls, notices, dialogs, theme, end: (value: unknown) => ends.shift()?.(value as never) };
}

/** As JavaScript sees it. */
type Loose = Record<keyof UiForExtension, (...given: unknown[]) => unknown>;
const loose = (ui: UiForExtension): Loose => ui as unknown as Loose;

describe("what is given is taken where it can only mean one thing", () => {
  const plain = { signal: undefined, timeout: undefined, onTimeout: undefined };
  test.each<[method: keyof UiForExtension, given: unknown[], reaches: unknown[]]>([
    ["select", ["Which?", ["a", 2, true]], ["select", "Which?", ["a", "2", "true"], plain]],
    ["select", ["Which?", new Set(["a"]), null], ["select", "Which?", ["a"], plain]],
    ["select", ["Which?", []], ["select", "Which?", [], plain]],
    [
      "select",
      [7, [{ label: "a", description: "first" }, { label: 2 }]],
      ["select", "7", [{ label: "a", description: "first" }, { label: "2" }], plain],
    ],
    ["confirm", ["Sure?"], ["confirm", "Sure?", "", plain]],
    ["confirm", [undefined, new Error("It broke")], ["confirm", "", "It broke", plain]],
    ["input", ["Name", null], ["input", "Name", undefined, plain]],
    ["input", ["Name", 5, { timeout: 10, other: 1 }], ["input", "Name", "5", { ...plain, timeout: 10 }]],
    ["editor", ["Text"], ["editor", "Text", undefined, plain]],
    ["editor", ["Text", "", {}, { promptStyle: true }], ["editor", "Text", "", { ...plain, promptStyle: true }]],
    ["notify", ["Done"], ["notify", "Done", undefined]],
    ["notify", ["Done", "success"], ["notify", "Done", "info"]],
    ["notify", [new TypeError("no"), "error"], ["notify", "no", "error"]],
    ["notify", [12n, null], ["notify", "12", undefined]],
    ["setStatus", ["k", "on"], ["setStatus", "k", "on"]],
    ["setStatus", ["k", null], ["setStatus", "k", undefined]],
    ["setStatus", [1, 50], ["setStatus", "1", "50"]],
    ["setWidget", ["w", ["one", 2]], ["setWidget", "w", ["one", "2"], undefined]],
    ["setWidget", ["w", "one\ntwo"], ["setWidget", "w", ["one", "two"], undefined]],
    ["setWidget", ["w", undefined], ["setWidget", "w", undefined, undefined]],
    ["setWidget", ["w", null, { placement: "belowEditor" }], ["setWidget", "w", undefined, "belowEditor"]],
    ["setWidget", ["w", [], "aboveEditor"], ["setWidget", "w", [], "aboveEditor"]],
    ["setWidget", ["w", [], { placement: "onTheMoon" }], ["setWidget", "w", [], undefined]],
    ["setTitle", ["T"], ["setTitle", "T"]],
    ["setEditorText", ["x"], ["setEditorText", "x"]],
    ["pasteToEditor", ["x"], ["setEditorText", "x"]],
  ])("%s %o", (method, given, reaches) => {
    const { ui, calls } = desk();
    void loose(ui)[method](...given);
    expect(calls).toEqual([reaches]);
  });
});

describe("the rest is refused by name", () => {
  test.each<[method: keyof UiForExtension, given: unknown[], says: string]>([
    ["select", [{}, []], "select(): title must be a string, got an object"],
    ["select", ["Which?"], "select(): options must be an array, got undefined"],
    ["select", ["Which?", "abc"], 'select(): options must be an array, got a string ("abc")'],
    ["select", ["Which?", { a: 1 }], "select(): options must be an array, got an object"],
    [
      "select",
      ["Which?", ["a", { name: "b" }]],
      'select(): options[1] must be a string or an object with a "label", got an object',
    ],
    ["select", ["Which?", [["a"]]], "select(): options[0] must be a string, got an array"],
    ["select", ["Which?", [{ label: {} }]], "select(): options[0].label must be a string, got an object"],
    ["confirm", ["Sure?", "", 500], "confirm(): opts must be an object, got a number"],
    ["confirm", ["Sure?", "", { timeout: "5s" }], 'confirm(): opts.timeout must be a number, got a string ("5s")'],
    ["input", ["Name", "", { signal: {} }], "input(): opts.signal must be an AbortSignal, got an object"],
    ["input", ["Name", { timeout: 5 }], "input(): placeholder must be a string, got an object"],
    ["editor", ["Text", "", { onTimeout: 1 }], "editor(): opts.onTimeout must be a function, got a number"],
    ["editor", ["Text", () => ""], "editor(): prefill must be a string, got a function"],
    ["notify", [{ text: "Done" }], "notify(): message must be a string, got an object"],
    ["notify", [Symbol("s")], "notify(): message must be a string, got a symbol"],
    ["setStatus", [undefined, "on"], "setStatus(): key must be a string, got undefined"],
    ["setStatus", ["k", ["on"]], "setStatus(): text must be a string, got an array"],
    ["setWidget", [null, []], "setWidget(): key must be a string, got null"],
    ["setWidget", ["w", 5], "setWidget(): content must be an array, got a number"],
    ["setWidget", ["w", ["a", {}]], "setWidget(): content[1] must be a string, got an object"],
    ["setTitle", [[]], "setTitle(): title must be a string, got an array"],
    ["setEditorText", [{}], "setEditorText(): text must be a string, got an object"],
    ["pasteToEditor", [{}], "pasteToEditor(): text must be a string, got an object"],
  ])("%s %o", async (method, given, says) => {
    const { ui, calls, dialogs } = desk();
    await expect(async () => loose(ui)[method](...given)).rejects.toThrow(new TypeError(`ctx.ui.${says}`));
    expect([calls, dialogs]).toEqual([[], []]);
  });

  it("with the beginning of a long text", async () => {
    const { ui } = desk();
    await expect(loose(ui).select("Which?", "x".repeat(1000))).rejects.toThrow(/got a string \("x{60}\.\.\."\)$/);
  });
});

describe("the time of a dialog", () => {
  it("begins and ends once for each, also of several at once", async () => {
    const { ui, dialogs, end } = desk();
    const asked = [ui.select("Which?", ["a"]), ui.input("Name")];
    expect(dialogs).toEqual([true, true]);
    end("a");
    expect(await asked[0]).toBe("a");
    expect(dialogs).toEqual([true, true, false]);
    end("me");
    expect(await asked[1]).toBe("me");
    expect(dialogs).toEqual([true, true, false, false]);
  });

  it("ends also when the host fails", async () => {
    const { ui, dialogs } = desk({ answer: async () => Promise.reject(new Error("too long to be sent")) });
    await expect(ui.editor("Text")).rejects.toThrow("too long to be sent");
    expect(dialogs).toEqual([true, false]);
  });
});

describe("signals and callbacks", () => {
  const howOf = (calls: unknown[][], index = 0) => calls[index]?.at(-1) as DialogOptions | undefined;
  const signalOf = (calls: unknown[][]) => howOf(calls)?.signal;

  it("hands the extension's signal on as it is", () => {
    const { ui, calls } = desk();
    const { signal } = new AbortController();
    void ui.confirm("Sure?", "", { signal });
    expect(signalOf(calls)).toBe(signal);
  });

  it.each(["extension", "life", "call"] as const)("aborts a dialog when the %s does", async (who) => {
    const [extension, life, call] = [new AbortController(), new AbortController(), new AbortController()];
    const { ui, calls, end } = desk({ life: life.signal, call: [new AbortController().signal, call.signal] });
    const asked = ui.confirm("Sure?", "", { signal: extension.signal });
    expect(signalOf(calls)?.aborted).toBe(false);
    ({ extension, life, call })[who].abort();
    expect(signalOf(calls)?.aborted).toBe(true);
    end(false);
    expect(await asked).toBe(false);
  });

  it("knows when it is too late from the start, and leaves nothing behind when it is over", async () => {
    const life = new AbortController();
    const { ui, calls, end } = desk({ life: life.signal });
    void ui.confirm("Sure?", "", { signal: AbortSignal.abort() });
    expect(signalOf(calls)?.aborted).toBe(true);
    end(false);

    const asked = ui.confirm("Sure?", "", { signal: new AbortController().signal });
    end(true);
    await asked;
    life.abort();
    expect(howOf(calls, 1)?.signal?.aborted).toBe(false);
  });

  it("calls onTimeout as a method of what it was given in", () => {
    const { ui, calls } = desk();
    const how = {
      times: 0,
      onTimeout() {
        this.times++;
      },
    };
    void ui.input("Name", "", how);
    howOf(calls)?.onTimeout?.();
    expect(how.times).toBe(1);
  });
});

describe("what needs a terminal", () => {
  test.each<[method: keyof UiForExtension, instead: string]>([
    ["custom", "nothing is shown and the answer is undefined"],
    ["setFooter", "it has no effect"],
    ["setHeader", "it has no effect"],
    ["setWorkingMessage", "it has no effect"],
    ["setWorkingIndicator", "it has no effect"],
    ["setWorkingVisible", "it has no effect"],
    ["setHiddenThinkingLabel", "it has no effect"],
    ["setEditorComponent", "it has no effect"],
    ["setToolsExpanded", "it has no effect"],
    ["onTerminalInput", "no key is ever seen"],
    ["addAutocompleteProvider", "it is never asked"],
  ])("%s: the host is told, the component is never made", (method, instead) => {
    const { ui, calls, notices } = desk();
    loose(ui)[method](() => expect.unreachable());
    expect(calls).toEqual([]);
    expect(notices).toEqual([[`ctx.ui.${method}`, `ctx.ui.${method}() needs a terminal: here ${instead}`]]);
  });

  it("gives back what an extension can go on with", async () => {
    const { ui, theme } = desk();
    expect(await ui.custom(() => undefined)).toBeUndefined();
    expect(ui.onTerminalInput(() => undefined)()).toBeUndefined();
    expect(ui.addAutocompleteProvider(() => undefined)()).toBeUndefined();
    expect([ui.getEditorText(), ui.getToolsExpanded(), ui.getAllThemes()]).toEqual(["", false, []]);
    expect([ui.getTheme("dark"), ui.getEditorComponent()]).toEqual([undefined, undefined]);
    expect(ui.setTheme("dark")).toEqual({ success: false, error: "Theme switching not supported in RPC mode" });
    expect(ui.theme).toBe(theme);
  });

  it("says nothing about setting back what was never set", () => {
    const { ui, notices } = desk();
    ui.setFooter(undefined);
    ui.setWorkingMessage();
    ui.setEditorComponent(undefined);
    expect(notices).toEqual([]);
  });

  it("tells of a widget that is a component, and shows none", () => {
    const { ui, calls, notices } = desk();
    ui.setWidget("w", () => expect.unreachable());
    expect(calls).toEqual([]);
    expect(notices).toEqual([["ctx.ui.setWidget", expect.stringContaining("a list of lines")]]);
  });

  it("is nothing to speak of where there is no host", () => {
    const { ui, notices } = desk({ hasUI: false });
    ui.setFooter(() => undefined);
    ui.getEditorText();
    expect(notices).toEqual([]);
    expect(ui.setTheme("dark")).toEqual({ success: false, error: "Theme switching not supported here" });
  });
});

it("works when its methods are taken out of it", async () => {
  const { ui, calls, end } = desk();
  const { notify, select, custom, setWidget, getEditorText } = ui;
  notify("Done");
  setWidget("w", ["one"]);
  const asked = select("Which?", ["a"]);
  end("a");
  expect([await asked, await custom(), getEditorText()]).toEqual(["a", undefined, ""]);
  expect(calls.map(([method]) => method)).toEqual(["notify", "setWidget", "select"]);
});

it("throws what the loader says about extensions that are no longer loaded", async () => {
  const ui = uiForExtension({
    ui() {
      throw new Error("no longer loaded");
    },
    theme: {},
    notice: () => undefined,
    onDialog: () => () => undefined,
  });
  expect(() => ui.notify("Done")).toThrow("no longer loaded");
  await expect(ui.select("Which?", [])).rejects.toThrow("no longer loaded");
});
