import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readModelsFiles } from "./models-file.ts";

let agentDir: string;
beforeEach(() => {
  agentDir = mkdtempSync(join(tmpdir(), "tiller-models-"));
});
afterEach(() => {
  rmSync(agentDir, { recursive: true, force: true });
});

/** Mine alone, as it should be. */
function write(name: string, text: string): string {
  const path = join(agentDir, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

describe("the files about models", () => {
  it("may be missing, and so may the folder", async () => {
    expect(await readModelsFiles(agentDir)).toEqual({ problems: [] });
    expect(await readModelsFiles(join(agentDir, "nowhere"))).toEqual({ problems: [] });
    expect(await readModelsFiles(join(write("file", ""), "below"))).toEqual({ problems: [] });
  });

  it("are read as they stand", async () => {
    const models = write("models.json", '{ "providers": { "x": { "baseUrl": "http://localhost/", }, }, } // mine');
    const auth = write("auth.json", '{"anthropic":{"type":"api_key","key":"k"}}');
    expect(await readModelsFiles(agentDir)).toMatchObject({
      models: { name: models, value: { providers: { x: { baseUrl: "http://localhost/" } } } },
      auth: { name: auth, value: { anthropic: { type: "api_key", key: "k" } } },
      problems: [],
    });
  });

  it("are told apart when one is broken, without giving a key away", async () => {
    const auth = write("auth.json", '{"x": {"key": "sk-secret"\n "type": "api_key"}}');
    write("models.json", '{"providers":{}}');
    const files = await readModelsFiles(agentDir);
    expect(files.models?.value).toEqual({ providers: {} });
    expect(files.auth).toBeUndefined();
    expect(files.problems).toEqual([`${auth}:2:2: expected "," or "}"; the file is ignored until it is valid JSON`]);
  });

  it("are not read from what is no file", async () => {
    const path = join(agentDir, "models.json");
    mkdirSync(path);
    expect((await readModelsFiles(agentDir)).problems).toEqual([`${path}: not a regular file, so it is not read`]);
  });

  it.each([0o644, 0o640, 0o604])("should be nobody else's to read (mode %o)", async (mode) => {
    const path = write("auth.json", "{}");
    chmodSync(path, mode);
    expect((await readModelsFiles(agentDir)).problems).toEqual([
      `${path}: other users of this machine may read it (mode 0${mode.toString(8)}); to keep your keys to yourself: chmod 600 ${path}`,
    ]);
  });
});

const YAML = `# my server
providers:
  mine: &server
    baseUrl: http://127.0.0.1:9
    auth: none
    models:
      - id: m1
        contextWindow: 1000
      - { id: m2, input: [text, image] }
  other:
    <<: *server
`;

describe("models.yml", () => {
  it.each(["models.yml", "models.yaml"])("is read like models.json (%s)", async (name) => {
    const path = write(name, YAML);
    const { models, problems } = await readModelsFiles(agentDir);
    expect(problems).toEqual([]);
    expect(models).toMatchObject({
      name: path,
      value: {
        providers: {
          mine: {
            baseUrl: "http://127.0.0.1:9",
            auth: "none",
            models: [
              { id: "m1", contextWindow: 1000 },
              { id: "m2", input: ["text", "image"] },
            ],
          },
          other: { auth: "none" },
        },
      },
    });
  });

  it("gives way to models.json, and says so", async () => {
    const json = write("models.json", "{}");
    const yaml = write("models.yml", YAML);
    const { models, problems } = await readModelsFiles(agentDir);
    expect(models?.name).toBe(json);
    expect(problems).toEqual([`${yaml}: not read, because there is ${json}; keep one of them`]);
  });

  const places: [path: (string | number)[], line: number, column: number][] = [
    [["providers"], 2, 1],
    [["providers", "mine"], 3, 3],
    [["providers", "mine", "models", 0], 7, 9],
    [["providers", "mine", "models", 0, "contextWindow"], 8, 9],
    [["providers", "mine", "models", 1, "input"], 9, 19],
    [["providers", "mine", "models", 1, "input", 1], 9, 33],
    [["providers", "mine", "models", 0, "api"], 7, 9],
    [["providers", "gone"], 2, 1],
  ];
  it.each(places)("knows where %j stands: %i:%i", async (path, line, column) => {
    write("models.yml", YAML);
    const { models } = await readModelsFiles(agentDir);
    expect(models?.locate?.(path)).toEqual({ line, column });
  });

  it.each([
    ["a tab", "providers:\n\tsk-secret: 1", 2],
    ["a missing bracket", "providers: [sk-secret", 1],
    ["a key twice", "a: sk-secret\na: 2", 2],
    ["an alias nobody has", "a: *nobody", 1],
    ["a text", "sk-secret", 1],
    ["a list", "- sk-secret", 1],
  ])("with %s is told by its place, without repeating what it says", async (_what, text, line) => {
    const path = write("models.yml", text);
    const { models, problems } = await readModelsFiles(agentDir);
    expect(models).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(/: .*; the file is ignored/)]);
    expect(problems[0]).toContain(`${path}:${line}:`);
    expect(problems[0]).not.toContain("secret");
  });

  it.each(["", "# nothing yet\n"])("may be empty (%j)", async (text) => {
    write("models.yml", text);
    expect(await readModelsFiles(agentDir)).toEqual({ problems: [] });
  });
});
