#!/usr/bin/env node
import { join } from "node:path";
import { loadWithCodeCache } from "./lib/code-cache.ts";

// The bundle is CommonJS, so its folder has a name; the program itself is app.ts.
loadWithCodeCache(join(__dirname, "app.js"), join(__dirname, "code-cache"));
