import type { AgentMessage } from "@tiller/protocol/message";
import { describe, expect, it } from "vitest";
import { type FileLists, fileLists, fileListText, withoutFileLists } from "./file-lists.ts";
import { assistant, result, user } from "./test-entries.ts";

const call = (name: string, args: Record<string, unknown>, id = `${name}-1`) =>
  assistant("", {}, [{ id, name, arguments: args }]);

describe("the files of a conversation", () => {
  const rows: [story: string, messages: AgentMessage[], before: unknown[], lists: FileLists][] = [
    ["none", [user("read a.ts")], [], { readFiles: [], modifiedFiles: [] }],
    [
      "read and modified ones, in the order of their last use",
      [
        call("read", { path: "b" }),
        call("read", { path: "a" }),
        call("write", { path: "c" }),
        call("read", { path: "b" }),
      ],
      [],
      { readFiles: ["a", "b"], modifiedFiles: ["c"] },
    ],
    [
      "one that is changed is no longer listed as read",
      [call("read", { path: "a" }), call("edit", { path: "a" }), call("read", { path: "a" })],
      [],
      { readFiles: [], modifiedFiles: ["a"] },
    ],
    [
      "the other spelling of the argument",
      [call("read", { file_path: "a" })],
      [],
      { readFiles: ["a"], modifiedFiles: [] },
    ],
    [
      "not those of calls that failed",
      [
        call("write", { path: "a" }, "w"),
        result("w", "no", true),
        call("read", { path: "b" }, "r"),
        result("r", "yes"),
      ],
      [],
      { readFiles: ["b"], modifiedFiles: [] },
    ],
    [
      "not those of other tools, nor what is no path",
      [call("bash", { path: "a" }), call("read", { path: 5 }), call("toString", { path: "b" })],
      [],
      { readFiles: [], modifiedFiles: [] },
    ],
    [
      "those of earlier summaries are added to",
      [call("edit", { path: "b" }), call("read", { path: "c" })],
      [{ readFiles: ["a", "b"], modifiedFiles: ["z"] }],
      { readFiles: ["a", "c"], modifiedFiles: ["z", "b"] },
    ],
    [
      "details of somebody else are no trouble",
      [],
      [undefined, null, 5, { readFiles: "a" }, { modifiedFiles: [1, "x"] }],
      { readFiles: [], modifiedFiles: ["x"] },
    ],
  ];
  for (const [story, messages, before, lists] of rows) {
    it(story, () => expect(fileLists(messages, before)).toEqual(lists));
  }
});

describe("the lists in a summary", () => {
  it("stand at its end, each in its tags", () => {
    expect(fileListText({ readFiles: ["a", "b"], modifiedFiles: ["c"] })).toBe(
      "\n\n<read-files>\na\nb\n</read-files>\n\n<modified-files>\nc\n</modified-files>",
    );
  });
  it("are not there when no file was touched", () => {
    expect(fileListText({ readFiles: [], modifiedFiles: [] })).toBe("");
  });
  it("show the newest hundred", () => {
    const readFiles = Array.from({ length: 120 }, (_, i) => `f${i}`);
    const text = fileListText({ readFiles, modifiedFiles: [] });
    expect(text).toContain("(20 more, used earlier)\nf20\n");
    expect(text).not.toContain("f19\n");
  });
  it("can be taken off again", () => {
    const text = `notes${fileListText({ readFiles: ["a"], modifiedFiles: ["b"] })}`;
    expect(withoutFileLists(text)).toBe("notes");
    expect(withoutFileLists("notes on <read-files>")).toBe("notes on <read-files>");
  });
});
