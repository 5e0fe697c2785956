import { below } from "../lib/below.ts";
import { fileExists } from "./json-file.ts";
import { PROJECT_FOLDERS } from "./paths.ts";

/** A file that names MCP servers. */
export interface McpFile {
  path: string;
  scope: "user" | "project";
}

const NAME = "mcp.json";

/** Those that are there, weakest first: of two servers of one name the later counts. Of a distrusted project nothing is looked at. */
export function mcpFiles(place: { agentDir: string; cwd: string; projectTrust: "none" | "text" | "code" }): McpFile[] {
  const folders = place.projectTrust === "none" ? [] : PROJECT_FOLDERS;
  const files: McpFile[] = [
    { path: below(place.agentDir, NAME), scope: "user" },
    ...folders.map((folder): McpFile => ({ path: below(place.cwd, `${folder}/${NAME}`), scope: "project" })),
  ];
  return files.filter(({ path }) => fileExists(path));
}
