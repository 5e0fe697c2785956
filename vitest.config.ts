import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const { version } = JSON.parse(readFileSync(new URL("packages/coding-agent/package.json", import.meta.url), "utf8"));

export default defineConfig({
  // The build puts the version in; tests that import the sources need it too.
  define: { __TILLER_VERSION__: JSON.stringify(version) },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    environment: "node",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: "threads",
    // Most tests wait for processes: sharing the module graph and a third worker halve the time on two cores.
    isolate: false,
    maxWorkers: 3,
  },
});
