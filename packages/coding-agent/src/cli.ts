#!/usr/bin/env node
import { join } from "node:path";
import { loadWithCodeCache } from "./lib/code-cache.ts";

declare const __TILLER_BUILD__: string;

// The bundle is CommonJS, so its folder has a name and `require` is there; the program itself is app.ts.
loadWithCodeCache({
  entry: join(__dirname, "app.js"),
  folder: join(__dirname, "code-cache"),
  build: __TILLER_BUILD__,
  require,
});
