import { existsSync } from "node:fs";

/** Where the browser is that opens exported pages in tests. */
export const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Whoever has cloned the project need not install one to see the rest of the tests; CI has to have it. */
export const leavesOutBrowserTests = process.env.CI !== "true" && !existsSync(BROWSER);
