import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HOOKS } from "../packages/coding-agent/src/extensions/hooks.ts";
import { renderExtensionsDoc } from "../scripts/generate/extensions-doc.ts";
import type { Frame } from "./support/frame.ts";
import { type RpcProcess, repoRoot, useRpc } from "./support/rpc-process.ts";

/** docs/extensions.md tells the truth: what it prints is run, and what it lists is what extensions really get. */

const EXAMPLE = join(repoRoot, "docs/examples/extension.ts");
const page = readFileSync(join(repoRoot, "docs/extensions.md"), "utf8");
const readme = readFileSync(join(repoRoot, "README.md"), "utf8");
const start = useRpc();

/** The block behind `<!-- test: name -->`. */
function block(text: string, name: string): string {
  const found = new RegExp(`<!-- test: ${name} -->\\n\`\`\`\\w*\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`there is no block behind <!-- test: ${name} -->`);
  return found;
}

/** Sends the `>` lines and waits, in their order, for frames that read like the `<` lines; `...` is whatever stands there. */
async function play(rpc: RpcProcess, story: string): Promise<void> {
  let since = 0;
  for (const line of story.split("\n").filter((text) => /^[<>] /.test(text))) {
    const text = line.slice(2);
    if (line.startsWith(">")) {
      rpc.send(JSON.parse(text));
      continue;
    }
    const parts = text.split("...").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const wanted = new RegExp(`^${parts.join(".*")}$`);
    const frame = await rpc.waitFor((candidate) => wanted.test(JSON.stringify(candidate)), { since });
    since = rpc.frames.indexOf(frame) + 1;
  }
}

describe("the example", () => {
  const offline = { args: ["--no-session", "--script", "script.json", "--extension", EXAMPLE] };

  test("stands on the page as it is", () => {
    expect(page).toContain(readFileSync(EXAMPLE, "utf8").trim());
  });

  test("asks as the page shows it", async () => {
    const rpc = start({ ...offline, files: { "script.json": block(page, "script") } });
    await play(rpc, block(page, "dialog"));
    await rpc.waitFor("session_settled");
  });

  test("has a tool and a command that work", async () => {
    const call = { toolCall: { name: "count_words", arguments: { text: "three small words" } } };
    const rpc = start({ ...offline, files: { "script.json": JSON.stringify({ turns: [[call], "Done."] }) } });
    const { frames } = await rpc.prompt("count");
    expect(frames.find(({ type }) => type === "tool_execution_end")).toMatchObject({
      result: { content: [{ type: "text", text: "3 words" }] },
      isError: false,
    });
    await rpc.prompt("/hello world");
    await rpc.waitFor((frame) => frame.method === "notify" && frame.message === "Hello, world!");
  });
});

test("the extension of the README asks as it says there", async () => {
  const call = { toolCall: { name: "bash", arguments: { command: "git push --force" } } };
  const files = {
    "script.json": JSON.stringify({ turns: [[call], "I leave it."] }),
    "guard.js": block(readme, "readme-extension"),
  };
  const rpc = start({ files, args: ["--no-session", "--script", "script.json", "--extension", "guard.js"] });
  await play(rpc, block(readme, "readme-dialog"));
  await rpc.waitFor("session_settled");
});

/** An extension that tells what it has been given. */
const PROBE = `
const names = (value) => {
  const found = new Set();
  for (let at = value; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at)) found.add(name);
  return [...found];
};
export default (pi) =>
  pi.registerCommand("names", {
    async handler(_args, ctx) {
      const { ui, sessionManager, modelRegistry } = ctx;
      const given = { pi, ctx, ui, sessionManager, modelRegistry };
      const lists = Object.entries(given).map(([what, value]) => [what, names(value)]);
      ui.notify(JSON.stringify(Object.fromEntries(lists)));
    },
  });
`;

/** The first words in backticks of each first cell of the tables with this head: \`fork(entryId)\` is \`fork\`. */
function tableNames(head: string): string[] {
  const lines = page.split("\n");
  return lines.flatMap((line, at) => {
    if (!line.startsWith(`| ${head} |`)) return [];
    const rows = lines.slice(at + 2);
    const end = rows.findIndex((row) => !row.startsWith("|"));
    return rows.slice(0, end).flatMap((row) => codeNames(row.split(" | ")[0] ?? ""));
  });
}

/** \`name\` and \`name(...)\`. */
function codeNames(text: string): string[] {
  return [...text.matchAll(/`(\w+)(?:\([^`]*)?`/g)].map((match) => match[1] ?? "");
}

function paragraph(start: string): string {
  const found = page.split("\n").find((line) => line.startsWith(start));
  if (found === undefined) throw new Error(`docs/extensions.md has no paragraph that starts with ${start}`);
  return found;
}

test("every name that extensions get is on the page, and no other", async () => {
  const rpc = start({ files: { "probe.js": PROBE }, args: ["--no-session", "--extension", "probe.js"] });
  await rpc.prompt("/names");
  const isNotify = (frame: Frame): boolean => frame.method === "notify";
  const given = JSON.parse(String((await rpc.waitFor(isNotify)).message)) as Record<string, string[]>;
  const listed = {
    pi: tableNames("`pi.`"),
    ctx: tableNames("`ctx.`"),
    ui: [...tableNames("`ctx.ui.`"), ...codeNames(paragraph("What needs a terminal"))],
    sessionManager: codeNames(paragraph("`ctx.sessionManager`:")),
    modelRegistry: codeNames(paragraph("`ctx.modelRegistry`:")),
  };
  const sorted = (lists: Record<string, string[]>): Record<string, string[]> =>
    Object.fromEntries(Object.entries(lists).map(([what, names]) => [what, [...new Set(names)].sort()]));
  expect(sorted(listed)).toEqual(sorted(given));
});

describe("the page", () => {
  test("comes out the same every time, and is what stands in the repository", () => {
    expect(renderExtensionsDoc() === page, 'docs/extensions.md is stale: run "npm run generate"').toBe(true);
  });

  test("has a row for every event", () => {
    const rows = new Set([...page.matchAll(/^\| `([\w.]+)` \|/gm)].map((match) => match[1]));
    expect(Object.keys(HOOKS).filter((name) => !rows.has(name))).toEqual([]);
  });

  test("every link leads somewhere", () => {
    const anchorsOf = (text: string): string[] =>
      [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w -]/g, "")
          .replaceAll(" ", "-"),
      );
    const broken = [...page.matchAll(/\]\(([^)]+)\)/g)].filter(([, link = ""]) => {
      const [file = "", anchor] = link.split("#");
      const path = join(repoRoot, "docs", file);
      if (file !== "" && !existsSync(path)) return true;
      return anchor !== undefined && !anchorsOf(file === "" ? page : readFileSync(path, "utf8")).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});
