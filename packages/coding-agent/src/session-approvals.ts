import { dirname, join } from "node:path";
import { type Approvals, createApprovals } from "./approvals/approvals.ts";
import { callFacts } from "./approvals/call-facts.ts";
import type { ApprovalMode } from "./approvals/judge.ts";
import { type Rule, readRules } from "./approvals/rules.ts";
import { PROJECT_FOLDERS } from "./config/paths.ts";
import { PROJECT_EXTENSION_FOLDERS } from "./extensions/loading/may-have-extensions.ts";
import type { Ground } from "./ground.ts";
import { type PathContext, resolvePath } from "./tools/path.ts";
import { realPath } from "./tools/save-file.ts";

/** The gate as the settings want it, and what is wrong with its rules. Loaded only when there is anything to ask or to forbid. */
export function sessionApprovals(
  { settings, agentDir, cwd, env, approvalsUnread, recording }: Ground,
  sessionId: () => string,
): { approvals: Approvals; problems: string[] } {
  const { rules, problems, isIncomplete } = readRules({
    deny: settings.get("approval.deny"),
    ask: settings.get("approval.ask"),
    allow: settings.get("approval.allow"),
  });
  const mode: ApprovalMode = settings.get("approval.mode");
  const all = rules.flatMap((rule) => [rule, ...byRealPlace(rule, { cwd, env })]);
  const policy = {
    mode,
    rules: all,
    isIncomplete: isIncomplete || approvalsUnread,
    guarded: guardedPlaces(agentDir, cwd),
  };
  const timeoutMs = settings.get("approval.timeoutMs");
  const look = recording?.look("look at a call", callFacts, ({ tool, args }) => ({ tool, args }));
  return { approvals: createApprovals({ policy, timeoutMs, sessionId, look }), problems };
}

/**
 * Who may write here may change the rules, or start a program later. The places of this project and the agent folder also
 * by the names that they really have: a link may lead there from a folder that is free.
 */
export function guardedPlaces(agentDir: string, cwd: string): string[] {
  const names = [...new Set([...PROJECT_FOLDERS, ...PROJECT_EXTENSION_FOLDERS.map((path) => dirname(path))]), ".git"];
  const places = [agentDir, ...names.map((name) => join(cwd, name))];
  const real = places.map(realPath).filter((path, index) => path !== places[index]);
  return [...names, ...[agentDir, ...real].map((path) => path.replaceAll("\\", "/"))];
}

/** What is forbidden by a name that is a link is forbidden by its real name too. What allows never follows links. */
export function byRealPlace(rule: Rule, context: PathContext): Rule[] {
  const { effect, path } = rule;
  if (effect === "allow" || !path?.includes("/")) return [];
  const [, plain = "", rest = ""] = /^([^*?]*)(?:\/([^/]*[*?].*))?$/s.exec(path) ?? [];
  const named = resolvePath(context, plain === "" ? "/" : plain);
  const real = realPath(named);
  if (plain === "" || real === named) return [];
  return [{ ...rule, path: `${real.replaceAll("\\", "/")}${rest === "" ? "" : `/${rest}`}` }];
}
