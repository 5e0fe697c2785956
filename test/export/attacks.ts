import { type EntryRow, entryOf } from "@tiller/protocol/define-entry";
import { ENTRIES, SessionHeader } from "@tiller/protocol/session-entry";

/**
 * Sessions that want to do something to whoever looks at them: every text of every kind of entry, as the schema has them,
 * holds an attack; and texts that want to break the page by their size or form.
 */

/** Set by whatever should never run. */
export const CANARY = "canary";
const RUN = `globalThis.${CANARY}=1`;
const AWAY = "http://attack.invalid/";

/** Some kinds together in one text each: rows of a page take time. */
export const ATTACKS: readonly string[] = [
  [
    `</script><script>${RUN}</script>`,
    `</style></title></textarea></noscript><script>${RUN}</script>`,
    `<!--<script>${RUN}</script>-->`,
    `<img src=x onerror="${RUN}"><svg onload="${RUN}"><details open ontoggle="${RUN}">`,
    `<link rel=stylesheet href=${AWAY}s.css><meta http-equiv=refresh content="0;url=${AWAY}"><base href=${AWAY}>`,
  ].join("\n"),
  `"><iframe srcdoc="<script>parent.${CANARY}=1</script>"></iframe><object data="${AWAY}"></object>`,
  `' onmouseover='${RUN}' style='position:fixed;inset:0' x='`,
  [
    `[click](javascript:${RUN}) ![i](${AWAY}i.png) <${AWAY}> [d](data:text/html,<script>${RUN}</script>)`,
    `[a]: javascript:${RUN}\n\n[a] [b](  JaVaScRiPt:${RUN} ) [c](&#106;avascript:${RUN}) [e](vbscript:x)`,
    `\`\`\`html" onload="${RUN}\n<script>${RUN}</script>\n\`\`\``,
    `{{constructor.constructor('${RUN}')()}} \${${RUN}} <%= ${RUN} %>`,
    `expression(${RUN});background:url(${AWAY}b.png);}\\3c/style>*{display:none}@import "${AWAY}c.css"`,
  ].join("\n\n"),
  [
    "\u202egnp.exe\u202c\u2066\u2067\u200b\u200d\ufeff\u2028\u2029\u0000\u0008\u001b]0;title\u0007\u001b[2J",
    `\u001b]8;;javascript:${RUN}\u0007link\u001b]8;;\u0007\u001b[38;5;999999999m\u001b[31;url(${AWAY})m`,
  ].join(" "),
  "__proto__",
  "constructor",
];

type Schema = Readonly<Record<string, unknown>>;

/** Values of a schema, with the attack in every place where there may be a text. One for each way that there is. */
function filled(schema: Schema, attack: string): unknown[] {
  if (schema.const !== undefined) return [schema.const];
  const variants = (schema.anyOf ?? schema.allOf) as Schema[] | undefined;
  if (variants) return variants.flatMap((variant) => filled(variant, attack));
  switch (schema.type) {
    case "string":
      return [attack];
    case "integer":
    case "number":
      return [1];
    case "boolean":
      return [true];
    case "null":
      return [null];
    case "array":
      return [filled(schema.items as Schema, attack)];
    case "object":
      return objects(schema, attack);
    default:
      return [{ [attack]: [attack, { [attack]: attack }], view: view(attack) }];
  }
}

function objects({ properties, patternProperties }: Schema, attack: string): object[] {
  if (patternProperties) return [ownField(attack, attack)];
  let made: object[] = [{}];
  for (const [name, field] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
    const values = filled(field, attack);
    // Each value once: the n-th of one field together with the n-th of the others.
    const count = Math.max(made.length, values.length);
    made = Array.from({ length: count }, (_, at) => ({
      ...made[at % made.length],
      [name]: values[at % values.length],
    }));
  }
  return made;
}

/** Also one that is called `__proto__`, as JSON can. */
function ownField(name: string, value: unknown): object {
  return JSON.parse(`{${JSON.stringify(name)}:${JSON.stringify(value)},"path":${JSON.stringify(name)}}`) as object;
}

/** What an extension may say about how its entry is shown. */
function view(attack: string): object {
  const texts = ["text", "markdown", "code", "diff", "terminal", "badge", attack];
  return {
    title: attack,
    badge: { text: attack, tone: attack },
    blocks: [
      ...texts.map((type) => ({ type, text: attack, language: attack, tone: attack })),
      { type: "fields", fields: [[attack, attack], attack] },
      { type: "table", columns: [attack], rows: [[attack, attack], attack] },
      attack,
      null,
    ],
  };
}

const timestamp = "2026-01-01T00:00:00.000Z";

/** Every kind of entry with this attack in all of its texts; their places in the tree are sound. */
function entriesWith(attack: string, prefix: string): object[] {
  const kinds = Object.values<EntryRow>(ENTRIES).flatMap((row) => filled(entryOf(row) as unknown as Schema, attack));
  const odd = [
    { type: attack },
    { type: "message", message: { role: attack, content: attack } },
    { type: "message", message: attack },
    { type: "message", message: { role: "user", content: [{ type: attack, text: attack }, attack, null, 7] } },
    { type: "message", message: { role: "toolResult", toolName: "edit", content: attack, details: { diff: attack } } },
    { type: "message", message: { role: "assistant", content: [], stopReason: "error", errorMessage: attack } },
  ];
  // The names of our own tools, whose calls are shown in their own ways.
  const tools = ["bash", "edit", "write", "read", "todo", "task"].map((name) => ({
    type: "message",
    message: {
      role: "assistant",
      content: [{ type: "toolCall", id: attack, name, arguments: { path: attack, command: attack, edits: [attack] } }],
    },
  }));
  return [...(kinds as object[]), ...odd, ...tools].map((entry, at) => ({
    ...entry,
    id: `${prefix}-${at}`,
    timestamp: at % 5 === 0 ? attack : timestamp,
  }));
}

const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>${RUN}</script><image href="${AWAY}x.png"/></svg>`;
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const IMAGES: [mimeType: string, data: string][] = [
  ["image/svg+xml", base64(svg)],
  ["image/png", base64(svg)],
  ["text/html", base64(`<script>${RUN}</script>`)],
  [`image/png" onerror="${RUN}`, base64("x")],
  ["image/png;base64,AAAA#", "not base64 \"'><script>"],
  ["image/png", ""],
  ["image/gif", "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"],
];

const deep = (depth: number): string => `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;

/** Texts that are too much. */
function bombs(): object[] {
  const texts = [
    "x".repeat(5_000_000),
    `${"wide ".repeat(200)}\n`.repeat(50),
    "W".repeat(20_000),
    "> ".repeat(5000),
    "- ".repeat(5000),
    "*".repeat(50_000),
    "_a ".repeat(20_000),
    "[".repeat(20_000),
    "`".repeat(20_001),
    `${"|a".repeat(3000)}|\n${"|-".repeat(3000)}|\n${"|b".repeat(3000)}|`,
    "#".repeat(10_000),
    "<".repeat(50_000),
    "&".repeat(50_000),
    "\n".repeat(50_000),
    "\u0301".repeat(20_000),
    "😀".repeat(20_000),
    "\ud800".repeat(1000),
  ];
  const ansi = Array.from({ length: 100_000 }, (_, at) => `\u001b[${at % 110};${at % 50}mx`).join("");
  const output = `${ansi}\u001b[`.concat("\u001b[1;".repeat(10_000), "9".repeat(10_000), "m");
  return [
    ...texts.map((text) => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } })),
    { type: "message", message: { role: "bashExecution", command: "x".repeat(20_000), output, timestamp: 1 } },
    {
      type: "message",
      message: { role: "user", content: IMAGES.map(([mimeType, data]) => ({ type: "image", data, mimeType })) },
    },
  ].map((entry, at) => ({ ...entry, id: `bomb-${at}`, timestamp }));
}

/** The text of a session file. */
export function attackingSession(): string {
  const entries = [...ATTACKS.flatMap((attack, at) => entriesWith(attack, `a${at}`)), ...bombs()];
  const [header] = filled(SessionHeader as unknown as Schema, ATTACKS[0]!) as object[];
  const lines = [JSON.stringify({ ...header, version: 3, timestamp })];
  let before: string | null = null;
  for (const entry of entries as { id: string }[]) {
    lines.push(JSON.stringify({ ...entry, parentId: before }));
    before = entry.id;
  }
  const nested = `{"type":"custom","id":"deep","parentId":"${before}","timestamp":"${timestamp}","customType":"x","data":${deep(20_000)}}`;
  const [name] = ATTACKS;
  const info = { type: "session_info", id: "name", parentId: "deep", timestamp, name };
  const labels = ATTACKS.map((label, at) => ({
    ...{ type: "label", id: `label-${at}`, parentId: at === 0 ? "name" : `label-${at - 1}`, timestamp },
    ...{ targetId: `a${at}-0`, label },
  }));
  return `${[...lines, nested, JSON.stringify(info), ...labels.map((label) => JSON.stringify(label))].join("\n")}\n`;
}
