import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ToolResult } from "@tiller/protocol/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BashOperations } from "../session/ports.ts";
import { textOf } from "../tools/test-fixture.ts";
import { createLocalBashOperations } from "./bash-operations.ts";
import { createTestHost, type TestHost } from "./test-host.ts";
import { createExtensionTool, type ExtensionTool, type ToolOptions, toolFactoryNames } from "./tool-factories.ts";

let host: TestHost;
beforeEach(() => {
  host = createTestHost();
});
afterEach(() => host.remove());

const NAMES = ["read", "bash", "edit", "write", "grep", "find", "ls"] as const;

async function run(name: (typeof NAMES)[number], args: object, options?: ToolOptions): Promise<string> {
  const tool = createExtensionTool(host, name, host.root, options);
  return textOf(await tool.execute("call_1", { ...args }));
}

test.each(NAMES)("%s comes in the form in which extensions register tools", (name) => {
  const title = name.charAt(0).toUpperCase() + name.slice(1);
  const names = toolFactoryNames(host) as Record<string, (cwd: string) => ExtensionTool> & Record<string, unknown>;
  for (const factory of [`create${title}Tool`, `create${title}ToolDefinition`]) {
    const tool = names[factory]!("/elsewhere");
    expect(tool).toMatchObject({ name, label: name, parameters: { type: "object" } });
    expect(tool.description).not.toBe("");
  }
  expect((names[`${name}Tool`] as unknown as ExtensionTool).name).toBe(name);
});

test("lists of tools", () => {
  const names = toolFactoryNames(host) as Record<string, () => ExtensionTool[]>;
  expect(names.createCodingTools!().map(({ name }) => name)).toEqual(["read", "bash", "edit", "write"]);
  expect(names.createReadOnlyTools!().map(({ name }) => name)).toEqual(["read", "grep", "find", "ls"]);
});

test("without options they are the built-in tools, in the folder that was given", async () => {
  expect(await run("write", { path: "a.txt", content: "one\n" })).toBe("Successfully wrote 4 bytes to a.txt");
  expect(await run("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] })).toContain(
    "replaced 1 block",
  );
  expect(await run("read", { path: "a.txt" })).toBe("two\n");
  expect(await run("bash", { command: "cat a.txt" })).toBe("two\n");
  expect(await run("ls", {})).toContain("a.txt");
  expect(await run("find", { pattern: "*.txt" })).toBe("a.txt");
  expect(await run("grep", { pattern: "two" })).toContain("a.txt:1: two");
});

test("a hook has the last word on what bash runs, where and with what", async () => {
  const spawnHook: ToolOptions["spawnHook"] = ({ command, cwd, env }) => ({
    command: `${command}; pwd`,
    cwd: join(cwd, "agent"),
    env: { ...env, MARK: "set" },
  });
  expect(await run("bash", { command: "mkdir agent" })).toBe("(no output)");
  const text = await run("bash", { command: "echo $MARK $PREFIXED" }, { spawnHook, commandPrefix: "PREFIXED=yes" });
  expect(text).toBe(`set yes\n${host.root}/agent\n`);
});

test("bash elsewhere: the output comes back, and what was asked goes there", async () => {
  const calls: unknown[] = [];
  const operations: BashOperations = {
    async exec(command, cwd, { onData, timeout, env }) {
      calls.push([command, cwd, timeout, env?.HOME]);
      onData(Buffer.from("from "));
      onData(Buffer.from("afar"));
      return { exitCode: 0 };
    },
  };
  const updates: ToolResult[] = [];
  const tool = createExtensionTool(host, "bash", "/there", { operations });
  const result = await tool.execute("c", { command: "ls", timeout: 5 }, undefined, (partial) => updates.push(partial));
  expect(textOf(result)).toBe("from afar");
  expect(calls).toEqual([["ls", "/there", 5, host.root]]);
  expect(updates.length).toBeGreaterThan(0);
});

test.each([
  ["a code", async () => ({ exitCode: 3 }), "out\n\nCommand exited with code 3"],
  ["an abort", () => Promise.reject(new Error("aborted")), "out\n\nCommand aborted"],
  ["too long a time", () => Promise.reject(new Error("timeout:7")), "out\n\nCommand timed out after 7 seconds"],
  ["a fault", () => Promise.reject(new Error("no route")), "no route"],
])("bash elsewhere that ends with %s", async (_what, end, message) => {
  const operations: BashOperations = {
    exec(_command, _cwd, { onData }) {
      onData(Buffer.from("out\n"));
      return end();
    },
  };
  await expect(run("bash", { command: "x" }, { operations })).rejects.toThrow(new Error(message));
});

test("the local shell as operations", async () => {
  const local = createLocalBashOperations(host);
  const chunks: Buffer[] = [];
  const onData = (data: Buffer) => void chunks.push(data);
  expect(await local.exec("echo one; echo two >&2; exit 4", host.root, { onData })).toEqual({ exitCode: 4 });
  expect(Buffer.concat(chunks).toString()).toBe("one\ntwo\n");
  await expect(local.exec("sleep 30", host.root, { onData, timeout: 0.05 })).rejects.toThrow("timeout:0.05");
  await expect(local.exec("sleep 30", host.root, { onData, signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});

test("files elsewhere are read, written and edited there", async () => {
  const files = new Map<string, string>([["/there/a.txt", "one\r\ntwo\r\n"]]);
  const operations = {
    readFile: async (path: string) => Buffer.from(files.get(path) ?? ""),
    writeFile: async (path: string, content: string) => void files.set(path, content),
    mkdir: async (folder: string) => void files.set(`${folder}/`, ""),
    access: async (path: string) => {
      if (!files.has(path)) throw new Error(`no ${path}`);
    },
  };
  const there = async (name: "read" | "write" | "edit", args: object) =>
    textOf(await createExtensionTool(host, name, "/there", { operations }).execute("c", { ...args }));
  expect(await there("read", { path: "a.txt", offset: 2 })).toBe("two\r\n");
  await expect(there("read", { path: "b.txt" })).rejects.toThrow("no /there/b.txt");
  await there("edit", { path: "a.txt", edits: [{ oldText: "one\ntwo", newText: "1\n2" }] });
  expect(files.get("/there/a.txt")).toBe("1\r\n2\r\n");
  await expect(there("edit", { path: "a.txt", oldText: "1", newText: "1" })).rejects.toThrow("No changes made");
  await expect(there("edit", { path: "a.txt" })).rejects.toThrow("at least one replacement");
  expect(await there("write", { path: "d/c.txt", content: "new" })).toBe("Successfully wrote 3 bytes to d/c.txt");
  expect([files.get("/there/d/c.txt"), files.has("/there/d/")]).toEqual(["new", true]);
  expect(existsSync(join(host.root, "d"))).toBe(false);
});

test("an image elsewhere", async () => {
  const operations = { readFile: async () => Buffer.from([1, 2]), detectImageMimeType: async () => "image/png" };
  const result = await createExtensionTool(host, "read", "/", { operations }).execute("c", { path: "x.png" });
  expect(result.content[1]).toEqual({ type: "image", data: "AQI=", mimeType: "image/png" });
});

test("folders elsewhere", async () => {
  const operations = {
    exists: (path: string) => path.startsWith("/there"),
    stat: (path: string) => ({ isDirectory: () => path === "/there" || path.endsWith("sub") }),
    readdir: () => ["b", "A", "sub"],
    glob: (pattern: string, cwd: string) => [`${cwd}/x/${pattern}`],
  };
  const there = async (name: "ls" | "find", args: object) =>
    textOf(await createExtensionTool(host, name, "/there", { operations }).execute("c", { ...args }));
  expect(await there("ls", {})).toBe("A\nb\nsub/");
  expect(await there("ls", { limit: 1 })).toBe("A\n\n[1 entries limit reached. Use limit=2 for more]");
  await expect(there("ls", { path: "/gone" })).rejects.toThrow("Path not found: /gone");
  await expect(there("ls", { path: "b" })).rejects.toThrow("Not a directory: b");
  expect(await there("find", { pattern: "*.ts" })).toBe("x/*.ts");
});

test("writers of the same file take turns with the built-in tools", async () => {
  const { codingAgentModule } = await import("./coding-agent.ts");
  const module = await codingAgentModule(host)();
  const queue = module.withFileMutationQueue as <T>(path: string, work: () => Promise<T>) => Promise<T>;
  const path = join(host.root, "f.txt");
  const order: string[] = [];
  let finish = (): void => undefined;
  const first = queue("f.txt", async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    order.push(existsSync(path) ? "written" : "not yet");
    writeFileSync(path, "first");
  });
  const second = run("write", { path: "f.txt", content: "second" });
  // Whoever does not wait is done by then.
  for (const path of ["g.txt", "h.txt", "i.txt"]) await run("write", { path, content: "" });
  finish();
  await Promise.all([first, second]);
  expect([order, readFileSync(path, "utf8")]).toEqual([["not yet"], "second"]);
});
