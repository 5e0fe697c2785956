import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mutation } from "../../test/support/mutate.ts";

/** `killed`: a test noticed. `survived`: none did. `unseen`: no frame had the field, so nothing was damaged. */
export type Outcome = "killed" | "survived" | "unseen";

const VITEST = "node_modules/vitest/vitest.mjs";
/** The tests that look at frames of a real process; those of the requirement tables see none. */
const ARGUMENTS = [
  "run",
  "test/conformance",
  "test/transcripts.test.ts",
  "--exclude=test/conformance/{citations,coverage,layout,mutation-plan,tables}.test.ts",
  "--bail=1",
  "--maxWorkers=1",
  "--reporter=dot",
];
const RUN_LIMIT_MS = 180_000;

/** Whether the proving tests are green without any damage; a mutation run means nothing otherwise. */
export async function testsAreGreen(): Promise<boolean> {
  return (await runVitest({})) === 0;
}

export async function tryMutation(mutation: Mutation): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "tiller-mutation-"));
  const hit = join(folder, "hit");
  try {
    // A test that waits for a frame which lost its id would wait for ever: shorter than usual, the answer is the same.
    const code = await runVitest({ TILLER_MUTATE: JSON.stringify(mutation), TILLER_MUTATE_HIT: hit }, [
      "--testTimeout=8000",
    ]);
    if (code !== 0) return "killed";
    return existsSync(hit) ? "survived" : "unseen";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The exit code, or -1 when the run was ended because it took too long. */
function runVitest(env: Record<string, string>, extra: string[] = []): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [VITEST, ...ARGUMENTS, ...extra], {
      env: { ...process.env, ...env },
      stdio: "ignore",
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), RUN_LIMIT_MS);
    child.once("error", reject);
    child.once("exit", (code) => {
      clearTimeout(limit);
      resolve(code ?? -1);
    });
  });
}
