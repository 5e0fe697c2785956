import { afterEach, expect, test } from "vitest";
import { fuzzyFilter, fuzzyMatch } from "./fuzzy.ts";
import { createTestHost } from "./test-host.ts";
import { tuiModule } from "./tui.ts";
import {
  Box,
  CancellableLoader,
  Container,
  Editor,
  Input,
  SelectList,
  SettingsList,
  Spacer,
  Text,
} from "./tui-components.ts";
import { BorderedLoader, CustomEditor, DynamicBorder, getLanguageFromPath } from "./widgets.ts";

const hosts: { remove(): void }[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.remove();
});

test("components put together give their plain lines", () => {
  const dialog = new Container();
  dialog.addChild(new DynamicBorder());
  dialog.addChild(new Text("Pick one of these", 1, 0));
  dialog.addChild(new Spacer(1));
  const list = new SelectList([{ value: "a", label: "Apple" }, { value: "b" }], 5, {});
  list.setSelectedIndex(1);
  dialog.addChild(list);
  expect(dialog.render(10)).toEqual(["─".repeat(10), " Pick one", " of these", "", "  Apple", "> b"]);
  expect(list.getSelectedItem()).toEqual({ value: "b" });
  list.setFilter("A");
  expect(list.getSelectedItem()?.value).toBe("a");
});

test("a box keeps its content away from the edges, and nothing around nothing", () => {
  const box = new Box(2, 1);
  expect(box.render(20)).toEqual([]);
  box.addChild(new Text("x", 0, 0));
  expect(box.render(20)).toEqual(["", "  x", ""]);
});

test("what is typed by program is kept", () => {
  const editor = new CustomEditor({}, {}, {});
  expect(editor).toBeInstanceOf(Editor);
  editor.setText("a\nb");
  editor.insertTextAtCursor("c");
  expect([editor.getText(), editor.getLines(), editor.getCursor()]).toEqual([
    "a\nbc",
    ["a", "bc"],
    { line: 1, col: 2 },
  ]);
  const input = new Input();
  input.setValue("v");
  expect(input.getValue()).toBe("v");
  const settings = new SettingsList([{ id: "s", label: "S", currentValue: "off" }]);
  settings.updateValue("s", "on");
  expect(settings.render(20)).toEqual(["S: on"]);
});

test("a loader has a signal that is not aborted", () => {
  const loader = new BorderedLoader({}, {}, "Wait");
  expect(loader.signal.aborted).toBe(false);
  expect(loader.render(20)).toEqual(["Wait"]);
  expect(new CancellableLoader().aborted).toBe(false);
});

test("the module also has screens of later versions and stand-ins for the rest", () => {
  const host = createTestHost();
  hosts.push(host);
  const tui = tuiModule(host);
  const Screen = tui.TuiMainScreen as new () => { requestRender(): void; render(width: number): string[] };
  expect(new Screen().render(10)).toEqual([]);
  class Mine extends (tui.NeverHeardOf as new () => object) {}
  expect(new Mine()).toBeInstanceOf(Mine);
  expect(host.standIns).toEqual([]);
  (tui.renderLatex as () => void)();
  expect(host.standIns).toEqual(["pi-tui: renderLatex"]);
});

test("letters are found in their order, the best match first", () => {
  expect(fuzzyMatch("xyz", "abc").matches).toBe(false);
  const names = ["src/extension.ts", "extension.ts", "example/tension.ts", "other"];
  expect(fuzzyFilter(names, "ext", (name) => name)[0]).toBe("extension.ts");
  expect(fuzzyFilter(names, "src ext", (name) => name)).toEqual(["src/extension.ts"]);
  expect(fuzzyFilter(names, "  ", (name) => name)).toEqual(names);
});

test.each([
  ["/a/b.ts", "typescript"],
  ["Makefile", "makefile"],
  ["x.py", "python"],
  ["LICENSE", undefined],
])("%s is %s", (path, language) => {
  expect(getLanguageFromPath(path)).toBe(language);
});
