import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type IndexColumns, indexColumns, KINDS, kindOf } from "./format.ts";
import { blockText, closePage, openPage } from "./shell.ts";

describe("kindOf", () => {
  test.each<[unknown, string]>([
    [{ type: "message", message: { role: "user" } }, "user"],
    [{ type: "message", message: { role: "custom" } }, "customMessage"],
    [{ type: "message", message: { role: "hookMessage" } }, "customMessage"],
    [{ type: "message", message: { role: "wizard" } }, "other"],
    [{ type: "message" }, "other"],
    [{ type: "custom" }, "custom"],
    [{ type: "custom_message" }, "customMessage"],
    [{ type: "branch_summary" }, "branchSummary"],
    [{ type: "compaction" }, "compaction"],
    [{ type: "constructor" }, "other"],
    [{ type: "__proto__" }, "other"],
    [{ type: 7 }, "other"],
    [null, "other"],
    ["text", "other"],
  ])("%j is %s", (entry, kind) => {
    expect(kindOf(entry)).toBe(kind);
  });
});

describe("indexColumns", () => {
  test("parents, times as differences, lines and usage", () => {
    const usage = { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, cost: { total: 0.25 } };
    const entries = [
      {
        id: "a",
        parentId: null,
        timestamp: "2026-01-01T00:00:00.000Z",
        type: "message",
        message: { role: "user", content: "hi" },
      },
      {
        id: "b",
        parentId: "a",
        timestamp: "2026-01-01T00:00:01.500Z",
        type: "message",
        message: { role: "assistant", content: [], usage },
      },
      { id: "c", parentId: "a", type: "model_change" },
      { odd: true },
    ];
    expect(indexColumns(entries, undefined)).toEqual({
      id: ["a", "b", "c", ""],
      parent: [null, 0, "a", null],
      kind: [KINDS.indexOf("user"), KINDS.indexOf("assistant"), KINDS.indexOf("model_change"), 0],
      time: [Date.parse("2026-01-01T00:00:00.000Z"), 1_500, 0, 0],
      lines: [1, 0, 1, 1],
      usage: [[1, 10, 2, 0, 0, 0.25]],
    });
    expect(indexColumns([{ id: "b", parentId: "a" }], "a").parent).toEqual([0]);
  });

  test("takes anything", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (entries) => {
        const columns = indexColumns(entries, undefined);
        expect(columns.id).toHaveLength(entries.length);
      }),
    );
  });
});

describe("the file", () => {
  const start = { format: 1, sessionId: "s", cwd: "/", version: "1", exported: "", redacted: true } as const;
  const columns: IndexColumns = indexColumns([], undefined);

  test("allows its own program and style, and nothing else", () => {
    const html = openPage(start);
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? "";
    expect(policy).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/]+=*'; style-src 'sha256-[\w+/]+=*'; img-src data:; base-uri 'none'; form-action 'none'$/,
    );
    expect(html.match(/<script>/g)).toHaveLength(1);
    const markup =
      /<[^>]*\s(?:style|on\w+)=|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function/;
    expect(markup.exec(html)?.[0]).toBeUndefined();
    expect(Buffer.byteLength(html)).toBeLessThan(300_000);
  });

  test("no text of a session ends its script", () => {
    const attack = "</script><!--<script>\u2028\u2029<img src=x onerror=alert(1)>";
    const html = [
      openPage({ ...start, name: attack, cwd: attack, version: attack }),
      blockText(columns, [JSON.stringify({ attack })]),
      closePage({
        entries: 0,
        leafId: attack,
        models: [],
        tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
        cost: 0,
        labels: [],
      }),
    ].join("");
    // The program and the style are ours; what is left has no tag that we have not written.
    const rest = html.replace(/<style>[\s\S]*?<\/style>|<script>[\s\S]*?<\/script>/g, "");
    expect(/<img|<!--|onerror=[^a]/.exec(rest)?.[0]).toBeUndefined();
    expect(rest.match(/<script/g)).toHaveLength(4);
    expect(rest.match(/<\/script/g)).toHaveLength(4);
    const data = /class="d">(.*?)<\/script>/s.exec(rest)?.[1] ?? "";
    expect(JSON.parse(data)).toEqual([{ attack }]);
  });
});
