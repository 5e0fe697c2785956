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
    ["a web token", "session-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.Sfl-xwRJSM ok", `session-${HIDDEN} ok`],
    ["a short value", "none of it", "none of it"],
    ["a folder", "/home/me", "/home/me"],
    ["a key alone on a line, in JSON", String.raw`{"a":"x\nsk-abcdefghijklmnop1"}`, String.raw`{"a":"x\n${HIDDEN}"}`],
    ["and in JSON in JSON", String.raw`\\nghp_abcdefghijklmnopqrstuvwxyz0123\\n`, String.raw`\\n${HIDDEN}\\n`],
    ["a password in an address", "https://me:hunter2@host/x", `https://me:${HIDDEN}@host/x`],
    [
      "the beginning of a private key",
      String.raw`{"a":"-----BEGIN PRIVATE KEY-----\nMIIE","b":"-----END PRIVATE KEY-----"}`,
      `{"a":"-----BEGIN PRIVATE KEY-----${HIDDEN}","b":"-----END PRIVATE KEY-----"}`,
    ],
    ["a word with a dash", "sk-8 is a boat, ask-them too", "sk-8 is a boat, ask-them too"],
  ])("%s", (_name, text, shown) => {
    expect(redact(text)).toBe(shown);
  });
});

test("values that are known, in JSON and on either form of the command line", () => {
  const redact = createRedaction({ A_PASSWORD: 'quo"te\\d', SORT_KEY: "timestamp" }, ["--api-key=abcdefgh1"]);
  const json = JSON.stringify({ timestamp: 1, a: ['quo"te\\d', JSON.stringify('quo"te\\d'), "abcdefgh1"] });
  expect(JSON.parse(redact(json))).toEqual({ timestamp: 1, a: [HIDDEN, `"${HIDDEN}"`, HIDDEN] });
  redact.learn(["later-secret", "none"]);
  expect(redact("later-secret, abcdefgh1, none")).toBe(`${HIDDEN}, ${HIDDEN}, none`);
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
  const login = "https://a-token-that-is-a-name@host/a&b=c?api-version=1&code=abc&bare#part?key=x";
  expect(openUrl(login)).toBe("https://hidden@host/a&b=c?api-version=1&code=hidden&hidden#part?key=x");
  expect(openUrl("http://host:80")).toBe("http://host:80");
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
  expect(openConfig(text).text).toBe(shown);
});

test("the secrets of a configuration file are known from then on, but not where they come from", () => {
  const json = JSON.stringify({
    a: { apiKey: 'a"b\\c' },
    b: { apiKey: "!pass show" },
    c: { token: "MY_TOKEN" },
    d: "x",
  });
  expect(openConfig(json).secrets).toEqual(['a"b\\c']);
  expect(openConfig("apiKey: 'abc'\npassword: def ghi\nkey_file: ~/x\n").secrets).toEqual(["abc", "def ghi"]);
});

test("neither beginnings of a token nor empty lines in a configuration hold anybody up", () => {
  const text = "-eyJ0123456789".repeat(100_000);
  expect(createRedaction({}, [])(text)).toBe(text);
  const { secrets } = openConfig(`${" \n".repeat(500_000)}!\n  - apiKey: abcdefgh1\n\ttoken: 'xyz98765'\n`);
  expect(secrets).toEqual(["abcdefgh1", "xyz98765"]);
});

const MODELS = {
  providers: {
    a: {
      baseUrl: "http://127.0.0.1:9/v1?key=QRYsecretvalue123456",
      apiKey: "$CORP_LLM",
      headers: { "X-Foo": "HDRsecretvalue12345", "X-Word": "Scheme $0 secret-word-1", Accept: "application/json" },
      models: [{ id: "m", headers: { "x-m": "$HDR" }, compat: { options: { login: "secret-option-1" } } }],
    },
  },
};
const YAML = `providers:
  a:
    baseUrl: http://127.0.0.1:9/v1?key=QRYsecretvalue123456
    apiKey: $CORP_LLM
    headers: { X-Foo: HDRsecretvalue12345, Accept: application/json }
    models: [ { id: m, headers: { x-m: $HDR }, compat: { options: { login: secret-option-1 } } } ]
    other: { baseUrl: "https://me:pw@h/?a=b", x: 1 }
`;

test.each([
  ["models.json", JSON.stringify(MODELS)],
  ["models.json", `// mine\n${JSON.stringify(MODELS, null, 2)}`],
  ["models.yml", YAML],
])("what an exported page hides of %s, a recording hides too", (name, text) => {
  const redact = createRedaction({}, []);
  const open = openConfig(text, name, { CORP_LLM: "value-of-corp-llm", HDR: "Bearer value-of-hdr" });
  redact.learn(open.secrets);
  const shown = redact(`${open.text}\nvalue-of-corp-llm value-of-hdr HDRsecretvalue12345 QRYsecretvalue123456`);
  for (const secret of ["QRYsecret", "HDRsecret", "secret-word", "secret-option", "value-of", "me:pw"]) {
    expect(shown).not.toContain(secret);
  }
  expect(shown).toContain("http://127.0.0.1:9/v1?key=hidden");
  expect(shown).toContain("application/json");
  expect(shown.split("\n")).toHaveLength(text.split("\n").length + 1);
});

test("what is in auth.json, whatever it is called; and a file that cannot be read is hidden as far as it can be", () => {
  const auth = { a: { type: "api_key", key: "$STORED" }, b: { type: "oauth", account: "account-of-mine" } };
  const { secrets } = openConfig(JSON.stringify(auth), "auth.json", { STORED: "value-of-stored" });
  expect(secrets).toEqual(expect.arrayContaining(["value-of-stored", "account-of-mine"]));
  const broken = '{"apiKey": "abcdefgh1", "baseUrl": "https://h/?key=abc", ';
  expect(openConfig(broken, "models.json").text).toBe('{"apiKey": "[hidden]", "baseUrl": "https://h/?key=hidden", ');
});

test("many addresses hold nobody up", () => {
  const text = `"${"a://b?c=d,".repeat(100_000)}${"x:/".repeat(100_000)}"`;
  expect(openConfig(text, "models.json").text.length).toBeGreaterThan(100_000);
});

test("names that a replay has to find, and words that frames are made of, are no secrets", () => {
  const provider = {
    apiKey: "lm-studio",
    headers: { "x-route": "assistant", "x-model": "model-1" },
    models: [{ id: "model-1" }],
  };
  const { secrets } = openConfig(JSON.stringify({ providers: { "lm-studio": provider } }), "models.json");
  expect(secrets).toEqual([]);
});
