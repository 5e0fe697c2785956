import { expect, it } from "vitest";
import { agentArgv } from "./agent-command.ts";

const node = process.execPath;
const cases: [name: string, options: Parameters<typeof agentArgv>[0], session: string | undefined, argv: string[]][] = [
  ["a program of Node", { cliPath: "/x/cli.js" }, undefined, [node, "/x/cli.js", "--mode", "rpc"]],
  ["any other program", { cliPath: "/bin/pi" }, undefined, ["/bin/pi", "--mode", "rpc"]],
  ["a command", { command: "pi", model: "m" }, undefined, ["pi", "--mode", "rpc", "--model", "m"]],
  [
    "a command of several words",
    { command: ["npx", "omp"], args: ["-x"] },
    undefined,
    ["npx", "omp", "--mode", "rpc", "-x"],
  ],
  [
    "all the options",
    { command: (args) => ["sh", ...args], provider: "p", model: "m", sessionDir: "/s", args: ["--no-title"] },
    undefined,
    ["sh", "--mode", "rpc", "--provider", "p", "--model", "m", "--session-dir", "/s", "--no-title"],
  ],
  [
    "a session to go on with, instead of the one that was chosen",
    { command: "pi", args: ["-c", "--session", "old", "--session=old", "--verbose"] },
    "/s/new",
    ["pi", "--mode", "rpc", "--verbose", "--session", "/s/new"],
  ],
];
it.each(cases)("%s", (_, options, session, argv) => {
  expect(agentArgv(options, session)).toEqual(argv);
});
