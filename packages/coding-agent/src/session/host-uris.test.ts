import type { AgentTool } from "@tiller/agent/types";
import { expect, test } from "vitest";
import { type AskHost, createHostUris, readSchemes } from "./host-uris.ts";

const nobody: AskHost = async () => ({ content: "", contentType: "text/plain", notes: [] });
const tool = (name: string): AgentTool => ({ name, description: "Does it." }) as AgentTool;

test("schemes in their normal form", () => {
  expect(
    readSchemes([
      { scheme: " DB ", description: " Orders ", writable: true, immutable: null },
      { scheme: "x-1+a.b", writable: null, immutable: true, timeoutMs: 5, extra: 1 },
    ]),
  ).toEqual([
    { scheme: "db", description: "Orders", writable: true, immutable: false },
    { scheme: "x-1+a.b", description: "", writable: false, immutable: true, timeoutMs: 5 },
  ]);
  expect(readSchemes([])).toEqual([]);
});

test.each<[given: unknown[], refused: string]>([
  [[{}], "Host URI scheme must be a non-empty string"],
  [[null], "Host URI scheme must be a non-empty string"],
  [[{ scheme: "  " }], "Host URI scheme must be a non-empty string"],
  [[{ scheme: 7 }], "Host URI scheme must be a non-empty string"],
  [[{ scheme: "db" }, { scheme: "DB://" }], "Host URI scheme contains invalid characters: DB://"],
  [[{ scheme: "1db" }], "Host URI scheme contains invalid characters: 1db"],
  [[{ scheme: "ünï" }], "Host URI scheme contains invalid characters: ünï"],
  [[{ scheme: "File" }], "Host URI scheme is reserved by Tiller: file://"],
  [[{ scheme: "db" }, { scheme: "Db" }], "Host URI schemes must be unique: db:// is there twice"],
  [
    [{ scheme: "db", timeoutMs: 0 }],
    '"timeoutMs" of host URI scheme "db" must be a number of milliseconds above 0, got 0',
  ],
  [[{ scheme: "db", description: 5 }], '"description" of host URI scheme "db" must be a string, got 5'],
  [[{ scheme: "db", writable: "yes" }], '"writable" of host URI scheme "db" must be true or false, got "yes"'],
  [[{ scheme: "db", immutable: 1 }], '"immutable" of host URI scheme "db" must be true or false, got 1'],
])("%j is refused", (given, refused) => {
  expect(readSchemes(given)).toEqual({ refused });
});

test("all are replaced at once, or none", () => {
  const uris = createHostUris();
  expect(uris.find("db://x")).toBeUndefined();
  expect(uris.set([{ scheme: "db" }, { scheme: "wiki" }], nobody)).toEqual({ schemes: ["db", "wiki"] });
  expect(uris.set([{ scheme: "log" }, {}], nobody)).toHaveProperty("refused");
  expect([uris.find("db://x")?.url, uris.find("log://x")]).toEqual(["db://x", undefined]);
  uris.set([], nobody);
  expect([uris.find("db://x"), uris.described(tool("read"))]).toEqual([undefined, tool("read")]);
});

test.each<[path: string, url: string | undefined]>([
  ["db://orders/7?all=1#x", "db://orders/7?all=1#x"],
  ["DB://Orders", "DB://Orders"],
  ["@db://orders", "db://orders"],
  ["db://a\nb", "db://a\nb"],
  ["db:/orders", undefined],
  ["db", undefined],
  ["./db://orders", undefined],
  ["other://orders", undefined],
  ["constructor://x", undefined],
  ["file:///etc/passwd", undefined],
  ["", undefined],
])("%j is %j for the host", (path, url) => {
  const uris = createHostUris();
  uris.set([{ scheme: "db" }], nobody);
  expect(uris.find(path)?.url).toBe(url);
});

test("asks for the scheme's URL, with its time and as it was lent when the request began", async () => {
  const asked: object[] = [];
  const ask: AskHost = async ({ signal: _, ...request }) => {
    asked.push(request);
    return { content: "", contentType: "text/plain", notes: [] };
  };
  const uris = createHostUris();
  uris.set([{ scheme: "db", writable: true, timeoutMs: 9 }], ask);
  const uri = uris.find("db://x");
  uris.set([], nobody);
  const { signal } = new AbortController();
  await uri?.read(signal);
  await uri?.write("y", signal);
  expect([asked, uri?.isWritable]).toEqual([
    [
      { operation: "read", url: "db://x", timeoutMs: 9 },
      { operation: "write", url: "db://x", content: "y", timeoutMs: 9 },
    ],
    true,
  ]);
});

test("the model is told of them with the tools that take them", () => {
  const uris = createHostUris();
  uris.set([{ scheme: "db", description: "Orders", writable: true, immutable: true }, { scheme: "wiki" }], nobody);
  expect(["read", "write", "edit"].map((name) => uris.described(tool(name)).description)).toEqual([
    "Does it. Also reads URLs of the host as path: db:// (Orders; never changes), wiki://.",
    "Does it. Also writes URLs of the host as path: db:// (Orders; never changes).",
    "Does it.",
  ]);
});
