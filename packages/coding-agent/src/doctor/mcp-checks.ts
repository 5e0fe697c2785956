import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { mcpFiles } from "../config/mcp-files.ts";
import type { Env } from "../config/paths.ts";
import { searchPath } from "../lib/search-path.ts";
import { readMcpFiles } from "../session-mcp.ts";
import type { SetUp } from "../set-up.ts";
import type { Check } from "./check.ts";

/** The MCP servers that the files name. None is started for this. */
export function mcpChecks({ agentDir, cwd, run }: SetUp, env: Env): Check[] {
  const area = "mcp" as const;
  const isTrusted = run.projectTrust === "code";
  const all = mcpFiles({ agentDir, cwd, projectTrust: run.projectTrust });
  const [read, left] = [
    all.filter(({ scope }) => scope === "user" || isTrusted),
    all.filter(({ scope }) => scope === "project" && !isTrusted),
  ];
  const { servers, problems } = readMcpFiles(read, { cwd, env });
  return [
    ...problems.map((text): Check => ({ area, subject: "mcp.json", level: "problem", text })),
    ...servers.map(({ name, isDisabled, reach }): Check => {
      if (isDisabled) return { area, subject: name, level: "info", text: "disabled" };
      if ("url" in reach) return { area, subject: name, level: "ok", text: `over HTTP, at ${new URL(reach.url).host}` };
      const { command } = reach;
      if (isFound(command, reach.cwd, env))
        return { area, subject: name, level: "ok", text: `${command}, started when it is needed` };
      return {
        area,
        subject: name,
        level: "problem",
        text: `there is no program ${command}`,
        advice: "install it, or name its path",
      };
    }),
    ...left.map(
      ({ path }): Check => ({
        area,
        subject: path,
        level: "info",
        text: "not read: nobody has said that this project is trusted (--approve)",
      }),
    ),
  ];
}

function isFound(command: string, cwd: string, env: Env): boolean {
  // Windows looks for more than the name.
  if (process.platform === "win32") return true;
  if (command.includes("/")) return existsSync(resolve(cwd, command));
  return searchPath(env.PATH).some((folder) => existsSync(join(folder, command)));
}
