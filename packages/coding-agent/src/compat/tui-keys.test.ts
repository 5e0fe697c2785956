import { expect, test } from "vitest";
import {
  isKeyRelease,
  isKeyRepeat,
  Key,
  KeybindingsManager,
  matchesKey,
  parseKey,
  TUI_KEYBINDINGS,
} from "./tui-keys.ts";

test.each([
  ["a", "a"],
  ["\x1b", "escape"],
  ["\r", "enter"],
  ["\x03", "ctrl+c"],
  ["\x1b[A", "up"],
  ["\x1b[1;5A", "ctrl+up"],
  ["\x1b[Z", "shift+tab"],
  ["\x1bx", "alt+x"],
  ["\x1b[99;5u", "ctrl+c"],
  ["\x1b[99;6u", "ctrl+shift+c"],
  ["\x1b[9999999u", undefined],
  ["\x1b[200~", undefined],
  ["two", undefined],
])("%j is the key %s", (data, key) => {
  expect(parseKey(data)).toBe(key);
});

test("keys are compared whatever way they are written", () => {
  const ctrl = Key.ctrl as (key: string) => string;
  expect(matchesKey("\x03", ctrl("c"))).toBe(true);
  expect(matchesKey("\x1b", "esc")).toBe(true);
  expect(matchesKey("\r", "return")).toBe(true);
  expect(matchesKey("\x1b[99;6u", "shift+ctrl+C")).toBe(true);
  expect(matchesKey("\x1b[5~", Key.pageUp as string)).toBe(true);
  expect(matchesKey("a", "b")).toBe(false);
  expect(matchesKey("\x1b[200~", "a")).toBe(false);
});

test("releases and repetitions are told from presses", () => {
  expect([isKeyRelease("\x1b[97;1:3u"), isKeyRelease("\x1b[97;1:1u"), isKeyRelease("a")]).toEqual([true, false, false]);
  expect([isKeyRepeat("\x1b[97;1:2u"), isKeyRepeat("a")]).toEqual([true, false]);
});

test("bindings of the user count before the usual ones", () => {
  const keys = new KeybindingsManager(TUI_KEYBINDINGS);
  expect(keys.matches("\x1b", "tui.select.cancel")).toBe(true);
  keys.setUserBindings({ "tui.select.cancel": "q" });
  expect([keys.matches("\x1b", "tui.select.cancel"), keys.matches("q", "tui.select.cancel")]).toEqual([false, true]);
});
