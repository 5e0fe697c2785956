import { describe, expect, test } from "vitest";
import { createRedaction, HIDDEN, openArgv, openConfig, openEnv, openHeaders, openUrl } from "./redact.ts";

describe("what looks like a secret", () => {
  const redact = createRedaction({ MY_TOKEN: "correct horse", HOME: "/home/me", SHORT_KEY: "none" }, [
    "--api-key",
    "abcdefgh1",
  ]);
  test.each([
    ["a value of the environment", "I say correct horse", `I say ${HIDDEN}`],
    ["the key of the command line", "abcdefgh1!", `${HIDDEN}!`],
    ["a key of a vendor", `{"a":"sk-${"abc123-".repeat(4)}"}`, `{"a":"${HIDDEN}"}`],
    ["a login", "authorization: Bearer abc.def-ghi=", `authorization: Bearer ${HIDDEN}`],
    ["a token of a forge", "ghp_abcdefghijklmnopqrstuvwxyz0123", HIDDEN],
    ["a short value", "none of it", "none of it"],
    ["a folder", "/home/me", "/home/me"],
    ["a word with a dash", "sk-8 is a boat, ask-them too", "sk-8 is a boat, ask-them too"],
  ])("%s", (_name, text, shown) => {
    expect(redact(text)).toBe(shown);
  });
});

test("variables keep their names, and their values only when they are harmless", () => {
  const env = {
    HOME: "/home/me",
    ANTHROPIC_API_KEY: "x",
    EDITOR: "vi",
    EMPTY: "",
    PI_TOKEN: "y",
    PI_OFFLINE: "1",
    GONE: undefined,
  };
  expect(openEnv(env)).toEqual({
    HOME: "/home/me",
    ANTHROPIC_API_KEY: HIDDEN,
    EDITOR: HIDDEN,
    EMPTY: "",
    PI_TOKEN: HIDDEN,
    PI_OFFLINE: "1",
  });
});

test("a key on the command line", () => {
  expect(openArgv(["--api-key", "k", "--model", "m", "--api-key=k"])).toEqual([
    "--api-key",
    HIDDEN,
    "--model",
    "m",
    `--api-key=${HIDDEN}`,
  ]);
});

test("headers and addresses", () => {
  expect(openHeaders({ "x-api-key": "k", Authorization: "b", cookie: "c", accept: "json" })).toEqual({
    "x-api-key": HIDDEN,
    Authorization: HIDDEN,
    cookie: HIDDEN,
    accept: "json",
  });
  expect(openUrl("https://me:pass@host/v1?key=abc&alt=sse")).toBe("https://me:hidden@host/v1?key=hidden&alt=sse");
  expect(openUrl("no address")).toBe("no address");
});

test.each([
  ['{"apiKey": "!pass show key", "id": "m"}', `{"apiKey": "${HIDDEN}", "id": "m"}`],
  [
    '{"x":{"access":"a","refresh":"b\\"c","expires":1}}',
    `{"x":{"access":"${HIDDEN}","refresh":"${HIDDEN}","expires":1}}`,
  ],
  ['{"maxTokens": 5, "keybindings": "vi"}', '{"maxTokens": 5, "keybindings": "vi"}'],
  [
    "providers:\n  a:\n    apiKey: abc\n    baseUrl: http://x\n",
    `providers:\n  a:\n    apiKey: "${HIDDEN}"\n    baseUrl: http://x\n`,
  ],
])("a configuration file: %s", (text, shown) => {
  expect(openConfig(text)).toBe(shown);
});
