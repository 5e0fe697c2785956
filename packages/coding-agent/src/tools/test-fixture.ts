import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Clock } from "@tiller/protocol/clock";
import type { ToolResult } from "@tiller/protocol/tool";
import { systemClock } from "../lib/clock.ts";
import { createTools } from "./create-tools.ts";

/** For tests: a folder with files, and the real tools working in it. */
export interface ToolFixture {
  root: string;
  write(path: string, content: string | Uint8Array): string;
  read(path: string): string;
  call(tool: string, args: object, signal?: AbortSignal): Promise<ToolResult>;
  /** The text of the result. */
  text(tool: string, args: object, signal?: AbortSignal): Promise<string>;
  updates: ToolResult[];
  remove(): void;
}

export interface FixtureOptions {
  clock?: Clock;
  env?: Record<string, string | undefined>;
}

export function createToolFixture(files: Record<string, string> = {}, options: FixtureOptions = {}): ToolFixture {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-tools-")));
  const updates: ToolResult[] = [];
  const fixture: ToolFixture = {
    root,
    updates,
    write(path, content) {
      const whole = join(root, path);
      mkdirSync(dirname(whole), { recursive: true });
      writeFileSync(whole, content);
      return whole;
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    async call(name, args, signal = new AbortController().signal) {
      const env = options.env ?? { PATH: "/usr/bin:/bin", HOME: root };
      const tools = createTools({
        cwd: root,
        env,
        clock: options.clock ?? systemClock,
        sessionId: () => "session-of-the-test",
        names: [name],
      });
      const onUpdate = (partial: ToolResult) => updates.push(partial);
      return tools[0]!.execute({ toolCallId: "call_1", args: { ...args }, signal, onUpdate });
    },
    async text(tool, args, signal) {
      return textOf(await fixture.call(tool, args, signal));
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
  for (const [path, content] of Object.entries(files)) fixture.write(path, content);
  return fixture;
}

export function textOf(result: ToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.mimeType}>`)).join("\n");
}
