import { oneLine } from "../lib/visible.ts";

/** One thing that was looked at, and what came of it. The text report and the JSON report are made of these. */
export interface Check {
  area: CheckArea;
  /** What it is about: a file, a provider, a variable. */
  subject: string;
  /** `info`: neither good nor bad. `warning`: works, but look at it. `problem`: does not work. */
  level: "ok" | "info" | "warning" | "problem";
  text: string;
  /** What to do about it. */
  advice?: string;
}

export type CheckArea = "files" | "keys" | "network" | "servers" | "mcp" | "model";

export interface DoctorReport {
  version: string;
  node: string;
  platform: string;
  agentDir: string;
  checks: Check[];
  /** Nothing is a problem. */
  ok: boolean;
}

const TITLES: Readonly<Record<CheckArea, string>> = {
  files: "Files",
  keys: "Keys",
  network: "Network",
  servers: "Servers",
  mcp: "MCP servers",
  model: "Model",
};
const MARKS: Readonly<Record<Check["level"], string>> = { ok: "ok", info: "-", warning: "!", problem: "x" };

/** Plain lines for a terminal: no colours, nothing to interpret. */
export function reportText({ version, node, platform, agentDir, checks, ok }: DoctorReport): string {
  const lines = [`tiller ${version} on Node ${node} (${platform}), agent folder ${agentDir}`];
  for (const area of Object.keys(TITLES) as CheckArea[]) {
    const found = checks.filter((check) => check.area === area);
    if (found.length === 0) continue;
    lines.push("", TITLES[area], ...found.flatMap(checkLines));
  }
  return [...lines, "", verdict(checks, ok)].join("\n");
}

function checkLines({ level, subject, text, advice }: Check): string[] {
  const line = `  ${MARKS[level].padEnd(2)}  ${oneLine(subject)}: ${oneLine(text)}`;
  return [line, ...(advice ? [`      -> ${oneLine(advice)}`] : [])];
}

function verdict(checks: readonly Check[], ok: boolean): string {
  const count = (level: Check["level"], word: string): string => {
    const number = checks.filter((check) => check.level === level).length;
    return number === 0 ? "" : `${number} ${word}${number === 1 ? "" : "s"}`;
  };
  const counts = [count("problem", "problem"), count("warning", "warning")].filter((part) => part !== "");
  if (!ok) return `Not ready: ${counts.join(", ")}.`;
  return counts.length === 0 ? "Ready." : `Ready, with ${counts.join(", ")}.`;
}
