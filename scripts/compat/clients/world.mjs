// A place for one agent that somebody else's client starts: a home, a configuration with models that are never asked, a
// script for the one that is, and links to the program under the names of its family.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const cost = { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 };
const model = { reasoning: true, input: ["text", "image"], contextWindow: 200_000, maxTokens: 8000, cost };
const models = ["mock-1", "mock-2"].map((id) => ({ ...model, id, name: id }));
const MODELS = {
  providers: { mock: { baseUrl: "http://127.0.0.1:9", api: "anthropic-messages", apiKey: "none", models } },
};

/** One answer a call; the last one is given for every further call, also to whoever asks for a summary. */
export function createWorld(parent, cli, turns) {
  const folder = mkdtempSync(join(parent, "world-"));
  const agentDir = join(folder, ".pi/agent");
  const cwd = join(folder, "app");
  const bin = join(folder, "bin");
  for (const path of [agentDir, cwd, bin, join(agentDir, "prompts")]) mkdirSync(path, { recursive: true });
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify({ onEnd: "repeat-last", turns }));
  writeFileSync(join(agentDir, "models.json"), JSON.stringify(MODELS));
  writeFileSync(join(agentDir, "prompts/greet.md"), "---\ndescription: Greets\n---\nGreet $1 kindly\n");
  const settings = { quietStartup: true, compaction: { keepRecentTokens: 20 }, retry: { baseDelayMs: 20_000 } };
  writeFileSync(join(agentDir, "settings.json"), JSON.stringify(settings));
  writeFileSync(join(cwd, "notes.txt"), "first line\nsecond line\n");
  for (const name of ["pi", "omp"]) symlinkSync(cli, join(bin, name));
  // Programs that start `pi` from the PATH give it no script of ours.
  const scripted = join(folder, "scripted-bin");
  mkdirSync(scripted);
  const shell = `#!/bin/sh\nexec "${process.execPath}" "${join(bin, "pi")}" --script "${script}" "$@"\n`;
  writeFileSync(join(scripted, "pi"), shell);
  chmodSync(join(scripted, "pi"), 0o755);
  const env = { HOME: folder, PI_CODING_AGENT_DIR: agentDir, TMPDIR: folder, NODE_EXTRA_CA_CERTS: "" };
  return {
    folder,
    cwd,
    agentDir,
    script,
    env,
    /** For programs that look for `pi` themselves. */
    pathEnv: { ...env, PATH: `${scripted}:${process.env.PATH}` },
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

export function check(truth, sentence) {
  if (!truth) throw new Error(sentence);
}

/** `equal(actual, expected, what)`, by their JSON. */
export function equal(actual, expected, what) {
  const [is, wanted] = [actual, expected].map((value) => JSON.stringify(value));
  check(is === wanted, `${what} is ${is?.slice(0, 300)}, not ${wanted}`);
}
