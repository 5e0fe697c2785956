import type { AgentHooks } from "@tiller/agent/types";
import type { AgentMessage } from "@tiller/protocol/message";
import type { HookName, SessionHooks } from "../session/ports.ts";
import { isAskedBefore, observed } from "./observed.ts";
import type { Runner } from "./runner.ts";

/**
 * The hooks as the session knows them: what it says is passed on, what it asks is asked. `session` is another value in
 * each session: what was not told in its own is none of the next one's business.
 */
export function createSessionHooks(
  runner: Runner,
  now: () => number,
  session: () => unknown,
): Omit<SessionHooks, "leave" | "entered"> {
  const { listens, run } = runner;
  /** Events are told one after the other, whoever does not wait for them. */
  let told: Promise<unknown> = Promise.resolve();
  const tellInTurn = (work: () => Promise<unknown>): Promise<void> => {
    const own = session();
    const done = told.then(() => (session() === own ? work() : undefined));
    told = done;
    return done.then(() => undefined);
  };

  /** Everything that was told before is over when a handler has a say: it knows what has happened. */
  const settle = async (message: AgentMessage): Promise<AgentMessage> => {
    await told;
    const copy = (): AgentMessage => structuredClone(message);
    if (message.role !== "assistant" && listens("message_start")) await run("message_start", { message: copy() });
    if (!listens("message_end")) return message;
    const shown = copy();
    const { message: used } = await run("message_end", { message: shown });
    // Only what is given back counts, not what was done to the copy.
    return used === shown ? message : used;
  };
  const beforeTool: AgentHooks["beforeTool"] = async ({ toolName, toolCallId, args, signal }) => {
    await told;
    const { block, terminate } = await run("tool_call", { toolName, toolCallId, input: args }, signal);
    return block === undefined ? undefined : { block, ...(terminate && { terminate }) };
  };
  const afterTool: AgentHooks["afterTool"] = async ({ toolName, toolCallId, args, result, isError, signal }) => {
    const [input, shown] = structuredClone([args, result] as const);
    const used = await run("tool_result", { toolName, toolCallId, input, isError, ...shown }, signal);
    // Only what is given back counts, not what was done to the copy.
    const content = used.content === shown.content ? result.content : used.content;
    const details = used.details === shown.details ? result.details : used.details;
    return { result: { ...result, content, details }, isError: used.isError };
  };
  const anyOf = (...hooks: HookName[]): boolean => hooks.some(listens);

  return {
    listens,
    run,
    observe(event, place) {
      if (!listens(event.type as HookName) || isAskedBefore(event)) return undefined;
      const about = observed(event, place, now);
      return about && tellInTurn(() => run(about.hook, about.payload));
    },
    settled: () => told.then(() => undefined),
    forAgent() {
      if (!anyOf("message_start", "message_end", "tool_call", "tool_result")) return undefined;
      return {
        ...(anyOf("message_start", "message_end") && { settle }),
        ...(listens("tool_call") && { beforeTool }),
        ...(listens("tool_result") && { afterTool }),
      };
    },
  };
}
