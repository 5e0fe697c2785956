import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, REDACTED } from "./redactor.ts";

const redact = createRedactor({});
const R = REDACTED;

describe("what looks like a secret", () => {
  const shapes: [what: string, secret: string][] = [
    ["OpenAI", "sk-proj-abcdefghij0123456789"],
    ["Anthropic", "sk-ant-api03-abcdefghijklmnop-qrstuv"],
    ["GitHub", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"],
    ["GitHub, fine-grained", "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv"],
    ["GitLab", "glpat-abcdefghij0123456789"],
    ["Amazon", "AKIAIOSFODNN7EXAMPLE"],
    ["Google", "AIzaSyA1234567890abcdefghijklmnopqrstuv"],
    ["Slack", "xoxb-1234567890-abcdefghij"],
    ["Hugging Face", "hf_abcdefghijklmnopqrstuvwxyz7"],
    ["Stripe", "sk_live_abcdefghij0123456789"],
    ["a JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSM"],
  ];
  test.each(shapes)("%s", (_, secret) => {
    // What kind of key it was may stay.
    const rest = secret.slice(11);
    for (const text of [
      `a ${secret} b`,
      `KEY=${secret}\n`,
      `x/${secret}?`,
      `x-${secret}?`,
      JSON.stringify({ deep: [`x"${secret}"`] }),
      JSON.stringify(`x\n${secret}\n`),
      JSON.stringify({ tool: JSON.stringify({ out: `\t${secret}` }) }),
      JSON.stringify(`\u001b[1;32m${secret}\u001b[0m`),
    ]) {
      const clean = redact(text);
      expect(clean).toContain(R);
      expect(clean).not.toContain(rest);
      expect([clean[0], clean.at(-1)]).toEqual([text[0], text.at(-1)]);
    }
  });

  const inPlace: [text: string, clean: string][] = [
    ["Authorization: Bearer abc123def456", `Authorization: Bearer ${R}`],
    ["authorization: Basic dXNlcjpwYXNzMTIzNDU2", `authorization: Basic ${R}`],
    ["https://me:hunter2@example.com/x", `https://me:${R}@example.com/x`],
    ["postgres://me:p4ss@w0rd@host/db", `postgres://me:${R}@host/db`],
    ["https://abcdefghij0123456789@github.com/x", `https://${R}@github.com/x`],
    ["PGPASSWORD=Tr0ub4dor&3 psql", `PGPASSWORD=${R} psql`],
    ['{"password":"Sup3r$ecret!"}', `{"password":"${R}"}`],
    ['"apiKey": "abcdefgh12345678"', `"apiKey": "${R}"`],
    ["export DB_PASSWORD='abcdefgh12345678'", `export DB_PASSWORD='${R}'`],
    ["sk-eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSM", `sk-eyJ${R}`],
    // The first two are too short for one.
    ["eyJhbGciOiJIUzI1.eyJzdWI.eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxw", `eyJhbGciOiJIUzI1.eyJzdWI.eyJ${R}`],
    ['{\\"token\\":\\"abcdefgh12345678\\"}', `{\\"token\\":\\"${R}\\"}`],
  ];
  test.each(inPlace)("%s", (text, clean) => expect(redact(text)).toBe(clean));

  test("a private key, however its lines end", () => {
    const key = (end: string): string =>
      ["-----BEGIN RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA7+/x=", "abc", "-----END RSA PRIVATE KEY-----"].join(end);
    for (const end of ["\n", "\r\n", "\\n", "\\\\n"]) {
      expect(redact(`x ${key(end)}" y`)).toBe(`x -----BEGIN RSA PRIVATE KEY-----${R}" y`);
    }
    // As tools and diffs show files.
    for (const mark of ["> ", "+", "12: ", "  12→", "12|"]) {
      const text = JSON.stringify(`${key("\n").replaceAll(/^/gm, mark)}\nand more of it`);
      expect(redact(text)).toBe(JSON.stringify(`${mark}-----BEGIN RSA PRIVATE KEY-----${R}\nand more of it`));
    }
    // The line of a session that was cut off, and the one behind it.
    expect(redact('{"a":"-----BEGIN PRIVATE KEY-----abc\n{"b":1}')).toBe(
      `{"a":"-----BEGIN PRIVATE KEY-----${R}\n{"b":1}`,
    );
  });

  const harmless = [
    "Bearer authentication is a basic functionality of this server",
    "const token: string = getToken();",
    '{"usage":{"totalTokens":123456789012345},"id":"1a2b3c4d"}',
    "task-management-and-risk-analysis-of-things-0123456789",
    `data:image/png;base64,iVBORw0KGgo${"A".repeat(20)}AKIA${"A1".repeat(20)}sk`,
    "git commit -m 'the key = value store'",
    "see https://example.com:8080/a@b",
    "apiKey: process.env.OPENAI_API_KEY",
    "token = readToken2024(input)",
    "npm_config_registry_2_of_something=x npm_package_dependencies_react_18",
    "hf_hub_download_2_of_the_model()",
    "password: z.string().min(8)",
    "password = $PASSWORD_2024",
    "if (password !== other1) password: string",
  ];
  test.each(harmless)("leaves %s alone", (text) => expect(redact(text)).toBe(text));
});

describe("what is known", () => {
  test("goes wherever it stands, also escaped", () => {
    const secret = 'pä"ss\\wörd!';
    const clean = createRedactor({ secrets: [secret, "none"] });
    expect(clean(`<${secret}>none`)).toBe(`<${R}>none`);
    expect(clean(JSON.stringify({ a: secret }))).toBe(JSON.stringify({ a: R }));
    const printed = JSON.stringify({ a: secret });
    expect(clean(JSON.stringify({ printed }))).toBe(JSON.stringify({ printed: JSON.stringify({ a: R }) }));
  });

  test("a word of the file itself is none", () => {
    const line = '{"timestamp":"x","message":{"role":"assistant","provider":"p"}}';
    expect(createRedactor({ secrets: ["timestamp", "assistant", " provider"] })(line)).toBe(line);
  });

  test("the longest first", () => {
    expect(createRedactor({ secrets: ["abcdefgh", "abcdefghij"] })("abcdefghij")).toBe(R);
  });

  test("patterns of the user: a text, or one with a run in it", () => {
    const clean = createRedactor({ patterns: ["Project X", "acme_*", "<*>", "*", ""] });
    expect(clean("Project X uses acme_12ab, not acme_ or <secret> ")).toBe(`${R} uses ${R}, not acme_ or ${R} `);
  });
});

test("quotes in a pattern are those of a text, never those around it", () => {
  const clean = createRedactor({ patterns: ['"'] });
  expect(clean(JSON.stringify({ a: 'host="inner7" b' }))).toBe(JSON.stringify({ a: `host=${R}inner7${R} b` }));
  expect(createRedactor({ patterns: ['host="*"'] })('{"a":"host=\\"inner7\\" b"}')).toBe(`{"a":"${R} b"}`);
});

describe("the home folder", () => {
  const clean = createRedactor({ home: "/home/me/" });
  const rows: [string, string][] = [
    ["/home/me", "~"],
    ['"/home/me/app/x.ts"', '"~/app/x.ts"'],
    ["cd /home/me.", "cd ~."],
    ["file:///home/me/x", "file://~/x"],
    ["/home/meier/x", "/home/meier/x"],
    ["/home/me.old/x", "/home/me.old/x"],
    ["/mnt/home/me/x", "/mnt/home/me/x"],
    ["sessions/--home-me-app--/x.jsonl", "sessions/--~-app--/x.jsonl"],
  ];
  test.each(rows)("%s", (text, wanted) => expect(clean(text)).toBe(wanted));

  test("of Windows, in text and in JSON", () => {
    const windows = createRedactor({ home: "C:\\Users\\me" });
    expect(windows("C:\\Users\\me\\x")).toBe("~\\x");
    expect(windows(JSON.stringify(["C:\\Users\\me\\x"]))).toBe(JSON.stringify(["~\\x"]));
    expect(windows(JSON.stringify(JSON.stringify("C:\\Users\\me\\x")))).toBe(JSON.stringify(JSON.stringify("~\\x")));
    expect(windows("c:/Users/me/x file:///C:/Users/Me/y")).toBe("~/x file:///~/y");
  });

  test("that is a root is none", () => {
    expect(createRedactor({ home: "/" })("/usr/bin")).toBe("/usr/bin");
  });
});

/** Pieces that begin something, and what keeps it going. */
const PIECES = [
  ...'sk- ghp_ AKIA AIza eyJ -eyJ -eyJaaaaaaaaaaa eyJaaaaaaaaaaa. Bearer Basic :// :a@ token= password:" \\ \\\\ " \' /home/me'.split(
    " ",
  ),
  "-----BEGIN PRIVATE KEY-----",
  "-----BEGIN ",
  "A",
  "a1",
  " ",
  "\n",
  "acme_",
  "q",
  "://a:",
  "key=a",
  "password=a",
  "password=1a",
  "[1;",
  "-----BEGIN PRIVATE KEY----- ",
  "Bearer ",
];

test("JSON stays JSON", () => {
  const clean = createRedactor({ secrets: ['quo"te\\d'], home: "/home/me", patterns: ["acme_*"] });
  const text = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 8 })), { maxLength: 40 });
  fc.assert(
    fc.property(text, (parts) => {
      const json = JSON.stringify({ a: parts.join(""), b: JSON.stringify(parts) });
      const value = JSON.parse(clean(json)) as object;
      expect(Object.keys(value)).toEqual(["a", "b"]);
    }),
  );
});

test("a line break behind the name of a password stays one in JSON", () => {
  const text = `password:"\n/home/me0`;
  expect(JSON.parse(createRedactor({})(JSON.stringify({ text })))).toEqual({ text });
});

test("what leads to a secret is the same here as in errors, though neither place may import the other", () => {
  const leadIn = (path: string) =>
    /const LEAD =\s+(\/\S.*\/);/.exec(readFileSync(new URL(path, import.meta.url), "utf8"))?.[1];
  expect(leadIn("./redactor.ts")).toMatch(/^\/\^/);
  expect(leadIn("./redactor.ts")).toBe(leadIn("../../../ai/src/spelled-secrets.ts"));
});

test("no text takes for ever", () => {
  const clean = createRedactor({ secrets: ["aaaaaaaaaaaaaaab"], home: "/aaaa/aaaa", patterns: ["q*b", "acme_*"] });
  for (const piece of PIECES) {
    const text = piece.repeat(Math.ceil(200_000 / piece.length));
    // A second power would need hours; the test's own limit is what notices.
    expect(clean(text).length).toBeGreaterThan(0);
  }
});

describe("a known secret that a tool has cut", () => {
  /** Its beginning is neither letters alone nor what leads to a secret, as in `key=`. */
  const anySecret = fc
    .tuple(fc.stringMatching(/^[A-Z]{3}[0-9]$/), fc.string({ minLength: 4, maxLength: 150 }))
    .map(([begin, rest]) => begin + rest.replace(/[A-Z\s.…=:]/g, "x"));
  const inJson = (text: string): string => JSON.stringify({ text });

  test("wherever it is cut, four characters before the dots are gone, in plain text and in JSON in JSON", () => {
    const ways = [(text: string) => text, inJson, (text: string) => inJson(inJson(text))];
    fc.assert(
      fc.property(anySecret, fc.nat(400), fc.constantFrom("…", "... [truncated]"), (secret, at, mark) => {
        const clean = createRedactor({ secrets: [secret] });
        const cut = `no: ${secret}, `.repeat(9).slice(0, at).toWellFormed() + mark;
        for (const way of ways) expect(clean(way(cut))).not.toContain(secret.slice(0, 4));
        expect(() => JSON.parse(clean(inJson(cut)))).not.toThrow();
      }),
    );
  });

  test("a row of backslashes holds nobody up", () => {
    const text = "\\".repeat(100_000);
    expect(createRedactor({ secrets: [`key${"\\".repeat(60)}`] })(`key${text}`)).toContain("\\".repeat(50_000));
  });

  test("hundreds of secrets do not hold up a long text, and each of them is found", () => {
    const secrets = Array.from({ length: 1000 }, (_, at) => createHash("sha512").update(String(at)).digest("base64"));
    const words = "some words of a session, [...list], and so on... ".repeat(25_000);
    const cut = secrets.map((secret) => `${secret.slice(0, 40)}...`).join(" ");
    expect(createRedactor({ secrets })(words + cut)).toBe(words + secrets.map(() => `${R}...`).join(" "));
  });

  const ordinary: [secret: string, text: string][] = [
    ["test-key-123", "Running tests... test... ok"],
    ["https://user:pw@host", "see https://example.com/a… and https://..."],
    ["https://example.com/hooks/a1b2c3", "see https://example.com/… and https://exam..."],
    ["    indented secret", '{"code":"if (a) {\\n    ...\\n    …"}'],
    ["Bearer a1b2c3d4e5f6", "Bearer... Bearer of news..."],
    ["dev1-password", "/dev/nvmedev1... and xdev1…"],
    ["accounting2024", "no account... accoun…"],
  ];
  test.each(ordinary)("of %s an ordinary word is no beginning: %s", (secret, text) => {
    expect(createRedactor({ secrets: [secret] })(text)).toBe(text);
  });

  const cut: [secret: string, text: string, clean: string][] = [
    ["test-key-123", "a test-... b", `a ${R}... b`],
    ["https://user:pw@host", "at https://user:… b", `at ${R}… b`],
    ["https://example.com/hooks/a1b2c3", "at https://example.com/hooks/...", `at ${R}...`],
    ["    indented2024", "x indented…", `x ${R}…`],
    ["Bearer a1b2c3d4e5f6", "Bearer a1b2…", `${R}…`],
    ["postgres://user:longpassword12345/abcd@host/db", "at postgres://user:longpass…", `at ${R}…`],
    ["vmess://eyJhZGQiOiIxLjIuMy40IiwicG9ydCI6", "at vmess://eyJhZGQiOiIx…", `at ${R}…`],
    ["a1b2c3d4e5f6g7h8=zzzzzzzz", "at a1b2c3d4e5f6g7h8…", `at ${R}…`],
    ["dev1-password", "dev1… \\ndev1… xdev1-passw…", `${R}… \\n${R}… x${R}…`],
    ["accounting2024", "no accounti…", `no ${R}…`],
  ];
  test.each(cut)("of %s more than that is one: %s", (secret, text, clean) => {
    expect(createRedactor({ secrets: [secret] })(text)).toBe(clean);
  });

  test("what begins like one is left alone where nothing was cut", () => {
    const clean = createRedactor({ secrets: ["test-key-1234"] });
    const text = '{"test":"a test","more":"test. test-key, tes... and so on.."}';
    expect(clean(text)).toBe(text);
    expect(clean("a test-ke... and test-key-123…")).toBe(`a ${R}... and ${R}…`);
  });
});
