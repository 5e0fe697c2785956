import type { AgentHooks, HookedCall } from "@tiller/agent/types";
import type { ExtensionUi } from "../session/ports.ts";
import { callFacts, type Surroundings } from "./call-facts.ts";
import { type About, type CallFacts, judge, type Policy, type Verdict } from "./judge.ts";
import { ALWAYS, APPROVE, CHOICES, DENY, questionFor, type SubAgentName } from "./question.ts";

/** The last gate before a tool runs. Whatever goes wrong here, the call does not run. */
export interface Approvals {
  /** Why this call may not run, for the model; undefined when it may. */
  permit(call: CallToPermit, around: Surroundings): ReturnType<NonNullable<AgentHooks["permit"]>>;
  /** Somebody is there who can be asked. */
  askThrough(ui: ExtensionUi): void;
}

export type CallToPermit = Pick<HookedCall, "toolName" | "args" | "signal"> & {
  /** It is the built-in tool, not one that has taken its name. */
  isBuiltin: boolean;
  /** Undefined: the main agent makes it. */
  subAgent?: SubAgentName;
};

export interface ApprovalOptions {
  policy: Policy;
  /** Milliseconds until a question counts as answered with no; 0: never. */
  timeoutMs: number;
  /** What was approved for good is so for this session. */
  sessionId(): string;
  /** Looks at a call; as the machine shows it unless told. */
  look?: typeof callFacts;
}

export function createApprovals({
  policy,
  timeoutMs,
  sessionId,
  look: lookAt = callFacts,
}: ApprovalOptions): Approvals {
  let ui: ExtensionUi | undefined;
  let remembered = { sessionId: "", keys: new Set<string>() };
  const keys = (): Set<string> => {
    const current = sessionId();
    if (remembered.sessionId !== current) remembered = { sessionId: current, keys: new Set() };
    return remembered.keys;
  };

  /** Undefined: yes. */
  const ask = async (call: CallToPermit, facts: CallFacts, { why, about }: Asked): Promise<string | undefined> => {
    const wanted = about.map((one) => keyOf(call, one));
    if (wanted.every((key) => keys().has(key))) return undefined;
    if (!ui?.hasUI) return "it needs approval, and there is nobody who could be asked";
    let isLate = false;
    const answer = await ui.select(questionFor(facts, call.args, why, call.subAgent), CHOICES, {
      signal: call.signal,
      ...(timeoutMs > 0 && { timeout: timeoutMs }),
      onTimeout: () => {
        isLate = true;
      },
    });
    if (answer === ALWAYS) for (const key of wanted) keys().add(key);
    if (answer === APPROVE || answer === ALWAYS) return undefined;
    if (answer === DENY) return "the user denied it";
    return isLate ? "it needs approval, and nobody answered in time" : "it needs approval, and nobody gave it";
  };

  return {
    askThrough(given) {
      ui = given;
    },
    async permit(call, around) {
      const look = (): Promise<CallFacts> => lookAt({ ...call, tool: call.toolName }, around);
      const facts = await look();
      const verdict = judge(facts, policy);
      if (verdict.effect === "allow") return undefined;
      if (verdict.effect === "deny") return refusal(call.toolName, verdict.why);
      const refused = await ask(call, facts, verdict);
      if (refused !== undefined) return refusal(call.toolName, refused);
      // While somebody was thinking about it, a link may have been put in the place of a file.
      const isSame = JSON.stringify((await look()).paths) === JSON.stringify(facts.paths);
      return isSame ? undefined : refusal(call.toolName, "its path led somewhere else after it was approved");
    },
  };
}

type Asked = Extract<Verdict, { effect: "ask" }>;

/** What took the name of a built-in tool is not what was approved. */
function keyOf({ toolName, isBuiltin, args }: CallToPermit, about: About): string {
  return JSON.stringify([toolName, isBuiltin, about, ...(about === "this call" ? [args] : [])]);
}

function refusal(tool: string, why: string): string {
  return `Tool "${tool}" was not executed: ${why}. Do not try to reach the same in another way; go on without it, or say what you need and why.`;
}
