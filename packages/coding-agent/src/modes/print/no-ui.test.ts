import { afterEach, describe, expect, test, vi } from "vitest";
import * as logging from "../../lib/log.ts";
import { NO_UI } from "./no-ui.ts";

afterEach(() => vi.restoreAllMocks());

describe("where nobody can be asked", () => {
  test("every dialog has its default at once", async () => {
    expect(NO_UI.hasUI).toBe(false);
    const answers = [
      NO_UI.select("Where to?", ["Lisbon"]),
      NO_UI.confirm("Sure?", ""),
      NO_UI.input("Name"),
      NO_UI.editor("Log", "Day 1"),
    ];
    expect(await Promise.all(answers)).toEqual([undefined, false, undefined, undefined]);
  });

  test("what is told goes to stderr; what only a screen could show goes nowhere", () => {
    const log = vi.spyOn(logging, "log").mockReturnValue(undefined);
    NO_UI.notify("land ahoy", "warning");
    NO_UI.setStatus("wind", "SW 4");
    NO_UI.setWidget("watch", ["Ann"]);
    NO_UI.setTitle("At sea");
    NO_UI.setEditorText("all hands");
    expect(log.mock.calls).toEqual([["land ahoy"]]);
  });
});
