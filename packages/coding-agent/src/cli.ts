#!/usr/bin/env node
import "./lib/guard-stdout.ts";
import { main } from "./main.ts";
import { printToStdout } from "./modes/rpc/frame-writer.ts";

const [, programName = "tiller", ...argv] = process.argv;
process.exit(await main({ argv, programName, env: process.env, cwd: process.cwd(), print: printToStdout }));
