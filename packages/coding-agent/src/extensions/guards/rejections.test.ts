import { describe, expect, it, test } from "vitest";
import { askedBy, errorText, ownerOf, UNKNOWN_EXTENSION } from "./rejections.ts";

const OWN = "/opt/tiller/dist";
const EXTENSIONS = [
  { path: "/home/u/.tiller/extensions/a.ts" },
  { path: "/home/u/.tiller/extensions/a.tsx" },
  { path: "/home/u/pack/src/index.ts", baseDir: "/home/u/pack" },
  { path: "/home/u/pack/node_modules/inner/main.js", baseDir: "/home/u/pack/node_modules/inner" },
  { path: "/home/u/my files (new)/b.ts" },
];

const withStack = (...frames: string[]): Error =>
  Object.assign(new Error("no"), { stack: ["Error: no", ...frames.map((frame) => `    at ${frame}`)].join("\n") });
const failing = (stack: Error, cause: unknown): Error => Object.assign(stack, { cause });

const OURS = "run (/opt/tiller/dist/app.js:1:500)";
const NODE = "process.processTicksAndRejections (node:internal/process/task_queues:95:5)";
const [A, AX, PACK, INNER, SPACES] = EXTENSIONS.map(({ path }) => path);

const table: [what: string, error: unknown, owner: string | undefined][] = [
  ["thrown in the file", withStack("f (/home/u/.tiller/extensions/a.ts:3:7)", NODE), A],
  ["in one whose name begins alike", withStack("/home/u/.tiller/extensions/a.tsx:3:7"), AX],
  ["after an await", withStack(NODE, "async f (/home/u/.tiller/extensions/a.ts:3:7)"), A],
  ["in a module with an address", withStack("file:///home/u/.tiller/extensions/a.ts?v=2:3:7"), A],
  ["in a folder with odd characters", withStack("f (/home/u/my files (new)/b.ts:1:1)"), SPACES],
  ["the same as an address", withStack("f (file:///home/u/my%20files%20(new)/b.ts:1:1)"), SPACES],
  ["in another file of the package", withStack("f (/home/u/pack/src/lib/x.ts:1:1)"), PACK],
  ["in a package within the package", withStack("f (/home/u/pack/node_modules/inner/x.js:1:1)"), INNER],
  ["in our code, called by an extension", withStack(OURS, "f (/home/u/.tiller/extensions/a.ts:3:7)", OURS), A],
  ["in code made of text", withStack("eval (eval at f (/home/u/.tiller/extensions/a.ts:3:7), <anonymous>:1:1)"), A],
  ["with a cause in the file", failing(withStack(OURS), withStack(`f (${A}:1:1)`)), A],
  ["several at once", Object.assign(withStack(OURS), { errors: [1, withStack(`f (${A}:1:1)`)] }), A],
  ["in our code", withStack(OURS, NODE), undefined],
  ["in our code, in code we call", withStack("read (node:fs:1:1)", OURS), undefined],
  ["in a file beside ours", withStack("f (/opt/tiller/dist-2/x.js:1:1)"), UNKNOWN_EXTENSION],
  [
    "in a message only",
    Object.assign(new Error(`see ${A}:1:1`), { stack: `Error: see ${A}:1:1\n    at ${OURS}` }),
    undefined,
  ],
  ["in Node, without more", withStack(NODE), UNKNOWN_EXTENSION],
  ["a file that is missing", Object.assign(new Error("ENOENT"), { stack: "Error: ENOENT" }), UNKNOWN_EXTENSION],
  ["a text", "no", UNKNOWN_EXTENSION],
  ["nothing", undefined, UNKNOWN_EXTENSION],
  [
    "something that throws when it is looked at",
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no");
        },
      },
    ),
    UNKNOWN_EXTENSION,
  ],
];

describe("whose error it is", () => {
  it.each(table)("%s", (_what, error, owner) => {
    expect(ownerOf(error, EXTENSIONS, OWN)).toBe(owner);
  });

  it("without extensions all errors are ours", () => {
    for (const [, error] of table) expect(ownerOf(error, [], OWN)).toBeUndefined();
  });

  it("causes in a circle", () => {
    const error = withStack(OURS);
    failing(error, failing(withStack(OURS), error));
    expect(ownerOf(error, EXTENSIONS, OWN)).toBeUndefined();
  });
});

describe("a text for anything that can be thrown", () => {
  const cases: [thrown: unknown, text: string][] = [
    [new Error("broken"), "broken"],
    [new TypeError(""), "TypeError"],
    ["a text", "a text"],
    [undefined, "undefined"],
    [{ message: "like an error" }, "like an error"],
    [Object.create(null), "an error that cannot be shown"],
  ];
  it.each(cases)("%#", (thrown, text) => expect(errorText(thrown)).toBe(text));
});

test("what an extension has asked for and does not wait for is its own, though it was made in our code", async () => {
  const error = new Error("no such session");
  error.stack = "Error: no such session\n    at switchTo (/tiller/dist/app.js:1:1)";
  const extensions = [{ path: "/x/a.ts" }];
  expect(ownerOf(error, extensions, "/tiller/dist")).toBeUndefined();
  await expect(askedBy("/x/a.ts", Promise.reject(error))).rejects.toBe(error);
  expect(ownerOf(error, extensions, "/tiller/dist")).toBe("/x/a.ts");
  expect(await askedBy("/x/a.ts", Promise.resolve(7))).toBe(7);
});
