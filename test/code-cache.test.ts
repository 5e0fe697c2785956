import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cliPath, useRpc } from "./support/rpc-process.ts";

/** The program compiles its own code once and keeps it beside itself; nobody may ever notice more than the speed. */
describe("the code cache", () => {
  const start = useRpc();
  const root = mkdtempSync(join(tmpdir(), "tiller-cache-"));
  let dist = "";
  let count = 0;

  beforeEach(() => {
    dist = join(root, `dist-${count++}`);
    cpSync(dirname(cliPath()), dist, {
      recursive: true,
      preserveTimestamps: true,
      filter: (source) => !source.includes("code-cache"),
    });
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const cacheFiles = (): string[] =>
    readdirSync(dist).includes("code-cache")
      ? readdirSync(join(dist, "code-cache"), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      : [];

  /** One prompt from start to end of a process; gives the text that was answered. */
  const answerOnce = async (): Promise<string> => {
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], script: ['text "Hello from the script"'] });
    rpc.send({ type: "prompt", message: "hi" });
    const end = await rpc.waitFor("agent_end");
    await rpc.dispose();
    return JSON.stringify(end.messages);
  };

  test("is made by the first process that has answered a prompt, and used by the next", async () => {
    const idle = start({ cli: join(dist, "cli.js"), args: ["--no-session"] });
    await idle.call({ type: "get_state" });
    await idle.dispose();
    expect(cacheFiles()).toEqual([]);

    expect(await answerOnce()).toContain("Hello from the script");
    const made = cacheFiles().map((file) => file.slice(file.lastIndexOf("/") + 1).replace(/-.*/, ""));
    expect(made).toEqual(expect.arrayContaining(["app.js", "run"]));
    expect(await answerOnce()).toContain("Hello from the script");
    expect(cacheFiles()).toHaveLength(made.length);
  });

  test("is not believed when it is damaged", async () => {
    await answerOnce();
    for (const file of cacheFiles()) writeFileSync(file, readFileSync(file).subarray(0, 1000).reverse());
    expect(await answerOnce()).toContain("Hello from the script");
  });

  test("belongs to one state of the program: a changed file is compiled anew", async () => {
    await answerOnce();
    const app = join(dist, "app.js");
    const text = readFileSync(app, "utf8");
    // The same length: the engine by itself would take the old code.
    writeFileSync(app, text.replaceAll("No model is configured,", "NO MODEL IS CONFIGURED,"));
    const rpc = start({ cli: join(dist, "cli.js"), args: ["--no-session"], check: { schema: false, grammar: false } });
    await rpc.waitFor((frame) => String(frame.message).startsWith("NO MODEL"));
    await rpc.dispose();
  });

  test("is left out where the program's folder cannot be written", async () => {
    // A file in the way stops everybody, also those who may write anywhere.
    writeFileSync(join(dist, "code-cache"), "in the way");
    expect(await answerOnce()).toContain("Hello from the script");
  });
});
