import { type Approvals, createApprovals } from "./approvals/approvals.ts";
import type { ApprovalMode } from "./approvals/judge.ts";
import { readRules } from "./approvals/rules.ts";
import { PROJECT_FOLDERS } from "./config/paths.ts";
import type { Ground } from "./ground.ts";

/** The gate as the settings want it, and what is wrong with its rules. Loaded only when there is anything to ask or to forbid. */
export function sessionApprovals(
  { settings, agentDir, approvalsUnread }: Ground,
  sessionId: () => string,
): { approvals: Approvals; problems: string[] } {
  const { rules, problems, isIncomplete } = readRules({
    deny: settings.get("approval.deny"),
    ask: settings.get("approval.ask"),
    allow: settings.get("approval.allow"),
  });
  const mode: ApprovalMode = settings.get("approval.mode");
  const policy = { mode, rules, isIncomplete: isIncomplete || approvalsUnread, guarded: guardedPlaces(agentDir) };
  const timeoutMs = settings.get("approval.timeoutMs");
  return { approvals: createApprovals({ policy, timeoutMs, sessionId }), problems };
}

/** Who may write here may change the rules, or start a program later. */
function guardedPlaces(agentDir: string): string[] {
  return [agentDir.replaceAll("\\", "/"), ...PROJECT_FOLDERS, ".git"];
}
