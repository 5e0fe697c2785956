import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { leavesOutBrowserTests } from "./scripts/browser-here.mjs";
import { LongestFirst } from "./scripts/longest-first.ts";
import { pagePlugin } from "./scripts/page-plugin.mjs";

const { version } = JSON.parse(readFileSync(new URL("packages/coding-agent/package.json", import.meta.url), "utf8"));

/** They keep the whole machine busy for seconds, so they come last and at most two at a time: others would run out of time beside them. */
const HEAVY = ["test/processes/**/*.test.ts", "test/sessions/crash.test.ts", "test/conformance/bad-providers.test.ts"];

/** They take long and go deep into one thing; `npm test` has the short of it elsewhere, `npm run test:long` plays them. */
const LONG =
  process.env.TILLER_ALL === "1"
    ? []
    : [
        "test/extensions/bad-{guards,modes,moments,trust}.test.ts",
        "test/run/dialogs.test.ts",
        "test/sessions/later-damage.test.ts",
        "test/host/{crashing-host,heavy-answers}.test.ts",
        "packages/coding-agent/src/extensions/guards/watchdog.test.ts",
        "packages/coding-agent/src/tools/grep-engines.test.ts",
        "bench/run.test.ts",
        "packages/protocol/test/**",
      ];

/** `npm test` says when they are left out. */
const IN_BROWSER = leavesOutBrowserTests ? ["test/export/{page,attacks}.test.ts"] : [];

export default defineConfig({
  // The build puts the version in; tests that import the sources need it too.
  define: { __TILLER_VERSION__: JSON.stringify(version) },
  plugins: [pagePlugin()],
  test: {
    environment: "node",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // A second is little for what a process does on a machine that is busy with three others.
    expect: { poll: { timeout: 10_000 } },
    // Starting a process takes the longer the larger the one is that starts it: so the workers are processes, not threads.
    pool: "forks",
    // Most tests wait for processes: sharing the module graph and more workers than cores halve the time.
    isolate: false,
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "usual",
          include: ["packages/*/{src,test}/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
          exclude: [...HEAVY, ...LONG, ...IN_BROWSER],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "heavy", include: HEAVY, maxWorkers: 2, sequence: { groupOrder: 1 } } },
    ],
  },
});
