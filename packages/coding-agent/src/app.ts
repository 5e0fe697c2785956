import "./lib/guard-stdout.ts";
import { main } from "./main.ts";
import { printToStdout } from "./modes/rpc/frame-writer.ts";

const [, programName = "tiller", ...argv] = process.argv;
void main({ argv, programName, env: process.env, cwd: process.cwd(), print: printToStdout }).then(process.exit);
