/** A session with a little of everything that a page shows, and the page of any list of entries. */
import {
  BLOCK_ENTRIES,
  indexColumns,
  PAGE_FORMAT,
  type PageEnd,
  type PageStart,
} from "../../packages/coding-agent/src/export/html/format.ts";
import { blockText, closePage, openPage } from "../../packages/coding-agent/src/export/html/shell.ts";

export type Entry = Record<string, unknown> & { id: string };

const START = Date.parse("2026-01-05T09:00:00.000Z");

/** Entries that follow each other; `parent` of the next one can be set to begin a branch. */
export class Conversation {
  readonly entries: Entry[] = [];
  parent: string | null = null;

  add(fields: Record<string, unknown>, id = `e${String(this.entries.length).padStart(7, "0")}`): string {
    const timestamp = new Date(START + this.entries.length * 7_300).toISOString();
    this.entries.push({ id, parentId: this.parent, timestamp, ...fields });
    this.parent = id;
    return id;
  }

  message(message: Record<string, unknown>, id?: string): string {
    return this.add({ type: "message", message }, id);
  }

  user(text: string, id?: string): string {
    return this.message({ role: "user", content: [{ type: "text", text }] }, id);
  }

  assistant(content: unknown[], more: Record<string, unknown> = {}): string {
    const input = 900 + this.entries.length * 40;
    const usage = {
      input,
      output: 120,
      cacheRead: input * 8,
      cacheWrite: 300,
      totalTokens: 0,
      cost: { total: input / 90_000 },
    };
    return this.message({
      role: "assistant",
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      content,
      usage,
      stopReason: "stop",
      ...more,
    });
  }

  tool(name: string, input: unknown, result: string, more: Record<string, unknown> = {}, said = ""): string {
    const id = `call-${this.entries.length}`;
    const texts = said === "" ? [] : [{ type: "text", text: said }];
    this.assistant([...texts, { type: "toolCall", id, name, arguments: input }], { stopReason: "toolUse" });
    return this.message({
      role: "toolResult",
      toolCallId: id,
      toolName: name,
      content: [{ type: "text", text: result }],
      isError: false,
      ...more,
    });
  }
}

const RED_PIXELS =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGO4oyKGFTEMLQkAYjFKAQq8cwIAAAAASUVORK5CYII=";

const ANSWER = `Here is what I found.

## The cause

The parser drops the **last line** when the file does not end with a newline. \`splitLines\` looks for \`"\\n"\` and *forgets* what follows:

\`\`\`ts
export function splitLines(text: string): string[] {
  const lines: string[] = []; // one for each newline
  for (let at = 0, next = 0; (next = text.indexOf("\\n", at)) >= 0; at = next + 1) {
    lines.push(text.slice(at, next));
  }
  return lines;
}
\`\`\`

| file | lines | lost |
|---|--:|:-:|
| \`a.txt\` | 12 | no |
| \`b.txt\` | 1,204 | **yes** |

1. Keep the rest after the loop.
2. Add a test:
   - [x] without a newline
   - [ ] empty file

> See also [the standard](https://example.org/posix) and https://example.org/lines.
`;

const DIFF = ` 10   for (;;) {
 11     lines.push(text.slice(at, next));
 12   }
-13   return lines;
+13   if (at < text.length) lines.push(text.slice(at));
+14   return lines;
 14 }
    ...`;

export function sampleSession(): Conversation {
  const talk = new Conversation();
  talk.add({
    type: "model_change",
    provider: "anthropic",
    modelId: "claude-sonnet-4-5",
    model: "anthropic/claude-sonnet-4-5",
  });
  talk.add({ type: "thinking_level_change", thinkingLevel: "high" });
  const first = talk.message(
    {
      role: "user",
      content: [
        {
          type: "text",
          text: "The last line of a file is lost when it has no newline at its end.\n\nPlease find out **why**, and repair it. The screenshot shows it.",
        },
        { type: "image", data: RED_PIXELS, mimeType: "image/png" },
      ],
    },
    "first000",
  );
  talk.tool(
    "bash",
    { command: "npm test -- lines", timeout: 60 },
    '\u001b[1m\u001b[31m✗\u001b[0m keeps the last line\n  expected \u001b[32m["a", "b"]\u001b[39m, got \u001b[31m["a"]\u001b[39m\n\u001b[2m1 failed, 11 passed\u001b[0m',
    { isError: true },
    "I run the tests first.",
  );
  talk.assistant([
    {
      type: "thinking",
      thinking: "The test says that the last line is missing. I should look at `splitLines` before anything else.",
    },
    { type: "toolCall", id: "call-a", name: "read", arguments: { path: "src/lines.ts" } },
    { type: "toolCall", id: "call-b", name: "grep", arguments: { pattern: "splitLines", path: "src" } },
  ]);
  talk.message({
    role: "toolResult",
    toolCallId: "call-a",
    toolName: "read",
    content: [
      {
        type: "text",
        text: 'export function splitLines(text: string): string[] {\n  return text.split("\\n").slice(0, -1);\n}',
      },
    ],
    isError: false,
  });
  talk.message(
    {
      role: "toolResult",
      toolCallId: "call-b",
      toolName: "grep",
      content: [{ type: "text", text: "src/lines.ts:1: export function splitLines\nsrc/main.ts:4: splitLines(text)" }],
      isError: false,
    },
    "grepped0",
  );
  talk.assistant([{ type: "text", text: ANSWER }]);
  talk.add({
    type: "custom",
    customType: "tiller.todos",
    data: {
      phases: [
        {
          id: "p",
          name: "Repair",
          tasks: [
            { id: "1", content: "Find the cause", status: "completed" },
            { id: "2", content: "Repair splitLines", status: "in_progress" },
            { id: "3", content: "Add a test", status: "pending" },
          ],
        },
      ],
    },
  });
  const fork = talk.parent;
  talk.user("Try it with a regular expression.", "regexp00");
  talk.assistant([{ type: "text", text: "That does not work: it is slow on long files." }]);
  talk.parent = fork;
  talk.add({
    type: "branch_summary",
    fromId: fork,
    summary: "Tried a **regular expression**; it was too slow on long files.",
  });
  talk.user("Repair it as you said.", "repair00");
  const before = talk.parent;
  talk.assistant([], { stopReason: "error", errorMessage: "529 overloaded_error: Overloaded" });
  talk.parent = before;
  talk.tool(
    "edit",
    {
      path: "src/lines.ts",
      edits: [
        { oldText: "  return lines;", newText: "  if (at < text.length) lines.push(text.slice(at));\n  return lines;" },
      ],
    },
    "Successfully replaced 1 block in src/lines.ts.",
    { details: { diff: DIFF, firstChangedLine: 13 } },
  );
  talk.tool(
    "write",
    {
      path: "test/lines.test.ts",
      content: 'test("keeps the last line", () => {\n  expect(splitLines("a\\nb")).toEqual(["a", "b"]);\n});\n',
    },
    "Successfully wrote 91 bytes to test/lines.test.ts",
  );
  talk.add({
    type: "custom",
    customType: "coverage",
    data: {
      view: {
        title: "Coverage",
        badge: { text: "97 %", tone: "good" },
        blocks: [
          {
            type: "fields",
            fields: [
              ["Lines", "412 of 425"],
              ["Branches", "88 %"],
            ],
          },
          { type: "table", columns: ["File", "Missing"], rows: [["src/main.ts", "14-20"]] },
        ],
      },
    },
  });
  talk.add({ type: "custom", customType: "bookmark", data: { line: 12 } });
  talk.message({
    role: "bashExecution",
    command: "git status --short",
    output: " M src/lines.ts\n?? test/lines.test.ts\n",
    exitCode: 0,
    cancelled: false,
    truncated: false,
  });
  talk.assistant([
    { type: "text", text: "Both tests pass now: the rest after the last newline is a line of its own." },
  ]);
  talk.add({
    type: "compaction",
    summary: "## Goal\nKeep the last line.\n\n## Done\n- `splitLines` repaired\n- test added",
    firstKeptEntryId: first,
    tokensBefore: 151_000,
  });
  talk.add({ type: "label", targetId: "repair00", label: "the repair" });
  talk.add({ type: "weather_report", place: "somewhere", celsius: 7 });
  talk.user("Thank you. Anything else?", "thanks00");
  talk.assistant([{ type: "text", text: "No, that was all. Have a look at `src/lines.ts`." }]);
  return talk;
}

export const SYSTEM_PROMPT = "You are a coding agent. You work in /home/me/app.\n\nBe brief.";

export function startOf(more: Partial<PageStart> = {}): PageStart {
  return {
    format: PAGE_FORMAT,
    sessionId: "019b7618-5f00-7000-8000-000000000001",
    cwd: "~/projects/lines",
    name: "Keep the last line of a file",
    started: new Date(START).toISOString(),
    version: "0.1.0",
    exported: "2026-01-05T12:00:00.000Z",
    redacted: true,
    ...more,
  };
}

export function endOf(entries: readonly Entry[], more: Partial<PageEnd> = {}): PageEnd {
  return {
    entries: entries.length,
    leafId: entries.at(-1)?.id ?? null,
    name: "Keep the last line of a file",
    models: ["anthropic/claude-sonnet-4-5"],
    started: new Date(START).toISOString(),
    durationMs: 1_234_000,
    tokens: { input: 12_400, output: 2_310, cacheRead: 96_000, cacheWrite: 3_000, total: 113_710 },
    cost: 0.184,
    labels: [["repair00", "the repair"]],
    systemPrompt: SYSTEM_PROMPT,
    tools: [
      {
        name: "bash",
        description: "Runs a command.",
        parameters: { type: "object", properties: { command: { type: "string" } } },
      },
    ],
    ...more,
  };
}

export function pageOf(entries: readonly Entry[], start = startOf(), end = endOf(entries)): string {
  const parts = [openPage(start)];
  for (let at = 0; at < entries.length; at += BLOCK_ENTRIES) {
    const block = entries.slice(at, at + BLOCK_ENTRIES);
    parts.push(
      blockText(
        indexColumns(block, entries[at - 1]?.id),
        block.map((entry) => JSON.stringify(entry)),
      ),
    );
  }
  return parts.join("") + closePage(end);
}
