import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "oxc-transform";
import { expect, test } from "vitest";
import { argumentsFor } from "../packages/coding-agent/src/library/options.ts";
import { proves } from "./conformance/proofs.ts";
import { createSandbox } from "./support/sandbox.ts";
import { repoRoot } from "./support/source-tree.ts";

/** What docs/library.md says is tried out with what the package exports. */

const page = readFileSync(join(repoRoot, "docs/library.md"), "utf8");
const example = readFileSync(join(repoRoot, "docs/examples/library.ts"), "utf8");

proves("pi.overview.library", "the page shows the example, which runs in a process that then ends by itself", () => {
  expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
  const sandbox = createSandbox();
  try {
    mkdirSync(join(sandbox.cwd, "node_modules"));
    symlinkSync(join(repoRoot, "packages/coding-agent"), join(sandbox.cwd, "node_modules/tiller"));
    const program = [
      transformSync("library.ts", example).code,
      'import * as parts from "tiller/protocol"; import * as ai from "tiller/ai"; import * as agent from "tiller/agent";',
      "console.error(typeof parts.COMMAND_TABLE, typeof ai.streamAssistant, typeof agent.createAgent);",
      // Nothing of the process was touched.
      'console.log(["SIGINT", "SIGTERM", "SIGHUP", "uncaughtException"].map((name) => process.listenerCount(name)).join());',
    ];
    writeFileSync(join(sandbox.cwd, "library.mjs"), program.join("\n"));
    const options = { cwd: sandbox.cwd, env: sandbox.env, encoding: "utf8", timeout: 15_000 } as const;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["library.mjs", "run echo out of here"], options);
    expect(stdout).toMatch(/ran and said:\s+```\s+out of here\s+```\s*0,0,0,0\n$/);
    expect(stderr).toMatch(/offline model.*\n\[bash\]\n.*completed: 4 messages\nobject function function\n$/s);
    expect(status).toBe(0);
  } finally {
    sandbox.remove();
  }
});

test("the page names every option", () => {
  const refused = argumentsFor({ nonsense: 1 } as object);
  const names = /it has: (.*)$/.exec("error" in refused ? refused.error : "")![1]!.split(", ");
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
