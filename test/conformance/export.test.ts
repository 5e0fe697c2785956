import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPage } from "../support/exported-page.ts";
import type { Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";
import { fileOf, STORY, sessionText } from "./session-files.ts";

/** The session as a page: export_html (decision 83). */

const start = useRpc();
const KEY = "sk-fantasy-0123456789abcdef";

const exported = (rpc: RpcProcess, fields: object = {}): Promise<Frame> => rpc.call({ type: "export_html", ...fields });
const inCwd = (rpc: RpcProcess, name: string): string => join(rpc.sandbox.cwd, name);

describe.each([
  ["union", "tiller"],
  ["pi", "pi"],
  ["omp", "omp"],
  ["xcsh", "xcsh"],
])("export_html in %s", (dialect, app) => {
  proves(
    ["pi.export.command", "pi.export.path"],
    "writes the page into the working folder, or where it is told to",
    async () => {
      const rpc = start({ script: [`text "The key is ${KEY}."`], args: ["--dialect", dialect] });
      expect(await exported(rpc, { id: "early" })).toEqual({
        ...{ id: "early", type: "response", command: "export_html", success: false },
        error: "Nothing to export yet - start a conversation first",
      });
      await rpc.call({ type: "prompt", message: "hello" });
      await rpc.waitFor("agent_settled");
      const name = `${app}-session-${basename(await fileOf(rpc), ".jsonl")}.html`;
      expect(await exported(rpc)).toMatchObject({ success: true, data: { path: name } });
      const { end, entries, html } = readPage(inCwd(rpc, name));
      expect(entries.map(({ type }) => type).slice(-2)).toEqual(["message", "message"]);
      expect(end.systemPrompt).toContain("tool");
      expect(end.tools?.map((tool) => tool.name)).toContain("bash");
      expect(html).not.toContain(KEY);
      const outputPath = inCwd(rpc, "page.html");
      expect(await exported(rpc, { outputPath })).toMatchObject({ success: true, data: { path: outputPath } });
      expect(readPage(outputPath).end.leafId).toBe(end.leafId);
      expect(statSync(outputPath).mode & 0o777).toBe(0o600);
    },
  );
});

describe("export_html", () => {
  it("shows a session without a file, one that was opened, and the place that it was left at", async () => {
    const rpc = start({ script: ['text "one"', 'text "two"'], args: ["--no-session"] });
    await rpc.prompt("hello");
    const { data } = await exported(rpc, { outputPath: "" });
    const path = String((data as { path: string }).path);
    expect(path).toMatch(/^tiller-session-\d{4}-\d\d-\d\dT[\d-]+Z_.*\.html$/);
    expect(path).toContain(String((await stateOf(rpc)).sessionId));
    expect(readPage(inCwd(rpc, path)).end.entries).toBe(4);

    const session = inCwd(rpc, "story.jsonl");
    writeFileSync(session, sessionText(rpc.sandbox.cwd, STORY));
    await rpc.call({ type: "switch_session", sessionPath: session });
    const [first] = readPage(inCwd(rpc, path)).entries;
    await exported(rpc, { outputPath: "story.html" });
    const story = readPage(inCwd(rpc, "story.html"));
    expect(story.entries.length).toBeGreaterThanOrEqual(STORY.length);
    expect(story.entries).not.toContainEqual(first);
    await rpc.call({ type: "navigate_tree", entryId: STORY[1]!.id });
    await exported(rpc, { outputPath: "moved.html" });
    const moved = readPage(inCwd(rpc, "moved.html"));
    expect(moved.tree.find(([id]) => id === moved.end.leafId)?.[1]).toBe(STORY[1]!.id);
  });

  it("says why it cannot write, and leaves nothing behind", async () => {
    const rpc = start({ script: ['text "one"'] });
    await rpc.prompt("hello");
    const before = readdirSync(rpc.sandbox.cwd);
    mkdirSync(inCwd(rpc, "folder"));
    const refusals: [outputPath: string, says: RegExp][] = [
      ["folder", /^Cannot export to \S+folder: it is a folder; name a file in it$/],
      ["none/page.html", /^Cannot export to \S+: the folder \S+none does not exist$/],
      [await fileOf(rpc), /it is a session file, which the page would replace$/],
    ];
    for (const [outputPath, says] of refusals) {
      const { success, error } = await exported(rpc, { outputPath });
      expect({ success, error }).toEqual({ success: false, error: expect.stringMatching(says) });
    }
    expect(readdirSync(rpc.sandbox.cwd).sort()).toEqual([...before, "folder"].sort());
    expect(existsSync(inCwd(rpc, "none"))).toBe(false);
  });

  it("while a run goes on shows what there is so far", async () => {
    const rpc = start({ script: ['toolCall bash {"command":"read line < wait; echo $line"}', 'text "over"'] });
    await rpc.call({ type: "bash", command: "mkfifo wait" });
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor("tool_execution_start");
    expect(await exported(rpc, { outputPath: "now.html" })).toMatchObject({ success: true });
    const { entries } = readPage(inCwd(rpc, "now.html"));
    expect(entries.at(-1)).toMatchObject({ message: { role: "assistant", stopReason: "toolUse" } });
    writeFileSync(inCwd(rpc, "wait"), "done\n");
    await rpc.waitFor("session_settled");
  });
});
